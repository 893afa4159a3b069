"""Connections to Elasticsearch 8 or 9: URIs, retries, errors. Used by the search index and as a publish target."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

from elastic_transport import ConnectionError as Lost
from elastic_transport import ConnectionTimeout, NodeConfig, SerializationError, TlsError, TransportError
from elasticsearch import ApiError, Elasticsearch, UnsupportedProductError

from newsportal.errors import ServerUnavailable, StoreError, StoreUnavailable
from newsportal.store.dialects import invalid_uri, mask_uri

DISK_FULL = "flood-stage"  # part of Elasticsearch's message when a disk is full and writes are blocked
TOO_MANY_REQUESTS = 429  # a queue of the server is full, often only that of writes
BUSY_CODES = frozenset({TOO_MANY_REQUESTS, 502, 503, 504})  # status codes after which a retry helps: overloaded, or starting
MAX_BATCH_BYTES = 5_000_000  # bytes per request (Elastic recommends 5 to 15 MB)
Lines = TypeVar("Lines", bound=Sequence[bytes])
MAX_CHARS = 300  # characters shown of a server's message


class ServerBusy(StoreUnavailable):
    """The server is temporarily busy. Raised inside a request to have it retried."""


def store_error(error: TransportError | ApiError | UnsupportedProductError, place: str) -> StoreError:
    """Return the ``StoreError`` for an ``error`` of the client. Unknown errors keep the server's message."""
    if isinstance(error, UnsupportedProductError):
        return StoreError(f"{place}: the server there is not Elasticsearch; correct the URI")
    if isinstance(error, ApiError):
        return status_error(error.status_code, reason_of(error.body), place)
    if isinstance(error, ConnectionTimeout):
        return ServerUnavailable(f"{place}: the server does not answer in time; check whether it is overloaded, and try again")
    if isinstance(error, TlsError):
        return StoreError(f"{place}: no secure connection ({error}); name the server's certificate in the URI: ?ca_certs=FILE")
    if isinstance(error, Lost):
        return ServerUnavailable(f"{place}: Elasticsearch is not reachable ({error.message[:MAX_CHARS]}); start it, or correct the URI")
    if isinstance(error, SerializationError):
        return StoreError(f"{place}: the request or the response is not JSON ({error}); is there a proxy in between?")
    return StoreUnavailable(f"{place}: {str(error)[:MAX_CHARS]}")


def status_error(status: int, reason: str, place: str) -> StoreError:
    if DISK_FULL in reason:
        return StoreUnavailable(
            f"{place}: the disk is nearly full, so nothing can be written; free space, and Elasticsearch accepts writes again"
        )
    if "blocked by" in reason or "read-only" in reason:
        return StoreUnavailable(
            f"{place}: it is read-only ({reason[:MAX_CHARS]}); check the free disk space, then remove the block: "
            'PUT /PREFIX-*/_settings {"index.blocks.read_only_allow_delete": null, "index.blocks.read_only": null}'
        )
    if status == 401:
        return StoreUnavailable(f"{place}: wrong user or password; set them in the URI: elasticsearch+https://USER:PASSWORD@HOST:9200")
    if status == 403:
        return StoreUnavailable(f"{place}: not permitted ({reason[:MAX_CHARS]}); grant the user the privilege `all` on indices PREFIX-*")
    if status == 413:
        return StoreError(f"{place}: the request is too large; raise http.max_content_length of the server, or leave the article out")
    if status in BUSY_CODES:
        unavailable = StoreUnavailable if status == TOO_MANY_REQUESTS else ServerUnavailable
        return unavailable(f"{place}: the server is overloaded, or is starting ({reason[:MAX_CHARS]}); try again")
    if status >= 500:
        return StoreUnavailable(f"{place}: the server failed ({reason[:MAX_CHARS]}); see its log")
    return StoreError(f"{place}: {reason[:MAX_CHARS]}")


def reason_of(body: Any) -> str:
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        inner = error.get("caused_by") or {}
        return ": ".join(str(part) for part in (error.get("type"), error.get("reason"), inner.get("reason")) if part)
    return str(error)


logging.getLogger("elastic_transport").setLevel(logging.ERROR)  # it logs a traceback for each try; our errors report the cause

DEFAULT_PREFIX = "newsportal"  # prefix of index names for a URI without a path
EXAMPLE_URI = "elasticsearch://localhost:9200/newsportal"
PARAMETERS = ("api_key", "ca_certs")  # allowed query parameters of a URI
DEFAULT_PORT = 9200
FORBIDDEN_CHARS = frozenset('\\/*?"<>| ,#:')  # characters not allowed in index names
TIMEOUT_SECONDS = 30.0  # timeout of a request
MAX_RETRY_SECONDS = 20.0  # how long requests to a busy server are retried
FIRST_PAUSE = 0.1  # seconds before the first retry; doubled for each further one
Answer = TypeVar("Answer")
P = ParamSpec("P")


@dataclass(frozen=True)
class ServerAddress:
    """A parsed URI. ``masked`` has no password."""

    nodes: tuple[NodeConfig, ...]
    prefix: str
    masked: str
    user: tuple[str, str] | None = None
    api_key: str | None = None


def parse_uri(uri: str) -> ServerAddress:
    """Parse ``elasticsearch://host:9200/prefix`` (several hosts separated by commas),
    ``elasticsearch+https://user:password@host/prefix?ca_certs=FILE``, ``?api_key=KEY``. Raises ``StoreError``."""
    try:
        parts = urlsplit(uri)
        user, _, hosts = parts.netloc.rpartition("@")
        parameters = {name: values[0] for name, values in parse_qs(parts.query).items()}
        secure = parts.scheme.endswith("https")
        nodes = tuple(_node(host, secure, parameters.get("ca_certs")) for host in hosts.split(","))
    except ValueError as error:  # its message may contain a password
        raise invalid_uri(uri, "Elasticsearch", EXAMPLE_URI) from error
    prefix = unquote(parts.path.strip("/")) or DEFAULT_PREFIX
    if not hosts or prefix != prefix.lower() or prefix[0] in "-_+." or FORBIDDEN_CHARS & set(prefix):
        raise invalid_uri(uri, "Elasticsearch", EXAMPLE_URI)
    if unknown := sorted(parameters.keys() - PARAMETERS):
        raise StoreError(f"{mask_uri(uri)}: {', '.join(unknown)} is not a parameter; allowed: {', '.join(PARAMETERS)}")
    name, _, password = user.partition(":")
    return ServerAddress(nodes, prefix, mask_uri(uri), (unquote(name), unquote(password)) if user else None, parameters.get("api_key"))


def _node(host: str, secure: bool, certificates: str | None) -> NodeConfig:
    parts = urlsplit(f"//{host}")
    return NodeConfig(
        "https" if secure else "http",
        parts.hostname or "localhost",
        parts.port or DEFAULT_PORT,
        connections_per_node=10,
        verify_certs=True if secure else None,
        ca_certs=certificates if secure else None,
    )


class Connection:
    """A client that retries while the server is busy. Raises the errors of the store. Shared between threads."""

    def __init__(self, uri: str) -> None:
        place = parse_uri(uri)
        self.place = place.masked
        self.prefix = place.prefix
        if place.user and place.api_key:
            raise StoreError(f"{self.place}: has both a user and an api_key; remove one")
        self.client = Elasticsearch(
            list(place.nodes),
            basic_auth=place.user,
            api_key=place.api_key,
            request_timeout=TIMEOUT_SECONDS,
            max_retries=1,
            retry_on_status=(),
            http_compress=False,
        )

    def run(self, request: Callable[P, Answer], *args: P.args, **kwargs: P.kwargs) -> Answer:
        """Call ``request`` with the arguments; retry while the server is busy, or while it raises ``ServerBusy`` itself."""
        pause, end = FIRST_PAUSE, time.monotonic() + MAX_RETRY_SECONDS
        with self.errors():
            while True:
                try:
                    return request(*args, **kwargs)
                except (ApiError, ServerBusy) as error:
                    if not is_transient(error) or time.monotonic() + pause > end:
                        raise
                time.sleep(pause)
                pause *= 2

    @contextmanager
    def errors(self) -> Iterator[None]:
        try:
            yield
        except (TransportError, ApiError, UnsupportedProductError) as error:
            raise store_error(error, self.place) from error
        except (ValueError, OverflowError) as error:
            raise StoreError(f"{self.place}: a row has a value that JSON cannot represent ({error})") from error

    def close(self) -> None:
        self.client.close()


def is_transient(error: ApiError | ServerBusy) -> bool:
    """Return whether a retry may soon succeed. A full disk takes longer."""
    return isinstance(error, ServerBusy) or (error.status_code in BUSY_CODES and DISK_FULL not in reason_of(error.body))


def batches(writes: Iterable[Lines]) -> Iterator[list[Lines]]:
    """Split ``writes``, each of one or two lines, into lists of at most :data:`MAX_BATCH_BYTES` bytes, or of one write."""
    batch: list[Lines] = []
    size = 0
    for lines in writes:
        length = sum(map(len, lines))
        if batch and size + length > MAX_BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(lines)
        size += length
    if batch:
        yield batch
