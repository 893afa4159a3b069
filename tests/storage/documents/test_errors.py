"""What drivers raise, in words that say what to do."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from elastic_transport import ApiResponseMeta, ConnectionTimeout, HttpHeaders, NodeConfig, TlsError
from elastic_transport import ConnectionError as Lost
from elasticsearch import ApiError, UnsupportedProductError
from made_up_tables import ROWS
from pymongo import errors as mongo

from newsportal.errors import StoreError, StoreUnavailable
from newsportal.storage.documents import elastic_errors, mongo_errors
from newsportal.storage.documents.base import Documents, Row
from newsportal.storage.documents.elastic_connection import passing

FLOOD = "index [news-rows] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has a block];"
META = ApiResponseMeta(500, "1.1", HttpHeaders(), 0.1, NodeConfig("http", "localhost", 9200))


def answer(status: int, type: str, reason: str) -> ApiError:
    return ApiError(type, META, {"error": {"type": type, "reason": reason}, "status": status})


def with_status(status: int, type: str, reason: str) -> ApiError:
    meta = ApiResponseMeta(status, META.http_version, META.headers, META.duration, META.node)
    return ApiError(type, meta, {"error": {"type": type, "reason": reason}})


PASSING = [
    (with_status(429, "es_rejected_execution_exception", "queue full"), "too much to do, or is starting .*queue full.*; try again"),
    (with_status(503, "unavailable_shards_exception", "[news-rows][0] primary shard is not active"), "try again"),
]
LASTING = [
    (with_status(429, "cluster_block_exception", FLOOD), "disk is nearly full, so nothing can be written; make room"),
    (
        with_status(403, "cluster_block_exception", "index [x] blocked by: [FORBIDDEN/5/index read-only (api)];"),
        "read-only .*read_only.*null",
    ),
    (with_status(401, "security_exception", "unable to authenticate"), "user or password is wrong; write them into the URI"),
    (with_status(403, "security_exception", "action [x] is unauthorized"), "may not do that .*; give the user the privilege"),
    (with_status(500, "exception", "no"), "the server failed .*; see its log"),
]
FOR_EVER = [
    (with_status(413, "too_large", ""), "too large; raise http.max_content_length"),
    (with_status(400, "bad", "really"), "bad: really"),
]


@pytest.mark.parametrize(("error", "words"), [*PASSING, *LASTING])
def test_what_elasticsearch_answers_is_told_with_its_remedy(error: ApiError, words: str) -> None:
    told = elastic_errors.explained(error, "elasticsearch://h/news")
    with pytest.raises(StoreUnavailable, match=f"^elasticsearch://h/news: .*{words}"):
        raise told


@pytest.mark.parametrize(("error", "words"), FOR_EVER)
def test_what_does_not_pass_is_no_reason_to_wait(error: ApiError, words: str) -> None:
    told = elastic_errors.explained(error, "h")
    assert not isinstance(told, StoreUnavailable)
    with pytest.raises(StoreError, match=words):
        raise told


def test_a_busy_server_is_asked_again_and_a_full_disk_is_told_at_once() -> None:
    assert [passing(error) for error, _ in PASSING] == [True, True]
    assert [passing(error) for error, _ in (*LASTING, *FOR_EVER)] == [False] * (len(LASTING) + len(FOR_EVER))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Lost("refused"), "Elasticsearch is away .*refused.*; start it"),
        (ConnectionTimeout("slow"), "does not answer in time"),
        (TlsError("self-signed"), "no secure connection .*ca_certs"),
        (UnsupportedProductError("nginx", META, None), "is not Elasticsearch"),
    ],
)
def test_what_happens_on_the_way_to_elasticsearch_is_told(error: Lost | UnsupportedProductError, words: str) -> None:
    with pytest.raises(StoreError, match=words):
        raise elastic_errors.explained(error, "h")


def bulk(code: int, words: str) -> mongo.BulkWriteError:
    return mongo.BulkWriteError({"writeErrors": [{"index": 0, "code": code, "errmsg": words}]})


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            mongo.ServerSelectionTimeoutError("localhost:9: refused, Timeout: 5s, Topology: x"),
            r"is away \(localhost:9: refused\); start it",
        ),
        (mongo.NetworkTimeout("slow"), "does not answer in time"),
        (mongo.AutoReconnect("closed"), "connection was lost .*try again"),
        (mongo.OperationFailure("Authentication failed.", 18), "user or password is wrong; check them"),
        (mongo.OperationFailure("not authorized on news", 13), "give the user the role readWrite"),
        (mongo.NotPrimaryError("not primary"), "connection was lost"),
        (mongo.OperationFailure("not primary", 10107), "has become a secondary; try again"),
        (mongo.OperationFailure("write failed: No space left on device", 8), "the disk is full; make room"),
        (bulk(14031, "out of disk space"), "the disk is full; make room"),
        (bulk(1, "attempt to write a readonly database"), "cannot be written to .*read-only"),
        (mongo.WriteConcernError("waiting for replication timed out", 64), "did not confirm the write in time"),
    ],
)
def test_what_mongodb_says_is_told_with_its_remedy(error: mongo.PyMongoError, words: str) -> None:
    with pytest.raises(StoreUnavailable, match=f"^mongodb://h/news: .*{words}"):
        raise mongo_errors.explained(error, "mongodb://h/news")


@pytest.mark.parametrize("error", [mongo.DocumentTooLarge("17 MB"), mongo.OperationFailure("BSONObj size", 10334)])
def test_a_row_that_is_too_long_is_no_reason_to_wait(error: mongo.PyMongoError) -> None:
    told = mongo_errors.explained(error, "h")
    assert "16 MB" in str(told)
    assert not isinstance(told, StoreUnavailable)


@pytest.mark.slow
def test_a_row_that_is_too_long_is_refused_before_anything_is_decided(documents: Documents) -> None:
    def write(*lengths: int) -> None:
        with documents.writing() as transaction:
            for number, length in enumerate(lengths):
                transaction.put(ROWS, {"id": str(number), "number": transaction.next("numbers"), "text": "x" * length})

    with pytest.raises(StoreError, match=r"rows '1' is longer than the \d+ MB"):
        write(1, 51_000_000)
    assert (documents.count(ROWS), documents.last("numbers")) == (0, 0)
    write(1, 1000)
    assert documents.count(ROWS) == 2


@pytest.mark.slow
@pytest.mark.parametrize("uri", ["elasticsearch"], indirect=True)
@pytest.mark.parametrize("block", ["read_only_allow_delete", "read_only", "write"])
def test_an_index_that_is_blocked_is_told_and_goes_on_afterwards(uri: str, opened: Callable[[], Documents], block: str) -> None:
    from newsportal.storage.documents.elastic_connection import Connection

    documents = opened()
    rows: list[Row] = [{"id": str(number)} for number in range(3)]

    def write() -> None:
        with documents.writing() as transaction:
            for row in rows:
                transaction.put(ROWS, row)

    write()
    connection = Connection(uri)
    indices = f"{connection.prefix}-rows"
    connection.client.indices.put_settings(index=indices, settings={f"index.blocks.{block}": True})
    with pytest.raises(StoreUnavailable, match=r"read-only|nearly full"):
        write()
    connection.client.indices.put_settings(index=indices, settings={f"index.blocks.{block}": None})
    rows.append({"id": "later"})
    write()
    assert documents.count(ROWS) == 4
    connection.close()
