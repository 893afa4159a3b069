"""``newsportal up``: what it says, and that nothing starts for a portal that cannot open."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from newsportal.commands import network
from newsportal.commands.up import Crawls, summary
from newsportal.report import Run, SourceReport
from newsportal.runners.records import Records, job_of
from newsportal.sources import load
from newsportal.storage import open_store


def test_the_summary_counts_pages_and_list_pages_apart() -> None:
    rows = (SourceReport("a", stored=1, folded=2, known=3), SourceReport("b", failed={"http-404": 1}, list_failed={"dns": 2}))
    said = summary(Run("1", datetime(2026, 3, 1, tzinfo=UTC), sources=rows))
    assert said == "1 new story, 2 folded, 3 known, failed: 1 page and 2 list pages"
    assert summary(Run("1", datetime(2026, 3, 1, tzinfo=UTC))) == "0 new stories, 0 folded, 0 known"


@pytest.mark.slow
def test_no_crawl_starts_when_the_port_is_taken(tmp_path: Path) -> None:
    (tmp_path / "sources.yaml").write_text("feeds: []\n", "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "newsportal", "up", "--port", str(port)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"port {port} is in use" in done.stderr
    assert "Traceback" not in done.stderr


def test_told_to_stop_no_crawl_begins_any_more(tmp_path: Path) -> None:
    (tmp_path / "sources.yaml").write_text("feeds: []\n", "utf-8")
    crawls = Crawls(tmp_path / "sources.yaml", load(tmp_path / "sources.yaml"), 10.0, Console(file=StringIO()))
    crawls.stop()
    crawls._crawl()  # as where the signal comes just before a look
    assert crawls._child is None


def test_hosts_are_those_that_are_visited_each_once(tmp_path: Path) -> None:
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
    assert network.hosts(load(path)) == ["a.example", "www.b.example"]


def test_an_address_that_may_not_be_visited_is_no_missing_network(tmp_path: Path) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text('feeds: [{name: 甲, url: "http://127.0.0.1/rss"}, {name: 乙, url: "http://127.0.0.2/rss"}]\n', "utf-8")
    assert not network.away(load(path))


@pytest.mark.slow
def test_a_crawl_leaves_a_log_that_its_run_is_found_by(tmp_path: Path) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text("feeds: [{name: 甲, url: 'http://127.0.0.1:9/rss'}]\n", "utf-8")
    said = StringIO()
    crawls = Crawls(path, known := load(path), 10.0, Console(file=said))
    crawls._crawl()
    crawls.stop()
    (record,) = Records(known.jobs_folder).all("up")
    assert record.status == 0
    assert "Spider closed" in Records(known.jobs_folder).log_file(record.id).read_text("utf-8")
    with closing(open_store(known.store)) as store:
        assert [job_of(run) for run in store.runs()] == [record.id]
