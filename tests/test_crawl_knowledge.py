"""Site knowledge of a crawl, with real HTTP on loopback: a line printed into every article is removed, the text stays."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import forked
import pytest

from newsportal.store import open_store

pytestmark = pytest.mark.slow

PROMOTION = "更多河东新闻，欢迎关注“河东发布”公众号，每天早上七点，我们准时把镇上的大小事情送到您的手边。"
PLACES = ("码头", "东站", "老桥", "集市", "书院", "渡口", "水库", "山路")


def lines_about(place: str, lines: int = 6) -> list[str]:
    words = "{}的修缮昨天完工，第{}段用的是镇上老人自己挑的青石，走了六十年的{}终于不再积水，街坊们都来看热闹。"
    return [words.format(place, number, place) for number in "一二三四五六七八九十"[:lines]]


def html(title: str, lines: list[str]) -> str:
    text = "".join(f"<p>{line}</p>" for line in (*lines, PROMOTION))
    return (
        f"<html><head><meta charset=utf-8><title>{title}</title></head><body><ul><li><a href=/>首页</a></li></ul>"
        f"<h1>{title}</h1><p>2026-03-12 08:30</p><div class=text>{text}</div></body></html>"
    )


@dataclass
class Town:
    """The server and its pages: the front page lists ``named``."""

    port: int = 0
    pages: dict[str, tuple[str, str]] = field(default_factory=dict)
    named: list[str] = field(default_factory=list)

    def publish(self, number: int, title: str, lines: list[str]) -> None:
        path = f"/2026/0312/8301{number:02}.html"
        self.pages[path] = (title, html(title, lines))
        self.named = [path]

    def front(self) -> str:
        items = "".join(f'<li><a href="{path}">{self.pages[path][0]}</a> 2026-03-12</li>' for path in self.named)
        return f"<html><head><meta charset=utf-8><title>河东新闻</title></head><body><h1>河东新闻</h1><ul>{items}</ul></body></html>"

    def answer(self, path: str) -> str | None:
        return self.front() if path == "/" else self.pages.get(path, ("", None))[1]


@pytest.fixture
def town() -> Iterator[Town]:
    found = Town()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = found.answer(self.path)
            body = (answer or "").encode()
            self.send_response(404 if answer is None else 200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
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


def crawl(folder: Path, town: Town) -> dict[str, str]:
    """Crawl and return all stored texts by title."""
    address = f"http://127.0.0.1:{town.port}/"
    sources = folder / "sources.yaml"
    sources.write_text(
        "version: 1\nstore: sqlite:///news.db\npoliteness: {delay: 0, allow_private: [127.0.0.1]}\n"
        f"regions:\n  - {{name: 河东, prefix: '{address}', seeds: ['{address}']}}\n",
        "utf-8",
    )
    assert forked.crawl(sources)["total"]["failed"] == {}
    with closing(open_store(f"sqlite:///{folder}/news.db")) as store:
        return {article.title: article.text or "" for article in store.all_articles()}


def test_repeated_line_is_removed_after_two_pages(town: Town, tmp_path: Path) -> None:
    for number, place in enumerate(PLACES):
        town.publish(number, f"{place}修好了", lines_about(place))
    town.named = sorted(town.pages)
    texts = crawl(tmp_path, town)
    assert len(texts) == len(PLACES)
    for place in PLACES:
        assert texts[f"{place}修好了"].split("\n")[:6] == lines_about(place)
    titles = [title for title, text in texts.items() if PROMOTION in text]
    assert 1 <= len(titles) <= 2, "the first page and one read at the same time have none to compare with"


def test_next_crawl_uses_saved_knowledge(town: Town, tmp_path: Path) -> None:
    town.publish(0, "码头修好了", lines_about("码头"))
    assert crawl(tmp_path, town)["码头修好了"].split("\n") == [*lines_about("码头"), PROMOTION]
    town.publish(1, "东站修好了", lines_about("东站"))
    texts = crawl(tmp_path, town)
    assert texts["东站修好了"].split("\n") == lines_about("东站")
    assert PROMOTION in texts["码头修好了"], "stored articles are not changed"


def test_extended_report_at_new_url_is_complete(town: Town, tmp_path: Path) -> None:
    town.publish(0, "码头今晨修好", lines_about("码头", 2))
    crawl(tmp_path, town)
    town.publish(1, "码头修好之后：一位老人的六十年", [*lines_about("码头", 10), *lines_about("渡口", 10)])
    grown = crawl(tmp_path, town)["码头修好之后：一位老人的六十年"]
    assert grown.split("\n")[:20] == [*lines_about("码头", 10), *lines_about("渡口", 10)]
