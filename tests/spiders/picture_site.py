"""A picture site on loopback whose pages a test defines: path to response. It records the requested paths."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import forked

Answer = str | int | tuple[int, str]
"""The body of a page, a status, or a status with the target of a redirect."""


@dataclass
class PictureSite:
    pages: dict[str, Answer] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    at: str = ""
    before: Callable[[str], None] = lambda path: None

    def index(self, path: str, *stories: str, more: str = "") -> None:
        cards = "".join(
            f'<li><a href="{url}"><img src="/thumb{number}.jpg" alt="组图{number}"></a></li>' for number, url in enumerate(stories)
        )
        self.pages[path] = html("图片频道", f'<ul class="photo-list">{cards}</ul>{more}')

    def page(
        self, path: str, story: str, number: int, total: int | None = None, next: str | None = None, names: tuple[str, ...] = ()
    ) -> None:
        """Add a page with one picture and its caption."""
        counter = f'<span class="num">{number}/{total}</span>' if total else ""
        pager = "".join(f'<a href="{url}">{place}</a>' for place, url in enumerate(names, 1))
        pager += f'<a class="next" href="{next}">下一页</a>' if next else ""
        self.pages[path] = html(
            f"{story}",
            f'<h1>{story}</h1><div class="pic-time">2026年3月5日 09:30</div>{counter}<div class="photo-main">'
            f'<img src="/pic/{story}-{number}.jpg" width="900" height="600">'
            f'<p class="caption">{story}的第{number}张照片，记者在现场拍摄，河水缓缓流过老桥。</p></div>'
            f'<div class="pages">{pager}</div>',
        )


def html(title: str, body: str) -> str:
    return f'<!DOCTYPE html><html lang="zh"><head><meta charset="utf-8"><title>{title}</title></head><body>{body}</body></html>'


@contextmanager
def serving() -> Iterator[PictureSite]:
    site = PictureSite()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # name required by http.server
            if self.path == "/robots.txt":
                site_answer: Answer = site.pages.get("/robots.txt", 404)
            else:
                site.requests.append(self.path)
                site.before(self.path)
                site_answer = site.pages.get(self.path, 404)
            self._send(site_answer)

        def _send(self, answer: Answer) -> None:
            status, content = (200, answer) if isinstance(answer, str) else (answer, "") if isinstance(answer, int) else answer
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", content)
                content = ""
            body = content.encode()
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site.at = f"http://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()


def write_sources(folder: Path, site: PictureSite, more: str = "", name: str = "图站") -> Path:
    """Write a ``sources.yaml`` that visits ``/photo/`` of the site without a delay."""
    path = folder / "sources.yaml"
    path.write_text(
        f"politeness: {{delay: 0, allow_private: [127.0.0.1], timeout: 5}}\npictures: {{look: false}}\n"
        f"galleries:\n- name: {name}\n  seeds: ['{site.at}/photo/']\n{more}",
        "utf-8",
    )
    return path


def crawl(sources: Path, *options: str) -> dict[str, Any]:
    """Crawl and return the source's row of the run report, after checking that its figures add up."""
    report = forked.crawl(sources, "gallery", *options)
    for row in (*report["sources"], report["total"]):
        assert row["entries"] == row["known"] + row["repeated"] + row["new"], row
        assert row["new"] == row["parsed"] + sum(row["failed"].values()) + row["left"], row
        assert row["parsed"] == row["stored"] + row["folded"] + row["same"], row
    row: dict[str, Any] = report["total"]
    return row
