"""Newsletters: the articles and requests made of mails, and the counts of unreadable ones."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from scrapy.crawler import Crawler
from scrapy.http import Request
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from newsportal.crawl.handlers.mailbox import MailboxHandler, MailboxResponse
from newsportal.extractors.feeds.mail import parse_mail
from newsportal.items import Article
from newsportal.net.egress.mailbox import RawMail
from newsportal.sources import Newsletter
from newsportal.spiders.newsletter import NewsletterSpider

SOURCES = """
store: "sqlite:///{folder}/news.db"
extraction: {{processes: 0}}
newsletters:
  - {{name: 早报, folder: mails, articles: {articles}, category: 要闻}}
"""
HEAD = "Subject: {0}\nMessage-ID: <{0}@b.example>\nContent-Type: text/html; charset=utf-8\n\n"
MAIL = HEAD + '<p>{0}的正文。</p><p><a href="https://n.example/{0}">{0}里的一条新闻标题</a> <a href="https://n.example/x">更多</a></p>'
BOMB = "Message-ID: <bomb@b.example>\n" + "Content-Type: message/rfc822\n\n" * 3_000


def make_spider(folder: Path, articles: str) -> NewsletterSpider:
    file = folder / "sources.yaml"
    file.write_text(SOURCES.format(folder=folder, articles=articles), "utf-8")
    crawler = Crawler(NewsletterSpider, Settings({"NEWSPORTAL_SOURCES": str(file), "ADDONS": {"newsportal.crawl.addon.SourcesAddon": 100}}))
    crawler.addons.load_settings(crawler.settings)
    crawler.stats = MemoryStatsCollector(crawler)
    return NewsletterSpider.from_crawler(crawler)


def parse_visit(spider: NewsletterSpider, *mails: str) -> list[Any]:
    (source,) = spider.sources()
    response = MailboxResponse(source.mailbox.address)
    response.mails, response.left = tuple(RawMail(mail.encode(), datetime(2026, 11, 26, tzinfo=UTC)) for mail in mails), 3

    async def read() -> list[Any]:
        return [result async for result in spider.parse_mails(response, source)]

    return asyncio.run(read())


def test_each_mail_is_one_article_and_bad_mails_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spider = make_spider(tmp_path, "false")
    read = lambda raw, *args: parse_mail(raw, *args) if "丙".encode() not in raw else 1 // 0  # noqa: E731
    monkeypatch.setattr("newsportal.spiders.newsletter.parse_mail", read)
    results = parse_visit(spider, MAIL.format("甲"), BOMB, MAIL.format("丙"), MAIL.format("乙"), MAIL.format("甲"))
    assert [(result.link.title, result.url) for result in results if isinstance(result, Article)] == [
        ("甲", "mid:%E7%94%B2@b.example"),
        ("乙", "mid:%E4%B9%99@b.example"),
    ]
    assert results[0].link.category == "要闻"
    (row,) = spider.tracker.report()
    assert (row.entries, row.new, row.failed) == (5, 4, {"mail-broken": 1, "error: ZeroDivisionError": 1})
    assert [note.code for note in row.notes] == ["note.mails-waiting"]
    assert parse_visit(spider, MAIL.format("甲"), BOMB) == []
    spider.tracker.store.close()


def test_linked_pages_are_requested_if_configured(tmp_path: Path) -> None:
    spider = make_spider(tmp_path, "true")
    results = parse_visit(spider, MAIL.format("甲"), HEAD.format("乙") + "没有链接的一封信。")
    assert [(type(item), item.url) for item in results] == [(Request, "https://n.example/%E7%94%B2"), (Article, "mid:%E4%B9%99@b.example")]
    spider.tracker.store.close()


def test_mailbox_position_is_the_etag(tmp_path: Path) -> None:
    spider = make_spider(tmp_path, "false")
    (source,) = spider.sources()
    (tmp_path / "mails").mkdir()
    (tmp_path / "mails" / "1.eml").write_text(MAIL.format("甲"), "utf-8")

    async def requested() -> list[Any]:
        handler = MailboxHandler.from_crawler(spider.crawler)
        first = await handler.download_request(Request(source.mailbox.address, meta={"source": source.key}))
        again = Request("mailbox://localhost/elsewhere", headers={"If-None-Match": first.headers["ETag"]}, meta={"source": source.key})
        return [first, await handler.download_request(again)]

    first, second = asyncio.run(requested())
    assert (first.status, len(first.mails), second.status) == (200, 1, 304)
    spider.tracker.store.close()


def test_mail_in_two_mailboxes_has_one_identity(tmp_path: Path) -> None:
    first, other = (Newsletter(name=name, folder=tmp_path) for name in "甲乙")
    assert first.entry("x@y").identity == other.entry("x@y").identity != first.entry("z@y").identity
