"""The parts of ``sources.yaml`` that are no sources: how the portal looks, how servers are treated, how the crawl runs."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
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
    @cache
    def field_docstrings(cls) -> dict[str, str]:
        """Return the docstring of each field, including inherited ones."""
        found: dict[str, str] = {}
        for parent in reversed(cls.__mro__[: cls.__mro__.index(Part)]):
            (definition,) = ast.parse(inspect.getsource(parent)).body
            for field, text in pairwise(getattr(definition, "body", ())):
                match field, text:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(docstring))):
                        found[name] = inspect.cleandoc(docstring)
        return found


Priority = Annotated[int, Field(ge=1, le=9)]  # priority of a source's links, independent of the host: 9 is fetched first


class Source(Part):
    """The settings of every source. ``key`` identifies it in reports, links and commands."""

    family: ClassVar[str]

    name: values.Name
    """The source's name, unique among its kind. Readers see it."""
    enabled: bool = True
    """false: it stays in the file, but is not visited."""

    @property
    def key(self) -> str:
        return f"{self.family}:{self.name}"


class Portal(Part):
    """Name, language and access of the portal."""

    title: values.Line = "newsportal"
    """The portal's name, at the top of every page."""
    language: Literal["zh", "en"] = "zh"
    """The language of the portal's own texts."""
    timezone: values.TimeZone = "Asia/Shanghai"
    """The time zone of days, displayed times, and hours in this file."""
    url: values.Url | None = None
    """The address readers use, for the links in feeds and alerts."""
    contact: values.Line | None = None
    """Contact address for readers and publishers. It is also part of the user agent, unless politeness.contact is given."""
    reading: Literal["open", "members"] = "open"
    """Who may read. open: everyone; members: signed-in users and tokens."""
    accounts: values.AccountsUri | None = None
    """The database of users, sessions, tokens and the log of changes; by default beside the store."""
    proxies: values.Networks = ()
    """Addresses or networks of reverse proxies in front of the portal, whose X-Forwarded-For and X-Forwarded-Proto are trusted."""
    metrics: Literal["open", "token", "off"] = "token"
    """Who may read /metrics. open: everyone; token: editors, and tokens with that right; off: nobody."""


class Politeness(Part):
    """Limits for requests to other servers."""

    delay: Annotated[float, Field(ge=0, le=3600)] = 1.0
    """Seconds between two requests to one host."""
    per_domain: Annotated[int, Field(ge=1, le=64)] = 2
    """Requests to one domain at the same time."""
    concurrency: Annotated[int, Field(ge=1, le=1024)] = 64
    """Requests at the same time, over all hosts."""
    timeout: Annotated[float, Field(gt=0, le=600)] = 30.0
    """Time limit of a response in seconds."""
    obey_robots: bool = True
    """Whether robots.txt is obeyed."""
    user_agent: values.Line | None = None
    """The crawler's User-Agent; by default newsportal with its version and the contact."""
    contact: values.Line | None = None
    """An address or page for the administrators of the sites that are visited."""
    allow_private: values.PrivateHosts = ()
    """Hosts or networks in private address ranges that may be visited, such as 10.0.0.0/8, *.intra.example or wiki:8080."""
    max_size: values.Size = 16 * 1024 * 1024
    """Maximum size of a response: bytes, or a text such as 16 MiB."""


class Rendering(Part):
    """The browser for sources with render: true, and its limits per page."""

    browser: values.Line | None = None
    """The browser's path or name; by default the first of chromium, chromium-browser, google-chrome-stable and google-chrome."""
    timeout: Annotated[float, Field(ge=1, le=300)] = 30.0
    """Time limit of a page in seconds."""
    wait: Annotated[float, Field(ge=0.5, le=60)] = 10.0
    """Seconds to wait until a page is idle; after that it is read as it is."""
    requests: Annotated[int, Field(ge=0, le=2000)] = 200
    """Requests that one page may make."""
    max_bytes: values.Size = 32 * 1024 * 1024
    """Maximum size of all responses of one page: bytes, or a text such as 32 MiB."""
    pages: Annotated[int, Field(ge=1, le=16)] = 2
    """Pages open at the same time."""
    memory: values.Size = 1024 * 1024 * 1024
    """Memory of all open pages together; beyond it the largest page is closed."""


class Extraction(Part):
    """The processes that parse pages. Memory and time per page are limited; a page beyond them is refused and counted."""

    processes: Annotated[int, Field(ge=0, le=64)] | None = None
    """Their number; default: one per core, up to 4. 0: pages are parsed in the crawl's process, without limits of memory and time."""


class Frontier(Part):
    """The queue of requests: on this machine's disk, or in a Redis that all workers share."""

    redis: values.RedisUri | None = None
    """A Redis that all workers share; by default the queue lies beside the SQLite store, else in data.
    The filter of known URLs goes there, too."""
    lease: Annotated[float, Field(ge=1, le=3600)] = 60.0
    """Seconds without a heartbeat after which a worker counts as dead and its requests go to others."""
    tries: Annotated[int, Field(ge=2, le=100)] = 6
    """A request is set aside after this many workers died during it."""


class UrlFilter(Part):
    """The Bloom filter of known URLs. The store is queried only for those it may contain."""

    redis: values.RedisUri | None = None
    """A Redis in which all processes and machines share the filter; by default each has its own, beside the SQLite store, else in data."""
    capacity: Annotated[int, Field(ge=1000, le=100_000_000)] = 100_000
    """Initial capacity in URLs; beyond it the filter grows."""
    error_rate: Annotated[float, Field(ge=1e-9, le=0.1)] = 1e-4
    """Maximum false positive rate: the share of unknown URLs for which the store is queried needlessly."""


MAIL_SCHEMES = ("smtps", "smtp", "smtp+starttls")


def _mail_server(value: str) -> str:
    try:
        parts = urlsplit(value)
        valid = parts.scheme in MAIL_SCHEMES and bool(parts.hostname) and parts.port != 0 and value.isprintable()
    except ValueError:
        valid = False
    if not valid:
        raise values.mistake(Message("sources.invalid-mail-server", found=repr(mask(value))))
    return value


MailServer = Annotated[values.Filled, AfterValidator(_mail_server)]


class Alerting(Part):
    """Alerts about new stories and about problems."""

    enabled: bool = True
    """false: nothing is sent; users' alerts stay stored."""
    mail_server: MailServer | None = None
    """The SMTP server: smtps://USER:PASSWORD@HOST, smtp+starttls://… or smtp://HOST:PORT; use ${NAME}, not the password itself."""
    mail_from: values.Line | None = None
    """The sender's address; by default newsportal at the mail server."""
    per_hour: Annotated[int, Field(ge=1, le=60)] = 20
    """Maximum messages per hour of an alert; further stories wait for the next message."""
    disk_free: Annotated[float, Field(gt=0, lt=100)] = 10.0
    """Alerts about the disk are sent when less than this percentage is free."""
    crawl_hours: Annotated[float, Field(gt=0, le=720)] = 12.0
    """Alerts about the crawl are sent if no crawl has finished for this many hours."""


class CategoryWords(Part):
    """Your own category, or further words for a packaged one."""

    name: values.Name
    """The category's name: a packaged one, or a new one."""
    enabled: bool = True
    """false: articles never get this category from the lexicon."""
    words: values.Words = ()
    """Strong words: one alone nearly decides."""
    hints: values.Words = ()
    """Weak words."""


class Classifying(Part):
    """When a trained model replaces the lexicon, and whether it is retrained automatically."""

    good_enough: Annotated[float, Field(ge=0, le=1)] = 0.75
    """Minimum macro-F1 on held-out texts for a model to be used; below it the lexicon stays in use."""
    retrain: bool = True
    """Whether newsportal up trains models automatically once there are enough new articles."""
    least_new: Annotated[int, Field(ge=1, le=1_000_000)] = 200
    """Minimum number of new labelled articles for a training."""


class Pictures(Part):
    """The pictures of photo stories."""

    look: bool = True
    """true: format and size are read from each picture's first bytes, and used to drop logos and banners."""
    prints: Annotated[int, Field(ge=0, le=1000)] = 6
    """Number of first pictures of a story that are fetched in full for perceptual hashes, which find copies of stories. Smaller pictures
    always have one."""
    cache: values.FilePath | None = None
    """A folder that caches viewed pictures and their thumbnails; by default browsers load them from their publishers."""
    cache_size: values.Space = 2 * 1024**3
    """Size of the cache: bytes, or a text such as 2 GB. The least recently viewed pictures are deleted first."""
    max_megapixels: Annotated[float, Field(ge=1, le=500)] = 60
    """Larger pictures are refused (width × height, in millions)."""

    @property
    def max_pixels(self) -> int:
        return int(self.max_megapixels * 1_000_000)


class Recommending(Part):
    """Whether the portal records readers' views, and recommends stories by them."""

    enabled: bool = True
    """false: no views are recorded, and nothing is recommended."""
    fit_hour: Annotated[int, Field(ge=0, le=23)] = 4
    """The hour, in the portal's time zone, at which newsportal up fits recommendations."""
    days: Annotated[int, Field(ge=1, le=366)] = 30
    """Number of days in which a story may be recommended before anyone has viewed it."""
    method: Literal["best", "paper"] = "best"
    """best: all signals, with weights learned from views; paper: similar readers, by the share seen of each story (Jiang, Zuo 2014)."""
    alpha: Annotated[float, Field(gt=0, lt=1)] | None = None
    """paper: the viewed share of a story's pictures from which it counts as liked (α); by default the median of all views."""
    rate: Annotated[float, Field(gt=0, le=1000)] | None = Field(default=None, alias="lambda")
    """paper: how interest rises and fades with age (λ); by default the mean age of viewed stories, 5.6 before it is known."""
    unit: Literal["hours", "days"] = "hours"
    """paper: the unit of ages."""


class Retention(Part):
    """How many days data are stored. newsportal up deletes older data at night, newsportal prune at once."""

    articles: Days | None = None
    """Days since an article was stored or its text last changed; default: no limit. Stories are deleted whole, once all versions are old.
    Never deleted: articles that readers marked, that are published, or that editors changed."""
    sources: Mapping[values.Name, Days | Literal["forever"]] = {}
    """Other ages for sources: their names, or feed:NAME, with days or forever. Of several ages the longest holds."""
    topics: Mapping[values.Name, Days | Literal["forever"]] = {}
    """Other ages for the articles of topics."""
    withdraw: bool = False
    """true: published articles are deleted as well, and withdrawn from their destinations."""
    revisions: Days | None = None
    """Earlier texts of articles; default: no limit. Those of articles that editors corrected stay."""
    reports: Days = 400
    """Reports of crawls."""
    views: Annotated[int, Field(ge=1, le=365)] = 365
    """Readers' views."""
    assistant: Days = 30
    """The assistant's answers."""
    log: Days = 1095
    """The log of changes by users."""
    messages: Days = 400
    """Messages sent by alerts."""
    boards: Days = 90
    """The ranks of hot lists."""


class Scheduling(Part):
    """The schedule of visits."""

    policy: Literal["learnt", "fixed", "hours", "weight"] = "learnt"
    """learnt: from the results of each source's visits; fixed: every usual minutes; hours, weight: the methods of two papers."""
    usual: Minutes = 60.0
    """Minutes between two visits of a source without history; with policy fixed, of every source."""
    shortest: Minutes = 10.0
    """Minimum minutes between two visits of a source, unless its own interval is shorter."""
    longest: Minutes = 720.0
    """Maximum minutes between two visits of a source, however few articles it has."""
    per_hour: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    """Visits per hour of all sources together, spent where they find most; by default a visit of each source every usual minutes."""
    websub: bool = True
    """true: feeds with a hub push new entries to the portal at once (WebSub), if they can reach portal.url."""

    @model_validator(mode="after")
    def _times_are_in_order(self) -> Scheduling:
        if self.shortest > self.longest:
            message = Message("sources.longer-than", found=self.shortest, key="longest", limit=self.longest)
            raise values.mistake(message, at=("shortest",))
        return self
