"""Topics, and search engines that are defined in ``sources.yaml``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, GetJsonSchemaHandler, model_validator

from newsportal.messages import Message
from newsportal.sources.methods import Extracting
from newsportal.sources.parts import Minutes, Part, Priority, Source
from newsportal.sources.uris import mask
from newsportal.sources.values import Encoding, Names, Rules, Url, Words, hours_of, keywords, mistake

if TYPE_CHECKING:
    from newsportal.classify.topics import TopicRule
    from newsportal.extractors.lists.engines import Engine

MAX_PAGES = 50  # no engine returns more result pages than this


class Keywords(Part):
    """Which articles belong to a topic. Words are compared in simplified characters, without case."""

    must: Words = ()
    """Every one of these words occurs."""
    any: Words = ()
    """At least one of these words occurs."""
    not_: Words = Field(default=(), alias="not")
    """None of these words occurs."""

    @model_validator(mode="before")
    @classmethod
    def _a_list_means_any(cls, value: Any) -> Any:
        """Split a text at commas and between Chinese words; an item of a list is one word, including its commas."""
        fields = {"any": value} if isinstance(value, str | list | tuple) else value
        if not isinstance(fields, dict):
            return fields
        return {key: (keywords(item) or item) if isinstance(item, str) else item for key, item in fields.items()}

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        mapping = handler.resolve_ref_schema(super().__get_pydantic_json_schema__(core_schema, handler))
        return {"anyOf": [*mapping["properties"]["any"]["anyOf"], mapping], "description": cls.__doc__ or ""}


class Breadth(Part):
    """Number of result pages of each engine by hour of the day: at night most results are repeats (paper A)."""

    by_hour: tuple[int, ...] = (2,) * 24
    """Result pages for each hour of the day."""

    @model_validator(mode="before")
    @classmethod
    def _by_hour(cls, value: Any) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            return {"by_hour": (_pages(value, ()),) * 24}
        if not isinstance(value, dict):
            return value
        table = [_pages(value.get("default", 2), ("default",))] * 24
        for span, pages in value.items():
            if span != "default":
                try:
                    hours = hours_of(span)
                except ValueError as error:
                    raise mistake(Message("sources.or-default", why=error.args[0]), at=(span,)) from error
                for hour in hours:
                    table[hour] = _pages(pages, (span,))
        return {"by_hour": tuple(table)}

    def pages(self, hour: int) -> int:
        """Return the number of result pages of each engine at ``hour`` (0–23)."""
        return self.by_hour[hour % 24]

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        number = {"type": "integer", "minimum": 0, "maximum": MAX_PAGES}
        spans = {
            "type": "object",
            "properties": {"default": number},
            "patternProperties": {r"^[0-9 ,–—~-]+$": number},
            "additionalProperties": False,
        }
        return {"anyOf": [number, spans], "description": cls.__doc__ or ""}


def _pages(value: Any, at: tuple[str | int, ...]) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_PAGES:
        raise mistake(Message("sources.invalid-page-count", found=repr(value), most=MAX_PAGES), at=at)
    return value


class Topic(Source):
    """A topic of the portal: its queries to search engines, and the articles that belong to it."""

    family: ClassVar[str] = "topic"

    keywords: Keywords = Keywords()
    """Which articles belong to it; by default those in which the topic's name occurs. A list means any."""
    query: Words = ()
    """Queries to the engines; by default the topic's name."""
    engines: Names = ()
    """Its search engines: built-in names, or names declared under engines."""
    breadth: Breadth = Breadth()
    """Result pages per engine: a number, or a mapping of hours of the day to numbers; by default learned from each hour's repeats."""
    auto_classify: bool = False
    """true: the classifier assigns a category to articles found by engines."""

    @model_validator(mode="before")
    @classmethod
    def _named_after_itself(cls, value: Any) -> Any:
        """Use the name of a topic without positive keywords as its keyword."""
        if not isinstance(value, dict) or not isinstance(value.get("name"), str):
            return value
        keywords = value.get("keywords") or {}
        if isinstance(keywords, dict) and not keywords.get("must") and not keywords.get("any"):
            return {**value, "keywords": {**keywords, "any": [value["name"]]}}
        return value

    @property
    def queries(self) -> tuple[str, ...]:
        return self.query or (self.name,)

    @property
    def rule(self) -> TopicRule:
        from newsportal.classify.topics import make_rule  # loads the character tables, which most readers of the file do not need

        return make_rule(self.name, self.keywords.must, self.keywords.any, self.keywords.not_)


class Wrapper(Part):
    """Rules for the parts of a result on an engine's page. Of several rules for one part, the first with a match is used.

    A rule is a CSS selector (with ``@data-url`` an attribute), an XPath expression (``.//h3/a`` or ``xpath:…``), or ``re:`` and a
    regular expression over the HTML.
    """

    block: Annotated[Rules, Field(min_length=1)]
    """One element for each result."""
    title: Rules = ()
    """The title, within the block; by default the first heading or link."""
    link: Rules = ()
    """The element whose href leads to the article, within the block; by default the title's own link."""
    site: Rules = ()
    """The publisher's name, within the block."""
    summary: Rules = ()
    """The summary, within the block."""
    date: Rules = ()
    """The date, within the block, in any usual form (3小时前, 2024-05-01 08:30)."""


def _has_a_place_for_the_words(url: str) -> str:
    if "##QUERY##" not in url:
        hint = Message("hint.query") if "{" in url or "%s" in url else None
        raise mistake(Message("sources.url-without-query", found=repr(mask(url))), hint)
    return url


EngineUrl = Annotated[Url, AfterValidator(_has_a_place_for_the_words)]


class CustomEngine(Source):
    """The search of any site: a URL template, and rules for its results."""

    family: ClassVar[str] = "engine"

    url: EngineUrl
    """The URL of a result page, with ##QUERY## for the words and ##START## for the offset."""
    first: Annotated[int, Field(ge=0, le=1000)] = 0
    """The offset of the first result page."""
    step: Annotated[int, Field(ge=1, le=1000)] = 10
    """The increment of the offset per page."""
    encoding: Encoding = "utf-8"
    """The encoding of the words in the URL."""
    kind: Literal["news", "web"] = "web"
    """Whether it finds news articles, or any page of the Web."""
    rest: Minutes = 60.0
    """Minutes to pause after a captcha or login page, doubled for each further one in a row, at most a week."""
    obey_robots: bool | None = None
    """An exception from politeness.obey_robots for its result pages, such as those of your own SearXNG."""
    priority: Priority = 5
    """Priority of its pages and results from 1 to 9, independent of their host: 9 is fetched first."""
    extractor: Extracting | None = None
    """The extraction method of the articles that it finds; by default that of extractor."""
    wrapper: Wrapper | None = None
    """Rules for the parts of a result; without it the list of results is detected by its structure."""

    @model_validator(mode="before")
    @classmethod
    def _counts_pages(cls, value: Any) -> Any:
        """``pageno=##START##``, as SearXNG uses it, is the page number."""
        paged = isinstance(value, dict) and "pageno=##START##" in str(value.get("url"))
        return {"first": 1, "step": 1, **value} if paged else value

    def built(self) -> Engine:
        from newsportal.extractors.lists.custom_engine import make_engine

        rules = self.wrapper.model_dump() if self.wrapper else {}
        return make_engine(self.name, self.url, first=self.first, step=self.step, encoding=self.encoding, kind=self.kind, **rules)
