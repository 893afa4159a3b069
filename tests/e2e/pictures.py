"""Pictures for the browser tests: landscapes drawn in SVG, served on loopback in place of the publishers' servers."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from zlib import crc32

SKIES = (("#f6c58f", "#7d9bc1"), ("#cfe0ee", "#6f95b8"), ("#f3d9c8", "#b07a8c"), ("#dfe8d8", "#7fa39a"), ("#2c3e5c", "#c8776b"))
HILLS = (("#5d7f86", "#40606a", "#263f48"), ("#6a8f6b", "#48704f", "#2c4a36"), ("#8a7d92", "#62566f", "#3d3449"))


def landscape(name: str) -> bytes:
    """Return an SVG that depends only on the name: sky, sun, hills; a name like ``-800x1000.svg`` sets its size."""
    chance = Random(crc32(name.encode()))
    above, below = chance.choice(SKIES)
    rows = []
    for depth, colour in enumerate(chance.choice(HILLS)):
        base, points = 300 + 90 * depth, [f"0,{600}"]
        points += [f"{x},{base - chance.randint(0, 150 - 30 * depth)}" for x in range(0, 1081, 120)]
        rows.append(f'<polygon fill="{colour}" opacity="{0.7 + 0.15 * depth}" points="{" ".join(points)} 1080,600"/>')
    sun = f'<circle cx="{chance.randint(150, 810)}" cy="{chance.randint(90, 230)}" r="46" fill="#fff4d8" opacity=".85"/>'
    stops = f'<stop stop-color="{above}"/><stop offset="1" stop-color="{below}"/>'
    sky = f'<linearGradient id="s" x1="0" x2="0" y1="1" y2="0">{stops}</linearGradient>'
    body = f'<defs>{sky}</defs><rect width="960" height="600" fill="url(#s)"/>{sun}{"".join(rows)}'
    width, height = (re.findall(r"-(\d+)x(\d+)\.svg$", name) or [("960", "600")])[0]
    frame = f'viewBox="0 0 960 600" width="{width}" height="{height}" preserveAspectRatio="xMidYMid slice"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {frame}>{body}</svg>'.encode()


class Pictures(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        picture = landscape(self.path)
        self.send_response(200)
        self.send_header("content-type", "image/svg+xml")
        self.send_header("content-length", str(len(picture)))
        self.end_headers()
        self.wfile.write(picture)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def pictures() -> Iterator[str]:
    """Serve landscapes on a free port; yield the base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pictures)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
