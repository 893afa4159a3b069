"""The connection to Redis by scrapy-redis' settings (``REDIS_URL``, ``REDIS_PARAMS`` …), its errors explained, and pushed start URLs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from newsportal.errors import FrontierRefused, FrontierUnavailable, StoreError
from newsportal.sources.uris import mask

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.settings import BaseSettings

    from newsportal.crawl.queues.base import Queue


# Seconds; scrapy-redis waits 30, but a crawl works without Redis. ``REDIS_PARAMS`` takes precedence.
TIMEOUTS: Mapping[str, Any] = {"socket_timeout": 5, "socket_connect_timeout": 3}

QUEUE_KEY: Final = "%(spider)s:requests"
SEEN_KEY: Final = "%(spider)s:dupefilter"  # scrapy-redis' defaults of SCHEDULER_QUEUE_KEY and SCHEDULER_DUPEFILTER_KEY
SHARED: Final = "newsportal:"  # prefix of the keys shared by all queues in one Redis

REMEDIES: Final = {
    ("OOM", "OutOfMemoryError"): "its memory is full (maxmemory): increase it, or remove tasks with: newsportal frontier clear",
    ("READONLY", "ReadOnlyError"): "it is a read-only replica: use the URL of the primary",
    ("MISCONF",): "it cannot save to its disk and refuses writes: see its log, free disk space",
    ("LOADING", "BusyLoadingError"): "it is loading its data; try again in a moment",
    ("BUSY",): "another script keeps it busy; stop it with redis-cli SCRIPT KILL",
    ("NOAUTH",): "it requires a password: redis://:PASSWORD@HOST:PORT/0",
    ("WRONGPASS", "AuthenticationError", "AuthenticationWrongNumberOfArgsError"): "the user name or password is wrong",
    ("NOPERM", "NoPermissionError"): "its user lacks permissions: allow scripts (@scripting) and the keys of the queue",
    ("MOVED", "MovedError", "CROSSSLOT", "ClusterCrossSlotError"): "it is a cluster: use redis+cluster://HOST:PORT",
    ("CLUSTERDOWN", "ClusterDownError"): (
        "a part of the cluster is down and cluster-require-full-coverage is yes: set it to no and start the missing nodes"
    ),
}
"""Explanations by the first word of a Redis error, or by redis-py's class where it strips that word."""


def is_configured(settings: BaseSettings) -> bool:
    return bool(settings.get("REDIS_URL") or settings.get("REDIS_HOST"))


def masked_url(settings: BaseSettings) -> str:
    """Return the URL of Redis without its password."""
    url = settings.get("REDIS_URL")
    return mask(url) if url else f"redis://{settings.get('REDIS_HOST')}:{settings.get('REDIS_PORT') or 6379}"


def faults() -> tuple[type[Exception], ...]:
    """Return the errors that redis-py raises; those of a cluster do not derive from ``RedisError``."""
    from redis.exceptions import RedisClusterException, RedisError

    return RedisError, RedisClusterException, OSError


def is_cluster(settings: BaseSettings) -> bool:
    return CLUSTER.match(settings.get("REDIS_URL") or "") is not None


def connect(settings: BaseSettings) -> Any:
    """Return a redis-py client. Only a cluster is contacted. Raises ``StoreError`` for an invalid URL, and ``FrontierUnavailable`` if no
    node of a cluster answers."""
    from redis.backoff import NoBackoff
    from redis.retry import Retry
    from scrapy_redis import connection, defaults

    values = {parameter: settings.get(name) for name, parameter in connection.SETTINGS_PARAMS_MAP.items()}
    options = {parameter: value for parameter, value in values.items() if value}
    usual = {name: value for name, value in defaults.REDIS_PARAMS.items() if name != "retry_on_timeout"}  # redis-py warns of it
    retry = Retry(NoBackoff(), 1)  # reconnect once after an idle connection was closed; further retries are up to the callers
    try:
        if is_cluster(settings):
            options |= _nodes(options["url"])
        return connection.get_redis(**{**usual, **TIMEOUTS, "retry": retry, **settings.getdict("REDIS_PARAMS"), **options})
    except (ValueError, TypeError) as error:
        allowed = "redis://[:PASSWORD@]HOST[:PORT][/NUMBER], redis+cluster://[:PASSWORD@]HOST:PORT[,HOST:PORT…]"
        raise StoreError(f"invalid URL of a Redis: {masked_url(settings)}: {error}; allowed: {allowed}") from error
    except faults() as error:
        single = "Cluster mode is not enabled" in str(error)
        reason = "it is a single Redis, not a cluster: use redis://HOST:PORT" if single else f"no node of the cluster answers: {error}"
        raise FrontierUnavailable(f"Redis at {masked_url(settings)} is unavailable: {reason}") from error


CLUSTER: Final = re.compile(r"(rediss?)\+cluster://((?:[^/?#]*@)?)([^/?#]*)(.*)")


def _nodes(url: str) -> dict[str, Any]:
    """Translate ``redis+cluster://HOST:PORT,HOST:PORT`` to redis-py's arguments, with the nodes for discovery. Raises ``ValueError``."""
    from redis.cluster import ClusterNode, RedisCluster

    match = CLUSTER.match(url)
    assert match is not None
    scheme, user, nodes, rest = match.groups()
    first, *others = nodes.split(",")
    parts = [urlsplit(f"//{node}") for node in others]
    more = [ClusterNode(part.hostname, part.port or 6379) for part in parts]  # type: ignore[no-untyped-call]
    return {"redis_cls": RedisCluster, "url": f"{scheme}://{user}{first}{rest}", "startup_nodes": more}


def explain_error(error: Exception, where: str, key: str) -> FrontierUnavailable | FrontierRefused:
    """Translate an error of the queue under ``key`` into its cause and remedy."""
    text, kind = str(error), type(error).__name__
    refusal = text.partition("NEWSPORTAL ")[2] or (f"FOREIGN {key}" if "WRONGTYPE" in text else "")
    code, _, rest = refusal.partition(" ")
    if code == "FOREIGN":
        return FrontierRefused(
            f"Redis at {where}: {rest} was not written by newsportal (perhaps pickled requests of scrapy-redis, which are never read); "
            f"finish that crawl first, or remove the key: redis-cli DEL {rest}; or use another database: redis://HOST:PORT/1"
        )
    if code == "OWNER":
        return FrontierRefused(
            f"Redis at {where}: {key} belongs to another portal ({rest}), whose tasks are there; "
            "use another database of that Redis: redis://HOST:PORT/1"
        )
    if code:
        return FrontierRefused(f"Redis at {where}: {key} has the format of another version ({rest}): upgrade the older one")
    by_word = {word: remedy for words, remedy in REMEDIES.items() for word in words}
    remedy = next((by_word[word] for word in (*text.split(), kind) if word in by_word), text or kind)
    return FrontierUnavailable(f"queue of requests: Redis at {where} is unavailable: {remedy}")


def queue_names_in(client: Any, queue_key: str | None, owner: str, where: str, prefixes: Sequence[str] = ("",)) -> list[str]:
    """Return the queues of ``owner`` whose keys match ``queue_key`` after a prefix. Closes the client. Raises ``FrontierUnavailable``."""
    form = re.compile(re.escape(queue_key or QUEUE_KEY).replace(re.escape("%(spider)s"), "(.+)"))
    try:
        keys = [(prefix, as_text(key)) for prefix in prefixes for key in client.smembers(f"{prefix}{SHARED}queues")]
        found = [(form.fullmatch(key.removeprefix(prefix)), client.hget(f"{key}:about", "owner")) for prefix, key in keys]
    except faults() as error:
        raise FrontierUnavailable(f"Redis at {where} is unavailable: {error}") from error
    finally:
        client.close()
    return sorted({match[1] for match, stored in found if match is not None and stored is not None and as_text(stored) == owner})


def as_text(value: Any) -> str:
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else str(value)


KEY: Final = "%(name)s:start_urls"  # scrapy-redis' default of REDIS_START_URLS_KEY
EVERY: Final = 0.5  # seconds between two polls

BATCH: Final = 100
RETRY_SECONDS: Final = 10.0  # seconds until an unreachable node is tried again
JOB_SECONDS: Final = 30.0  # for which one worker holds the list; it is released after each batch


class StartUrls:
    """Start URLs in Redis. Blocking; called in the queue's thread. Raises ``FrontierUnavailable``. ``clustered``: while the node with the
    list is unreachable, nothing is read and the crawl continues."""

    def __init__(self, client: Any, key: str, *, clustered: bool = False) -> None:
        self._client, self._key, self._job = client, key, f"starts:{key}"
        self._kind, self._clustered, self._away_until = "none", clustered, 0.0

    def read(self, queue: Queue) -> list[bytes]:
        """Return a batch of pushed values. They stay in Redis until :meth:`drop`, and no other worker reads them meanwhile."""
        if monotonic() < self._away_until:
            return []
        try:
            with self._explained():
                self._kind = as_text(self._client.type(self._key))
                if self._kind == "none" or not queue.claim(self._job, JOB_SECONDS):
                    return []
                values = _PEEK[self._kind](self._client, self._key) if self._kind in _PEEK else []
                if not values:
                    queue.release(self._job)
                return [value if isinstance(value, bytes) else str(value).encode() for value in values]
        except FrontierUnavailable:
            if not self._clustered:
                raise
            self._away_until = monotonic() + RETRY_SECONDS
            return []

    def drop(self, queue: Queue, values: Sequence[bytes]) -> None:
        """Delete values that have become tasks."""
        with self._explained(), self._client.pipeline(transaction=False) as pipe:
            for value in values:
                _DROP[self._kind](pipe, self._key, value)
            pipe.execute()
        queue.release(self._job)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except faults() as error:
            raise FrontierUnavailable(f"the start URLs in {self._key} cannot be read: {error}") from error


_PEEK: Final[Mapping[str, Any]] = {
    "list": lambda client, key: client.lrange(key, 0, BATCH - 1),
    "set": lambda client, key: client.srandmember(key, BATCH),
    "zset": lambda client, key: client.zrevrange(key, 0, BATCH - 1),
}
_DROP: Final[Mapping[str, Any]] = {
    "list": lambda pipe, key, value: pipe.lrem(key, 1, value),
    "set": lambda pipe, key, value: pipe.srem(key, value),
    "zset": lambda pipe, key, value: pipe.zrem(key, value),
}


def open_start_urls(settings: BaseSettings, spider: Spider) -> StartUrls | None:
    """Open the start URLs; ``None`` without Redis, or for a spider without start URLs. Nothing is sent yet. Raises ``StoreError``."""
    if not is_configured(settings) or not (hasattr(spider, "pushed") or hasattr(spider, "make_request_from_data")):
        return None
    key = getattr(spider, "redis_key", None) or settings.get("REDIS_START_URLS_KEY") or KEY
    return StartUrls(connect(settings), key % {"name": spider.name, "spider": spider.name}, clustered=is_cluster(settings))


def parse_pushed(value: bytes) -> dict[str, Any]:
    """Parse a plain URL, or JSON in scrapy-redis' format. Raises ``ValueError`` or ``KeyError``."""
    text = value.decode("utf-8").strip()
    if not text.startswith("{"):
        return {"url": text}
    data: dict[str, Any] = json.loads(text)
    return {**data, "url": str(data["url"])}
