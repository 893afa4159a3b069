"""``/jobs`` and ``GET /jobs``: jobs of this machine, whoever started them, with structured outcomes."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from lxml import html as lxml_html

from newsportal.items.report import Run, SourceReport
from newsportal.services.jobs.base import Job
from newsportal.services.jobs.records import Records, outcome_of, process_start
from newsportal.sources import load
from newsportal.store.store import Store

INTERRUPTIBLE = "import signal, time; signal.signal(signal.SIGINT, signal.default_int_handler); print(1, flush=True); time.sleep(600)"
AT = datetime(2026, 5, 20, 9, tzinfo=UTC)
CRAWLED = Run("20260520-090000-crawl1-rss", AT, AT, "finished", ("rss",), (SourceReport("feed:甲", stored=3, failed={"timeout": 2}),))
IDLE = Run("20260520-090000-crawl2-rss", AT, AT, "finished")


@pytest.fixture
def records(tmp_path: Path) -> Records:
    """Records with a job of each kind that runs outside the portal."""
    (tmp_path / "sources.yaml").write_text("feeds: []\n", "utf-8")
    records = Records(load(tmp_path / "sources.yaml").jobs_folder)
    rows = [
        Job("crawl1", "rss", "done", outcome=(outcome_of(CRAWLED),), origin="schedule"),
        Job("crawl2", "", "done", outcome=(outcome_of(IDLE),), origin="up"),
        Job("fit1", kind="fit", state="done", outcome=({"views": 9, "readers": 2, "seconds": 1.5},), origin="up"),
        Job("prune1", kind="prune", state="done", outcome=({"deleted": {"articles": 3, "log": 1}},), origin="up"),
        Job("retrain1", kind="retrain", state="failed", error={"code": "timeout", "text": "it took more than 1800 seconds"}, origin="up"),
        Job("lost1", kind="retrain", pid=1, born="0", origin="up"),
    ]
    for number, job in enumerate(rows):
        records.save(Job(**{name: getattr(job, name) for name in job.__slots__} | {"started": AT + timedelta(minutes=number)}))
    return records


@pytest.fixture
def editor(serve: Callable[..., httpx.Client], own_store: Store, tmp_path: Path, records: Records) -> httpx.Client:
    return serve(own_store, None, load(tmp_path / "sources.yaml"), role="editor", reread_every=0)


def test_jobs_are_listed_with_outcomes(editor: httpx.Client) -> None:
    page = lxml_html.document_fromstring(editor.get("/jobs").text)
    sections = {section.get("id"): section for section in page.xpath("//section[@data-state]")}
    assert {id: section.get("data-state") for id, section in sections.items()} == {
        "job-crawl1": "done", "job-fit1": "done", "job-prune1": "done", "job-retrain1": "failed", "job-lost1": "lost",
    }  # fmt: skip
    assert "新报道 3 条" in sections["job-crawl1"].text_content()
    assert "失败 2 次" in sections["job-crawl1"].text_content()
    assert "2 位读者的 9 次浏览" in sections["job-fit1"].text_content()
    assert "已清理 4 条过期数据" in sections["job-prune1"].text_content()
    assert "1800" in sections["job-retrain1"].text_content()
    assert sections["job-crawl1"].xpath(".//a/@href") == ["/monitor/system?file=crawl1"]


def test_api_returns_outcomes_and_errors(editor: httpx.Client) -> None:
    jobs = {job["id"]: job for job in editor.get("/api/v1/jobs").json()}
    assert [(jobs["crawl1"]["outcome"][0][name]) for name in ("run", "stored", "failures", "reason")] == [CRAWLED.id, 3, 2, "finished"]
    assert jobs["crawl2"]["outcome"][0]["sources"] == 0
    assert jobs["fit1"]["outcome"] == [{"views": 9, "readers": 2, "seconds": 1.5}]
    assert (jobs["retrain1"]["state"], jobs["retrain1"]["failure"]) == ("failed", "it took more than 1800 seconds")
    assert jobs["lost1"]["state"] == "lost"
    assert editor.get("/api/v1/jobs/prune1").json()["outcome"] == [{"deleted": {"articles": 3, "log": 1}}]


def test_crawl_of_another_process_is_stopped(editor: httpx.Client, records: Records) -> None:
    with subprocess.Popen([sys.executable, "-c", INTERRUPTIBLE], stdout=subprocess.PIPE) as crawl:
        assert crawl.stdout is not None
        assert crawl.stdout.readline()
        records.save(Job("crawl3", "hub", started=AT, pid=crawl.pid, born=process_start(crawl.pid), origin="schedule"))
        assert 'data-state="running"' in editor.get("/jobs").text
        assert "采集正在结束" in editor.post("/jobs/crawl3/cancel", data={"back": "/jobs"}, follow_redirects=True).text
        assert crawl.wait(600) in (-signal.SIGINT, 1)
    assert editor.get("/api/v1/jobs/crawl3").json()["state"] == "lost", "the outcome would be written by the process that started it"
    assert editor.delete("/api/v1/jobs/crawl3").status_code == 404


def test_gathered_documents_are_listed(editor: httpx.Client, records: Records) -> None:
    """The outcome of this kind has no reason."""
    row = {"corpus": "categories", "added": 7, "by_editors": 0, "left": {}, "from_one_site": []}
    records.save(Job("gather1", kind="gather", state="done", started=AT, outcome=(row,)))
    assert "categories：+7" in editor.get("/jobs").text
