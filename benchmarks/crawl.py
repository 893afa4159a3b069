"""The claim: newsportal's whole line keeps 0.4 of the speed of a plain Scrapy spider that reads four fields of each page, and is 2.5 times
as fast as Scrapy with trafilatura.

    python benchmarks/crawl.py [ARTICLES] [--repeat 3] [--processes 0] [--profile FILE]

A process of its own serves made-up news pages of about 72 kB on twenty loopback addresses, without delay. They are crawled, in turn, by

- ``fetch``: Scrapy as it comes, pages fetched and thrown away;
- ``fields``: the same, with title, date, author and paragraphs read by CSS selectors that know the template (the peer);
- ``trafilatura``: the same, with text and metadata read by trafilatura, which knows no template (the other peer, where it is installed);
- ``line``: newsportal as a user runs it: front page, links, robots.txt, ``best`` without any template, classification, folding, SQLite.

Clock and processor seconds are those of the crawling process from the spider's start to its end, imports not counted, the median of the
repeats; the server works beside it on another core. ``--processes``: pages are read in so many others, whose processor seconds are not
counted. ``--profile`` writes cProfile's figures of the line, of all its threads.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from search import Vocabulary

KINDS = ("fetch", "fields", *(("trafilatura",) if find_spec("trafilatura") else ()), "line")
GOALS = {"fields": 0.4, "trafilatura": 2.5}
"""Minimum speed of the line relative to each peer's."""
HOSTS = [f"127.0.0.{number}" for number in range(2, 22)]
PAGE_BYTES = 72_000
PARAGRAPHS = 12
SEED = 20260301
POLITENESS = {"CONCURRENT_REQUESTS": 64, "CONCURRENT_REQUESTS_PER_DOMAIN": 16, "DOWNLOAD_DELAY": 0}
"""Settings of all crawls, without delay: the server is local."""

# the pages


@cache
def vocabulary() -> Vocabulary:
    return Vocabulary()


def words(chance: random.Random, number: int) -> str:
    return "".join(vocabulary().draw(chance, number))


def links(chance: random.Random, number: int, name: str) -> str:
    items = (f'<li><a href="/{name}/{n}/" title="{(text := words(chance, 6))}">{text}</a></li>' for n in range(number))
    return f'<div class="{name}"><h4>{words(chance, 2)}</h4><ul>{"".join(items)}</ul></div>'


@cache
def frame() -> tuple[str, str]:
    """Return the parts of a page before and after the article: menus, links to other stories, scripts, up to ``PAGE_BYTES``."""
    chance = random.Random(SEED)
    script = "".join(f'var _c{n}={{id:{n},src:"/static/js/{chance.getrandbits(64):x}.js",on:true}};' for n in range(250))
    style = "".join(f".m{n}{{margin:{n}px auto;color:#{chance.getrandbits(24):06x}}}" for n in range(150))
    head = f'<meta charset="utf-8"><meta name="keywords" content="{words(chance, 8)}"><style>{style}</style><script>{script}</script>'
    above = f"<header>{links(chance, 40, 'nav')}</header>"
    below = f"<aside>{links(chance, 60, 'hot')}{links(chance, 60, 'related')}</aside><footer>{links(chance, 50, 'about')}</footer>"
    missing = PAGE_BYTES - len((head + above + below).encode()) - 6_000  # the article's own
    filler = f"<script>/*{'x' * max(0, missing)}*/</script>"
    return head, f"{filler}</head><body>{above}|{below}</body></html>"


def article_page(number: int) -> bytes:
    chance = random.Random(SEED + number)
    title = words(chance, 9)
    head, tail = frame()
    above, below = tail.split("|", 1)
    text = "".join(f"<p>　　{'，'.join(words(chance, 9) for _ in range(7))}。</p>" for _ in range(PARAGRAPHS))
    when = f"2026-02-{1 + number % 28:02} {number % 24:02}:{number % 60:02}"
    info = f'<p class="info"><span class="date">{when}</span> 来源：<i>潮汐新闻</i> 作者：<b class="author">林舟</b></p>'
    body = f'<div class="main"><h1>{title}</h1>{info}<div class="text">{text}</div></div>'
    return f"<!DOCTYPE html><html><head><title>{title} - 潮汐新闻</title>{head}{above}{body}{below}".encode()


def hub_page(numbers: range) -> bytes:
    chance = random.Random(SEED + numbers.start)
    items = (f'<li><a href="/news/2026/02/{number}.html">{words(chance, 9)}</a><i>02-{1 + number % 28:02}</i></li>' for number in numbers)
    head, tail = frame()
    above, below = tail.split("|", 1)
    return f"<!DOCTYPE html><html><head><title>潮汐新闻</title>{head}{above}<ul class=list>{''.join(items)}</ul>{below}".encode()


# the server


class Answer(asyncio.Protocol):
    """Minimal HTTP/1.1 server for a crawler: GET, keep-alive."""

    def __init__(self, pages: dict[str, bytes]) -> None:
        self._pages = pages

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        for request in data.split(b"\r\n\r\n")[:-1]:
            path = request.split(b" ", 2)[1].decode()
            body = self._pages.get(path if path != "/" else f"{self._transport.get_extra_info('sockname')[0]}/")
            status = "200 OK" if body else "404 Not Found"
            head = f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body or b'')}\r\n\r\n"
            self._transport.write(head.encode() + (body or b""))


async def serve(articles: int) -> None:
    """Make all pages before the port is printed to standard output."""
    share = -(-articles // len(HOSTS))
    pages = {f"/news/2026/02/{number}.html": article_page(number) for number in range(articles)}
    for place, host in enumerate(HOSTS):
        pages[f"{host}/"] = hub_page(range(min(place * share, articles), min((place + 1) * share, articles)))
    loop = asyncio.get_running_loop()
    with socket.socket() as probe:  # a port that is free on every address
        probe.bind(("", 0))
        port = probe.getsockname()[1]
    server = await loop.create_server(lambda: Answer(pages), HOSTS, port)
    size = statistics.mean(len(page) for path, page in pages.items() if path.startswith("/"))
    print(json.dumps({"port": port, "size": size}), flush=True)
    await server.serve_forever()


@contextmanager
def served(articles: int) -> Iterator[dict[str, Any]]:
    process = subprocess.Popen([sys.executable, __file__, str(articles), "--kind", "serve"], stdout=subprocess.PIPE)
    try:
        yield json.loads(process.stdout.readline())  # type: ignore[union-attr]
    finally:
        process.terminate()
        process.wait()


# the crawls


def peer(kind: str, port: int) -> tuple[Any, dict[str, Any]]:
    """The spider and settings of a plain Scrapy project."""
    import scrapy

    if kind == "trafilatura":
        from trafilatura import bare_extraction

    class Peer(scrapy.Spider):
        name = "peer"

        async def start(self) -> AsyncIterator[Any]:
            for host in HOSTS:
                yield scrapy.Request(f"http://{host}:{port}/", self.parse_hub)

        def parse_hub(self, response: Any) -> Iterator[Any]:
            yield from response.follow_all(css="ul.list a", callback=getattr(self, kind))

        def fetch(self, response: Any) -> None:
            pass

        def trafilatura(self, response: Any) -> Iterator[dict[str, Any]]:
            result = bare_extraction(response.text, url=response.url, with_metadata=True)
            yield {"title": result.title, "date": result.date, "author": result.author, "text": result.text}

        def fields(self, response: Any) -> Iterator[dict[str, Any]]:
            yield {
                "title": response.css("h1::text").get(),
                "date": response.css("span.date::text").get(),
                "author": response.css("b.author::text").get(),
                "text": "\n".join(response.css("div.text p::text").getall()),
            }

    return Peer, {**POLITENESS, "LOG_LEVEL": "WARNING", "TELNETCONSOLE_ENABLED": False}


def line(port: int, folder: Path, processes: int) -> tuple[Any, Any]:
    """newsportal's hub spider with its own settings, and a sources.yaml for the made-up sites."""
    os.environ["SCRAPY_SETTINGS_MODULE"] = "newsportal.settings"
    from scrapy.utils.project import get_project_settings

    regions = "\n".join(f'  - {{name: 站点{n}, prefix: "http://{host}:{port}/", category: 要闻, depth: 0}}' for n, host in enumerate(HOSTS))
    topics = "\n".join(f"  - name: {name}\n    keywords: {{any: [{name}]}}\n    engines: []" for name in ("旅游", "科技", "财经"))
    politeness = "politeness: {delay: 0, concurrency: 64, per_domain: 16, allow_private: [127.0.0.0/8]}"
    readers = f"extraction: {{processes: {processes}}}"
    text = f"version: 1\nstore: sqlite:///store.db\n{readers}\n{politeness}\ntopics:\n{topics}\nregions:\n{regions}\n"
    (folder / "sources.yaml").write_text(text, encoding="utf-8")
    settings = get_project_settings()
    settings.setdict({"NEWSPORTAL_SOURCES": str(folder / "sources.yaml"), "LOG_LEVEL": "WARNING"}, priority="cmdline")
    return "hub", settings


def crawl(kind: str, port: int, processes: int, profile: Path | None) -> dict[str, Any]:
    """Run one crawl in this process; return its seconds by the clock and of the processor, and the number of articles."""
    from scrapy import signals
    from scrapy.crawler import AsyncCrawlerProcess

    with tempfile.TemporaryDirectory() as scratch:
        spider, settings = line(port, Path(scratch), processes) if kind == "line" else peer(kind, port)
        process = AsyncCrawlerProcess(settings)
        crawler = process.create_crawler(spider)
        marks: list[tuple[float, float]] = []

        def mark() -> None:
            marks.append((time.perf_counter(), time.process_time()))

        crawler.signals.connect(mark, signal=signals.spider_opened)
        crawler.signals.connect(mark, signal=signals.spider_closed)
        process.crawl(crawler)
        start = process.start
        if kind == "line":
            from newsportal.cli import crawl as command

            start = partial(command.start, process)
        with profiled(profile):
            start()
        stats: Any = crawler.stats
        stored = sum(value for key, value in stats.get_stats().items() if key.endswith(("/stored", "/folded")))
    (opened, opened_cpu), (closed, closed_cpu) = marks[0], marks[-1]
    fetched = stats.get_value("response_received_count") - len(HOSTS)
    done = stored if kind == "line" else stats.get_value("item_scraped_count", fetched)
    failed = {key: value for key, value in stats.get_stats().items() if "failed/" in key}
    outcome = {"failed": failed, "ended": stats.get_value("finish_reason")}
    return {"seconds": closed - opened, "cpu": closed_cpu - opened_cpu, "articles": done, "why": outcome}


@contextmanager
def profiled(path: Path | None) -> Iterator[None]:
    """Sum cProfile's figures of all threads, in processor seconds."""
    if path is None:
        yield
        return
    import cProfile
    import pstats

    profiles: list[cProfile.Profile] = []

    def begin(*_: Any) -> None:
        profiles.append(cProfile.Profile(time.thread_time))
        profiles[-1].enable()

    threading.setprofile(begin)
    begin()
    try:
        yield
    finally:
        threading.setprofile(None)
        for profile in profiles:
            profile.disable()
        pstats.Stats(*profiles).dump_stats(path)


def measured(kind: str, articles: int, port: int, processes: int, profile: Path | None = None) -> dict[str, Any]:
    """Run a crawl in a separate process."""
    command = [
        sys.executable,
        __file__,
        str(articles),
        "--kind",
        kind,
        "--port",
        str(port),
        "--processes",
        str(processes),
        *(("--profile", str(profile)) if profile else ()),
    ]
    result: dict[str, Any] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    if result["articles"] != articles:
        sys.exit(f"{kind}: {result['articles']} of {articles} articles came out: {result['why']}")
    return result


def compare(articles: int, repeat: int, processes: int, profile: Path | None) -> None:
    with served(articles) as server:
        print(f"{articles} articles, {server['size'] / 1000:.0f} kB each, {len(HOSTS)} hosts, median of {repeat}")
        print(f"{'':8}{'pages/s':>9}{'seconds':>9}{'CPU s':>9}{'CPU ms a page':>15}")
        runs: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
        for _ in range(repeat):
            for kind in KINDS:
                runs[kind].append(measured(kind, articles, server["port"], processes))
        rates = {}
        for kind, results in runs.items():
            seconds, cpu = (statistics.median(run[column] for run in results) for column in ("seconds", "cpu"))
            rates[kind] = articles / seconds
            print(f"{kind:8}{rates[kind]:9.0f}{seconds:9.2f}{cpu:9.2f}{1000 * cpu / articles:15.2f}")
        for peer, goal in GOALS.items():
            if peer in rates:
                print(f"line / {peer}: {rates['line'] / rates[peer]:.2f} (goal: {goal:.2f})")
        if profile:
            measured("line", articles, server["port"], processes, profile)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("articles", nargs="?", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--processes", type=int, default=0)
    parser.add_argument("--profile", type=Path)
    parser.add_argument("--kind", choices=(*KINDS, "serve"), help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.kind == "serve":
        asyncio.run(serve(options.articles))
    elif options.kind:
        print(json.dumps(crawl(options.kind, options.port, options.processes, options.profile)))
    else:
        compare(options.articles, options.repeat, options.processes, options.profile)


if __name__ == "__main__":
    main()
