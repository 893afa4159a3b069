"""Names of rows, moments, and the condition that leads from one page of rows to the next."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsportal.storage.documents.base import Row, holds, in_order
from newsportal.storage.documents.plain import aware, behind, plain
from newsportal.storage.documents.room_tables import ROOM_TABLES, ROW_ID_CHARS, row_id

PARTS = st.lists(st.text("ab|\x00中", max_size=3), min_size=1, max_size=3)

ROWS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("甲乙b")), max_size=8).map(
    lambda pairs: [{"id": f"{number:02}", "score": score, "name": name} for number, (score, name) in enumerate(pairs)]
)


@settings(max_examples=50, deadline=None)
@given(PARTS, PARTS)
def test_two_keys_have_two_names(one: list[str], other: list[str]) -> None:
    assert (row_id(*one) == row_id(*other)) == (one == other)


def test_a_name_of_a_row_is_never_empty_nor_too_long() -> None:
    assert row_id("")
    assert len(row_id("源" * 255, 1_700_000_000_000_000)) <= ROW_ID_CHARS
    assert row_id("|", "b") != row_id("|\x00b")
    assert row_id("feed:甲", 5) == "feed:甲|5"


@pytest.mark.parametrize("order", [("score",), ("-score",), ("-score", "name"), ("name", "-score"), ("-name", "-id")])
@settings(max_examples=25, deadline=None)
@given(rows=ROWS)
def test_page_after_page_is_everything_once_and_in_order(order: tuple[str, ...], rows: list[Row]) -> None:
    everything = in_order(rows, order)
    for place, row in enumerate(everything):
        assert in_order([one for one in rows if holds(one, behind(row, order))], order) == everything[place + 1 :]


def test_moments_come_back() -> None:
    noon = datetime(2026, 3, 5, 12, 0, 0, 1, tzinfo=UTC)
    kept = plain({"at": noon, "until": None, "number": 3})
    assert kept == {"at": 1_772_712_000_000_001, "until": None, "number": 3}
    assert aware(kept, "at", "until", "never") == {"at": noon, "until": None, "number": 3, "never": None}


def test_what_is_sorted_and_looked_for_is_among_the_fields_of_a_table() -> None:
    for table in ROOM_TABLES:
        asked = {name.lstrip("-") for index in table.indexes for name in index}
        assert "id" in table.fields
        assert asked <= set(table.fields), table.name
