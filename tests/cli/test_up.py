"""``newsportal up``: its messages, and no crawl without a working portal."""

from __future__ import annotations

import socket
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from forked import run

from newsportal.cli import hints
from newsportal.cli.schedule import summary
from newsportal.cli.up import Background
from newsportal.items.report import Run, SourceReport
from newsportal.services.jobs.records import Records, job_of, outcome_of
from newsportal.sources import load
from newsportal.store import open_store


def test_summary_counts_pages_and_list_pages_separately() -> None:
    rows = (SourceReport("a", stored=1, folded=2, known=3), SourceReport("b", failed={"http-404": 1}, list_failed={"dns": 2}))
    text = summary(outcome_of(Run("1", datetime(2026, 3, 1, tzinfo=UTC), sources=rows)))
    assert text == "1 new story, 2 folded, 3 known, failed: 1 page and 2 list pages"
    assert summary(outcome_of(Run("1", datetime(2026, 3, 1, tzinfo=UTC)))) == "0 new stories, 0 folded, 0 known"


@pytest.mark.slow
def test_no_crawl_starts_if_the_port_is_in_use(tmp_path: Path) -> None:
    (tmp_path / "sources.yaml").write_text("feeds: []\n", "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        result = run("up", "--port", str(port), cwd=tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert f"port {port} is in use" in result.stderr
    assert "Traceback" not in result.stderr


def test_stopped_background_starts_no_crawl(tmp_path: Path) -> None:
    (tmp_path / "sources.yaml").write_text("feeds: []\n", "utf-8")
    background = Background(tmp_path / "sources.yaml", sources := load(tmp_path / "sources.yaml"), 10.0)
    background.stop()
    background.supervisor._run_iteration()  # as if the signal came just before a step
    assert Records(sources.jobs_folder).all() == []


def test_hosts_of_enabled_sources_are_unique(tmp_path: Path) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text(
        """\
feeds:
  - {name: 甲, url: "https://a.example/rss"}
  - {name: 乙, url: "https://a.example/more.xml"}
  - {name: 丙, url: "https://off.example/rss", enabled: false}
regions:
  - {name: 丁, prefix: "https://b.example/news/", seeds: "https://www.b.example/"}
""",
        "utf-8",
    )
    assert hints.source_hosts(load(path)) == ["a.example", "www.b.example"]


def test_forbidden_address_is_not_a_missing_network(tmp_path: Path) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text('feeds: [{name: 甲, url: "http://127.0.0.1/rss"}, {name: 乙, url: "http://127.0.0.2/rss"}]\n', "utf-8")
    assert not hints.is_network_down(load(path))


@pytest.mark.slow
def test_crawl_leaves_a_log_with_its_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text("feeds: [{name: 甲, url: 'http://127.0.0.1:9/rss'}]\n", "utf-8")
    background = Background(path, sources := load(path), 10.0)
    background.start()
    records = Records(sources.jobs_folder)
    while not any(job.outcome for job in records.all()):
        time.sleep(0.05)
    background.stop()
    (job,) = records.all()
    assert (job.state, job.status, job.origin) == ("done", 0, "up")
    assert "Spider closed" in records.log_file(job.id).read_text("utf-8")
    with closing(open_store(sources.store)) as store:
        assert [job_of(run) for run in store.runs()] == [job.id]
    assert job.outcome[0]["list_failures"] == 1
    assert "failed: 1 list page" in capsys.readouterr().out
