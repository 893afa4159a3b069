"""What all parts of ``sources.yaml`` share, and the two that are about the portal itself: how it shows itself, and its manners."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from newsportal.sources.values import AccountsUri, Line, Name, Networks, PrivateHosts, RedisUri, Size, TimeZone, Url

Minutes = Annotated[float, Field(gt=0, le=43_200)]
"""Up to 30 days."""


class Part(BaseModel):
    """A mapping of the file: frozen, unknown keys refused, and ``key:`` without a value means that the key is not given."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, populate_by_name=True, validate_default=True)

    @model_validator(mode="before")
    @classmethod
    def _nothing_is_not_given(cls, value: Any) -> Any:
        known = {field.alias or name for name, field in cls.model_fields.items()}
        return {key: item for key, item in value.items() if item is not None or key not in known} if isinstance(value, dict) else value


Priority = Annotated[int, Field(ge=1, le=9)]
"""How urgent a source's links are: 9 goes first, whatever the host."""


class Source(Part):
    """What every source has. ``key`` names it in reports, links and commands."""

    family: ClassVar[str]

    name: Name
    """The source's name, unique among its kind. Readers see it."""
    enabled: bool = True
    """false: kept here, but not visited."""

    @property
    def key(self) -> str:
        return f"{self.family}:{self.name}"


class Portal(Part):
    """How the portal presents itself."""

    title: Line = "newsportal"
    """The portal's name, in every page's head."""
    language: Literal["zh", "en"] = "zh"
    """The language of the portal's own words."""
    timezone: TimeZone = "Asia/Shanghai"
    """The time zone in which days begin and times are shown."""
    url: Url | None = None
    """The address readers use, for the links in feeds and alerts."""
    contact: Line | None = None
    """Whom readers and publishers can write to. It also goes into the user agent, unless politeness.contact is given."""
    reading: Literal["open", "members"] = "open"
    """Who reads: everybody; who is signed in or has a token."""
    accounts: AccountsUri | None = None
    """Where people, their sessions and tokens, and the log of changes are kept; by default beside the store."""
    proxies: Networks = ()
    """Addresses or networks of reverse proxies in front of the portal, which say who asks (X-Forwarded-For) and how (X-Forwarded-Proto)."""
    metrics: Literal["open", "token", "off"] = "token"
    """Who may read /metrics: everybody; who is signed in as an editor or has a token for that; nobody."""


class Politeness(Part):
    """How other people's servers are treated."""

    delay: Annotated[float, Field(ge=0, le=3600)] = 1.0
    """Seconds between two requests to one host."""
    per_domain: Annotated[int, Field(ge=1, le=64)] = 2
    """Requests to one domain at the same time."""
    concurrency: Annotated[int, Field(ge=1, le=1024)] = 64
    """Requests at the same time, over all hosts."""
    timeout: Annotated[float, Field(gt=0, le=600)] = 30.0
    """Seconds until an answer is given up."""
    obey_robots: bool = True
    """Whether robots.txt is obeyed."""
    user_agent: Line | None = None
    """What the crawler calls itself; by default newsportal with its version and the contact."""
    contact: Line | None = None
    """An address or page for the administrators of the sites that are visited."""
    allow_private: PrivateHosts = ()
    """Hosts or networks in private address ranges that may be visited, such as 10.0.0.0/8, *.intra.example or wiki:8080."""
    max_size: Size = 16 * 1024 * 1024
    """Longer answers are given up: bytes, or a text such as 16 MiB."""


class Rendering(Part):
    """The browser for sources with render: true, and what one page may cost."""

    browser: Line | None = None
    """The browser's path or name; by default the first of chromium, chromium-browser, google-chrome-stable and google-chrome."""
    timeout: Annotated[float, Field(ge=1, le=300)] = 30.0
    """Seconds until a page that hangs is given up."""
    wait: Annotated[float, Field(ge=0.5, le=60)] = 10.0
    """Seconds until a page that does not come to rest is taken as it is."""
    requests: Annotated[int, Field(ge=0, le=2000)] = 200
    """Requests that one page may make."""
    max_bytes: Size = 32 * 1024 * 1024
    """All answers to one page together: bytes, or a text such as 32 MiB."""
    pages: Annotated[int, Field(ge=1, le=16)] = 2
    """Pages open at the same time."""
    memory: Size = 1024 * 1024 * 1024
    """What all open pages together may hold; beyond it the largest is closed."""


class Frontier(Part):
    """The queue of requests: on this machine's disk, or in a Redis that all workers share."""

    redis: RedisUri | None = None
    """A Redis that all workers share; by default the queue lies beside the SQLite store, else in data.
    The filter of known addresses goes there, too."""
    lease: Annotated[float, Field(ge=1, le=3600)] = 60.0
    """Seconds without a sign of life until a worker counts as dead and its requests are handed on."""
    tries: Annotated[int, Field(ge=2, le=100)] = 6
    """A request during which so many workers died is set aside."""


class UrlFilter(Part):
    """The Bloom filter of known addresses. The store is asked only where it says "perhaps"."""

    redis: RedisUri | None = None
    """A Redis that all processes and machines share the filter in; by default each has its own, beside the SQLite store, else in data."""
    capacity: Annotated[int, Field(ge=1000, le=100_000_000)] = 100_000
    """Addresses for which room is made at once; beyond it the filter grows."""
    error_rate: Annotated[float, Field(ge=1e-9, le=0.1)] = 1e-4
    """The largest share of unknown addresses that the store is asked about in vain."""
