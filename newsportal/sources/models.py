"""``sources.yaml`` as one frozen value, and its JSON Schema, by which editors complete keys and underline mistakes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, PrivateAttr, StringConstraints, model_validator

from newsportal import __version__
from newsportal.extractors.lists import engines
from newsportal.items import content_id
from newsportal.messages import Message
from newsportal.sources import methods, parts
from newsportal.sources.newsletters import Newsletter, check_encrypted
from newsportal.sources.parts import Part, Source
from newsportal.sources.places import Feed, Forum, Gallery, HotList, Region, Sitemap
from newsportal.sources.publishing import Target
from newsportal.sources.topics import CustomEngine, Topic
from newsportal.sources.uris import mask
from newsportal.sources.values import FilePath, Filled, IndexUri, StoreUri, Url, Word, Words, mistake

DEFAULT_STORE = "newsportal.db"
DEFAULT_INDEX = "index.db"  # the search index of a store with the default name; that of any other is named after the store
DEFAULT_ACCOUNTS = "accounts.db"  # likewise for accounts
KINDS = ("topics", "engines", "feeds", "sitemaps", "regions", "forums", "galleries", "lists", "newsletters")  # in the order of the file

Prompt = Annotated[str, StringConstraints(min_length=1, max_length=4000)]


class Uses(Part):
    """What users may request from the assistant."""

    summaries: bool = True
    """Summaries of articles and events."""
    translation: bool = True
    """Titles and texts of articles in the reader's language."""
    titles: bool = True
    """Suggested titles of events, for editors."""


class Prompts(Part):
    """Prompts that replace newsportal's own. {language} is the user's language."""

    summary: Prompt | None = None
    """For a summary of an article or an event."""
    translation: Prompt | None = None
    """For a translation: the first line is the title."""
    title: Prompt | None = None
    """For the title of an event."""


class Assistant(Part):
    """A language model that users can call on the pages of articles and events. Opening a page never calls it."""

    url: Url | None = None
    """The endpoint's base address, before /chat/completions: https://api.example.org/v1, http://localhost:11434/v1. Without it the
    assistant is off."""
    model: Word | None = None
    """The model's name at the endpoint."""
    key: Filled | None = None
    """The endpoint's API key; use ${NAME}, not the key itself."""
    timeout: Annotated[float, Field(ge=1, le=300)] = 60.0
    """Time limit of an answer in seconds, including retries."""
    calls: Annotated[int, Field(ge=1, le=1_000_000)] = 200
    """Calls per day, all users together."""
    tokens: Annotated[int, Field(ge=1, le=10_000_000_000)] | None = None
    """Tokens per day, as counted by the endpoint; default: unlimited."""
    max_chars: Annotated[int, Field(ge=500, le=1_000_000)] = 12_000
    """Maximum number of characters sent of a text; the rest is cut off."""
    uses: Uses = Uses()
    """What users may request."""
    prompts: Prompts = Prompts()
    """Its prompts; after a change earlier answers are not reused."""

    def __repr__(self) -> str:
        return f"Assistant({self.url!r}, {self.model!r})"  # the key must not appear in logs

    @model_validator(mode="after")
    def _check_keys(self) -> Assistant:
        if self.url is not None and self.model is None:
            raise mistake(Message("sources.model-missing"), at=("url",))
        if self.key is not None and not (self.key.isascii() and self.key.isprintable()):
            raise mistake(Message("sources.invalid-key"), at=("key",))
        return self


class Sources(parts.Part):
    """The validated file: addresses are absolute, environment variables filled in, defaults applied."""

    version: Literal[1] = 1
    """The version of the file format."""
    portal: parts.Portal = parts.Portal()
    """Name, language and access of the portal."""
    store: StoreUri = f"sqlite:///data/{DEFAULT_STORE}"
    """The database of articles; a relative SQLite path starts from this file's folder. ${NAME} is replaced from the environment."""
    index: IndexUri | None = None
    """The search index; by default beside the store, one for each (see docs/storage.md)."""
    politeness: parts.Politeness = parts.Politeness()
    """Limits for requests to other servers."""
    rendering: parts.Rendering = parts.Rendering()
    """The browser for sources with render: true."""
    pictures: parts.Pictures = parts.Pictures()
    """The pictures of photo stories: inspection and cache."""
    extraction: parts.Extraction = parts.Extraction()
    """The processes that parse pages."""
    frontier: parts.Frontier = parts.Frontier()
    """The queue of requests."""
    schedule: parts.Scheduling = parts.Scheduling()
    """The schedule of sources without an interval of their own."""
    url_filter: parts.UrlFilter = parts.UrlFilter()
    """The Bloom filter of known URLs, which saves most queries to the store."""
    replay: FilePath | None = None
    """A WARC file that answers every request in place of the network."""
    archive: FilePath | None = None
    """A WARC file to which all responses are written."""
    words: Words = ()
    """Your own words, such as names unknown to the segmenter: search and keywords treat each as one word."""
    dictionary: FilePath | None = None
    """A file of such words, one per line; jieba's dictionaries work."""
    topics: tuple[Topic, ...] = ()
    """The subjects of the portal."""
    categories: tuple[parts.CategoryWords, ...] = ()
    """Your own categories and further words, for sources with auto_classify."""
    classifier: parts.Classifying = parts.Classifying()
    """When a trained model replaces the lexicon."""
    recommendation: parts.Recommending = parts.Recommending()
    """Whether stories are recommended to readers, and how."""
    extractor: methods.Extracting = methods.Extracting()
    """The extraction method of sources without one of their own."""
    duplicates: methods.Duplicates = methods.Duplicates()
    """How reposts are detected."""
    engines: tuple[CustomEngine, ...] = ()
    """Your own search engines, besides the built-in ones."""
    feeds: tuple[Feed, ...] = ()
    """RSS, Atom, RDF and JSON feeds."""
    sitemaps: tuple[Sitemap, ...] = ()
    """Sitemaps, indexes of sitemaps and news sitemaps."""
    regions: tuple[Region, ...] = ()
    """Channels of news sites."""
    forums: tuple[Forum, ...] = ()
    """Forums."""
    galleries: tuple[Gallery, ...] = ()
    """Channels of photo stories."""
    lists: tuple[HotList, ...] = ()
    """Hot lists and charts."""
    newsletters: tuple[Newsletter, ...] = ()
    """Newsletters and mailing lists, from a mailbox or a folder of mails."""
    publish: tuple[Target, ...] = ()
    """Destinations of published articles, besides the portal."""
    retention: parts.Retention = parts.Retention()
    """How long data are stored."""
    alerts: parts.Alerting = parts.Alerting()
    """Alerts about new stories and about problems."""
    assistant: Assistant = Assistant()
    """A language model for summaries, translations and titles of events; off by default."""

    _folder: Path = PrivateAttr(default_factory=Path.cwd)
    _path: Path | None = PrivateAttr(default=None)
    _filled: frozenset[str] = PrivateAttr(default=frozenset())

    def model_post_init(self, context: Any) -> None:
        if isinstance(context, dict):
            self._folder, self._path = context.get("folder", self._folder), context.get("path")
            self._filled = frozenset(context.get("filled", ()))

    @model_validator(mode="after")
    def _mailboxes_are_encrypted(self) -> Self:
        check_encrypted(self.newsletters, self.politeness.allow_private)
        return self

    @property
    def path(self) -> Path | None:
        return self._path

    def is_secret(self, address: str) -> bool:
        """Return whether a URL contains a password, a token, or a value from the environment, and so must not be displayed."""
        return address in self._filled or mask(address) != address

    @property
    def folder(self) -> Path:
        return self._folder

    @property
    def index_uri(self) -> str:
        """The search index: as configured, else beside the store, separate for each store; in memory for a store in memory."""
        return self.index if self.index is not None else self._next_to_store(DEFAULT_INDEX, "index")

    @property
    def accounts_uri(self) -> str:
        """Accounts and sessions: as configured, else beside the store, separate for each store; in memory for a store in memory."""
        return self.portal.accounts if self.portal.accounts is not None else self._next_to_store(DEFAULT_ACCOUNTS, "accounts")

    def _next_to_store(self, default: str, ending: str) -> str:
        file = self._local_name
        if file is None:
            return "sqlite://"
        return f"sqlite:///{file.with_name(default if file.name == DEFAULT_STORE else f'{file.name}.{ending}')}"

    @property
    def seen_file(self) -> Path | None:
        """The file of the filter of known URLs; ``None`` for a store in memory."""
        file = self._local_name
        return file.with_name(f"{file.name}.known") if file else None

    @property
    def jobs_folder(self) -> Path:
        """The folder of crawls started from the portal, with their logs: beside the store if that is a file."""
        return (self.seen_file.parent if self.seen_file else self.folder / "data") / "jobs"

    @property
    def backup_mark(self) -> Path:
        """A file that ``newsportal backup`` touches, so that the portal can show the age of the last backup of its store."""
        return self.jobs_folder.parent / ".last-backup"

    @property
    def _local_name(self) -> Path | None:
        """The base name of local files that belong to the store: its own file; for a store on a server a name in ``data`` beside this file,
        independent of the user. ``None`` for a store in memory."""
        scheme, _, rest = self.store.partition("://")
        if scheme.partition("+")[0] == "sqlite":
            file = rest.removeprefix("/").partition("?")[0]
            return None if not file or not rest.startswith("/") or file.startswith((":memory:", "file:")) else Path(file)
        location = rest.rpartition("@")[2].partition("?")[0]
        return (self._folder / "data" / f"{scheme}-{content_id(location)}").absolute()

    @property
    def user_agent(self) -> str:
        """The crawler's user agent, with the contact if known."""
        contact = self.politeness.contact or self.portal.contact
        return self.politeness.user_agent or f"newsportal/{__version__}" + (f" (+{contact})" if contact else "")

    def all(self) -> Iterator[Source]:
        """Yield all topics and sources, in the order of the file, including disabled ones."""
        for kind in KINDS:
            yield from getattr(self, kind)

    def find(self, name: str) -> tuple[Source, ...]:
        """Return the sources with this key (``feed:NAME``) or, of any kind, this name."""
        return tuple(source for source in self.all() if name in (source.key, source.name))

    def topic(self, name: str) -> Topic | None:
        return next((topic for topic in self.topics if topic.name == name), None)

    def engine(self, name: str) -> CustomEngine | None:
        """Return the engine declared under this name; ``None`` for one that may be built in."""
        return next((engine for engine in self.engines if engine.name == name), None)


FAMILIES = {get_args(Sources.model_fields[kind].annotation)[0].family: kind for kind in KINDS}
"""Prefix of a source's key → its list in the file."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema as plain values. Names of built-in engines are suggested, others allowed."""
    schema = Sources.model_json_schema(by_alias=True)
    topic = schema["$defs"]["Topic"]["properties"]["engines"]
    names = {"anyOf": [{"enum": list(engines.engine_names())}, {"type": "string", "minLength": 1, "maxLength": 100}]}
    topic["anyOf"] = [names, {"type": "array", "items": names}]
    return {"$schema": DIALECT, "title": "sources.yaml of newsportal", **{key: value for key, value in schema.items() if key != "title"}}


def schema_text() -> str:
    """Return the schema as stored in ``docs/sources.schema.json``."""
    return json.dumps(json_schema(), ensure_ascii=False, indent=2) + "\n"
