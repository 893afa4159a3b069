"""The server of the made-up Web: deterministic, self-contained, records requests, fails on demand, stops cleanly."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from madeup import MadeUpWeb
from madeup.client import get
from madeup.exchange import Request
from madeup.router import Router
from madeup.sites import CHINA, KEYS
from madeup.traps import path_of
from madeup.world import World

from newsportal.sources import load

NOW = datetime(2026, 3, 14, 15, 9, tzinfo=CHINA)
ADDRESSES = {key: f"http://127.0.0.1:{9000 + index}" for index, key in enumerate(KEYS)}
NAMES = ("http://www.w3.org/", "https://schema.org", "https://jsonfeed.org/", "http://purl.org/")
"""Names of vocabularies look like URLs but are never fetched."""


@pytest.fixture
def fresh(web: MadeUpWeb) -> MadeUpWeb:
    """The shared Web, reset to its initial state."""
    web.reset()
    return web


# Determinism


def everything(world: World) -> Iterator[tuple[str, str, bytes]]:
    """Yield the responses for every URL of the manifest, without a server."""
    router = Router(world)
    gold = json.dumps([world.now.isoformat(), world.seed])
    yield "", "", gold.encode()
    targets = [(copy.site, path) for copy in world.copies for path in copy.paths]
    targets += [*router.hubs, ("kunzhou", "/rss/news.xml"), ("qingtai", "/feed.json"), ("baixun", "/search?q=%E6%B8%B8&start=0")]
    for site, target in targets:
        yield site, target, router.answer(Request(site, target)).body


def test_same_seed_and_time_give_same_bytes() -> None:
    assert list(everything(World(NOW, 7, ADDRESSES))) == list(everything(World(NOW, 7, ADDRESSES)))


def test_other_seed_changes_times_and_urls_but_not_stories() -> None:
    world, other = World(NOW, 7, ADDRESSES), World(NOW, 8, ADDRESSES)
    assert {(copy.site, copy.title, copy.text) for copy in world.copies} == {(copy.site, copy.title, copy.text) for copy in other.copies}
    assert {copy.published for copy in world.copies} != {copy.published for copy in other.copies}
    assert not {copy.number for copy in world.copies} & {copy.number for copy in other.copies if copy.story == "tram"}


def test_articles_have_distinct_urls() -> None:
    for seed in range(20):
        world = World(NOW, seed, ADDRESSES)
        assert len(world.by_path) == sum(len(copy.paths) for copy in world.copies)


def test_no_links_outside_the_made_up_web() -> None:
    """Except redirects that no crawler may follow, and names of vocabularies."""
    for site, target, body in everything(World(NOW, 7, ADDRESSES)):
        text = body.decode("utf-16" if site == "beichen" and body[:2] == b"\xff\xfe" else "utf-16-le" if site == "beichen" else "latin-1")
        for address in re.findall(r"(?:https?:)?//[\w.:-]+[^\s\"'<>]*", text):
            assert address.startswith((*NAMES, *ADDRESSES.values(), "//W3C//", "//DTD", "//EN")), f"{site}{target}: {address}"


# Server


def test_requests_are_recorded_in_order(fresh: MadeUpWeb) -> None:
    get(fresh.url("kunzhou", "/robots.txt"), User_Agent="tester")
    get(fresh.url("maze", path_of("missing") + "?x=1"), method="HEAD")
    first, second = fresh.requests
    assert (first.site, first.method, first.path, first.status) == ("kunzhou", "GET", "/robots.txt", 200)
    assert first.headers["User-Agent"] == "tester"
    assert fresh.url("kunzhou") == f"http://{first.host}/"
    assert (second.site, second.method, second.path, second.status) == ("maze", "HEAD", path_of("missing") + "?x=1", 404)
    assert first.time <= second.time


def test_faults_are_injected_the_requested_number_of_times(fresh: MadeUpWeb) -> None:
    fresh.fail("/", times=2, status=429, site="haitang", Retry_After="2")
    answers = [get(fresh.url("haitang")) for _ in range(3)]
    assert [status for status, _, _ in answers] == [429, 429, 200]
    assert answers[0][1]["retry-after"] == "2"
    fresh.fail(fresh.url("quill", "/tag/roll"))
    assert [get(fresh.url("quill", "/tag/roll"))[0] for _ in range(2)] == [503, 200]
    fresh.fail("/robots.txt", status=0, site="xifeng")
    with pytest.raises(http.client.RemoteDisconnected):
        get(fresh.url("xifeng", "/robots.txt"))


def test_concurrent_requests(fresh: MadeUpWeb) -> None:
    statuses: list[int] = []
    asking = [threading.Thread(target=lambda: statuses.extend(get(fresh.url("haitang"))[0] for _ in range(5))) for _ in range(8)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert statuses == [200] * 40
    assert len(fresh.requests) == 40


def test_server_stops_during_endless_response() -> None:
    before = set(threading.enumerate())
    web = MadeUpWeb(NOW).start()
    address = urlsplit(web.url("maze"))
    with socket.create_connection((str(address.hostname), address.port or 80), timeout=600) as connection:
        connection.sendall(f"GET {path_of('endless')} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert connection.recv(100)
        with socket.create_connection((str(address.hostname), address.port or 80)):
            web.stop()
    assert not set(threading.enumerate()) - before
    with pytest.raises(OSError):
        socket.create_connection((str(address.hostname), address.port or 80), timeout=600)


def test_port_in_use_leaves_no_open_server() -> None:
    with MadeUpWeb(NOW) as web:
        port = urlsplit(web.url("nanwan")).port or 0
        other = MadeUpWeb(NOW, port_base=port)
        with pytest.raises(OSError):
            other.start()
        assert not other._servers


def test_hosts_option_gives_each_site_an_ip_address() -> None:
    with MadeUpWeb(NOW, hosts=True) as web:
        found = {urlsplit(address).hostname for address in web.addresses.values()}
        assert len(found) == (len(KEYS) if web.hosts else 1), "one IP address if the system has no others"
        assert get(web.url("haitang"))[0] == 200


def test_without_hosts_each_site_has_a_port() -> None:
    with MadeUpWeb(NOW) as web:
        places = {urlsplit(address) for address in web.addresses.values()}
        assert {place.hostname for place in places} == {"127.0.0.1"}
        assert len({place.port for place in places}) == len(KEYS)


def test_serve_command_line(tmp_path: Path) -> None:
    script = Path(__file__).parent / "site" / "serve.py"
    sources, gold = tmp_path / "a" / "sources.yaml", tmp_path / "gold.json"
    command = [sys.executable, str(script), "--port-base", "0", "--write-sources", str(sources), "--write-manifest", str(gold)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        lines = []
        for line in process.stdout:
            lines.append(line.strip())
            if lines[-1] == "ready":
                break
        address = lines[0].split()[0]
        assert get(address)[0] == 200
        assert load(sources).feeds
        assert json.loads(gold.read_text(encoding="utf-8"))["articles"][0]["url"].startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGTERM)
        assert process.wait(600) == 0
