"""Where news is published: feeds, sitemaps, regions (channels of a site), forums, galleries, hot lists; beside it `newsletters`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, GetJsonSchemaHandler, model_validator

from newsportal.extractors.lists import boards
from newsportal.messages import Message
from newsportal.sources.methods import Extracting
from newsportal.sources.parts import Minutes, Part, Priority, Source
from newsportal.sources.values import DAY, Hours, Line, Name, Names, Patterns, Rule, Rules, Secrets, Url, Urls, Words, mistake

if TYPE_CHECKING:
    from newsportal.extractors.article.rule import ArticleRule

Pages = Annotated[int, Field(ge=1, le=50)]  # list pages, the first included

PLACES = ("feeds", "sitemaps", "regions", "forums", "galleries", "lists", "newsletters")
"""The keys of sources.yaml with places: their entries may have topics and a category."""

ADDRESS_KEYS = ("url", "prefix", "seeds", "boards")


class Place(Source):
    """The common settings of feeds, sitemaps, regions, forums, galleries, hot lists and newsletters."""

    topics: Names = ()
    """Topics of all its articles, besides those whose keywords match."""
    category: Line | None = None
    """The category of its articles."""
    site: Line | None = None
    """The publisher's name shown to readers; by default the source's name."""
    interval: Minutes | None = None
    """Minutes between two visits; by default the schedule decides."""
    priority: Priority = 5
    """Priority of its pages from 1 to 9, independent of their host: 9 is fetched first."""
    obey_robots: bool | None = None
    """An exception from politeness.obey_robots, for sites that allowed it."""
    verify_certificate: bool = True
    """false: expired and untrusted certificates are accepted for this source."""
    render: bool = False
    """true: pages are rendered in a browser first (needs the extra 'render' and Chromium)."""
    headers: Secrets = Field(default={})
    """Headers for a site where you are signed in, from the environment (${NAME}); sent to the hosts of this source's addresses alone."""
    cookies: Secrets = Field(default={})
    """Cookies for a site where you are signed in, likewise."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """The URLs of the source in the file."""
        found = (getattr(self, key, None) or () for key in ADDRESS_KEYS)
        return tuple(url for value in found for url in ((value,) if isinstance(value, str) else value))

    @property
    def signs_in(self) -> bool:
        return bool(self.headers or self.cookies)

    def sign_in(self, url: str) -> dict[str, str]:
        """Return the credential headers for ``url``, in lower case: empty for other hosts, ports or schemes than the source's."""
        from newsportal.net.egress.client import origin  # loads the network libraries, which reading a file does not need

        if not self.signs_in or origin(url) not in map(origin, self.addresses):
            return {}
        found = {name.lower(): value.get_secret_value() for name, value in self.headers.items()}
        cookies = [found.get("cookie"), *(f"{name}={value.get_secret_value()}" for name, value in self.cookies.items())]
        return found | ({"cookie": "; ".join(filter(None, cookies))} if any(cookies) else {})

    @model_validator(mode="after")
    def _signs_in_over_https(self) -> Self:
        for key in ("headers", "cookies"):
            if getattr(self, key) and not all(url.lower().startswith("https:") for url in self.addresses):
                raise mistake(Message("sources.secret-over-http"), at=(key,))
        return self

    @property
    def publisher(self) -> str:
        """The publisher shown to readers in lists: ``site``, else the source's own name."""
        return self.site or self.name


class ArticleSelectors(Part):
    """Rules (CSS, XPath, re:) for the parts of this source's article pages, for sites on which the extractor errs."""

    body: Rule | None = None
    """The body; all elements that match, in page order."""
    title: Rule | None = None
    """The title; the first element that matches."""
    date: Rule | None = None
    """The date, in any usual form; the first element that matches."""
    author: Rule | None = None
    """The author; the first element that matches."""
    remove: Rules = ()
    """Elements that are removed from the body."""


class ArticlePlace(Place):
    """A source whose pages are articles."""

    auto_classify: bool = False
    """true: the classifier assigns each article's category; category is used if it is not certain."""
    article_: ArticleSelectors | None = Field(default=None, alias="article")
    """Rules for its article pages; by default they are extracted without rules."""
    extractor: Extracting | None = None
    """The extraction method of its article pages; by default that of extractor."""

    @property
    def article(self) -> ArticleRule | None:
        from newsportal.extractors.article.rule import ArticleRule  # loads the extractors, which most readers of the file do not need

        rule = self.article_
        return ArticleRule(rule.body, rule.title, rule.date, rule.author, rule.remove) if rule else None


class Feed(ArticlePlace):
    """An RSS, Atom, RDF or JSON feed."""

    family: ClassVar[str] = "feed"

    url: Url
    """The address of the feed."""
    language: Line | None = None
    """The language of the articles (zh, zh-Hant, en …); by default as declared by the pages."""
    fulltext: bool = False
    """true: the body of the feed's entry is used if the page cannot be fetched or extracted."""


class Sitemap(ArticlePlace):
    """A sitemap, an index of sitemaps, or a news sitemap."""

    family: ClassVar[str] = "sitemap"

    url: Url
    """The address of the sitemap or of an index of sitemaps; of a robots.txt, all sitemaps that it names."""
    allow: Patterns = ()
    """If given, only addresses that match one of these are used, on other hosts too: a part of the URL, or re: and a regular expression."""
    deny: Patterns = ()
    """Addresses that match one of these are ignored."""
    max_age: Annotated[float, Field(gt=0, le=3650)] = 7.0
    """Maximum age in days: older entries, by their dates in the sitemap, are skipped."""
    limit: Annotated[int, Field(ge=1, le=50_000)] = 500
    """Maximum number of new articles per visit, the newest first; the others wait for the next visit."""


class Region(ArticlePlace):
    """A channel of a news site: everything below a URL prefix, found on its list pages (paper B)."""

    family: ClassVar[str] = "region"

    prefix: Url
    """The prefix of the articles' URLs."""
    seeds: Urls = ()
    """The list pages that are visited; by default the prefix itself."""
    auto_classify: bool = False
    """true: the classifier assigns the category; category is used if it is not certain."""
    hours: Hours = DAY
    """The hours of the day in which it is visited, as '6-24', '6-9,18-23' or a list."""
    allow: Patterns = ()
    """If given, only links that match one of these are followed: a part of the URL, or re: and a regular expression."""
    deny: Patterns = ()
    """Links that match one of these are never followed."""
    pages: Pages = 1
    """Number of pages of each list that are read, by its pager."""
    depth: Annotated[int, Field(ge=0, le=5)] = 2
    """Depth to which hub pages inside the prefix (channels, their lists) are followed from the seeds; 0: only the seeds are read."""
    hubs: Annotated[int, Field(ge=1, le=200)] = 30
    """Maximum number of hub pages per visit, besides the seeds; pages with more new articles are visited more often."""

    @model_validator(mode="before")
    @classmethod
    def _seeded_by_its_prefix(cls, value: Any) -> Any:
        if isinstance(value, dict) and not value.get("seeds") and value.get("prefix") is not None:
            return {**value, "seeds": [value["prefix"]]}
        return value


class Forum(Place):
    """A forum: its boards are found from its front page unless they are named."""

    family: ClassVar[str] = "forum"

    name: Name = "forum"
    """The forum's name, unique among the forums; by default the host of its URL. Shown to readers."""
    url: Url
    """The forum's front page; with a board's page only that board is read."""
    boards: Urls = ()
    """The boards' list pages; by default those found on the front page."""
    max_age: Annotated[float, Field(gt=0, le=3650)] | None = None
    """Maximum age in days of a thread's last post; by default all threads on the lists are visited."""
    pages: Annotated[int, Field(ge=1, le=1000)] = 10
    """Maximum number of pages per board; a visit ends earlier at known threads."""
    depth: Annotated[int, Field(ge=1, le=1000)] = 20
    """Maximum number of pages of a thread per visit; the next visit continues from there."""

    @model_validator(mode="before")
    @classmethod
    def _named_by_its_host(cls, value: Any) -> Any:
        if isinstance(value, dict) and value.get("name") is None and isinstance(value.get("url"), str):
            return {**value, "name": cls.default_name(value["url"])}
        return value

    @staticmethod
    def default_name(url: str) -> str:
        """Return the name of a forum without one."""
        return re.sub(r"^\w+://|/+$", "", url).replace("/", " ")[:100]


class Gallery(Place):
    """A channel of photo stories (套图), visited by its weight (paper C)."""

    family: ClassVar[str] = "gallery"

    seeds: Urls = Field(min_length=1)
    """The index pages."""
    seed: Line | None = None
    """A text contained in the URL of every photo story."""
    banned_seed: Words = ()
    """Texts contained in the URL of no photo story."""
    weight: Annotated[int, Field(ge=1, le=10)] = 5
    """The higher, the shorter the time between two visits, from max_period to min_period."""
    min_period: Minutes = 10.0
    """The shortest time between two visits, in minutes."""
    max_period: Minutes = 240.0
    """The longest time between two visits, in minutes."""
    pattern: Line | None = None
    """The pattern of a story's further pages, at the end of their URLs: {id}_{n}.html, {id}-{a}.html, {id}?page={n}"""
    pages: Pages = 3
    """Maximum number of pages per index, by its pager; a visit ends earlier at known stories."""
    auto_classify: bool = False
    """true: the classifier assigns each story's category; category is used if it is not certain."""

    @model_validator(mode="after")
    def _pattern_is_one(self) -> Gallery:
        if self.pattern is not None:
            from newsportal.extractors.gallery.further_pages import parse_pattern  # loads the extractors, which most files do not need

            try:
                parse_pattern(self.pattern)
            except ValueError as error:
                raise mistake(str(error), at=("pattern",)) from error
        return self

    @model_validator(mode="after")
    def _periods_are_in_order(self) -> Gallery:
        if self.min_period > self.max_period:
            message = Message("sources.longer-than", found=self.min_period, key="max_period", limit=self.max_period)
            raise mistake(message, at=("min_period",))
        return self


class HotList(ArticlePlace):
    """A ranked list of the Web (hot list, chart), whose entries and ranks are recorded."""

    family: ClassVar[str] = "list"

    preset: Literal["weibo", "zhihu", "baidu", "bilibili", "github", "hackernews"] | None = None
    """A built-in list with URL and rules, never tried on the live site. Keys in the file override the preset's."""
    url: Url
    """The address of the list."""
    format: boards.Format = "json"
    """json: the rules are JMESPath; html: CSS, XPath or re:."""
    items: Line
    """Rule for the entries."""
    title: Line
    """Rule for an entry's title, within the entry."""
    link: Line
    """Rule for an entry's URL."""
    rank: Line | None = None
    """Rule for its rank; by default the order of the entries."""
    heat: Line | None = None
    """Rule for the number of its heat (1,204, 356 万)."""
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    """Maximum number of entries."""
    articles: bool = False
    """true: the pages of the entries are fetched as articles, like a region's; false: only the ranks are recorded."""
    interval: Minutes | None = 15.0
    """Minutes between two visits: the curve of an entry has a point for each."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """In the file a preset replaces the required keys."""
        schema = super().__get_pydantic_json_schema__(core_schema, handler)
        handler.resolve_ref_schema(schema)["required"] = ["name"]
        return schema

    @property
    def rules(self) -> boards.BoardRules:
        return boards.BoardRules(self.format, self.items, self.title, self.link, self.rank, self.heat, self.limit)

    @model_validator(mode="before")
    @classmethod
    def _filled_by_its_preset(cls, value: Any) -> Any:
        preset = boards.presets().get(value["preset"]) if isinstance(value, dict) and isinstance(value.get("preset"), str) else None
        return {**preset, **value} if preset else value

    @model_validator(mode="after")
    def _rules_are_some(self) -> Self:
        for key in ("items", "title", "link", "rank", "heat"):
            if rule := getattr(self, key):
                try:
                    boards.check_rule(rule, self.format)
                except ValueError as error:
                    raise mistake(str(error), at=(key,)) from error
        return self
