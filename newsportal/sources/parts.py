"""The parts of ``sources.yaml`` that are no sources: how the portal looks, how servers are treated, how the crawl runs."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from itertools import pairwise
from textwrap import dedent
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetJsonSchemaHandler, model_validator

from newsportal.messages import Message
from newsportal.sources import values
from newsportal.sources.uris import mask

Days = Annotated[int, Field(ge=1, le=36_500)]
Minutes = Annotated[float, Field(gt=0, le=43_200)]  # up to 30 days


class Part(BaseModel):
    """A mapping of the file: frozen, unknown keys refused, and ``key:`` without a value means that the key is not given."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True, populate_by_name=True, validate_default=True)

    @model_validator(mode="before")
    @classmethod
    def _nothing_is_not_given(cls, value: Any) -> Any:
        keys = {field.alias or name for name, field in cls.model_fields.items()}
        return {key: item for key, item in value.items() if item is not None or key not in keys} if isinstance(value, dict) else value

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Use the docstring under each field as its description. (``use_attribute_docstrings`` would read the code at every start.)"""
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema)["properties"]
        for name, description in cls.field_docstrings().items():
            if name in cls.model_fields:  # otherwise a constant of the class
                key = cls.model_fields[name].alias or name
                properties[key] = dict(sorted((properties[key] | {"description": description}).items()))
        return schema

    @classmethod
    def field_docstrings(cls) -> dict[str, str]:
        """Return the docstring of each field, including inherited ones."""
        found: dict[str, str] = {}
        for parent in reversed(cls.__mro__[: cls.__mro__.index(Part)]):
            (definition,) = ast.parse(dedent(inspect.getsource(parent))).body
            for field, text in pairwise(getattr(definition, "body", ())):
                match field, text:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(docstring))):
                        found[name] = inspect.cleandoc(docstring)
        return found


Priority = Annotated[int, Field(ge=1, le=9)]  # priority of a source's links, independent of the host: 9 is fetched first


class Source(Part):
    """What every source has. ``key`` names it in reports, links and commands."""

    family: ClassVar[str]

    name: values.Name
    """The source's name, unique among its kind. Readers see it."""
    enabled: bool = True
    """false: kept here, but not visited."""

    @property
    def key(self) -> str:
        return f"{self.family}:{self.name}"


class Portal(Part):
    """How the portal presents itself."""

    title: values.Line = "newsportal"
    """The portal's name, in every page's head."""
    language: Literal["zh", "en"] = "zh"
    """The language of the portal's own words."""
    timezone: values.TimeZone = "Asia/Shanghai"
    """The time zone in which days begin, hours of this file count and times are shown."""
    url: values.Url | None = None
    """The address readers use, for the links in feeds and alerts."""
    contact: values.Line | None = None
    """Contact address for readers and publishers. It is also part of the user agent, unless politeness.contact is given."""
    reading: Literal["open", "members"] = "open"
    """Who reads: everybody; who is signed in or has a token."""
    accounts: values.AccountsUri | None = None
    """Where people, their sessions and tokens, and the log of changes are kept; by default beside the store."""
    proxies: values.Networks = ()
    """Addresses or networks of reverse proxies in front of the portal, which say who asks (X-Forwarded-For) and how (X-Forwarded-Proto)."""
    metrics: Literal["open", "token", "off"] = "token"
    """Who may read /metrics: everybody; who is signed in as an editor or has a token for that; nobody."""


class Politeness(Part):
    """Limits for requests to other servers."""

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
    user_agent: values.Line | None = None
    """What the crawler calls itself; by default newsportal with its version and the contact."""
    contact: values.Line | None = None
    """An address or page for the administrators of the sites that are visited."""
    allow_private: values.PrivateHosts = ()
    """Hosts or networks in private address ranges that may be visited, such as 10.0.0.0/8, *.intra.example or wiki:8080."""
    max_size: values.Size = 16 * 1024 * 1024
    """Longer answers are given up: bytes, or a text such as 16 MiB."""


class Rendering(Part):
    """The browser for sources with render: true, and what one page may cost."""

    browser: values.Line | None = None
    """The browser's path or name; by default the first of chromium, chromium-browser, google-chrome-stable and google-chrome."""
    timeout: Annotated[float, Field(ge=1, le=300)] = 30.0
    """Seconds until a page that hangs is given up."""
    wait: Annotated[float, Field(ge=0.5, le=60)] = 10.0
    """Seconds until a page that does not come to rest is taken as it is."""
    requests: Annotated[int, Field(ge=0, le=2000)] = 200
    """Requests that one page may make."""
    max_bytes: values.Size = 32 * 1024 * 1024
    """All answers to one page together: bytes, or a text such as 32 MiB."""
    pages: Annotated[int, Field(ge=1, le=16)] = 2
    """Pages open at the same time."""
    memory: values.Size = 1024 * 1024 * 1024
    """What all open pages together may hold; beyond it the largest is closed."""


class Extraction(Part):
    """The processes that read pages. What one page may take there is bounded; a page beyond is refused, and counted."""

    processes: Annotated[int, Field(ge=0, le=64)] | None = None
    """How many; by default as many as the machine has cores, up to 4. 0: pages are read in the crawl's own process, without bounds of
    memory and time."""


class Frontier(Part):
    """The queue of requests: on this machine's disk, or in a Redis that all workers share."""

    redis: values.RedisUri | None = None
    """A Redis that all workers share; by default the queue lies beside the SQLite store, else in data.
    The filter of known addresses goes there, too."""
    lease: Annotated[float, Field(ge=1, le=3600)] = 60.0
    """Seconds without a sign of life until a worker counts as dead and its requests are handed on."""
    tries: Annotated[int, Field(ge=2, le=100)] = 6
    """A request is set aside after this many workers died during it."""


class UrlFilter(Part):
    """The Bloom filter of known addresses. The store is queried only where it says "perhaps"."""

    redis: values.RedisUri | None = None
    """A Redis that all processes and machines share the filter in; by default each has its own, beside the SQLite store, else in data."""
    capacity: Annotated[int, Field(ge=1000, le=100_000_000)] = 100_000
    """Addresses for which room is made at once; beyond it the filter grows."""
    error_rate: Annotated[float, Field(ge=1e-9, le=0.1)] = 1e-4
    """The largest share of unknown addresses that the store is asked about in vain."""


MAIL_SCHEMES = ("smtps", "smtp", "smtp+starttls")


def _mail_server(value: str) -> str:
    try:
        parts = urlsplit(value)
        valid = parts.scheme in MAIL_SCHEMES and bool(parts.hostname) and parts.port != 0 and value.isprintable()
    except ValueError:
        valid = False
    if not valid:
        raise values.mistake(Message("sources.mail-server", found=repr(mask(value))))
    return value


MailServer = Annotated[values.Filled, AfterValidator(_mail_server)]


class Alerting(Part):
    """Alerts about new stories and about problems."""

    enabled: bool = True
    """false: nothing is sent; what people set up is kept."""
    mail_server: MailServer | None = None
    """The server that takes mail: smtps://USER:PASSWORD@HOST, smtp+starttls://… or smtp://HOST:PORT; better ${NAME} than the password."""
    mail_from: values.Line | None = None
    """The address that mail comes from; by default newsportal at the mail server."""
    per_hour: Annotated[int, Field(ge=1, le=60)] = 20
    """Messages an hour that one alert may send at most; what is more waits and goes into the next."""
    disk_free: Annotated[float, Field(gt=0, lt=100)] = 10.0
    """Per cent of the disk: alerts about the disk are sent when less of it is free."""
    crawl_hours: Annotated[float, Field(gt=0, le=720)] = 12.0
    """Hours: alerts about the crawl are sent if no crawl has finished for this long."""


class CategoryWords(Part):
    """A category of one's own, or more words for one that comes with newsportal."""

    name: values.Name
    """The category's name; one of those that come with newsportal, or a new one."""
    enabled: bool = True
    """false: articles never get this category from the lexicon."""
    words: values.Words = ()
    """Words that nearly decide alone."""
    hints: values.Words = ()
    """Words that only hint at it."""


class Classifying(Part):
    """When a trained model takes the lexicon's place, and whether it is trained anew by itself."""

    good_enough: Annotated[float, Field(ge=0, le=1)] = 0.75
    """Minimum macro-F1 on held-out texts for a model to be used; below it the lexicon stays in use."""
    retrain: bool = True
    """Whether newsportal up trains models by itself once enough new articles are known."""
    least_new: Annotated[int, Field(ge=1, le=1_000_000)] = 200
    """How many new labelled articles make a training worth while."""


class Pictures(Part):
    """The pictures of photo stories."""

    look: bool = True
    """true: format and size are read from each picture's first bytes, and logos and banners are told by them."""
    prints: Annotated[int, Field(ge=0, le=1000)] = 6
    """How many pictures of a story, the first ones, are fetched whole for their perceptual hashes, by which copies of stories are found.
    Smaller ones have one in any case."""
    cache: values.FilePath | None = None
    """A folder in which pictures that readers look at are kept, with thumbnails; by default browsers fetch them from their publishers."""
    cache_size: values.Space = 2 * 1024**3
    """How much the cache holds; what was looked at longest ago goes first: bytes, or a text such as 2 GB."""
    max_megapixels: Annotated[float, Field(ge=1, le=500)] = 60
    """Larger pictures are refused (width × height, in millions)."""

    @property
    def max_pixels(self) -> int:
        return int(self.max_megapixels * 1_000_000)


class Recommending(Part):
    """Whether the portal remembers what readers look at, and recommends by it."""

    enabled: bool = True
    """false: nothing is recorded of readers, and nothing recommended."""
    fit_hour: Annotated[int, Field(ge=0, le=23)] = 4
    """The hour, in the portal's time zone, at which newsportal up fits recommendations."""
    days: Annotated[int, Field(ge=1, le=366)] = 30
    """Stories of the last days that may be recommended without anybody having looked at them."""
    method: Literal["best", "paper"] = "best"
    """best: all signals, weighed as the log teaches; paper: readers alike by the share of each story that they saw (Jiang, Zuo 2014)."""
    alpha: Annotated[float, Field(gt=0, lt=1)] | None = None
    """paper: the share of a story's pictures from which it is liked (α); by default the median of what was looked at."""
    rate: Annotated[float, Field(gt=0, le=1000)] | None = Field(default=None, alias="lambda")
    """paper: how interest rises and fades with age (λ); by default the mean age of what is viewed, 5.6 before it is known."""
    unit: Literal["hours", "days"] = "hours"
    """paper: in what ages are counted."""


class Retention(Part):
    """For how many days stored data are kept. newsportal up deletes older data at night; newsportal prune deletes them at once."""

    articles: Days | None = None
    """Days after an article was stored, or its text changed last; by default for ever. Stories go as a whole, once all versions are old.
    Never deleted: what readers marked, what is published, what editors changed."""
    sources: Mapping[values.Name, Days | Literal["forever"]] = {}
    """Other ages for sources: their names, or feed:NAME, with days or forever. Of several ages the longest holds."""
    topics: Mapping[values.Name, Days | Literal["forever"]] = {}
    """Other ages for the articles of topics."""
    withdraw: bool = False
    """true: published articles go, too, and are withdrawn from their destinations."""
    revisions: Days | None = None
    """Earlier texts of articles; by default for ever. Those of articles that editors corrected stay."""
    reports: Days = 400
    """Reports of crawls."""
    views: Annotated[int, Field(ge=1, le=365)] = 365
    """What readers looked at."""
    assistant: Days = 30
    """What the assistant answered."""
    log: Days = 1095
    """The log of changes by users."""
    messages: Days = 400
    """What alerts sent."""
    boards: Days = 90
    """The ranks of hot lists."""


class Scheduling(Part):
    """The schedule of visits."""

    policy: Literal["learnt", "fixed", "hours", "weight"] = "learnt"
    """learnt: by what each source's visits brought; fixed: every usual minutes; hours and weight: as two papers tell it."""
    usual: Minutes = 60.0
    """Minutes between two visits of a source of which nothing is known yet; with policy fixed, of every source."""
    shortest: Minutes = 10.0
    """Minutes: no source is visited more often, unless its own interval says so."""
    longest: Minutes = 720.0
    """Minutes: every source is visited as often as that, however little it brings."""
    per_hour: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    """Visits an hour of all sources together, spent where they find most; by default as many as a visit every usual minutes makes."""
    websub: bool = True
    """true: feeds that offer a hub tell the portal at once of what is new (WebSub), if portal.url is an address they can reach."""

    @model_validator(mode="after")
    def _times_are_in_order(self) -> Scheduling:
        if self.shortest > self.longest:
            message = Message("sources.longer-than", found=self.shortest, key="longest", limit=self.longest)
            raise values.mistake(message, at=("shortest",))
        return self
