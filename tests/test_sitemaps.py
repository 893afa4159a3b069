"""Sitemaps in complete crawls: real HTTP on loopback, the real spider and stages; with cycles, wrong dates and bombs."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import forked
import pytest

from newsportal.store import open_store

pytestmark = pytest.mark.slow

NEWS = 'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
SENTENCE = "第{n}艘渡轮今晨从{n}号码头出发，船上有{n}十余名旅客和{n}吨货物，预计傍晚抵达对岸的港口，沿途风浪不大。"
TEXT = "".join(f"<p>{SENTENCE}</p>" for _ in range(3))


class Site:
    """Responses by path: a body, or a status. Every body has an ETag, which yields 304 when sent back."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes | int] = {}
        self.requests: list[str] = []
        self.conditional: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # name required by http.server
                site.requests.append(self.path)
                body = site.pages.get(self.path, 404)
                tag = f'"{hash(body)}"'
                etag = self.headers.get("If-None-Match")
                if etag:
                    site.conditional.append(self.path)
                status = body if isinstance(body, int) else 304 if etag == tag else 200
                content = body if isinstance(body, bytes) and status == 200 else b""
                self.send_response(status)
                self.send_header("Content-Type", "text/html; charset=utf-8" if "/a/" in self.path else "application/octet-stream")
                self.send_header("Content-Length", str(len(content)))
                self.send_header("ETag", tag)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.at = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def article(self, number: int) -> str:
        path = f"/a/{700000 + number}.html"
        page = f"<html><head><title>第{number}条渡轮消息从港口传来</title></head><body><h1>第{number}条渡轮消息从港口传来</h1>"
        self.pages[path] = f"{page}<div class=content>{TEXT.replace('{n}', str(number))}</div></body></html>".encode()
        return self.at + path


def urlset(*entries: tuple[str, datetime | None]) -> bytes:
    dates = [f"<lastmod>{when.isoformat()}</lastmod>" if when else "" for _, when in entries]
    urls = (f"<url><loc>{url}</loc>{date}</url>" for (url, _), date in zip(entries, dates, strict=True))
    return f"<urlset>{''.join(urls)}</urlset>".encode()


def index(*entries: str) -> bytes:
    return f"<sitemapindex>{''.join(f'<sitemap><loc>{url}</loc></sitemap>' for url in entries)}</sitemapindex>".encode()


@pytest.fixture
def site() -> Iterator[Site]:
    served = Site()
    yield served
    served.close()


def crawl(tmp_path: Path, site: Site, path: str, more: str = "") -> dict[str, Any]:
    """Crawl and return the row of the sitemap in the report."""
    file = tmp_path / "sources.yaml"
    polite = "politeness: {delay: 0, allow_private: [127.0.0.1]}"
    file.write_text(f"{polite}\nsitemaps:\n- {{name: 图, url: '{site.at}{path}'{more}}}\n", "utf-8")
    (row,) = [row for row in forked.crawl(file, "sitemap")["sources"] if row["source"] == "sitemap:图"]
    return row


def titles(tmp_path: Path) -> set[str]:
    with closing(open_store(f"sqlite:///{tmp_path}/data/newsportal.db")) as store:
        return {article.title for article in store.all_articles()}


NOW = datetime.now(UTC)


def test_sitemaps_in_robots_txt_are_read_once_then_only_new_entries(site: Site, tmp_path: Path) -> None:
    site.pages["/robots.txt"] = f"User-agent: *\nSitemap: {site.at}/index.xml\n".encode()
    site.pages["/index.xml"] = index(
        f"{site.at}/index.xml", f"{site.at}/one.xml.gz", f"{site.at}/two.xml", "https://elsewhere.example/x.xml"
    )
    young, old = NOW - timedelta(days=1), NOW - timedelta(days=30)
    sitemap = urlset((site.article(1), young), (site.article(2), young - timedelta(hours=1)), (site.article(3), old))
    site.pages["/one.xml.gz"] = gzip.compress(sitemap)
    site.pages["/two.xml"] = f"{site.article(4)}\nhttps://elsewhere.example/a/700009.html\n{site.at}/about/\n".encode()
    first = crawl(tmp_path, site, "/robots.txt")
    assert titles(tmp_path) == {f"第{n}条渡轮消息从港口传来" for n in (1, 2, 4)}
    assert site.requests.count("/index.xml") == 1, "an index that lists itself"
    notes = " ".join(note["text"] for note in first["notes"])
    for words in ("1 entry is older", "2 URLs of other sites", "1 URL does not look like an article"):
        assert words in notes

    site.requests.clear()
    site.pages["/two.xml"] = f"{site.article(4)}\n{site.article(5)}\n".encode()
    crawl(tmp_path, site, "/robots.txt")
    assert "第5条渡轮消息从港口传来" in titles(tmp_path)
    assert [path for path in site.requests if path.startswith("/a/")] == ["/a/700005.html"]
    assert "/one.xml.gz" in site.conditional
    assert "/index.xml" not in site.conditional, "its sitemaps may change even if it does not"


def test_newest_entries_come_first_and_others_next_visit(site: Site, tmp_path: Path) -> None:
    site.pages["/s.xml"] = urlset(*((site.article(n), NOW - timedelta(hours=n)) for n in (5, 1, 4, 2, 3)))
    row = crawl(tmp_path, site, "/s.xml", ", limit: 2")
    assert titles(tmp_path) == {f"第{n}条渡轮消息从港口传来" for n in (1, 2)}
    assert any("3 entries are left" in note["text"] for note in row["notes"])
    crawl(tmp_path, site, "/s.xml", ", limit: 2")
    assert titles(tmp_path) == {f"第{n}条渡轮消息从港口传来" for n in (1, 2, 3, 4)}


def test_wrong_lastmod_dates_are_reported_and_ignored(site: Site, tmp_path: Path) -> None:
    site.pages["/s.xml"] = urlset(*((site.article(n), datetime.now(UTC)) for n in range(1, 7)))
    row = crawl(tmp_path, site, "/s.xml")
    assert any(note["code"] == "warning.lastmod-now" for note in row["notes"])
    moved = [NOW - timedelta(days=1, minutes=n) for n in range(6)]
    site.pages["/s.xml"] = urlset(*((site.article(n + 1), when) for n, when in enumerate(moved)))
    crawl(tmp_path, site, "/s.xml")
    site.pages["/s.xml"] = urlset(*((site.article(n + 1), when + timedelta(hours=3)) for n, when in enumerate(moved)))
    row = crawl(tmp_path, site, "/s.xml")
    assert any(note["code"] == "warning.lastmod-moves" for note in row["notes"])


def test_bombs_and_invalid_sitemaps_do_not_break_visit(site: Site, tmp_path: Path) -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    entities = f'<!DOCTYPE u [<!ENTITY l0 "ha">{laughs}<!ENTITY x SYSTEM "file:///etc/passwd">]>'.encode()
    site.pages |= {
        "/index.xml": index(*(f"{site.at}/{name}" for name in ("laughs.xml", "bomb.gz", "page.html", "gone.xml", "good.xml"))),
        "/laughs.xml": entities + urlset((site.article(1) + "?x=&x;&l11;", None), (site.article(1), None)),
        "/bomb.gz": gzip.compress(urlset((site.article(2), None))[: -len("</urlset>")] + bytes(60_000_000), 1),
        "/page.html": b"<html><body>404</body></html>",
        "/good.xml": urlset((site.article(3), None)),
    }
    row = crawl(tmp_path, site, "/index.xml", f", max_age: {3}")
    assert {f"第{n}条渡轮消息从港口传来" for n in (1, 2, 3)} <= titles(tmp_path)
    assert row["list_failed"] == {"not-a-sitemap": 1, "http-404": 1}
    notes = " ".join(note["text"] for note in row["notes"])
    assert "declares entities" in notes
    assert "too large" in notes
