"""A connection to Elasticsearch, 8 or 9: the URI, patience with a busy server, errors. The search index uses it as well."""

from __future__ import annotations

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
from newsportal.store.dialects import mask_uri, no_uri

FULL = "flood-stage"  # in what Elasticsearch says when a disk is full: it lets nothing be written any more
REJECTED = 429  # a queue of the server's is full: of writes, often, while it answers what is read
BUSY = frozenset({REJECTED, 502, 503, 504})  # answers after which trying again helps: too much to do, or starting
PORTION = 5_000_000  # bytes sent at once (Elastic's advice is 5 to 15 MB)
Lines = TypeVar("Lines", bound=Sequence[bytes])
SHOWN = 300  # characters shown of what a server says


class Busy(StoreUnavailable):
    """The server may answer otherwise in a moment. Raised inside a question, so that it is asked again."""


def explained(error: TransportError | ApiError | UnsupportedProductError, place: str) -> StoreError:
    """The error of ours that says what ``error`` means. Unknown ones keep the server's words."""
    if isinstance(error, UnsupportedProductError):
        return StoreError(f"{place}: what answers there is not Elasticsearch; correct the URI")
    if isinstance(error, ApiError):
        return answered(error.status_code, cause(error.body), place)
    if isinstance(error, ConnectionTimeout):
        return ServerUnavailable(f"{place}: the server does not answer in time; see whether it is overloaded, and try again")
    if isinstance(error, TlsError):
        return StoreError(f"{place}: no secure connection ({error}); name the server's certificate in the URI: ?ca_certs=FILE")
    if isinstance(error, Lost):
        return ServerUnavailable(f"{place}: Elasticsearch is away ({_cut(error.message)}); start it, or correct the URI")
    if isinstance(error, SerializationError):
        return StoreError(f"{place}: what was asked or answered is not JSON ({error}); is there a proxy in between?")
    return StoreUnavailable(f"{place}: {_cut(str(error))}")


def answered(status: int, reason: str, place: str) -> StoreError:
    if FULL in reason:
        return StoreUnavailable(f"{place}: the disk is nearly full, so nothing can be written; make room on it, and Elasticsearch goes on")
    if "blocked by" in reason or "read-only" in reason:
        return StoreUnavailable(
            f"{place}: it is read-only ({_cut(reason)}); see that the disk has room, then take the block away: "
            'PUT /PREFIX-*/_settings {"index.blocks.read_only_allow_delete": null, "index.blocks.read_only": null}'
        )
    if status == 401:
        return StoreUnavailable(
            f"{place}: user or password is wrong; write them into the URI: elasticsearch+https://USER:PASSWORD@HOST:9200"
        )
    if status == 403:
        return StoreUnavailable(
            f"{place}: this user may not do that ({_cut(reason)}); give the user the privilege `all` on the indices PREFIX-*"
        )
    if status == 413:
        return StoreError(f"{place}: what was sent is too large; raise http.max_content_length of the server, or leave the article out")
    if status in BUSY:
        unavailable = StoreUnavailable if status == REJECTED else ServerUnavailable
        return unavailable(f"{place}: the server has too much to do, or is starting ({_cut(reason)}); try again")
    if status >= 500:
        return StoreUnavailable(f"{place}: the server failed ({_cut(reason)}); see its log")
    return StoreError(f"{place}: {_cut(reason)}")


def cause(body: Any) -> str:
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        inner = error.get("caused_by") or {}
        return ": ".join(str(part) for part in (error.get("type"), error.get("reason"), inner.get("reason")) if part)
    return str(error)


def _cut(text: str) -> str:
    return text[:SHOWN]


logging.getLogger("elastic_transport").setLevel(logging.ERROR)  # it prints a traceback for each try; what failed, our errors say

PREFIX = "newsportal"  # what a URI without a path means: the beginning of every index's name
EXAMPLE = "elasticsearch://localhost:9200/newsportal"
PARAMETERS = ("api_key", "ca_certs")  # what may stand behind the ?
PORT = 9200
FORBIDDEN = frozenset('\\/*?"<>| ,#:')  # characters that names of indices must not have
ANSWER_SECONDS = 30.0  # how long an answer may take
PATIENCE_SECONDS = 20.0  # how long a server that has too much to do is asked again
FIRST_PAUSE = 0.1  # seconds before it is asked the second time; each pause is the double of the one before
Answer = TypeVar("Answer")
P = ParamSpec("P")


@dataclass(frozen=True)
class ServerAddress:
    """What a URI says. ``masked`` has no password."""

    nodes: tuple[NodeConfig, ...]
    prefix: str
    masked: str
    user: tuple[str, str] | None = None
    api_key: str | None = None


def place_of(uri: str) -> ServerAddress:
    """``elasticsearch://host:9200/prefix`` (several hosts with commas), ``elasticsearch+https://user:password@host/prefix?ca_certs=FILE``,
    ``?api_key=KEY``. Raises ``StoreError``."""
    try:
        parts = urlsplit(uri)
        user, _, hosts = parts.netloc.rpartition("@")
        parameters = {name: values[0] for name, values in parse_qs(parts.query).items()}
        secure = parts.scheme.endswith("https")
        nodes = tuple(_node(host, secure, parameters.get("ca_certs")) for host in hosts.split(","))
    except ValueError as error:  # its words may hold a password
        raise no_uri(uri, "Elasticsearch", EXAMPLE) from error
    prefix = unquote(parts.path.strip("/")) or PREFIX
    if not hosts or prefix != prefix.lower() or prefix[0] in "-_+." or FORBIDDEN & set(prefix):
        raise no_uri(uri, "Elasticsearch", EXAMPLE)
    if unknown := sorted(parameters.keys() - PARAMETERS):
        raise StoreError(f"{mask_uri(uri)}: {', '.join(unknown)} is no parameter here; these are: {', '.join(PARAMETERS)}")
    name, _, password = user.partition(":")
    return ServerAddress(nodes, prefix, mask_uri(uri), (unquote(name), unquote(password)) if user else None, parameters.get("api_key"))


def _node(host: str, secure: bool, certificates: str | None) -> NodeConfig:
    parts = urlsplit(f"//{host}")
    return NodeConfig(
        "https" if secure else "http",
        parts.hostname or "localhost",
        parts.port or PORT,
        connections_per_node=10,
        verify_certs=True if secure else None,
        ca_certs=certificates if secure else None,
    )


class Connection:
    """A client that waits for a busy server. Errors are those of the store. Shared between threads."""

    def __init__(self, uri: str) -> None:
        place = place_of(uri)
        self.place = place.masked
        self.prefix = place.prefix
        if place.user and place.api_key:
            raise StoreError(f"{self.place}: names a user and an api_key; leave one of them out")
        self.client = Elasticsearch(
            list(place.nodes),
            basic_auth=place.user,
            api_key=place.api_key,
            request_timeout=ANSWER_SECONDS,
            max_retries=1,
            retry_on_status=(),
            http_compress=False,
        )

    def ask(self, question: Callable[P, Answer], *args: P.args, **kwargs: P.kwargs) -> Answer:
        """Call ``question`` with the arguments, again while the server is busy, or while it raises ``Busy`` itself."""
        pause, end = FIRST_PAUSE, time.monotonic() + PATIENCE_SECONDS
        with self.errors():
            while True:
                try:
                    return question(*args, **kwargs)
                except (ApiError, Busy) as error:
                    if not passing(error) or time.monotonic() + pause > end:
                        raise
                time.sleep(pause)
                pause *= 2

    @contextmanager
    def errors(self) -> Iterator[None]:
        try:
            yield
        except (TransportError, ApiError, UnsupportedProductError) as error:
            raise explained(error, self.place) from error
        except (ValueError, OverflowError) as error:
            raise StoreError(f"{self.place}: a row holds what JSON cannot say ({error})") from error

    def close(self) -> None:
        self.client.close()


def passing(error: ApiError | Busy) -> bool:
    """Whether the server may answer otherwise in a moment. A full disk takes longer."""
    return isinstance(error, Busy) or (error.status_code in BUSY and FULL not in cause(error.body))


def portions(writes: Iterable[Lines]) -> Iterator[list[Lines]]:
    """``writes``, each of a line or two, in lists of at most :data:`PORTION` bytes, or of one."""
    some: list[Lines] = []
    size = 0
    for lines in writes:
        length = sum(map(len, lines))
        if some and size + length > PORTION:
            yield some
            some, size = [], 0
        some.append(lines)
        size += length
    if some:
        yield some
