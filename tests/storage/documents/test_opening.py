"""Databases that are not there, of an earlier version, of a later one; several processes that open one at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace

import pytest
from made_up_tables import ROWS, TABLES
from servers import Servers

from newsportal.errors import StoreError, StoreTooNew, StoreUnavailable
from newsportal.storage.documents.base import Documents, Transaction
from newsportal.storage.documents.elastic_connection import Connection
from newsportal.storage.documents.opening import META, Migration, mark, open_documents, restoring
from newsportal.storage.documents.store import TABLES as STORE_TABLES

Opening = Callable[[], Documents]


def doubled(transaction: Transaction) -> None:
    """A made-up migration: numbers are told in halves from version 2 on."""
    for row in transaction.find(ROWS):
        transaction.change(ROWS, row["id"], number=row["number"] * 2)


def named(transaction: Transaction) -> None:
    """Another one: rows have a word from version 3 on."""
    for row in transaction.find(ROWS):
        transaction.change(ROWS, row["id"], word=f"number {row['number']}")


LATER: Mapping[int, Migration] = {2: doubled, 3: named}


@pytest.mark.slow
def test_an_earlier_version_is_brought_up_once_by_whoever_is_first(uri: str, opened: Opening) -> None:
    with opened().writing() as transaction:
        for number in range(1, 4):
            transaction.put(ROWS, {"id": str(number), "number": number})
    faults: list[BaseException] = []

    def begin() -> None:
        try:
            open_documents(uri, TABLES, migrations=LATER).close()
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=begin) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    later = open_documents(uri, TABLES, migrations=LATER)
    assert later.find(ROWS, order=("id",)) == [{"id": str(n), "number": 2 * n, "word": f"number {2 * n}"} for n in range(1, 4)]
    assert later.get(META, ["schema"])["schema"]["version"] == 3
    later.close()
    with pytest.raises(StoreTooNew, match=r"schema 3, .* \(its own is 1\); .* upgrade"):
        open_documents(uri, TABLES, migrations={})


@pytest.mark.slow
def test_a_later_version_is_refused_before_anything_of_it_is_changed(servers: Servers) -> None:
    with servers.database("elasticsearch") as database:
        narrow = replace(ROWS, fields={"id": "key"})
        with closing(open_documents(database.uri, (narrow,), migrations=LATER)) as documents, documents.writing() as transaction:
            transaction.put(narrow, {"id": "1", "number": 1})
        before = state_of(database.uri)
        with pytest.raises(StoreTooNew, match="upgrade"):
            open_documents(database.uri, TABLES, migrations={})
        assert state_of(database.uri) == before
        open_documents(database.uri, TABLES, migrations=LATER).close()  # one that knows it brings the fields
        assert state_of(database.uri) != before


def state_of(uri: str) -> tuple[dict[str, object], dict[str, int]]:
    """The mappings of a store in Elasticsearch, and how often each index was written to."""
    connection = Connection(uri)
    try:
        indices, every = connection.client.indices, f"{connection.prefix}-*"
        stats = indices.stats(index=every, metric="indexing")["indices"]
        written = {name: told["primaries"]["indexing"] for name, told in stats.items()}
        return dict(indices.get_mapping(index=every)), {n: one["index_total"] + one["delete_total"] for n, one in written.items()}
    finally:
        connection.close()


@pytest.mark.slow
def test_a_migration_that_fails_changes_nothing(uri: str, opened: Opening) -> None:
    def failing(transaction: Transaction) -> None:
        doubled(transaction)
        raise ZeroDivisionError

    with opened().writing() as transaction:
        transaction.put(ROWS, {"id": "1", "number": 1})
    with pytest.raises(ZeroDivisionError):
        open_documents(uri, TABLES, migrations={2: failing})
    assert opened().get(ROWS, ["1"]) == {"1": {"id": "1", "number": 1}}


@pytest.mark.slow
def test_a_database_that_is_not_there_is_made_only_if_that_is_wished(uri: str) -> None:
    with pytest.raises(StoreUnavailable, match="there is no store yet; run `newsportal crawl` first"):
        open_documents(uri, TABLES, create=False)
    open_documents(uri, TABLES).close()
    open_documents(uri, TABLES, create=False).close()


@pytest.mark.slow
def test_fields_that_a_later_version_looks_for_are_found_in_what_is_written_then(uri: str, opened: Opening) -> None:
    with opened().writing() as transaction:
        transaction.put(ROWS, {"id": "before", "new": "x"})
    wider = replace(ROWS, fields={**ROWS.fields, "new": "key"}, indexes=(*ROWS.indexes, ("new",)))
    documents = open_documents(
        uri, (wider,), migrations={2: lambda transaction: [transaction.put(wider, r) for r in transaction.find(wider)]}
    )
    with documents.writing() as transaction:
        transaction.put(wider, {"id": "after", "new": "x"})
    from newsportal.storage.documents.base import Is

    assert [row["id"] for row in documents.find(wider, Is("new", "x"))] == ["after", "before"]
    documents.close()


@pytest.mark.slow
@pytest.mark.parametrize("away", ["mongodb://127.0.0.1:9/news", "elasticsearch://127.0.0.1:9/news"])
def test_a_server_that_is_away_is_named_with_what_to_do(away: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from newsportal.storage.documents import mongo

    monkeypatch.setattr(mongo, "AWAY_SECONDS", 0.5)
    with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:9/news: .* is away .*; start it, or correct"):
        open_documents(away, TABLES)


@pytest.mark.slow
def test_what_could_not_be_opened_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    from newsportal.storage.documents.elastic import ElasticBackend

    closed: list[str] = []
    monkeypatch.setattr(ElasticBackend, "close", lambda backend: closed.append(backend.place))
    with pytest.raises(StoreUnavailable):
        open_documents("elasticsearch://127.0.0.1:9/news", TABLES)
    assert closed == ["elasticsearch://127.0.0.1:9/news"]


@pytest.mark.parametrize(
    "uri",
    [
        "elasticsearch://",
        "elasticsearch://host/UPPER",
        "elasticsearch://host/a,b",
        "elasticsearch://host:port/a",
        "elasticsearch://host/_x",
    ],
)
def test_a_uri_that_cannot_be_is_refused(uri: str) -> None:
    with pytest.raises(StoreError, match="not a URI of Elasticsearch"):
        open_documents(uri, TABLES)


@pytest.mark.parametrize("uri", ["mongodb://", "mongodb://host:port/x", "mongodb://h/a b.c"])
def test_a_uri_that_mongodb_does_not_know_is_refused(uri: str) -> None:
    with pytest.raises(StoreError, match="not a URI of MongoDB"):
        open_documents(uri, TABLES)


def test_a_password_is_never_shown() -> None:
    from newsportal.storage.documents.elastic_connection import place_of
    from newsportal.storage.places import shown

    for uri in ("mongodb://me:sec%40ret@a,b:1/news?x=1", "mongodb+srv://me:sec%40ret@a/news", "mongodb://me:sec:ret@a/news"):
        assert "sec" not in shown(uri)
        assert "me@a" in shown(uri)
    for uri in ("elasticsearch+https://me:sec%40ret@a:9200,b/news?api_key=secret", "elasticsearch://me:secret@a"):
        place = place_of(uri)
        assert "sec" not in place.shown
        assert place.user is not None
        assert place.user[0] == "me"


@pytest.mark.slow
def test_a_store_from_before_editors_is_brought_up_and_no_earlier_newsportal_opens_it(uri: str) -> None:
    """It would show what editors hide."""
    with closing(open_documents(uri, STORE_TABLES, migrations={})) as before, before.writing() as transaction:
        mark(transaction, "a backup")
        assert transaction.get(META, ["schema"])["schema"]["version"] == 1
    with closing(open_documents(uri, STORE_TABLES, unfinished=True)) as now:
        assert now.get(META, ["schema"])["schema"]["version"] == 2
        assert restoring(now) == "a backup", "what is half restored stays so"
    with pytest.raises(StoreTooNew, match="upgrade"):
        open_documents(uri, STORE_TABLES, unfinished=True, migrations={})
