"""An entry of sources.yaml made from a proposal contains what the site stated, and nothing more."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from newsportal.items import Page
from newsportal.services.discovery.opml import read
from newsportal.services.discovery.search import find
from newsportal.services.trying.proposing import entry, plan_import, write
from newsportal.sources import Sources, load

FEED = "https://evil.example/feed?x=${DATABASE_PASSWORD}"
ENVIRON = {"DATABASE_PASSWORD": "geheim"}
HOME = f"""<html><head><title>一个站点</title><link rel="alternate" type="application/rss+xml" href="{FEED}"></head></html>"""
ITEMS = "".join(f"<item><title>第{n}条港口新闻今天发布</title><link>https://evil.example/{n}.html</link></item>" for n in range(9))


def fetch(url: str) -> Page:
    body = f'<rss version="2.0"><channel><title>要闻</title>{ITEMS}</channel></rss>' if "feed" in url else HOME
    return Page(url, body.encode(), datetime.now(UTC), 200)


def test_environment_variables_in_urls_are_not_expanded(tmp_path: Path) -> None:
    """A URL invented by a page is written to sources.yaml by the operator and fetched from then on."""
    (found, *_), _notes = find("https://evil.example/", fetch)
    plan = plan_import(read(f'<opml><body><outline text="乙" xmlUrl="{FEED}"/></body></opml>'.encode()).feeds, Sources(), None)
    file = tmp_path / "sources.yaml"
    file.write_text("portal: {title: 晨报}\n", "utf-8")
    write(file, [("feeds", dict(entry(found, None, None, Sources()))), ("feeds", dict(plan.new[0]))])
    assert [feed.url for feed in load(file, ENVIRON).feeds] == ["https://evil.example/feed?x=$%7BDATABASE_PASSWORD}"] * 2
