"""``newsportal source suggest`` with a store of a few articles."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from factories import run_command

from newsportal.cli import source_adding
from newsportal.errors import StoreError
from newsportal.items import Article, Link
from newsportal.services.discovery.suggestions import Suggestion
from newsportal.sources import load
from newsportal.store import open_store

if TYPE_CHECKING:
    from madeup import MadeUpWeb

NOW = datetime.now(UTC)

run = partial(run_command, "source", "suggest")


def test_too_many_days_are_refused() -> None:
    assert run("--days", "10000000").exit_code == 2


def stored(path: Path, *urls: str) -> None:
    body = "".join(f'<p><a href="{url}">原文</a></p>' for url in urls)
    with closing(open_store(f"sqlite:///{path.parent}/data/newsportal.db")) as store:
        for number in range(2):
            url = f"https://own{number}.example/{number}"
            link = Link(url, "feed:甲")
            at = NOW - timedelta(days=100 * number)
            text = f"第{number}艘渡轮今晨从{number}号码头出发，船上有旅客和货物。" * (number + 2)
            found = Article(url, link, at, url, title=f"题{number}", text=text, html=body, published=at, origin="怪社")
            store.add(found, now=at)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sources.yaml"
    path.write_text(
        "politeness: {delay: 0, allow_private: [127.0.0.0/8]}\nfeeds: [{name: 甲, url: 'https://own0.example/feed'}]\n", "utf-8"
    )
    return path


def test_suggested_sites_with_command_to_add_them(file: Path) -> None:
    stored(file, "https://new.example/1", "https://own0.example/2")
    (row,) = [json.loads(line) for line in run("--json", "--sources", file).stdout.splitlines()]
    assert (row["site"], row["linked"], row["best"]) == ("new.example", 1, None)
    (row,) = [json.loads(line) for line in run("--json", "--days", "365", "--sources", file).stdout.splitlines()]
    assert row["linked"] == 2
    output = run("--sources", file).stdout
    assert "newsportal source add https://new.example/" in output
    assert "怪社 (1)" in output


def test_nothing_to_suggest_and_missing_store(file: Path) -> None:
    assert isinstance(run("--sources", file).exception, StoreError)
    (file.parent / "data").mkdir(exist_ok=True)
    open_store(f"sqlite:///{file.parent}/data/newsportal.db").close()
    assert "no recent articles are stored; run newsportal crawl" in run("--sources", file).stdout
    stored(file)
    assert "link to no site" in run("--sources", file).stdout


@pytest.mark.slow
def test_visit_shows_what_a_site_offers(file: Path, web: MadeUpWeb) -> None:
    web.reset()
    site = Suggestion("qingtai.example", 1.0, url=f"{web.addresses['qingtai']}/story/1")
    missing = Suggestion("gone.example", 1.0, url="http://127.0.0.1:1/story/1")
    found = source_adding.visit_sites([site, missing], load(file))
    assert [(name, best.kind) for name, best in found.items()] == [("qingtai.example", "feeds")]
    assert found["qingtai.example"].entries > 5
