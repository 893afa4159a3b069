from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from newsportal.items.report import Run, SourceReport, add_up, from_dict, reasons, table, to_dict
from newsportal.messages import as_text

FEED = SourceReport(
    source="feed:青河日报", list_pages=1, entries=10, known=2, repeated=1, new=7, fetched=6, parsed=5, stored=3, folded=1, same=1,
    failed={"no-body": 1, "http-404": 1}, notes=(as_text("slow"),),
)  # fmt: skip
REGION = SourceReport(source="region:front", list_failed={"dns": 1})
RUN = Run(id="20260305-120000-a", started=datetime(2026, 3, 5, 12, tzinfo=UTC), spiders=("rss",), sources=(FEED, REGION))


def test_the_example_adds_up() -> None:
    assert FEED.entries == FEED.known + FEED.repeated + FEED.new
    assert FEED.left == 0
    assert FEED.parsed == FEED.stored + FEED.folded + FEED.same


def test_rates_are_those_of_the_paper() -> None:
    assert FEED.precision == pytest.approx(5 / 6)
    assert FEED.recall == pytest.approx(5 / 7)
    assert REGION.precision is None
    assert REGION.recall is None


def test_totals_add_reasons() -> None:
    total = add_up("total", (FEED, FEED, REGION))
    assert total.failed == {"no-body": 2, "http-404": 2}
    assert total.entries == 20
    assert total.notes == (as_text("slow"),)


def test_a_run_survives_json() -> None:
    assert from_dict(json.loads(json.dumps(to_dict(RUN)))) == RUN


def test_fields_of_later_versions_are_ignored() -> None:
    plain = to_dict(RUN)
    plain["sources"][0]["paraphrased"] = 3  # type: ignore[index]
    assert from_dict(plain) == RUN


def test_the_table_has_a_row_a_source_and_says_why() -> None:
    text = table(RUN)
    lines = text.splitlines()
    assert lines[1].startswith("feed:青河日报 ")
    assert lines[3].startswith("total")
    assert "precision 83.3%" in text
    assert reasons(RUN)[0] == "feed:青河日报: http-404 × 1; no-body × 1; slow"
    assert reasons(RUN)[1] == "region:front: list page: dns × 1"


def test_the_time_of_a_source_is_that_of_its_visits_and_of_all_that_of_the_run() -> None:
    ended = replace(RUN, ended=RUN.started + timedelta(seconds=200), sources=(replace(FEED, seconds=185.2), REGION))
    assert [row.took for row in (*ended.sources, ended.total)] == ["3m05s", "–", "3m20s"]
    lines = table(ended).splitlines()
    assert lines[0].endswith("time")
    assert lines[1].endswith("3m05s")
    assert "time" not in table(RUN).splitlines()[0], "reports of former versions say nothing of it"
    assert add_up("feed", (FEED, replace(FEED, seconds=2.5))).seconds == 2.5
    assert from_dict(json.loads(json.dumps(to_dict(ended)))) == ended


def test_columns_that_say_nothing_are_left_out() -> None:
    quiet = Run(id="a", started=RUN.started, sources=(SourceReport(source="feed:a", entries=1, new=1, fetched=1, parsed=1, stored=1),))
    heading = table(quiet).splitlines()[0].split()
    assert "again" not in heading
    assert "left" not in heading
    assert {"new", "failed"} <= set(heading)
    assert "again" in table(RUN).splitlines()[0].split()
