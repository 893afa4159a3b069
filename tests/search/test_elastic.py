"""Failures specific to Elasticsearch: outages, crashes, indexes shared with other processes and versions."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from elasticsearch import Elasticsearch
from servers import Server, Servers, own_server

from newsportal.errors import SearchError
from newsportal.items import Article, Link
from newsportal.search import elastic_building, open_index
from newsportal.search.base import Query
from newsportal.search.elastic import ElasticIndex
from newsportal.search.elastic_layout import VERSION, mapping
from newsportal.store import open_store
from newsportal.store.store import Store
from newsportal.text import words

pytestmark = pytest.mark.slow

NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)


def write(store: Store, number: int, title: str = "桥") -> None:
    link = Link(f"https://a.example/{number}", "feed:x")
    store.add(Article(link.url, link, NOW, identity=str(number), title=f"{title} {number}", text=f"河{number}"), now=NOW)


@pytest.fixture
def store() -> Iterator[Store]:
    with closing(open_store("sqlite://")) as opened:
        yield opened


@pytest.fixture
def uri(servers: Servers) -> Iterator[str]:
    with servers.database("elasticsearch") as database:
        yield database.uri


@pytest.fixture
def index(uri: str) -> Iterator[ElasticIndex]:
    with closing(ElasticIndex(uri)) as opened:
        yield opened


def client_of(index: ElasticIndex) -> Elasticsearch:
    return index._connection.client


def indices(index: ElasticIndex) -> list[str]:
    return sorted(client_of(index).indices.get(index=f"{index._generations.alias}*"))


def test_index_opens_while_server_is_down(store: Store) -> None:
    index = open_index("elasticsearch://127.0.0.1:9/news")
    for call in (lambda: index.search(Query("桥")), lambda: index.follow(store), index.position, lambda: index.suggest("桥")):
        with pytest.raises(SearchError, match=r"127\.0\.0\.1:9.*not reachable.*start it"):
            call()
    index.close()


@pytest.mark.parametrize(
    "uri", ["elasticsearch://", "elasticsearch://h:x/p", "elasticsearch://h/UPPER", "elasticsearch+https://u:secret@h/a*b"]
)
def test_invalid_uri_is_reported_without_password(uri: str) -> None:
    with pytest.raises(SearchError, match=r"not a URI.*for example|not a URI") as error:
        open_index(uri)
    assert "secret" not in str(error.value)


def test_killed_server_loses_no_indexed_articles(store: Store) -> None:
    server: Server
    with own_server("elasticsearch") as server, closing(open_index(f"elasticsearch://127.0.0.1:{server.port}/news")) as index:
        for number in range(20):
            write(store, number)
        index.follow(store)
        address = server.url("somewhere")
        server.kill()
        with pytest.raises(OSError):
            server.kind.answers(server.port)
        with pytest.raises(SearchError, match="not reachable"):
            index.search(Query("桥"))
        write(store, 20)
        with pytest.raises(SearchError, match="not reachable"):
            index.follow(store)
        server.start()
        assert server.kind.answers(server.port)
        assert server.url("somewhere") == address
        assert index.follow(store) == 1
        assert index.search(Query("桥")).total == 21
    assert not server.place.folder.exists()


def test_manually_deleted_index_is_refilled(index: ElasticIndex, store: Store) -> None:
    write(store, 1)
    index.follow(store)
    client_of(index).indices.delete(index=f"{index._generations.alias}-*", expand_wildcards="all")
    assert index.search(Query("桥")).total == 0
    assert index.follow(store) == 1
    assert index.search(Query("桥")).total == 1


@pytest.mark.parametrize("version", [VERSION - 1, VERSION + 1])
def test_older_index_is_rebuilt_and_newer_one_refused(uri: str, store: Store, version: int) -> None:
    write(store, 1)
    with closing(ElasticIndex(uri)) as before:
        before.follow(store)
        (name,) = indices(before)
        notes = before._generations.current()[name] | {"version": version}
        client_of(before).indices.put_mapping(index=name, body={"_meta": notes})
    with closing(ElasticIndex(uri)) as after:
        if version > VERSION:
            with pytest.raises(SearchError, match=r"newer newsportal; upgrade"):
                after.follow(store)
            assert indices(after) == [name]
        else:
            assert after.position() == 0
            assert after.follow(store) == 1
            assert len(indices(after)) == 1
            assert indices(after) != [name]


def test_concurrent_followers_and_rebuild_agree(uri: str, store: Store) -> None:
    for number in range(60):
        write(store, number)
    opened = [ElasticIndex(uri) for _ in range(4)]
    work = [threading.Thread(target=index.follow, args=(store,)) for index in opened[:3]]
    work.append(threading.Thread(target=opened[3].rebuild, args=(store,)))
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    for each in opened:
        each.follow(store)
    assert {each.search(Query("桥", limit=0)).total for each in opened} == {60}
    assert {each.position() for each in opened} == {store.last_seq()}
    assert len(indices(opened[0])) == 1
    for each in opened:
        each.close()


def test_slow_follower_does_not_overwrite_newer_version(index: ElasticIndex, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads an article, sleeps, and sends it after another follower has indexed the next version."""
    write(store, 1, "旧桥")
    other = ElasticIndex(index._connection.place)
    send = elastic_building.send_writes

    def sleepy(connection: object, lines: object) -> None:
        rows = list(lines)  # type: ignore[call-overload]
        monkeypatch.setattr(elastic_building, "send_writes", send)
        write(store, 1, "新桥")
        other.follow(store)
        send(connection, rows)  # type: ignore[arg-type]

    monkeypatch.setattr(elastic_building, "send_writes", sleepy)
    index.follow(store)
    assert [hit.title for hit in index.search(Query("桥")).hits] == ["新桥 1"]
    assert index.position() == store.last_seq()
    other.close()


def test_earlier_of_two_rebuilds_fails(uri: str, store: Store) -> None:
    write(store, 1)
    first, second = ElasticIndex(uri), ElasticIndex(uri)
    with pytest.raises(SearchError, match="another rebuild"):
        first.rebuild(store, lambda done: second.rebuild(store) and None)
    assert len(indices(second)) == 1
    assert second.search(Query("桥")).total == 1
    first.close()
    second.close()


def test_index_of_aborted_rebuild_is_removed_later(index: ElasticIndex, store: Store) -> None:
    write(store, 1)
    index.follow(store)

    def die(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.rebuild(store, die)
    assert index.search(Query("桥")).total == 1
    assert len(indices(index)) == 2
    assert index.rebuild(store) == 1
    assert len(indices(index)) == 1


def test_changed_user_words_rebuild_index(uri: str, store: Store) -> None:
    write(store, 1, "九树之声开演")
    with closing(ElasticIndex(uri)) as before:
        before.follow(store)
        names = indices(before)
    try:
        words.set_user_words(["九树之声"])
        with closing(ElasticIndex(uri)) as after:
            after.follow(store)
            assert indices(after) != names
            found = after.search(Query("九树之声"))
            assert (found.words, found.hits[0].score > 2) == (("九树之声",), True)
    finally:
        words.set_user_words([])


def test_offsets_beyond_server_limit_are_accepted(index: ElasticIndex, store: Store) -> None:
    write(store, 1)
    index.follow(store)
    for offset, limit in ((0, 10**9), (9_999, 50), (10_000, 20), (10**12, 20)):
        assert index.search(Query("桥", offset=offset, limit=limit)).total == 1


def test_total_counts_all_matches(index: ElasticIndex, store: Store) -> None:
    for number in range(30):
        write(store, number)
    index.follow(store)
    results = index.search(Query("桥", limit=5, since=NOW - timedelta(days=1)))
    assert (len(results.hits), results.total, results.capped) == (5, 30, False)


def test_server_analyser_is_used_if_installed(index: ElasticIndex, store: Store) -> None:
    """The test server has none; its ``standard`` analyser takes the place."""
    write(store, 1)
    index.follow(store)
    assert index._generations.plugin() is None
    assert "none is needed" in index.status().says
    mappings = mapping("analysis-smartcn")
    assert mappings["properties"]["title"]["fields"]["server"]["analyzer"] == "smartcn"
    mappings["properties"]["title"]["fields"]["server"]["analyzer"] = "standard"
    mappings["properties"]["text"]["fields"]["server"]["analyzer"] = "standard"
    client_of(index).indices.create(index=f"{index._generations.alias}_tried", mappings=mappings)


def test_status_reports_position_and_size(index: ElasticIndex, store: Store) -> None:
    write(store, 1)
    index.follow(store)
    status = index.status()
    assert (status.position, status.articles) == (store.last_seq(), 1)
    assert status.bytes
    assert "Elasticsearch" in status.says
