"""Requests as JSON, so that they can wait on disk or in Redis and be resumed by another process. Nothing is ever unpickled.

Callbacks and errbacks are written as names of the spider's methods; values of ``cb_kwargs`` and ``meta`` as JSON, with dataclasses of
:data:`DATACLASSES` by their fields, and objects that the spider can name (``reference_to``: a source by its key) by that name. Whatever is
read from a queue is validated: a writer to the queue can only make the crawler request URLs, which the egress guard checks.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_type_hints
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import load_object

from newsportal.crawl.leases import LEASE, PARENT, Errback
from newsportal.crawl.queues.base import Task
from newsportal.dedup.canonical import identity
from newsportal.errors import FrontierRefused, NewsportalError
from newsportal.extractors.forum.kinds import Listed
from newsportal.items import Link, content_id

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

Kind = TypeVar("Kind")

BAD_URL = "bad-address"  # the reason for an invalid URL of a link: http://host:99999/, javascript:…


def name_of(link: Link) -> str:
    """Return the identity by which a link's article is known before it is fetched."""
    return link.identity or identity(link.url)


def id_of(link: Link) -> str:
    """Return the id of a link in the link table."""
    return content_id(name_of(link))


def is_entry(link: Link) -> bool:
    """Return whether the article is the feed entry itself, since the entry links to a page shared by all entries."""
    return link.identity is not None and "#" in link.identity


def can_request(url: str) -> bool:
    """Return whether a request can be made for ``url``. Scrapy raises for URLs that it cannot send."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def is_readable(link: Link) -> bool:
    """Return whether a link's article can be read, by a request or from the feed entry itself."""
    return is_entry(link) or can_request(link.url)


TYPE_KEY: Final = "$"  # key of a JSON object that encodes something other than a dict: its type
DATACLASSES: Final[Mapping[str, type]] = {"Link": Link, "Listed": Listed}  # dataclasses written by their fields
LANE: Final = "lane"  # meta key: requests of one lane are sent one at a time
AT: Final = "not_before"  # meta key: earliest time to send the request, in seconds since 1970
ROW: Final = "frontier_row"  # meta key: the link's row is already in the link table
NOT_SERIALIZED: Final = frozenset({LEASE, PARENT, LANE, AT, ROW, "download_slot", "download_latency"})

# Meta keys about the manner or origin of a request; they do not count towards its identity.
NOT_IN_IDENTITY: Final = frozenset(
    {*NOT_SERIALIZED, "depth", "is_start_request", "source", "thorough", "list_page", "obey_robots", "verify_certificate", "render"}
)


class UnserializableRequest(Exception):
    """Raised for a request that cannot be serialized (a lambda as callback, an object in its meta). It stays in this process."""


class UnreadableTask(NewsportalError):
    """Raised for a task whose body is not a request of this spider. The scheduler counts and drops it; its link remains in the store."""


def configured_class(settings: BaseSettings, name: str, base: type[Kind]) -> type[Kind]:
    """Return the subclass of ``base`` that a setting names; ``base`` itself in place of scrapy-redis' own. Raises ``FrontierRefused``."""
    path = settings.get(name)
    found = base if not path or str(path).startswith("scrapy_redis.") else load_object(path)
    if not (isinstance(found, type) and issubclass(found, base)):
        raise FrontierRefused(f"{name} is {path}: name a subclass of {base.__module__}.{base.__name__}, or nothing")
    return found


class DupeFilter:
    """Name requests for the queue's duplicate filter: by Scrapy's fingerprint. The setting ``SCHEDULER_DUPEFILTER_CLASS`` may name a
    subclass; scrapy-redis' own filters are replaced by this one, whose names expire after a while."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> DupeFilter:
        return configured_class(crawler.settings, "SCHEDULER_DUPEFILTER_CLASS", cls)(crawler)

    def seen_name(self, request: Request) -> str | None:
        """Return the fingerprint; ``None``: the request is never filtered."""
        fingerprinter = self._crawler.request_fingerprinter
        return None if request.dont_filter or fingerprinter is None else fingerprinter.fingerprint(request).hex()


# writing


def task_of(request: Request, spider: Spider, fingerprint: str | None = None) -> Task:
    """Serialize a request. ``fingerprint``: if it is subject to the duplicate filter. Raises :class:`UnserializableRequest`."""
    parts = {
        "url": request.url,
        "method": request.method if request.method != "GET" else None,
        "body": _value(request.body, spider) if request.body else None,
        "headers": {key.decode("latin-1"): [value.decode("latin-1") for value in values] for key, values in request.headers.items()},
        "callback": _name(request.callback, spider) if request.callback is not None else None,
        "errback": _name(request.errback, spider) if request.errback is not None else None,
        "cookies": _value(request.cookies, spider),
        "meta": _value({key: value for key, value in request.meta.items() if key not in NOT_SERIALIZED}, spider),
        "cb_kwargs": _value(request.cb_kwargs, spider),
        "encoding": request.encoding if request.encoding != "utf-8" else None,
        "dont_filter": request.dont_filter,
        "flags": list(request.flags),
    }
    data = {name: value for name, value in parts.items() if value}
    try:
        body = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        body.encode()
    except UnicodeEncodeError:  # a lone surrogate in a URL or a title
        body = json.dumps(data, separators=(",", ":"), allow_nan=False)
    except ValueError as error:
        raise UnserializableRequest(str(error)) from error
    link = request.cb_kwargs.get("link")
    is_link = isinstance(link, Link)
    return Task(
        id=id_of(link) if isinstance(link, Link) else identity_of(request, data),
        host=host_of(request),
        body=body,
        priority=request.priority,
        at=request.meta.get(AT),
        lane=request.meta.get(LANE),
        source=request.meta.get("source"),
        fingerprint=None if is_link else fingerprint,
        link=is_link,
    )


def host_of(request: Request) -> str:
    """Return the host of a request, as Scrapy's slots and the queue's host locks name it."""
    return urlparse_cached(request).hostname or ""


def identity_of(request: Request, written: Mapping[str, Any]) -> str:
    """Return an id that is equal for equal requests in every process: a hash of method, URL, body, callback and arguments (of a link its
    identity alone) and the meta without :data:`NOT_IN_IDENTITY`."""
    arguments = dict(written.get("cb_kwargs", {}))
    for name, value in arguments.items():
        if isinstance(value, dict) and value.get(TYPE_KEY) in DATACLASSES:
            arguments[name] = value.get("identity") if value[TYPE_KEY] == "Link" else value["key"]
    meta = {name: value for name, value in written.get("meta", {}).items() if name not in NOT_IN_IDENTITY}
    parts = [written.get("method"), request.url, written.get("body"), written.get("callback"), arguments, meta]
    return blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=12).hexdigest()


def _name(method: Any, spider: Spider) -> str:
    method = method.errback if isinstance(method, Errback) else method
    name = getattr(method, "__name__", "")
    if getattr(method, "__self__", None) is not spider or getattr(spider, name, None) != method:
        raise UnserializableRequest(f"{method!r} is not a method of the spider")
    return str(name)


def _value(value: Any, spider: Spider) -> Any:
    """Return ``value`` as JSON. Raises :class:`UnserializableRequest`."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list):
        return [_value(item, spider) for item in value]
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value) and TYPE_KEY not in value:
            return {key: _value(item, spider) for key, item in value.items()}
        return {TYPE_KEY: "dict", "of": [[_value(key, spider), _value(item, spider)] for key, item in value.items()]}
    if isinstance(value, tuple):
        return {TYPE_KEY: "tuple", "of": [_value(item, spider) for item in value]}
    if isinstance(value, bytes):
        return {TYPE_KEY: "bytes", "of": b64encode(value).decode()}
    if isinstance(value, datetime):
        return {TYPE_KEY: "time", "of": value.isoformat()}
    name = type(value).__name__
    kind: Any = DATACLASSES.get(name)
    if kind is type(value):
        values = {field.name: getattr(value, field.name) for field in fields(kind) if getattr(value, field.name) != field.default}
        return {TYPE_KEY: name, **{key: _value(item, spider) for key, item in values.items()}}
    if callable(value) and getattr(value, "__self__", None) is spider:
        return {TYPE_KEY: "method", "of": _name(value, spider)}
    reference_to = getattr(spider, "reference_to", None)
    if reference_to is None or (reference := reference_to(value)) is None:
        raise UnserializableRequest(f"{name} cannot be written")
    return {TYPE_KEY: "named", "of": list(reference)}


# reading


def link_of(body: str, spider: Spider) -> Link | None:
    """Return the link that a serialized request fetches; ``None`` if it is not a request of this spider."""
    try:
        link = request_of(Task("", "", body), spider).cb_kwargs.get("link")
    except UnreadableTask:
        return None
    return link if isinstance(link, Link) else None


def request_of(task: Task, spider: Spider) -> Request:
    """Deserialize the request of a task. Raises :class:`UnreadableTask`."""
    try:
        data = json.loads(task.body)
        arguments = {key: _read(value, spider) for key, value in data.items() if key not in ("callback", "errback")}
        for name in ("callback", "errback"):
            if name in data:
                arguments[name] = _method(data[name], spider)
        meta = {**arguments.pop("meta", {}), **({LANE: task.lane} if task.lane else {})}
        return Request(**arguments, meta=meta, priority=task.priority)
    except (ValueError, TypeError, KeyError, AttributeError, LookupError, RecursionError) as error:
        raise UnreadableTask(f"task {task.id} of {task.host} is no request of {spider.name}: {error}") from error


def _read(value: Any, spider: Spider) -> Any:
    if isinstance(value, list):
        return [_read(item, spider) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get(TYPE_KEY)
    if kind is None:
        return {key: _read(item, spider) for key, item in value.items()}
    if kind in DATACLASSES:
        return _dataclass(DATACLASSES[kind], {key: _read(item, spider) for key, item in value.items() if key != TYPE_KEY})
    return READERS[kind](value["of"], spider)


def _dataclass(kind: type, data: dict[str, Any]) -> Any:
    """Build a dataclass. Raises ``ValueError`` for a missing field or a wrong type: these values are trusted afterwards."""
    for field in fields(kind):
        value = data.get(field.name, field.default)
        if value is MISSING or not isinstance(value, TYPES[kind][field.name]):
            raise ValueError(f"{kind.__name__}.{field.name} is {value!r}")
    return kind(**data)


# Types of the fields; JSON may have an ``int`` for a ``float``
TYPES: Final = {kind: {f: t | int if "float" in str(t) else t for f, t in get_type_hints(kind).items()} for kind in DATACLASSES.values()}


def _method(name: Any, spider: Spider) -> Any:
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("__"):
        raise ValueError(f"{name!r} is no callback")
    method = getattr(spider, name)
    if getattr(method, "__self__", None) is not spider:
        raise ValueError(f"{name} is no method")
    return method


def _time(text: Any, spider: Spider) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text} has no zone")
    return moment


READERS: Final[Mapping[str, Callable[[Any, Spider], Any]]] = {
    "dict": lambda data, spider: {_read(key, spider): _read(item, spider) for key, item in data},
    "tuple": lambda data, spider: tuple(_read(item, spider) for item in data),
    "bytes": lambda data, _: b64decode(data, validate=True),
    "time": _time,
    "method": _method,
    "named": lambda data, spider: spider.resolve_reference(*map(str, data)),  # type: ignore[attr-defined]  # without it: AttributeError
}
