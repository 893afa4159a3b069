"""Lying servers in two complete crawls on loopback: their claims are bounded, counted and reported, and nothing is fetched twice."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

import pytest
from forked import crawl

from newsportal.store import open_store
from newsportal.store.results import SourceState, StoredArticle

pytestmark = pytest.mark.slow

NOW = datetime.now(UTC)
SLUGS = 200
"""URL paths of one article in one feed. Only fetching shows that they are the same."""

OTHER = "127.0.0.2"
"""The host with a Retry-After of ten years, which pauses the whole host."""

Answer = tuple[int, dict[str, str], bytes]


@dataclass
class LyingServer:
    """``requests``: every request, with whether it was conditional."""

    requests: list[tuple[str, bool]] = field(default_factory=list)
    port: int = 0
    tags: Iterator[int] = field(default_factory=count)

    def times(self, path: str) -> int:
        return sum(1 for target, _ in self.requests if target.partition("?")[0] == path)

    def answer(self, path: str, conditional: bool) -> Answer:
        plain = path.partition("?")[0]
        if plain.startswith("/feed/"):
            return FEEDS[plain.removeprefix("/feed/")](self, conditional)
        if plain == "/robots.txt":
            return 404, {}, b""
        if plain.startswith("/story/77/"):
            return 200, {"Content-Type": "text/html; charset=utf-8"}, article("/story-77.html")
        if plain == "/part.html":
            return 206, {"Content-Type": "text/html; charset=utf-8"}, article(plain)
        if plain == "/port.html":
            return 302, {"Location": "http://127.0.0.1:99999/"}, b""
        if plain == "/rot13.html":
            return 200, {"Content-Type": "text/html; charset=rot13"}, article(plain).replace(b"charset=utf-8", b"charset=rot13")
        if plain.startswith("/nest/"):
            return 302, {"Location": plain + "a/b/"}, b""
        return 200, {"Content-Type": "text/html; charset=utf-8"}, article(plain)


PLACES, PEOPLE, DEEDS, TIMES = (
    words.split()
    for words in (
        "河边的老船坞 山上的茶园 镇里的小学 码头的灯塔 东街的集市 北坡的果园 老城的钟楼 水库的大坝 西郊的苗圃 桥头的药铺",
        "守夜的老人 新来的老师 卖糖人的师傅 撑船的兄弟 养蜂的姑娘 修表的匠人 放学的孩子 赶集的乡亲 采茶的妇女 值班的医生",
        "修好了漏雨的屋顶 换上了新的灯泡 收到了远方的来信 摆出了自家的木雕 量过了今年的水位 学会了古老的曲子 种下了第一排柳树",
        "清晨 傍晚 雨后 集日 月初 昨夜 午前 霜降那天",
    )
)


def article(path: str) -> bytes:
    """Return a page for any path, with a unique text."""
    name, chance = path.strip("/").replace("/", "-").partition(".")[0], random.Random(path)
    clauses = [f"{chance.choice(TIMES)}{chance.choice(PLACES)}旁，{chance.choice(PEOPLE)}{chance.choice(DEEDS)}" for _ in range(18)]
    lines = "".join(f"<p>{'，'.join(clauses[place : place + 3])}。</p>" for place in range(0, 18, 3))
    head = f"<html><head><meta charset=utf-8><title>{name}号消息</title></head>"
    return f"{head}<body><h1>{name}号消息</h1><div>{lines}</div></body></html>".encode()


def rss(liar: LyingServer, *entries: tuple[str, str, str]) -> bytes:
    """Entries are path, guid and date as written."""
    items = "".join(
        f"<item><title>{path.strip('/').partition('.')[0]}号消息</title><link>http://127.0.0.1:{liar.port}{path}</link>{guid}{date}</item>"
        for path, guid, date in entries
    )
    return f'<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>x</title>{items}</channel></rss>'.encode()


def _etag(liar: LyingServer, conditional: bool) -> Answer:
    return (
        200,
        {"ETag": f'"{next(liar.tags)}"', "Last-Modified": "Thu, 01 Jan 2099 00:00:00 GMT"},
        rss(liar, ("/etag1.html", "", ""), ("/etag2.html", "", "")),
    )


def _body304(liar: LyingServer, conditional: bool) -> Answer:
    return (304 if conditional else 200), {"ETag": '"1"'}, rss(liar, ("/body304.html", "", ""))


def _never(liar: LyingServer, conditional: bool) -> Answer:
    return 304, {"ETag": '"1"'}, rss(liar, ("/never.html", "", ""))


def _years(liar: LyingServer, conditional: bool) -> Answer:
    return 503, {"Retry-After": str(10 * 365 * 86400)}, b""


def _guid(liar: LyingServer, conditional: bool) -> Answer:
    return 200, {}, rss(liar, *((f"/guid{number}.html", "<guid>http://same.example/</guid>", "") for number in range(4)))


def _dates(liar: LyingServer, conditional: bool) -> Answer:
    written = (
        "",
        "<pubDate>0001-01-01T00:00:00Z</pubDate>",
        "<pubDate>Fri, 31 Dec 2099 23:59:59 GMT</pubDate>",
        "<pubDate>3分钟前</pubDate>",
        "<pubDate>昨天 08:30</pubDate>",
        "<pubDate>not a date</pubDate>",
    )
    return 200, {}, rss(liar, *((f"/date{number}.html", "", date) for number, date in enumerate(written)))


def _paths(liar: LyingServer, conditional: bool) -> Answer:
    return 200, {}, rss(liar, *((f"/story/77/bridge-{number}.html", "", "") for number in range(SLUGS)))


def _slugs(liar: LyingServer, conditional: bool) -> Answer:
    return (
        200,
        {},
        rss(liar, *((f"/slug.html?utm_source=s{number}&utm_medium=m{number:032x}", "", "") for number in range(2162))),
    )


def _nest(liar: LyingServer, conditional: bool) -> Answer:
    return 200, {}, rss(liar, ("/nest/a/b/", "", ""))


def _odd(liar: LyingServer, conditional: bool) -> Answer:
    paths = ("/part.html", "/port.html", "/rot13.html", f"/long.html?id={'9' * 3000}", f"/longer.html?id={'9' * 9000}")
    return 200, {}, rss(liar, *((path, "", "") for path in paths))


def _moved(liar: LyingServer, conditional: bool) -> Answer:
    return 301, {"Location": "/feed/guid"}, b""


FEEDS: dict[str, Callable[[LyingServer, bool], Answer]] = {
    "etag": _etag,
    "body304": _body304,
    "never": _never,
    "years": _years,
    "guid": _guid,
    "dates": _dates,
    "paths": _paths,
    "slugs": _slugs,
    "nest": _nest,
    "odd": _odd,
    "moved": _moved,
}


@pytest.fixture(scope="module")
def liar() -> Iterator[LyingServer]:
    lying = LyingServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def do_GET(self) -> None:
            conditional = bool(self.headers.get("If-None-Match") or self.headers.get("If-Modified-Since"))
            lying.requests.append((self.path, conditional))
            status, headers, body = lying.answer(self.path, conditional)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    lying.port = server.server_address[1]
    other = ThreadingHTTPServer((OTHER, lying.port), Handler)
    for each in (server, other):
        threading.Thread(target=each.serve_forever, daemon=True).start()
    yield lying
    for each in (server, other):
        each.shutdown()
        each.server_close()


@dataclass(frozen=True)
class Crawled:
    """``rows``: the reports of two crawls by source; ``first``: number of requests of the first crawl."""

    rows: tuple[dict[str, Any], dict[str, Any]]
    first: int
    articles: tuple[StoredArticle, ...]
    states: dict[str, SourceState]
    moved: str | None
    began: datetime


@pytest.fixture(scope="module")
def crawled(liar: LyingServer, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    sources = tmp_path_factory.mktemp("liars") / "sources.yaml"
    hosts = dict.fromkeys(FEEDS, "127.0.0.1") | {"years": OTHER}
    feeds = "".join(f'  - {{name: {name}, url: "http://{host}:{liar.port}/feed/{name}"}}\n' for name, host in hosts.items())
    polite = 'politeness: {delay: 0, per_domain: 8, allow_private: ["127.0.0.0/8"]}\n'
    sources.write_text(f"store: sqlite:///data/newsportal.db\n{polite}feeds:\n{feeds}", "utf-8")
    start, rows, first = datetime.now(UTC), [], 0
    for _ in range(2):
        rows.append({row["source"].partition(":")[2]: row for row in crawl(sources)["sources"]})
        first = first or len(liar.requests)
    with closing(open_store(f"sqlite:///{sources.parent}/data/newsportal.db")) as store:
        moved = next((visit.moved for visit in store.visits.of("feed:moved") if visit.moved), None)
        states = {state.source.partition(":")[2]: state for state in store.source_states()}
        return Crawled((rows[0], rows[1]), first, tuple(store.all_articles()), states, moved, start)


def stored(crawled: Crawled, prefix: str) -> list[StoredArticle]:
    return [article for article in crawled.articles if article.url.rpartition("/")[2].startswith(prefix)]


def test_changing_etag_refetches_only_the_list(crawled: Crawled, liar: LyingServer) -> None:
    assert len(stored(crawled, "etag")) == 2
    assert (crawled.rows[1]["etag"]["known"], crawled.rows[1]["etag"]["new"]) == (2, 0)
    assert liar.times("/etag1.html") == 1


def test_body_of_304_is_ignored(crawled: Crawled, liar: LyingServer) -> None:
    assert len(stored(crawled, "body304")) == 1
    assert (crawled.rows[1]["body304"]["not_modified"], crawled.rows[1]["body304"]["entries"]) == (1, 0)
    assert [conditional for path, conditional in liar.requests if path == "/feed/body304"] == [False, True]


def test_unsolicited_304_is_a_failure(crawled: Crawled) -> None:
    for rows in crawled.rows:
        assert rows["never"]["list_failed"] == {"http-304": 1}
        assert rows["never"]["not_modified"] == 0


def test_retry_after_is_limited_to_a_day(crawled: Crawled, liar: LyingServer) -> None:
    assert crawled.rows[0]["years"]["list_failed"] == {"http-503": 1}
    assert liar.times("/feed/years") == 1  # not retried, nor requested by the second crawl
    until = crawled.states["years"].rest_until
    assert until is not None
    assert timedelta(hours=23) < until - crawled.began < timedelta(hours=25)


def test_entries_with_same_guid_are_all_stored(crawled: Crawled) -> None:
    articles = stored(crawled, "guid")
    assert len(articles) == 4
    assert len({article.story_id for article in articles}) == 4


def test_invalid_dates_are_ignored(crawled: Crawled) -> None:
    articles = stored(crawled, "date")
    assert len(articles) == 6
    assert all(article.published is None or NOW - timedelta(days=3) < article.published < NOW + timedelta(days=1) for article in articles)


def test_tracking_parameters_do_not_repeat_fetches(crawled: Crawled, liar: LyingServer) -> None:
    assert len({article.story_id for article in stored(crawled, "slug")}) == 1
    assert liar.times("/slug.html") <= 2
    assert crawled.rows[1]["slugs"]["new"] == 0


def test_many_paths_of_article_are_one_story(crawled: Crawled, liar: LyingServer) -> None:
    articles = [article for article in crawled.articles if "/story/77/" in article.url]
    assert len({article.story_id for article in articles}) == 1
    requested = [path for path, _ in liar.requests if path.startswith("/story/77/")]
    assert len(requested) == len(set(requested)) <= SLUGS  # none by the second crawl
    assert crawled.rows[1]["paths"]["new"] == 0


def test_endless_redirects_are_cut(crawled: Crawled, liar: LyingServer) -> None:
    assert crawled.rows[0]["nest"]["failed"] == {"redirects": 1}
    assert sum(1 for path, _ in liar.requests[: crawled.first] if path.startswith("/nest/")) == 6  # once, and five redirects


def test_unreadable_entries_have_reasons_and_others_are_stored(crawled: Crawled, liar: LyingServer) -> None:
    assert crawled.rows[0]["odd"]["failed"] == {"http-206": 1, "bad-address": 1, "egress-denied": 1}
    assert len(stored(crawled, "rot13")) == len(stored(crawled, "long.html")) == 1
    assert sum(1 for path, _ in liar.requests[: crawled.first] if path == "/part.html") == 1


def test_permanent_redirect_of_feed_is_recorded(crawled: Crawled, liar: LyingServer) -> None:
    assert crawled.moved == f"http://127.0.0.1:{liar.port}/feed/guid"
