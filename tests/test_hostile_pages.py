"""Hostile pages in complete crawls on loopback: they are counted and refused, others are stored, and a stopping crawl waits for none."""

from __future__ import annotations

import gzip
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import pytest
from forked import Started, crawl

from newsportal.store import open_store
from tests.test_lying_servers import article

pytestmark = pytest.mark.slow

HEAD: Final = "<html><head><title>滨海新线今晨通车</title></head><body><h1>滨海新线今晨通车</h1>"
HOSTILE: Final[dict[str, Callable[[], str]]] = {
    "paragraphs": lambda: "<p>a" * 4_190_000,
    "breaks": lambda: "<br>" * 1_000_000,
    "divisions": lambda: "<div>" * 1_000_000,
    "comments": lambda: "a<!-- -->" * 1_000_000,
    "attributes": lambda: f"<i {' '.join(f'a{number}' for number in range(600))}>" * 1_700,
}  # in a form of some kilobytes each
REFUSED: Final = {"too-many-tags": 4, "too-many-attributes": 1}
BORNE: Final[dict[str, Callable[[], str]]] = {
    "one-tag": lambda: f"<p {' '.join(f'a{number}' for number in range(1_000_000))}>",
    "deep": lambda: "<div><b>" * 24_000,
    "entities": lambda: "a&amp;" * 1_000_000,
}
"""Pages that are read within bounds, with any result."""

GOOD: Final = 12
ENDLESS: Final = "//*[count(preceding::*[count(preceding::*[count(preceding::*)=-1])=-1])=-1]"
"""A rule whose XPath takes the fourth power of a page's size: days, for some thousand elements."""

PATIENCE: Final = 300.0
"""Seconds after which a crawl counts as waiting for the page that it reads; that page takes hours of processor time."""


@dataclass
class Site:
    port: int = 0
    long_asked: threading.Event = field(default_factory=threading.Event)

    def answer(self, path: str) -> bytes | None:
        name = path.strip("/").removesuffix(".html")
        if name in ("feed", "endless"):
            pages = ["long"] if name == "endless" else [*HOSTILE, *BORNE, *(f"good{number}" for number in range(GOOD))]
            items = "".join(f"<item><title>{page}</title><link>http://127.0.0.1:{self.port}/{page}.html</link></item>" for page in pages)
            return f'<rss version="2.0"><channel><title>x</title>{items}</channel></rss>'.encode()
        if name in HOSTILE or name in BORNE:
            return (HEAD + {**HOSTILE, **BORNE}[name]()).encode()
        if name == "long":
            self.long_asked.set()
            return (HEAD + "<p>滨海" * 20_000).encode()
        return article(path) if name.startswith("good") else None


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    hostile = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = hostile.answer(self.path)
            packed = gzip.compress(body or b"", 1)
            about = {"Content-Type": "text/html; charset=utf-8", "Content-Encoding": "gzip", "Content-Length": str(len(packed))}
            self.send_response(404 if body is None else 200)
            for name, value in about.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(packed)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hostile.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield hostile
    server.shutdown()
    server.server_close()


def sources_in(folder: Path, site: Site, processes: int) -> Path:
    feeds = (
        f'  - {{name: 混合, url: "http://127.0.0.1:{site.port}/feed"}}\n'
        f'  - {{name: 无尽, url: "http://127.0.0.1:{site.port}/endless", article: {{title: "{ENDLESS}", body: p}}}}\n'
    )
    polite = 'politeness: {delay: 0, per_domain: 8, timeout: 300, allow_private: ["127.0.0.0/8"]}\n'
    path = folder / "sources.yaml"
    path.write_text(f"store: sqlite:///data/newsportal.db\nextraction: {{processes: {processes}}}\n{polite}feeds:\n{feeds}", "utf-8")
    return path


def stored(sources: Path) -> dict[str, str]:
    """Return the titles of stored articles by identity."""
    with closing(open_store(f"sqlite:///{sources.parent}/data/newsportal.db", create=False)) as store:
        return {article.identity or "": article.title for article in store.all_articles()}


def test_hostile_pages_are_counted_and_others_stored(site: Site, tmp_path: Path) -> None:
    sources = sources_in(tmp_path, site, 2)
    rows = {row["source"]: row for row in crawl(sources)["sources"]}
    assert {reason: rows["feed:混合"]["failed"].get(reason) for reason in REFUSED} == REFUSED
    assert rows["feed:无尽"]["failed"] == {"reading-time": 1}
    assert sum("/good" in name for name in stored(sources)) == GOOD


def test_stopping_crawl_does_not_wait_for_page(site: Site, tmp_path: Path) -> None:
    sources, unlimited = sources_in(tmp_path, site, 1), "NEWSPORTAL_EXTRACTION_SECONDS=36000"
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = newsportal.settings\n", "utf-8")
    site.long_asked.clear()
    words = ("crawl", "rss", "-a", "source=无尽", "-s", unlimited, "-s", f"NEWSPORTAL_SOURCES={sources}")
    started = Started(*words, module="scrapy", cwd=tmp_path)
    assert site.long_asked.wait(PATIENCE), started.communicate(1.0)
    started.send_signal(signal.SIGTERM)
    assert started.wait(PATIENCE) == 0
