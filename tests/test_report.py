from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from newsportal.items.report import Run, SourceReport, from_dict, reasons, sum_reports, table, to_dict
from newsportal.messages import as_text

FEED = SourceReport(
    source="feed:青河日报", list_pages=1, entries=10, known=2, repeated=1, new=7, fetched=6, parsed=5, stored=3, folded=1, same=1,
    failed={"no-body": 1, "http-404": 1}, notes=(as_text("slow"),),
)  # fmt: skip
REGION = SourceReport(source="region:front", list_failed={"dns": 1})
RUN = Run(id="20260305-120000-a", started=datetime(2026, 3, 5, 12, tzinfo=UTC), spiders=("rss",), sources=(FEED, REGION))


def test_example_figures_add_up() -> None:
    assert FEED.entries == FEED.known + FEED.repeated + FEED.new
    assert FEED.left == 0
    assert FEED.parsed == FEED.stored + FEED.folded + FEED.same


def test_precision_and_recall_as_in_paper() -> None:
    assert FEED.precision == pytest.approx(5 / 6)
    assert FEED.recall == pytest.approx(5 / 7)
    assert REGION.precision is None
    assert REGION.recall is None


def test_totals_sum_reasons() -> None:
    total = sum_reports("total", (FEED, FEED, REGION))
    assert total.failed == {"no-body": 2, "http-404": 2}
    assert total.entries == 20
    assert total.notes == (as_text("slow"),)


def test_run_round_trip_as_json() -> None:
    assert from_dict(json.loads(json.dumps(to_dict(RUN)))) == RUN


def test_unknown_fields_are_ignored() -> None:
    plain = to_dict(RUN)
    plain["sources"][0]["paraphrased"] = 3  # type: ignore[index]
    assert from_dict(plain) == RUN


def test_table_has_row_per_source_and_reasons() -> None:
    text = table(RUN)
    lines = text.splitlines()
    assert lines[1].startswith("feed:青河日报 ")
    assert lines[3].startswith("total")
    assert "precision 83.3%" in text
    assert reasons(RUN)[0] == "feed:青河日报: http-404 × 1; no-body × 1; slow"
    assert reasons(RUN)[1] == "region:front: list page: dns × 1"


def test_time_of_source_and_of_run() -> None:
    ended = replace(RUN, ended=RUN.started + timedelta(seconds=200), sources=(replace(FEED, seconds=185.2), REGION))
    assert [row.took for row in (*ended.sources, ended.total)] == ["3m05s", "–", "3m20s"]
    lines = table(ended).splitlines()
    assert lines[0].endswith("time")
    assert lines[1].endswith("3m05s")
    assert "time" not in table(RUN).splitlines()[0], "reports of earlier versions lack it"
    assert sum_reports("feed", (FEED, replace(FEED, seconds=2.5))).seconds == 2.5
    assert from_dict(json.loads(json.dumps(to_dict(ended)))) == ended


def test_empty_columns_are_omitted() -> None:
    quiet = Run(id="a", started=RUN.started, sources=(SourceReport(source="feed:a", entries=1, new=1, fetched=1, parsed=1, stored=1),))
    heading = table(quiet).splitlines()[0].split()
    assert "again" not in heading
    assert "left" not in heading
    assert {"new", "failed"} <= set(heading)
    assert "again" in table(RUN).splitlines()[0].split()


BAIDU = SourceReport(
    source="engine:baidu", list_pages=2, entries=30, known=10, new=20, fetched=16, parsed=12, stored=9, folded=3,
    topics={
        "旅游": {"list_pages": 1, "entries": 20, "known": 8, "new": 12, "fetched": 10, "parsed": 8, "stored": 6, "folded": 2},
        "汽车": {"list_pages": 1, "entries": 10, "known": 2, "new": 8, "fetched": 6, "parsed": 4, "stored": 3, "folded": 1},
    },
)  # fmt: skip
SOGOU = SourceReport(source="engine:sogou", entries=5, new=5, topics={"旅游": {"entries": 5, "repeated": 1, "new": 4, "fetched": 2}})
SEARCHED = replace(RUN, sources=(BAIDU, SOGOU, FEED))


def test_topics_have_rows_per_engine_as_in_paper_table_2() -> None:
    plain = json.loads(json.dumps(to_dict(SEARCHED)))
    rows = {(row["topic"], row["source"]): row for row in plain["topics"]}
    assert list(rows) == [
        ("旅游", "total"), ("旅游", "engine:baidu"), ("旅游", "engine:sogou"), ("汽车", "total"), ("汽车", "engine:baidu")
    ]  # fmt: skip
    total = rows["旅游", "total"]
    assert [total[key] for key in ("entries", "known", "repeated", "new", "fetched", "parsed", "folded")] == [25, 8, 1, 16, 12, 8, 2]
    assert (total["precision"], total["recall"]) == (pytest.approx(8 / 12), pytest.approx(8 / 16))
    assert rows["旅游", "engine:sogou"]["precision"] == 0
    assert from_dict(plain) == SEARCHED
    lines = table(SEARCHED).splitlines()
    heading = next(number for number, line in enumerate(lines) if line.startswith("topic "))
    assert [line.split()[0] for line in lines[heading + 1 : heading + 6]] == [
        "旅游",
        "engine:baidu",
        "engine:sogou",
        "汽车",
        "engine:baidu",
    ]
    assert lines[heading + 1].endswith("50.0%")
    assert "topic" not in table(RUN).split(), "there is no such table without searches"
