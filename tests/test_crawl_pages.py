"""Multi-page articles in a complete crawl: real HTTP on loopback, robots.txt, failures, cycles, archive and replay."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import forked
import pytest

from newsportal.store import open_store
from newsportal.store.results import StoredArticle

pytestmark = pytest.mark.slow

ROBOTS = "User-agent: *\nDisallow: /2026/0312/830105_2.html\n"
TOPICS = {
    830101: "全部三页都在",
    830102: "第二页不见了",
    830103: "第三页坏了",
    830104: "页码转成圆圈",
    830105: "第二页不许看",
    830106: "末页说了又说",
    830107: "列表先说第二页",
    830108: "第二页慢慢来",
    830109: "第二页回到首页",
    830110: "单页就是全文",
}
SLOW = 2.0
"""Seconds; more than all other responses take together."""


def body_of(number: int, page: int) -> str:
    words = "山间古镇的石板路昨天重新铺好，编号{}的石头是镇上老人自己挑的，走了六十年的路终于不再积水，第{}页的人都这么说。"
    return "".join(f"<p>{words.format(number * 100 + page * 10 + line, page)}</p>" for line in range(3))


def path(number: int, page: int) -> str:
    return f"/2026/0312/{number}{f'_{page}' if page > 1 else ''}.html"


def html(number: int, page: int, last: int = 3, pager: str | None = None) -> str:
    row = " ".join(f"<b>{n}</b>" if n == page else f'<a href="{path(number, n)}">{n}</a>' for n in range(1, last + 1))
    following = f' <a href="{path(number, page + 1)}">下一页</a>' if page < last else ""
    title = f"古镇修路：{TOPICS[number]}{f'（第{page}页）' if page > 1 else ''}"
    return (
        f"<html><head><meta charset=utf-8><title>{title}</title></head><body><h1>{title}</h1><p>2026-03-12 08:30</p>"
        f"<div class=text>{body_of(number, page)}</div><div class=pages>{row + following if pager is None else pager}</div></body></html>"
    )


def site_pages() -> dict[str, str]:
    pages = {path(number, page): html(number, page) for number in TOPICS for page in (1, 2, 3)}
    del pages[path(830102, 2)]
    for page in (1, 2, 3):
        pages[path(830104, page)] = html(830104, page, pager=f'<a href="{path(830104, page % 3 + 1)}">下一页</a>')
    pages[path(830106, 3)] = html(830106, 2, last=99).replace("（第2页）", "（第3页）")
    pages[path(830110, 1)] = pages[path(830110, 1)].replace("</body>", '<a href="/2026/0312/830110_all.html">单页阅读</a></body>')
    pages["/2026/0312/830110_all.html"] = html(830110, 1, pager="").replace("</div>", body_of(830110, 2) + body_of(830110, 3) + "</div>", 1)
    names = [path(number, 2 if number == 830107 else 1) for number in TOPICS]
    items = "".join(
        f'<li><a href="{name}">古镇修路：{title}</a> 2026-03-12</li>' for name, title in zip(names, TOPICS.values(), strict=True)
    )
    front = f"<html><head><meta charset=utf-8><title>河东新闻</title></head><body><h1>河东新闻</h1><ul>{items}</ul></body></html>"
    return pages | {"/": front, "/robots.txt": ROBOTS}


@dataclass
class Town:
    """The server. ``requested`` lists the requested paths."""

    port: int = 0
    requested: list[str] = field(default_factory=list)
    pages: dict[str, str] = field(default_factory=site_pages)
    slow: float = SLOW
    let_go: threading.Event = field(default_factory=threading.Event)


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    found = Town()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.requested.append(self.path)
            if self.path == path(830108, 2):
                found.let_go.wait(found.slow)
            moved = self.path == path(830109, 2)
            body = found.pages.get(self.path, "").encode()
            self.send_response(302 if moved else 500 if self.path == path(830103, 3) else 200 if body else 404)
            if moved:
                self.send_header("Location", "/")
            self.send_header("Content-Type", "text/plain" if self.path == "/robots.txt" else "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield found
        server.shutdown()


def write_sources(folder: Path, town: Town) -> Path:
    address = f"http://127.0.0.1:{town.port}/"
    sources = folder / "sources.yaml"
    sources.write_text(
        "version: 1\nstore: sqlite:///news.db\npoliteness: {delay: 0, timeout: 600, allow_private: [127.0.0.1]}\n"
        f"regions:\n  - {{name: 河东, prefix: '{address}', seeds: ['{address}']}}\n",
        "utf-8",
    )
    return sources


def crawl(folder: Path, town: Town, *options: str) -> dict[str, Any]:
    return forked.crawl(write_sources(folder, town), *options)


def articles(folder: Path) -> dict[str, StoredArticle]:
    with closing(open_store(f"sqlite:///{folder}/news.db")) as store:
        return {article.title.partition("：")[2]: article for article in store.all_articles()}


@dataclass(frozen=True)
class Crawled:
    report: dict[str, Any]
    articles: dict[str, StoredArticle]
    requested: list[str]
    folder: Path


@pytest.fixture(scope="module")
def crawled(town: Town, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    folder = tmp_path_factory.mktemp("pages")
    report = crawl(folder, town, "--archive", str(folder / "crawl.warc.gz"))
    return Crawled(report, articles(folder), list(town.requested), folder)


def pages_in(article: StoredArticle) -> list[str]:
    """Return the page digits of the article's lines, in text order, including repetitions."""
    return [line.partition("编号")[2][6] for line in article.text.split("\n") if line.partition("编号")[2][7:8] == "0"]


def test_articles_are_stored_once_under_plain_title(crawled: Crawled) -> None:
    assert sorted(crawled.articles) == sorted(TOPICS.values())
    assert crawled.report["total"]["stored"] == len(TOPICS)
    assert crawled.report["total"]["failed"] == {}


@pytest.mark.parametrize(
    ("topic", "pages"),
    [
        ("全部三页都在", "123"),
        ("第二页不见了", "1"),
        ("第三页坏了", "12"),
        ("页码转成圆圈", "123"),
        ("第二页不许看", "1"),
        ("末页说了又说", "12"),
        ("列表先说第二页", "123"),
        ("第二页慢慢来", "123"),
        ("第二页回到首页", "1"),
        ("单页就是全文", "123"),
    ],
)
def test_available_pages_are_joined_in_order(crawled: Crawled, topic: str, pages: str) -> None:
    assert "".join(pages_in(crawled.articles[topic])) == pages


def test_forbidden_pages_are_skipped_and_others_requested_once(crawled: Crawled) -> None:
    assert path(830105, 2) not in crawled.requested
    once = [name for name in crawled.requested if name.startswith("/2026") and name != path(830103, 3)]
    assert len(once) == len(set(once)), "each page is requested once; 500 is retried"
    assert path(830110, 2) not in crawled.requested, "the single-page view was used"


def test_unavailable_pages_are_noted(crawled: Crawled) -> None:
    notes = {note["text"] for row in crawled.report["sources"] for note in row["notes"]}
    assert {f"further pages of some articles cannot be fetched ({reason})" for reason in ("http-404", "http-500", "robots")} == notes


def test_second_crawl_knows_all_pages(crawled: Crawled, town: Town) -> None:
    town.requested.clear()
    front = town.pages["/"]
    town.pages["/"] = front.replace(path(830101, 1), path(830101, 3))
    try:
        total = crawl(crawled.folder, town)["total"]
    finally:
        town.pages["/"] = front
    assert (total["stored"], total["folded"], total["new"]) == (0, 0, 0)
    assert [name for name in town.requested if name.startswith("/2026")] == []


def test_replay_joins_the_same_pages(crawled: Crawled, town: Town, tmp_path: Path) -> None:
    town.requested.clear()
    crawl(tmp_path, town, "--replay", str(crawled.folder / "crawl.warc.gz"))
    assert town.requested == []
    assert {title: article.text for title, article in articles(tmp_path).items()} == {
        title: article.text for title, article in crawled.articles.items()
    }


def test_interrupted_article_waits_for_next_run(town: Town, tmp_path: Path) -> None:
    town.requested.clear()
    town.slow = 600.0
    with forked.Started("crawl", "--log-level", "INFO", "--sources", str(write_sources(tmp_path, town))) as process:
        until = time.monotonic() + 600
        while path(830108, 2) not in town.requested and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        while "Received SIGINT" not in process.errors and time.monotonic() < until:
            time.sleep(0.02)
        town.let_go.set()
        process.wait(600)
    assert path(830108, 3) not in town.requested
    assert TOPICS[830108] not in articles(tmp_path), "an article with retryable pages is not stored yet"
    crawl(tmp_path, town)
    assert pages_in(articles(tmp_path)[TOPICS[830108]]) == ["1", "2", "3"]
