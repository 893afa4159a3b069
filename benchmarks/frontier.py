"""The claims: twenty polite hosts and two processes lose a tenth of what politeness allows, and no host is ever requested too soon; without
delays a request costs 1.3 times as much as with Scrapy's own scheduler, and none is lost; a million requests may wait in Redis.

    python benchmarks/frontier.py [--part polite|cost|million|cluster] [--pages 60] [--repeat 3]

The same plain spider crawls made-up sites on twenty loopback addresses (a list page each, which links its pages) with

- ``stock``: Scrapy's own scheduler and filter, in memory;
- ``scrapy-redis``: its scheduler and filter, in a Redis of the benchmark's own;
- ``disk``, ``redis``: newsportal's scheduler over its queue in the store, and in that Redis.

Everything else is Scrapy as it comes, but for newsportal's downloader where there are delays.

``polite``: 0.25 s between two requests to a host; pages a second are the server's, which notes when every request came in; the shortest
gap between two requests to a host is given as the crawling processes sent them (one clock for all) and as the server saw them (on a busy
machine it may see late what was sent in time, and then two close together). ``cost``: no delay; processor seconds are those of the
crawling processes, all threads, from the spider's start to its last answer. ``million``: Redis' own memory, and calls of the queue alone.
``cluster``: the same in three masters, the hosts in so many partitions, and entries without their bodies, as a store's links lie there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.request import urlopen

HOSTS = [f"127.0.0.{number}" for number in range(2, 22)]
CONTROL = "127.0.0.1"
DELAY = 0.25
PAGE = b"<html><title>page</title>" + b"<p>text</p>" * 400
KINDS = ("stock", "scrapy-redis", "disk", "redis")
STALLED = 20.0
"""Seconds without a request after which a crawl of two processes is taken for ended."""

# the server


class Answer(asyncio.Protocol):
    """As little of HTTP/1.1 as a crawler needs; ``arrived`` notes the moment of every request by host."""

    def __init__(self, pages: int, arrived: dict[str, list[float]]) -> None:
        self._pages, self._arrived = pages, arrived

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._host = transport.get_extra_info("sockname")[0]

    def data_received(self, data: bytes) -> None:
        for request in data.split(b"\r\n\r\n")[:-1]:
            path = request.split(b" ", 2)[1]
            if self._host == CONTROL:
                body = json.dumps(self._arrived).encode()
                if path == b"/forget":
                    self._arrived.clear()
            else:
                self._arrived[self._host].append(time.monotonic())
                body = PAGE if path != b"/" else b"".join(b'<a href="/p/%d">x</a>' % number for number in range(self._pages))
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body)
            self._transport.write(head + body)


async def serve(pages: int) -> None:
    loop = asyncio.get_running_loop()
    with socket.socket() as probe:  # a port that is free on every address
        probe.bind(("", 0))
        port = probe.getsockname()[1]
    arrived: dict[str, list[float]] = defaultdict(list)
    server = await loop.create_server(lambda: Answer(pages, arrived), [CONTROL, *HOSTS], port)
    print(port, flush=True)
    await server.serve_forever()


@contextmanager
def served(pages: int) -> Iterator[int]:
    process = subprocess.Popen([sys.executable, __file__, "--child", "serve", "--pages", str(pages)], stdout=subprocess.PIPE)
    try:
        yield int(process.stdout.readline())  # type: ignore[union-attr]
    finally:
        process.terminate()
        process.wait()


def arrivals(port: int, path: str = "") -> dict[str, list[float]]:
    with urlopen(f"http://{CONTROL}:{port}/{path}") as answer:
        times: dict[str, list[float]] = json.load(answer)
        return times


@contextmanager
def redis_server(*options: str) -> Iterator[Any]:
    import redis

    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind((CONTROL, 0))
        port = free.getsockname()[1]
        free.close()
        command = ["redis-server", "--port", str(port), "--bind", CONTROL, "--save", "", "--dir", folder, *options]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        client = redis.Redis(CONTROL, port)
        try:
            while True:
                try:
                    client.ping()
                    break
                except redis.ConnectionError:
                    time.sleep(0.05)
            yield client
        finally:
            process.terminate()
            process.wait()


# the crawls, each in processes of its own


def spider(port: int, seeds: bool, until: Path | None) -> type:
    import scrapy
    from scrapy import signals
    from scrapy.exceptions import DontCloseSpider

    class Bench(scrapy.Spider):
        name = "bench"
        last = 0.0
        answers = 0

        async def start(self) -> AsyncIterator[Any]:
            self.crawler.signals.connect(self.stay, signal=signals.spider_idle)
            for host in HOSTS if seeds else ():
                yield scrapy.Request(f"http://{host}:{port}/", self.parse)

        def stay(self) -> None:
            if until is not None and not until.exists():
                raise DontCloseSpider

        def mark(self) -> None:
            self.last = time.process_time()
            self.answers += 1

        def parse(self, response: Any) -> Iterator[Any]:
            self.mark()
            yield from response.follow_all(css="a", callback=self.page)

        def page(self, response: Any) -> None:
            self.mark()

    return Bench


def note(sent: dict[str, list[float]]) -> None:
    """Let Scrapy's own handler, and ours which is one, note when each request is sent."""
    from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler

    send = HTTP11DownloadHandler.download_request

    async def noted(self: Any, request: Any) -> Any:
        sent[request.url.split("/")[2].split(":")[0]].append(time.monotonic())
        return await send(self, request)

    HTTP11DownloadHandler.download_request = noted


def settings_of(kind: str, delay: float, redis: int) -> dict[str, Any]:
    same = {
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
        "CONCURRENT_REQUESTS": 64,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 2 if delay else 8,
        "DOWNLOAD_DELAY": delay,
        "DOWNLOAD_DELAY_JITTER": 0.0,
        "ROBOTSTXT_OBEY": False,
    }
    url = {"REDIS_URL": f"redis://{CONTROL}:{redis}/0"}
    if kind == "stock":
        return same
    if kind == "scrapy-redis":
        filtered = {"SCHEDULER": "scrapy_redis.scheduler.Scheduler", "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter"}
        return {**same, **url, **filtered, "SCHEDULER_PERSIST": True}
    ours: dict[str, Any] = {
        "SCHEDULER": "newsportal.crawl.scheduler.Scheduler",
        "DOWNLOADER_MIDDLEWARES": {"newsportal.crawl.middlewares.HostLockMiddleware": 990},
        "SPIDER_MIDDLEWARES": {"newsportal.crawl.middlewares.LeaseMiddleware": 10},
    }
    if delay:  # which keeps to it to the last moment before a request is sent
        ours |= {"DOWNLOAD_HANDLERS": {"http": "newsportal.crawl.handlers.Handler"}, "NEWSPORTAL_ALLOW_PRIVATE": ["127.0.0.0/8"]}
    return {**same, **ours, **(url if kind == "redis" else {})}


def crawl(kind: str, options: argparse.Namespace) -> dict[str, Any]:
    import warnings

    from scrapy import signals
    from scrapy.crawler import AsyncCrawlerProcess

    warnings.simplefilter("ignore")  # scrapy-redis raises one a request
    sent: dict[str, list[float]] = defaultdict(list)
    note(sent)
    process = AsyncCrawlerProcess(settings_of(kind, options.delay, options.redis))
    crawler = process.create_crawler(spider(options.port, options.seeds, options.until))
    first: list[float] = []
    crawler.signals.connect(lambda: first.append(time.process_time()), signal=signals.spider_opened, weak=False)
    process.crawl(crawler)
    if options.profile:
        import cProfile

        cProfile.runctx("process.start()", globals(), locals(), str(options.profile))
    else:
        process.start()
    bench: Any = crawler.spider
    if bench is None or not bench.answers:
        return {"answers": 0, "cpu": 0.0, "sent": {}}
    return {"answers": bench.answers, "cpu": bench.last - first[0], "sent": sent}


def measured(kind: str, port: int, client: Any, *, delay: float, processes: int, pages: int, profile: Path | None = None) -> dict[str, Any]:
    """One crawl; the first process brings the list pages in."""
    client.flushall()
    arrivals(port, "forget")
    expected = len(HOSTS) * (pages + 1)
    with tempfile.TemporaryDirectory() as folder:
        until = Path(folder) / "over"
        base = [sys.executable, __file__, "--child", kind, "--port", str(port), "--delay", str(delay)]
        base += ["--redis", str(client.connection_pool.connection_kwargs["port"])]
        base += ["--until", str(until)] if processes > 1 else []
        base += ["--profile", str(profile.absolute())] if profile else []
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
        spent = client.info("cpu")["used_cpu_user"] + client.info("cpu")["used_cpu_sys"]
        running = [
            subprocess.Popen([*base, *(["--seeds"] if not n else [])], stdout=subprocess.PIPE, cwd=folder, env=environment)
            for n in range(processes)
        ]
        if processes > 1:
            _wait(port, expected)
            until.touch()
        results = [json.loads(process.communicate()[0]) for process in running]
        spent = client.info("cpu")["used_cpu_user"] + client.info("cpu")["used_cpu_sys"] - spent
    times = arrivals(port)
    all_times = sorted(moment for moments in times.values() for moment in moments)
    sent = {host: [moment for result in results for moment in result["sent"].get(host, ())] for host in HOSTS}
    return {
        "fetched": len(all_times),
        "missing": expected - len(all_times),
        "rate": len(all_times) / (all_times[-1] - all_times[0]),
        "sent": shortest(sent),
        "seen": shortest(times),
        "cpu": sum(result["cpu"] for result in results) / len(all_times),
        "redis": spent / len(all_times),
        "shares": [result["answers"] for result in results],
    }


def shortest(times: dict[str, list[float]]) -> float:
    """Seconds between two requests to one host, at least."""
    pairs = ((before, later) for moments in times.values() for before, later in pairwise(sorted(moments)))
    return min((later - before for before, later in pairs), default=0.0)


def _wait(port: int, expected: int) -> None:
    before, since = 0, time.monotonic()
    while before < expected and time.monotonic() - since < STALLED:
        time.sleep(0.5)
        now = sum(len(moments) for moments in arrivals(port).values())
        if now != before:
            before, since = now, time.monotonic()


# the tables


def polite(pages: int, repeat: int) -> None:
    allowed = len(HOSTS) / DELAY
    print(
        f"\n{len(HOSTS)} hosts, {pages} pages each, {DELAY} s between two requests to a host: {allowed:.0f} pages/s at most; {repeat} runs"
    )
    print(f"{'':16}{'processes':>10}{'pages/s':>9}{'gap sent, s':>13}{'gap seen, s':>13}{'missing':>9}  pages of each")
    with served(pages) as port, redis_server() as client:
        for kind, processes in (("stock", 1), ("scrapy-redis", 2), ("disk", 1), ("disk", 2), ("redis", 1), ("redis", 2)):
            runs = [measured(kind, port, client, delay=DELAY, processes=processes, pages=pages) for _ in range(repeat)]
            rate = statistics.median(run["rate"] for run in runs)
            sent, seen = (min(run[key] for run in runs) for key in ("sent", "seen"))
            missing = max(run["missing"] for run in runs)
            print(f"{kind:16}{processes:10}{rate:9.1f}{sent:13.4f}{seen:13.4f}{missing:9}  {runs[0]['shares']}", flush=True)


def cost(pages: int, repeat: int, profile: Path | None) -> None:
    print(f"\n{len(HOSTS)} hosts, no delay, {pages} pages each, median of {repeat}")
    print(f"{'':16}{'processes':>10}{'pages/s':>9}{'CPU ms a page':>15}{'of stock':>10}{'Redis, ms':>11}{'missing':>9}")
    cases = [("stock", 1), ("scrapy-redis", 1), ("disk", 1), ("redis", 1), ("scrapy-redis", 2), ("disk", 2), ("redis", 2)]
    with served(pages) as port, redis_server() as client:
        runs: dict[tuple[str, int], list[dict[str, Any]]] = {case: [] for case in cases}
        for _ in range(repeat):
            for kind, processes in cases:
                runs[kind, processes].append(measured(kind, port, client, delay=0, processes=processes, pages=pages))
        stock = statistics.median(run["cpu"] for run in runs["stock", 1])
        for (kind, processes), results in runs.items():
            rate, cpu, redis = (statistics.median(run[key] for run in results) for key in ("rate", "cpu", "redis"))
            missing = max(run["missing"] for run in results)
            print(f"{kind:16}{processes:10}{rate:9.0f}{1000 * cpu:15.2f}{cpu / stock:10.2f}{1000 * redis:11.3f}{missing:9}")
        if profile:
            for kind in ("stock", "disk", "redis"):
                path = profile.with_suffix(f".{kind}")
                measured(kind, port, client, delay=0, processes=1, pages=pages, profile=path)


def million(number: int, hosts: int) -> None:
    """What waits and what was seen in Redis, beside scrapy-redis' keys for the same requests."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import frontier_million

    with redis_server() as client:
        frontier_million.measure(client, number, hosts)


def cluster(number: int, hosts: int) -> None:
    """In three masters, which nobody else makes acquainted."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import frontier_million

    with ExitStack() as stack:
        clustered = ("--cluster-enabled", "yes", "--cluster-require-full-coverage", "no", "--cluster-port")
        nodes = []
        for _ in range(3):
            with socket.socket() as free:
                free.bind((CONTROL, 0))
                bus = free.getsockname()[1]
            nodes.append(stack.enter_context(redis_server(*clustered, str(bus))))
            nodes[-1].bus = bus
        frontier_million.measure_cluster(nodes, number, hosts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("polite", "cost", "million", "cluster"))
    parser.add_argument("--pages", type=int, default=60, help="of each host")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, default=10_000, help="of the million")
    parser.add_argument("--profile", type=Path)
    for name in ("child", "port", "redis", "until"):
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS, type={"port": int, "redis": int, "until": Path}.get(name, str))
    parser.add_argument("--delay", type=float, default=0.0, help=argparse.SUPPRESS)
    parser.add_argument("--seeds", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child == "serve":
        asyncio.run(serve(options.pages))
    elif options.child:
        print(json.dumps(crawl(options.child, options)))
    else:
        if options.part in (None, "polite"):
            polite(options.pages, options.repeat)
        if options.part in (None, "cost"):
            cost(options.pages, options.repeat, options.profile)
        if options.part in (None, "million"):
            million(options.tasks, options.hosts)
        if options.part in (None, "cluster"):
            cluster(options.tasks, options.hosts)


if __name__ == "__main__":
    main()
