"""Errors of the Elasticsearch driver are translated into messages with a remedy."""

from __future__ import annotations

import pytest
from elastic_transport import ApiResponseMeta, ConnectionTimeout, HttpHeaders, NodeConfig, TlsError
from elastic_transport import ConnectionError as Lost
from elasticsearch import ApiError, UnsupportedProductError

from newsportal.errors import StoreError, StoreUnavailable
from newsportal.search import elastic_connection
from newsportal.search.elastic_connection import Connection, is_transient, parse_uri

FLOOD = "index [news-rows] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has a block];"
META = ApiResponseMeta(500, "1.1", HttpHeaders(), 0.1, NodeConfig("http", "localhost", 9200))


def answer(status: int, type: str, reason: str) -> ApiError:
    return ApiError(type, META, {"error": {"type": type, "reason": reason}, "status": status})


def with_status(status: int, type: str, reason: str) -> ApiError:
    meta = ApiResponseMeta(status, META.http_version, META.headers, META.duration, META.node)
    return ApiError(type, meta, {"error": {"type": type, "reason": reason}})


TEMPORARY = [
    (with_status(429, "es_rejected_execution_exception", "queue full"), "overloaded, or is starting .*queue full.*; try again"),
    (with_status(503, "unavailable_shards_exception", "[news-rows][0] primary shard is not active"), "try again"),
]
LASTING = [
    (with_status(429, "cluster_block_exception", FLOOD), "disk is nearly full, so nothing can be written; free space"),
    (
        with_status(403, "cluster_block_exception", "index [x] blocked by: [FORBIDDEN/5/index read-only (api)];"),
        "read-only .*read_only.*null",
    ),
    (with_status(401, "security_exception", "unable to authenticate"), "wrong user or password; set them in the URI"),
    (with_status(403, "security_exception", "action [x] is unauthorized"), "not permitted .*; grant the user the privilege"),
    (with_status(500, "exception", "no"), "the server failed .*; see its log"),
]
PERMANENT = [
    (with_status(413, "too_large", ""), "too large; raise http.max_content_length"),
    (with_status(400, "bad", "really"), "bad: really"),
]


@pytest.mark.parametrize(("error", "words"), [*TEMPORARY, *LASTING])
def test_response_errors_suggest_remedy(error: ApiError, words: str) -> None:
    explained = elastic_connection.store_error(error, "elasticsearch://h/news")
    with pytest.raises(StoreUnavailable, match=f"^elasticsearch://h/news: .*{words}"):
        raise explained


@pytest.mark.parametrize(("error", "words"), PERMANENT)
def test_permanent_errors_do_not_wait(error: ApiError, words: str) -> None:
    explained = elastic_connection.store_error(error, "h")
    assert not isinstance(explained, StoreUnavailable)
    with pytest.raises(StoreError, match=words):
        raise explained


def test_only_temporary_errors_are_retried() -> None:
    assert [is_transient(error) for error, _ in TEMPORARY] == [True, True]
    assert [is_transient(error) for error, _ in (*LASTING, *PERMANENT)] == [False] * (len(LASTING) + len(PERMANENT))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Lost("refused"), "Elasticsearch is not reachable .*refused.*; start it"),
        (ConnectionTimeout("slow"), "does not answer in time"),
        (TlsError("self-signed"), "no secure connection .*ca_certs"),
        (UnsupportedProductError("nginx", META, None), "is not Elasticsearch"),
    ],
)
def test_connection_errors_suggest_remedy(error: Lost | UnsupportedProductError, words: str) -> None:
    with pytest.raises(StoreError, match=words):
        raise elastic_connection.store_error(error, "h")


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
def test_invalid_uri_is_refused(uri: str) -> None:
    with pytest.raises(StoreError, match="not a URI of Elasticsearch"):
        parse_uri(uri)


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("elasticsearch://[::1/news", "not a URI of Elasticsearch"),
        ("elasticsearch://me:SECRET", "not a URI of Elasticsearch"),
        ("elasticsearch://me:SEC/RET@h:9200/news", "not a URI of Elasticsearch.*%2F"),
        ("elasticsearch://me:SECRET@h/news?api_key=SECRET", "remove one"),
        ("elasticsearch://me:SECRET@h/news?ca_cert=/my.pem", "ca_cert is not a parameter.*ca_certs"),
    ],
)
def test_connection_errors_contain_no_secrets(uri: str, says: str) -> None:
    with pytest.raises(StoreError, match=says) as error:
        Connection(uri)
    assert not any(secret in str(error.value) for secret in ("SEC", "RET"))


@pytest.mark.parametrize("uri", ["elasticsearch+https://me:sec%40ret@a:9200,b/news?api_key=secret", "elasticsearch://me:secret@a"])
def test_password_is_masked(uri: str) -> None:
    place = parse_uri(uri)
    assert "sec" not in place.masked
    assert place.user is not None
    assert place.user[0] == "me"
