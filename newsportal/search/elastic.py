"""The search index in Elasticsearch 8 or 9: ``elasticsearch://host:9200/prefix``. No plug-in is needed, the words are cut by us."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any, TypeVar

from elasticsearch import NotFoundError

from newsportal.errors import SearchError, SearchUnavailable, ServerUnavailable, StoreError
from newsportal.search import elastic_building, elastic_finding, suggesting
from newsportal.search.base import Query, Results, Status
from newsportal.search.elastic_building import Generations
from newsportal.search.elastic_connection import Connection
from newsportal.search.renewing import renew
from newsportal.store.store import Store
from newsportal.text.words import signature

SEARCH_SECONDS = 10.0
"""How long a reader waits for a server that does not answer."""

Answer = TypeVar("Answer")


class ElasticIndex:
    """An :class:`~newsportal.search.base.Index`. Nothing is asked before the first question: a portal may start without a server."""

    def __init__(self, uri: str) -> None:
        with _search_errors():
            self._connection = Connection(uri)
        self._generations = Generations(self._connection)
        self._preparing = Lock()
        self._prepared = self._looked = False

    def search(self, query: Query) -> Results:
        return self._answer(lambda: elastic_finding.find(self._ask, query))

    def suggest(self, typed: str, limit: int = 10) -> tuple[str, ...]:
        return self._answer(lambda: suggesting.suggest(typed, limit, partial(elastic_finding.offered, self._ask)))

    def follow(self, store: Store) -> int:
        if not self._looked:  # once: two processes with different words of one's own must not rebuild in turns
            renew(self, store)
            self._looked = True
        return self._answer(lambda: elastic_building.follow(self._generations, store))

    def rebuild(self, store: Store, progress: Callable[[int], None] | None = None) -> int:
        return self._answer(lambda: elastic_building.rebuild(self._generations, store, progress))

    def position(self) -> int:
        return self._answer(lambda: self._generations.place().position)

    def cut_otherwise(self) -> bool:
        notes = self._answer(self._generations.present)
        return any(one.get("cuts") != signature() for one in notes.values())

    def status(self) -> Status:
        return self._answer(self._status)

    def _status(self) -> Status:
        (index, notes), *_ = self._generations.present().items()
        client = self._connection.client
        count = self._connection.ask(partial(client.count, index=index, query={"exists": {"field": "id"}}))["count"]
        size = self._connection.ask(partial(client.indices.stats, index=index, metric="store"))["_all"]["primaries"]["store"][
            "size_in_bytes"
        ]
        version = self._generations.version()
        analyser = (
            f"its {notes['plugin']} cuts titles and texts too" if notes.get("plugin") else "no Chinese analyser of its own, none is needed"
        )
        return Status(self._generations.place().position, count, size, f"Elasticsearch {version}, {index}; {analyser}")

    def close(self) -> None:
        self._connection.close()

    def _ask(self, body: dict[str, Any]) -> Mapping[str, Any]:
        client = self._connection.client.options(request_timeout=SEARCH_SECONDS)
        asked = partial(client.search, index=self._generations.alias, allow_partial_search_results=False, **_named(body))
        answer: Mapping[str, Any] = self._connection.ask(asked).body
        return answer

    def _answer(self, question: Callable[[], Answer]) -> Answer:
        """Answer on an index that is there: made if need be, also when somebody deleted it while we served."""
        with _search_errors():
            self._prepare()
            try:
                return question()
            except StoreError as error:
                if not isinstance(error.__cause__, NotFoundError) and "more than one index" not in str(error):
                    raise
            self._prepared = False
            self._prepare()
            return question()

    def _prepare(self) -> None:
        if self._prepared:
            return
        if not self._preparing.acquire(timeout=SEARCH_SECONDS):  # who waits behind one that is not answered is not answered either
            raise ServerUnavailable(f"{self._connection.place}: the server does not answer in time; see whether it is overloaded")
        try:
            if not self._prepared:
                self._generations.prepare()
                self._prepared = True
        finally:
            self._preparing.release()


def _named(body: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a search as the client calls them: ``from`` and ``_source`` are none of Python's names."""
    names = {"from": "from_", "_source": "source"}
    return {names.get(name, name): value for name, value in body.items()}


@contextmanager
def _search_errors() -> Iterator[None]:
    """The index speaks of search."""
    try:
        yield
    except ServerUnavailable as error:
        raise SearchUnavailable(f"search index {error}") from error
    except StoreError as error:
        raise SearchError(f"search index {error}") from error
