"""Real ``newsportal publish`` processes are killed during a bulk request while articles are added, changed and hidden: afterwards MongoDB
and Elasticsearch hold exactly the visible articles, each in its last revision."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest
from cms import work_on
from document_servers import DocumentServer, Elastic, Mongo
from factories import NOW, article, invented
from forked import Started
from servers import Servers

from newsportal.services.publishing.run import LEASE, publish
from newsportal.store.store import Store

FIRST = 300
"""Number of articles of the first run; a document has more than 1 kB, so each limit below is reached within one run."""

pytestmark = pytest.mark.slow


@contextmanager
def relay(port: int, limit: int, on_limit: Callable[[], None]) -> Iterator[int]:
    """Relay to ``port``: calls ``on_limit`` and closes its connections once clients have sent ``limit`` bytes. Yields its own port."""
    sent = 0

    def pump(reader: socket.socket, writer: socket.socket, counts: bool) -> None:
        nonlocal sent
        try:
            while some := reader.recv(16_384):
                sent += len(some) if counts else 0
                if sent > limit:
                    on_limit()
                    break
                writer.sendall(some)
        except OSError:
            pass  # the other side closed the connection
        for connection in (reader, writer):
            connection.close()

    def accept() -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", port))
            for pair in ((client, server, True), (server, client, False)):
                Thread(target=pump, args=pair, daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        Thread(target=accept, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


def publish_killed(document_server: DocumentServer, folder: Path, limit: int, meanwhile: Callable[[], None]) -> int:
    """Publish in a process that is killed after sending ``limit`` bytes; return its exit status."""
    parts = urlsplit(document_server.uri)
    process: list[Started] = []
    assert parts.port is not None
    with relay(parts.port, limit, lambda: process[0].kill()) as port:
        target = document_server.target(document_server.uri.replace(f":{parts.port}", f":{port}"), only="{versions: all}")
        (folder / "sources.yaml").write_text(f"store: sqlite:///news.db\npublish:\n{target}", "utf-8")
        process.append(Started("publish", "--sources", str(folder / "sources.yaml")))
        meanwhile()
        return process[0].wait(timeout=600)


@pytest.mark.parametrize("kind", ["mongodb", "elasticsearch"])
def test_targets_hold_exactly_the_visible_articles(store: Store, servers: Servers, tmp_path: Path, kind: str) -> None:
    with servers.database(kind) as database:
        document_server: DocumentServer = Mongo(database.uri) if kind == "mongodb" else Elastic(database.uri)
        ids: list[str] = []

        def add_articles(number: int) -> None:
            new = [
                (article(f"n{len(ids) + offset}", text=invented(len(ids) + offset), host=f"h{offset % 7}.example"), ())
                for offset in range(number)
            ]
            ids.extend(added.id for added in store.add_all(new, now=NOW))

        def change_articles() -> None:
            """Changes during publishing."""
            add_articles(120)
            store.add_all(
                [(article(f"n{index}", text=f"改过的正文 {len(ids)} {index}", host=f"h{index % 7}.example"), ()) for index in (1, 5, 301)],
                now=NOW,
            )
            store.hide(ids[len(ids) // 3 : len(ids) // 3 + 20], by="editor", reason="wrong", now=NOW)
            store.unfold(ids[2], now=NOW)
            store.set_category(ids[-1], "体育", by="editor", now=NOW)

        add_articles(FIRST)
        for limit in (30_000, 100_000, 200_000):
            assert publish_killed(document_server, tmp_path, limit, change_articles) == -signal.SIGKILL
        with work_on(store, tmp_path, document_server.target(only="{versions: all}")) as work:
            after = datetime.now(UTC) + timedelta(seconds=LEASE + 1)
            tally = publish(replace(work, now=lambda: after))  # every lease has expired
        assert (tally.failed, tally.postponed, tally.unavailable, tally.unfit) == (0, 0, None, None)
        visible = {
            article.id: (article.revision, article.title, article.category) for article in store.all_articles() if article.hidden is None
        }
        assert len(visible) > FIRST
        assert {
            id: (document["revision"], document["title"], document.get("category")) for id, document in document_server.found().items()
        } == visible
        document_server.close()
