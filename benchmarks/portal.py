"""How fast the portal answers: ``python benchmarks/portal.py [ARTICLES] [--keep FOLDER] [--index FILE]``.

20,000 articles by default; 5,000 were made in 7 s. With ``--keep`` store and index stay in FOLDER, and another run reuses them.
``--index`` takes an index that ``benchmarks/search.py`` kept of as many articles: they are the same ones.

Articles are those of ``benchmarks/search.py``, written as rows (nothing is folded; of ten articles three are versions of one story, and
this story and the next two one event). ``newsportal serve`` runs as its users run it, one process; a reader without account, and for the
pages with a star the administrator, asks one page after another over one connection, each page another address: the milliseconds are what
the server took, by the clock of the reader on the same machine and by the server's processor. Requests per second: eight connections at
once, all asking for the front page. The goals: p95 below 100 ms, 200 front pages a second.
"""

from __future__ import annotations

import argparse
import http.client
import random
import socket
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
from search import START, TOPICS, MadeUp, Vocabulary  # beside this file

from newsportal.events import combined_state
from newsportal.search import open_index
from newsportal.services.accounts import Role, open_accounts
from newsportal.services.events.following import story_of, vector_of
from newsportal.store import open_store
from newsportal.store.folding import heat as heat_of
from newsportal.store.records import BY_NAME, PAGE
from newsportal.store.results import StoredArticle
from newsportal.store.store import Store

SEED = 20261122
ASKED = 200  # pages of each kind
DAYS_ASKED = 20  # of those that no reader asks for twice within minutes
CONNECTIONS, PER_CONNECTION = 8, 100
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SIGNED = ("/latest", "/latest?show=unread", "/desk", "/articles", "/articles?show=unsure", "/monitor", "/runs")
TABLES = ("stories", "articles", "article_topics", "story_labels", "changes", "events", "event_stories")
SOURCES = """\
version: 1
portal: {{title: 一百万, timezone: UTC}}
store: sqlite:///{store}
index: sqlite:///{index}
topics:
{topics}
"""


def micro(moment: datetime | None) -> int | None:
    return None if moment is None else int((moment - EPOCH).total_seconds() * 1_000_000)


def article_row(article: StoredArticle) -> dict[str, Any]:
    values: dict[str, Any] = {
        "id": article.id, "story_id": article.story_id, "identity": article.identity, "url": article.url, "source": article.source,
        "site": article.site, "publisher": article.site, "first_seen": micro(article.first_seen), "moment": micro(article.published),
        "length": len(article.text or ""), "revision": 1, "fetched": micro(article.fetched), "published": micro(article.published),
        "title": article.title, "images": [], "text": article.text, "language": "zh",
    }  # fmt: skip
    return {column: values.get(column) for column in BY_NAME["articles"].columns}


def story_row(id: str, versions: Sequence[StoredArticle]) -> dict[str, Any]:
    moments = [micro(version.published) or 0 for version in versions]
    heat = heat_of((version.published or EPOCH, version.site or "") for version in versions)
    return {
        "id": id, "head_id": id, "count": len(versions), "sites": len({version.site for version in versions}), "first_seen": min(moments),
        "last_seen": max(moments), "moment": moments[0], "heat": heat,
    }  # fmt: skip


def label_rows(story: dict[str, Any], versions: Sequence[StoredArticle]) -> list[dict[str, Any]]:
    values = {("topic", topic) for version in versions for topic in version.topics}
    values |= {("site", version.site or "") for version in versions} | {("source", version.source) for version in versions}
    return [
        {"story_id": story["id"], "kind": kind, "value": value, "moment": story["moment"], "heat": story["heat"]}
        for kind, value in sorted(values)
    ]


def event_rows(stories: Sequence[dict[str, Any]], vector: bytes) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return rows of events, and of the event of each story, for the stories of ten articles: the first three stories share an event."""
    events = []
    for same in (stories[:3], *([story] for story in stories[3:])):
        first = same[0]
        events.append({
            "id": first["id"], "head_id": first["id"], "title": None, "pinned": None, "stories": len(same),
            "sites": sum(story["sites"] for story in same), "first": min(story["first_seen"] for story in same),
            "last": max(story["last_seen"] for story in same), "heat": first["heat"], "changed": 1, "vector": vector,
        })  # fmt: skip
    event_of = {story["id"]: stories[0]["id"] if place < 3 else story["id"] for place, story in enumerate(stories)}
    return events, [{"story_id": id, "event_id": event, "score": 1.0, "words": [], "by": None} for id, event in event_of.items()]


def tens(articles: Iterator[StoredArticle]) -> Iterator[list[StoredArticle]]:
    """Yield ten articles at a time: the first three are one story."""
    while ten := list(islice(articles, 10)):
        yield ten


def fill(store: Store, number: int, vocabulary: Vocabulary) -> None:
    waiting: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    vector = zlib.compress(vector_of(combined_state("", [story_of("", "".join(vocabulary.words[200:230]), "", None)])).encode())
    done = 0
    for ten in tens(MadeUp(number, vocabulary).all_articles()):
        stories: list[dict[str, Any]] = []
        for article in ten:
            versions = [version for version in ten if version.story_id == article.id]
            if versions:
                story = story_row(article.id, versions)
                stories.append(story)
                waiting["story_labels"] += label_rows(story, versions)
            done += 1
            waiting["articles"].append(article_row(article))
            waiting["article_topics"] += [{"article_id": article.id, "topic": topic, "by": None, "score": None} for topic in article.topics]
            waiting["changes"].append({"seq": done, "kind": "article", "id": article.id, "at": micro(article.first_seen)})
        waiting["stories"] += stories
        for name, rows in zip(("events", "event_stories"), event_rows(stories, vector), strict=True):
            waiting[name] += rows
        if len(waiting["articles"]) >= PAGE:
            put(store, waiting)
            print(f"\r{done:,} articles", end="", flush=True)
    put(store, waiting)
    store.records.write(BY_NAME["event_position"], [{"name": "log", "seq": done}, {"name": "changed", "seq": 1}])
    store.records.finish()


def put(store: Store, waiting: dict[str, list[dict[str, Any]]]) -> None:
    for name, rows in waiting.items():
        for start in range(0, len(rows), PAGE):
            store.records.write(BY_NAME[name], rows[start : start + PAGE])
        rows.clear()


@contextmanager
def served(folder: Path, index: Path) -> Iterator[tuple[int, psutil.Process]]:
    """``newsportal serve`` on a free port."""
    topics = "\n".join(f"  - name: {topic}\n    keywords: [{topic}]" for topic in TOPICS)
    (folder / "sources.yaml").write_text(SOURCES.format(store=folder / "store.db", index=index, topics=topics), "utf-8")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "newsportal", "serve", "--port", str(port), "--sources", str(folder / "sources.yaml")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=folder)
    try:
        until = time.monotonic() + 120
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.2)
        yield port, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(30)


def busy(server: psutil.Process) -> float:
    used = server.cpu_times()
    return float(used.user + used.system)


def get(connection: http.client.HTTPConnection, path: str, cookie: str = "") -> bytes:
    connection.request("GET", path, headers={"accept-language": "zh-CN", "accept-encoding": "gzip", "cookie": cookie})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status not in (200, 303):
        raise SystemExit(f"{path}: {answer.status}")
    return body


def sign_in(store: Path) -> str:
    """The cookie of an administrator."""
    accounts, now = open_accounts(f"sqlite:///{store}.accounts"), datetime.now(UTC)
    person = accounts.people.by_name("admin") or accounts.people.add("admin", "of the benchmark alone", Role("admin"), now=now)
    cookie = f"session={accounts.sessions.begin(person.id, now=now)}"
    accounts.close()
    return cookie


def ask(port: int, server: psutil.Process, paths: Sequence[str], cookie: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    started = time.perf_counter()
    get(connection, paths[0], cookie)
    first = 1000 * (time.perf_counter() - started)
    times, used = [], busy(server)
    for path in paths:
        started = time.perf_counter()
        get(connection, path, cookie)
        times.append(1000 * (time.perf_counter() - started))
    processor = 1000 * (busy(server) - used) / len(times)
    times.sort()
    return f"{first:10.1f}{times[len(times) // 2]:10.1f}{times[int(len(times) * 0.95)]:10.1f}{processor:12.1f}"


def flood(port: int, path: str) -> float:
    """Requests per second over several connections."""

    def ask_pages(_: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        for _ in range(PER_CONNECTION):
            get(connection, path)

    started = time.perf_counter()
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(ask_pages, range(CONNECTIONS)))
    return CONNECTIONS * PER_CONNECTION / (time.perf_counter() - started)


def pages(store: Store, vocabulary: Vocabulary, number: int) -> dict[str, Callable[[], str]]:
    chance = random.Random(SEED)
    usual = [word for word in vocabulary.words[100:40_000] if len(word) > 1]
    common = usual[:2000]
    ids = [article.story_id for article in islice(MadeUp(min(number, 2000), vocabulary).all_articles(), 2000)]
    return {
        "front page": lambda: "/",
        "latest": lambda: "/latest",
        "topic": lambda: f"/topic/{quote(chance.choice(TOPICS))}",
        "story": lambda: f"/story/{chance.choice(ids)}",
        "search, two words": lambda: f"/search?q={quote(chance.choice(usual))}+{quote(chance.choice(common))}",
        "search, a common word": lambda: f"/search?q={quote(chance.choice(common))}",
        "search by time": lambda: f"/search?q={quote(chance.choice(common))}&sort=time",
        "feed of a topic": lambda: f"/topic/{quote(chance.choice(TOPICS))}/feed.rss",
        "events": lambda: "/events",
        "event": lambda: f"/event/{ids[chance.randrange(len(ids) // 10) * 10]}",
        "briefing of a day": lambda: f"/briefing/{(START + chance.random() * timedelta(days=300)).date()}",
        **{f"{path[1:]} *": (lambda path=path: path) for path in SIGNED},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("articles", nargs="?", type=int, default=20_000)
    parser.add_argument("--keep", type=Path, help="keep store and index in this folder, and use them again when they are there")
    parser.add_argument("--index", type=Path, help="an index that benchmarks/search.py kept of as many articles")
    options = parser.parse_args()
    vocabulary = Vocabulary()
    with tempfile.TemporaryDirectory() as scratch:
        folder = (options.keep or Path(scratch)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        measure(options.articles, folder, (options.index or folder / "index.db").absolute(), vocabulary)


def measure(number: int, folder: Path, index: Path, vocabulary: Vocabulary) -> None:
    store = open_store(f"sqlite:///{folder / 'store.db'}")
    if store.last_seq() < number:
        started = time.perf_counter()
        fill(store, number, vocabulary)
        print(f"\rstore filled in {time.perf_counter() - started:.0f} s")
    search_index = open_index(f"sqlite:///{index}")
    search_index.follow(store)
    search_index.close()
    ways = pages(store, vocabulary, number)
    store.close()
    cookie = sign_in(folder / "store.db")
    with served(folder, index) as (port, server):
        print(f"{number:,} articles; milliseconds\n{'page':26}{'first':>10}{'p50':>10}{'p95':>10}{'processor':>12}")
        for name, way in ways.items():
            times = DAYS_ASKED if name == "briefing of a day" else ASKED
            print(f"{name:26}{ask(port, server, [way() for _ in range(times)], cookie if name.endswith('*') else '')}", flush=True)
        used = busy(server)
        rate = flood(port, "/")
        each = 1000 * (busy(server) - used) / (CONNECTIONS * PER_CONNECTION)
        print(f"front pages per second: {rate:.0f} ({each:.1f} ms of the server's processor each)")
        print(f"memory of the server: {server.memory_info().rss / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
