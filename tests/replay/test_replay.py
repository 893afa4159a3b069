"""The main job on real pages: a saved Web of 329 articles on 134 hosts, crawled by feeds and front pages without a network."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from newsportal.dedup.canonical import identity
from newsportal.storage import open_store

pytestmark = [pytest.mark.data, pytest.mark.slow]

FLOOR = 0.97
"""The share of the saved Chinese and English articles that a crawl must bring home with a body."""


def crawl(folder: Path, warc: Path) -> list[str]:
    return [
        sys.executable, "-m", "newsportal", "crawl", "--once", "--json", "--log-level", "WARNING",
        "--sources", str(folder / "sources.yaml"), "--replay", str(warc), "--log-file", str(folder / "crawl.log"),
    ]  # fmt: skip


def finished(folder: Path, warc: Path) -> dict[str, Any]:
    done = subprocess.run(crawl(folder, warc), capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def portal(folder: Path) -> Path:
    folder.mkdir()
    shutil.copy(Path(__file__).with_name("sources.yaml"), folder)
    return folder


@pytest.fixture(scope="module")
def warc(data: Path) -> Path:
    return data / "web" / "dev.warc.gz"


@pytest.fixture(scope="module")
def gold(data: Path) -> set[str]:
    index = json.loads((data / "web" / "dev.index.json").read_text(encoding="utf-8"))
    return {identity(article["url"]) for article in index["articles"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return portal(tmp_path_factory.mktemp("replay") / "portal")


@pytest.fixture(scope="module")
def first(folder: Path, warc: Path) -> dict[str, Any]:
    return finished(folder, warc)


def stored(folder: Path) -> dict[str, int]:
    """Identity → length of the body, of everything stored."""
    store = open_store(f"sqlite:///{folder}/data/newsportal.db")
    try:
        return {article.identity: len(article.text) for article in store.all_articles()}
    finally:
        store.close()


def texts(folder: Path) -> dict[str, str]:
    """Identity → body, of everything stored."""
    store = open_store(f"sqlite:///{folder}/data/newsportal.db")
    try:
        return {article.identity: article.text for article in store.all_articles()}
    finally:
        store.close()


def test_nearly_every_article_comes_home_with_a_body(first: dict[str, Any], folder: Path, gold: set[str]) -> None:
    have = stored(folder)
    found = {name for name in gold if have.get(name, 0) > 0}
    assert len(found) / len(gold) >= FLOOR, sorted(gold - found)


def test_no_exception_is_left_unhandled(first: dict[str, Any], folder: Path) -> None:
    log = (folder / "crawl.log").read_text(encoding="utf-8")
    assert "Traceback" not in log, log[:3000]


def test_the_report_adds_up(first: dict[str, Any]) -> None:
    for row in first["sources"]:
        assert row["entries"] == row["known"] + row["repeated"] + row["new"], row
        assert row["new"] == row["parsed"] + sum(row["failed"].values()), row
        assert row["parsed"] == row["stored"] + row["folded"] + row["same"], row
    assert first["total"]["list_pages"] == 268


def test_a_second_run_stores_nothing_new_and_says_why(first: dict[str, Any], folder: Path, warc: Path) -> None:
    before = stored(folder)
    second = finished(folder, warc)["total"]
    assert second["stored"] == second["folded"] == 0
    assert second["known"] + second["repeated"] + second["new"] == second["entries"] > 0
    assert second["known"] >= first["total"]["stored"] + first["total"]["folded"]
    assert stored(folder) == before


def test_killed_in_the_middle_it_loses_nothing_and_stores_nothing_twice(
    first: dict[str, Any], folder: Path, warc: Path, tmp_path: Path
) -> None:
    other = portal(tmp_path / "killed")
    process = subprocess.Popen(crawl(other, warc), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    database = other / "data" / "newsportal.db"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and (not database.exists() or len(stored(other)) < 40):
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    half = len(stored(other))
    assert 0 < half < len(stored(folder)), "it must be killed in the middle"
    finished(other, warc)
    have, whole = texts(other), texts(folder)
    assert have.keys() == whole.keys()
    differ = [name for name in have if have[name] != whole[name]]
    # a site's own line stays in the page of the site that is read first, whichever that is; what a killed crawl had learnt of a site is
    # lost, so there are two such pages
    assert len(differ) <= 2 * len(have) / 50, differ
    for name in differ:
        fewer, more = sorted((have[name].split("\n"), whole[name].split("\n")), key=len)
        rest = iter(more)
        assert all(line in rest for line in fewer), f"{name}: more than whole lines differ"
