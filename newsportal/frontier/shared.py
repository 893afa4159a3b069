"""The connection to Redis, by the names of scrapy-redis' settings (``REDIS_URL``, ``REDIS_HOST``, ``REDIS_PARAMS`` …)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from newsportal.dedup.bloom import Fill, Unusable, unpacked
from newsportal.dedup.bloom_redis import KEY, RedisBloom
from newsportal.errors import StoreError
from newsportal.frontier.sieve import LocalSieve, SharedSieve, Sieve
from newsportal.items import content_id
from newsportal.sources.uris import mask

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from newsportal.sources import Sources
    from newsportal.store.store import Store

PATIENCE: Mapping[str, Any] = {"socket_timeout": 5, "socket_connect_timeout": 3}
"""Seconds; scrapy-redis waits 30. A crawl can do without Redis, so it need not wait long. ``REDIS_PARAMS`` wins."""

ADDRESS = ("REDIS_URL", "REDIS_HOST")


def wanted(settings: BaseSettings) -> bool:
    """Whether the settings name a Redis."""
    return any(settings.get(name) for name in ADDRESS)


def where(settings: BaseSettings) -> str:
    """Which Redis it is, without its password."""
    url = settings.get("REDIS_URL")
    return mask(url) if url else f"{settings.get('REDIS_HOST')}:{settings.get('REDIS_PORT') or 6379}"


def connect(settings: BaseSettings) -> Any:
    """redis-py's client; nothing is sent yet. Raises ``StoreError`` for an address that is none."""
    from redis.backoff import NoBackoff
    from redis.retry import Retry
    from scrapy_redis import connection, defaults

    named = {parameter: settings.get(name) for name, parameter in connection.SETTINGS_PARAMS_MAP.items()}
    told = {parameter: value for parameter, value in named.items() if value}
    usual = {name: value for name, value in defaults.REDIS_PARAMS.items() if name != "retry_on_timeout"}  # redis-py warns of it
    once_more = Retry(NoBackoff(), 1)  # a connection that was idle too long is made anew; more is ours to decide
    try:
        return connection.get_redis(**{**usual, **PATIENCE, "retry": once_more, **settings.getdict("REDIS_PARAMS"), **told})
    except (ValueError, TypeError) as error:
        raise StoreError(f"no Redis can be at {where(settings)}: {error}; allowed: redis://[:PASSWORD@]HOST[:PORT][/NUMBER]") from error


def filter_settings(sources: Sources, settings: BaseSettings) -> BaseSettings:
    """The settings by which the filter's Redis is reached: ``sources.yaml`` may name another one for it than for the queue."""
    named = sources.url_filter.redis
    if named is None or settings.get("REDIS_URL") != sources.frontier.redis:
        return settings
    own = settings.copy()
    own.frozen = False
    own.set("REDIS_URL", named, priority="cmdline")
    return own


def shared_bloom(sources: Sources, settings: BaseSettings) -> RedisBloom:
    """The filter of the sources' store in Redis. Each store has its own, so several portals may share one Redis."""
    form = sources.url_filter
    key = f"{KEY}:{content_id(sources.store)}"
    return RedisBloom(connect(settings), key=key, capacity=form.capacity, error_rate=form.error_rate)


def open_sieve(sources: Sources, settings: BaseSettings, store: Store) -> Sieve:
    """The filter that the settings ask for. Raises ``StoreError``."""
    form = sources.url_filter
    if not wanted(settings):
        return LocalSieve(store, sources.known_file, capacity=form.capacity, error_rate=form.error_rate)
    from redis.exceptions import RedisError

    settings = filter_settings(sources, settings)
    return SharedSieve(store, shared_bloom(sources, settings), where(settings), (RedisError, OSError))


@dataclass(frozen=True, slots=True)
class Told:
    """What is to be said of the filter; ``fill`` None: there is none yet."""

    says: str
    fill: Fill | None = None


def told(sources: Sources) -> Told:
    """How the filter stands that ``sources.yaml`` asks for. Raises ``StoreError`` for a Redis that does not answer."""
    from scrapy.settings import Settings

    from newsportal.frontier.addon import scrapy_settings

    settings = filter_settings(sources, Settings(scrapy_settings(sources)))
    return _told_by_redis(sources, settings) if wanted(settings) else _told_by_file(sources)


def _told_by_redis(sources: Sources, settings: BaseSettings) -> Told:
    from redis.exceptions import RedisError

    try:
        fill = shared_bloom(sources, settings).fill()
    except (RedisError, OSError) as error:
        raise StoreError(f"Redis at {where(settings)} does not serve: {error}") from error
    return Told(f"Redis at {where(settings)} answers; {_said(fill)}", fill)


def _told_by_file(sources: Sources) -> Told:
    file, form = sources.known_file, sources.url_filter
    if file is None or not file.exists():
        return Told("no filter is kept yet; the first crawl makes it from the store")
    try:
        bloom, position = unpacked(file.read_bytes(), form.capacity, form.error_rate)
    except (OSError, Unusable) as why:
        return Told(f"{file} is not used: {why}; the next crawl makes it anew from the store")
    return Told(f"{file}: {_said(bloom.fill())}; knows the store up to change {position}", bloom.fill())


def _said(fill: Fill) -> str:
    size = f"{fill.bytes / 1e6:.1f} MB in {fill.filters} filter{'s' if fill.filters != 1 else ''}"
    return f"{fill.entered:,} of {fill.capacity:,} entered, {size}, false positives expected: {fill.error:.1e}"
