"""Twenty hosts on loopback with plain articles, in a separate process, that count requests: ``python host_farm.py HOSTS PAGES``.

It prints its port. Each host 127.0.0.2, 127.0.0.3 … has a feed or a channel of five lists that link to its articles. Control, on 127.0.0.1:
``/counts`` returns the number of requests per page; ``/poison?URL`` makes a page kill its client; ``/slow?SECONDS`` delays every article,
including pending requests; ``/slow?SECONDS,NUMBER`` all but the first NUMBER.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

LISTS = 5
"""List pages of a channel."""

WORDS = [a + b for a in "山水城乡春夏秋冬东西南北古今新旧" for b in "路桥店院市场馆园河湖村镇会节车船"]


def text(host: int, page: int) -> str:
    """Return the words of an article: no two pages share a sentence."""
    words = random.Random(host * 100_000 + page)
    sentences = ["".join(words.choices(WORDS, k=12)) + "。" for _ in range(9)]
    return "".join(f"<p>{''.join(sentences[at : at + 3])}</p>" for at in (0, 3, 6))


def title(host: int, page: int) -> str:
    words = random.Random(f"{host}/{page}")
    return f"{''.join(words.choices(WORDS, k=5))}第{host}城{page}号"


def article(host: int, page: int) -> str:
    head = f"<head><meta charset=utf-8><title>{title(host, page)}</title></head>"
    body = f"<h1>{title(host, page)}</h1><div>2026-03-05 08:00</div><article>{text(host, page)}</article>"
    return f"<html>{head}<body>{body}</body></html>"


def feed(host: int, base: str, pages: int) -> str:
    items = (f"<item><title>{title(host, page)}</title><link>{base}/a/{page}.html</link></item>" for page in range(pages))
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>城{host}</title>{"".join(items)}</channel></rss>'


def channel(host: int, number: int, pages: int) -> str:
    each = -(-pages // LISTS)
    entries = range((number - 1) * each, min(number * each, pages))
    links = "".join(f'<li><a href="/a/{page}.html">{title(host, page)}</a> <span>2026-03-05</span></li>' for page in entries)
    more = f'<a href="/list_{number + 1}.html">下一页</a>' if number < LISTS else ""
    return (
        f"<html><head><meta charset=utf-8><title>城{host}</title></head><body><ul>{links}</ul><div class=pager>{more}</div></body></html>"
    )


class Farm:
    def __init__(self, hosts: int, pages: int) -> None:
        self.hosts, self.pages = hosts, pages
        self.port = 0
        self.counts: Counter[str] = Counter()
        self.poison: set[str] = set()
        self.slow, self.soon = 0.0, 0

    async def serve(self) -> None:
        first = await asyncio.start_server(self.talk, "127.0.0.1", 0)
        self.port = first.sockets[0].getsockname()[1]
        await asyncio.start_server(self.talk, [f"127.0.0.{number + 2}" for number in range(self.hosts)], self.port)
        print(self.port, flush=True)
        await first.serve_forever()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (line := await reader.readline()).strip():
                path = line.split()[1].decode()
                while (await reader.readline()).strip():
                    pass
                status, kind, body = await self.answer(writer, path)
                head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
                writer.write(head.encode() + body)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client was killed
        finally:
            writer.close()

    async def answer(self, writer: asyncio.StreamWriter, path: str) -> tuple[str, str, bytes]:
        host = int(writer.get_extra_info("sockname")[0].rpartition(".")[2]) - 2
        if host < 0:
            return self.control(path)
        base = f"http://127.0.0.{host + 2}:{self.port}"
        self.counts[base + path] += 1
        if base + path in self.poison:
            os.kill(client_process(*map(writer.get_extra_info, ("peername", "sockname"))), signal.SIGKILL)
            raise ConnectionResetError
        if path.startswith("/a/"):
            self.soon -= 1
            start = time.monotonic()
            while self.soon < 0 and time.monotonic() < start + self.slow:  # noqa: ASYNC110 - the delay may be removed meanwhile
                await asyncio.sleep(0.02)
            return "200 OK", "text/html", article(host, int(path[3:-5])).encode()
        if path == "/feed.xml":
            return "200 OK", "application/rss+xml", feed(host, base, self.pages).encode()
        if path == "/" or path.startswith("/list_"):
            return "200 OK", "text/html", channel(host, 1 if path == "/" else int(path[6:-5]), self.pages).encode()
        return "404 Not Found", "text/plain", b"nothing here"

    def control(self, path: str) -> tuple[str, str, bytes]:
        command, _, value = path.partition("?")
        if command == "/poison":
            self.poison.add(unquote(value))
        elif command == "/slow":
            seconds, _, soon = value.partition(",")
            self.slow, self.soon = float(seconds), int(soon or 0)
        return "200 OK", "application/json", json.dumps(self.counts).encode()


def client_process(*ends: tuple[str, int]) -> int:
    """Return the process at the first end of a local connection, from ``/proc``. Connections to other servers may begin at the same port,
    so both ends must match. Sockets and processes come and go while the kernel lists them, so the search is repeated."""
    addresses = [f"{bytes(map(int, host.split('.')))[::-1].hex().upper()}:{port:04X}" for host, port in ends]
    for _ in range(100):
        rows = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
        sockets = {f"socket:[{row[9]}]" for row in rows if row[1:3] == addresses}
        for process in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):  # the process has ended, or closed the file
                for descriptor in os.listdir(f"/proc/{process}/fd"):
                    with suppress(OSError):
                        if os.readlink(f"/proc/{process}/fd/{descriptor}") in sockets:
                            return int(process)
    raise LookupError(f"no process has the connection {ends}")


if __name__ == "__main__":
    asyncio.run(Farm(int(sys.argv[1]), int(sys.argv[2])).serve())
