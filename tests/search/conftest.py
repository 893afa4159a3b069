"""A small newsroom: a store, an index, and a method that writes articles. Every index must give the same answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from factories import empty_index, empty_store
from servers import Servers

from newsportal.items import Article, FoldKey, Link
from newsportal.search import open_index
from newsportal.search.base import Index, Query, Results
from newsportal.store.results import AddResult
from newsportal.store.store import Store

NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)


@dataclass
class Newsroom:
    store: Store
    index: Index
    written: int = 0

    def write(
        self, title: str = "无题", text: str = "正文", *, keys: tuple[FoldKey, ...] = (), now: datetime = NOW, **changes: Any
    ) -> AddResult:
        """Store an article under its own URL, not yet indexed."""
        self.written += 1
        name = changes.pop("identity", f"h{self.written}.example/a")
        topic = changes.pop("topic", None)
        link = Link(f"https://{name}", "feed:快讯", topic=topic)
        return self.store.add(Article(link.url, link, now, identity=name, title=title, text=text, **changes), keys, now=now)

    def find(self, text: str, **which: Any) -> Results:
        self.index.follow(self.store)
        return self.index.search(Query(text, **which))

    def titles(self, text: str, **which: Any) -> list[str]:
        return [hit.title for hit in self.find(text, **which).hits]


@pytest.fixture
def index_uri(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URI of an empty index of the kind that the test's ``newsroom`` uses."""
    kind = request.node.callspec.params["newsroom"]
    if kind != "elasticsearch":
        yield f"sqlite:///{tmp_path}/索 引/index.db" if kind == "file" else "sqlite://"
        return
    servers: Servers = request.getfixturevalue("servers")
    with servers.database(kind) as database:
        yield database.uri


@pytest.fixture(params=["memory", pytest.param("elasticsearch", marks=pytest.mark.slow)])
def newsroom(request: pytest.FixtureRequest, index_uri: str) -> Iterator[Newsroom]:
    """A newsroom over every kind of index; ``parametrize("newsroom", ["file"], indirect=True)`` selects a SQLite file."""
    is_memory = index_uri == "sqlite://"
    room = Newsroom(empty_store(), empty_index() if is_memory else open_index(index_uri))
    yield room
    room.index.close()
    room.store.close()
