"""Merging the partial records of a visit."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from newsportal.items.visits import MAX_PUBLISHED, Visit, merge_visits

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


def visit(**fields: object) -> Visit:
    return Visit("feed:甲", NOW, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "other", "unchanged"),
    [
        ({}, {"list_pages": 1, "not_modified": True}, True),
        ({"list_pages": 1, "not_modified": True}, {}, True),
        ({"list_pages": 1, "not_modified": True}, {"list_pages": 1, "not_modified": True}, True),
        ({"list_pages": 1, "not_modified": True}, {"list_pages": 1}, False),
        ({"list_pages": 1}, {"list_pages": 1, "not_modified": True}, False),
        ({}, {}, False),
    ],
)
def test_visit_is_unchanged_only_if_all_list_pages_are(first: dict[str, object], other: dict[str, object], unchanged: bool) -> None:
    assert merge_visits(visit(**first), visit(**other)).not_modified is unchanged


def test_newest_publication_dates_are_kept() -> None:
    times = [NOW - timedelta(minutes=number) for number in range(MAX_PUBLISHED)]
    joined = merge_visits(visit(published=tuple(times[::2])), visit(published=(*times[1::2], NOW - timedelta(days=9))))
    assert joined.published == tuple(times)


def test_latest_values_are_kept() -> None:
    first = visit(moved="https://a.example/", hub="https://hub.example/", asked_wait=60.0)
    joined = merge_visits(first, visit(moved="https://b.example/", asked_wait=30.0))
    assert (joined.moved, joined.hub, joined.asked_wait) == ("https://b.example/", "https://hub.example/", 60.0)


def test_visit_without_results_has_only_begun() -> None:
    assert visit().in_progress
    assert not visit(list_pages=1).in_progress
    assert not visit(list_failed={"dns": 1}).in_progress
