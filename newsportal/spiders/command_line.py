"""Support for Scrapy's commands: validated arguments for ``crawl``; reading a single page as in a crawl, for ``parse`` and ``check``,
without counting or storing."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Json, ValidationError
from scrapy.contracts import Contract
from scrapy.http import Request, Response

from newsportal.errors import EngineBlocked, NewsportalError, NotApplicable
from newsportal.extractors.pages import read_article
from newsportal.items import Link, Page
from newsportal.messages import nearest_word
from newsportal.spiders.fetcher import page_of
from newsportal.spiders.pages import PageRequests

logger = logging.getLogger(__name__)

SAMPLE = "sample"  # Name of the source for a page that belongs to none of the file


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    source: str | None = Field(None, description="Visit only this source: its name, or its key as in reports.")
    sources: Json[frozenset[str]] | None = Field(None, description="Visit only the sources with these keys: a JSON list.")
    due: Annotated[bool, BeforeValidator(lambda value: value or False)] = Field(False, description="Visit only sources that are due.")


class TopicArguments(Arguments):
    topic: str | None = Field(None, description="Query the search engines only for this topic.")


class ValidatedArguments:
    """A spider with arguments. ``metadata`` is what ``get_spider_metadata`` of scrapy-spider-metadata returns."""

    name: str
    Args: ClassVar[type[Arguments]] = Arguments
    metadata: ClassVar[dict[str, Any]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in vars(cls):
            summary = (cls.__doc__ or "").partition("\n")[0]
            cls.metadata = {"title": cls.name, "description": summary, "param_schema": cls.Args.model_json_schema()}

    @classmethod
    def check_arguments(cls, arguments: Mapping[str, Any]) -> Arguments:
        """Return the validated arguments, without names that begin with ``_`` (scrapyd's ``_job``). Raises ``NewsportalError``."""
        try:
            return cls.Args.model_validate({name: value for name, value in arguments.items() if not name.startswith("_")})
        except ValidationError as error:
            name, first = str(error.errors()[0]["loc"][0]), error.errors()[0]
            hint = f"did you mean {near!r}? " if (near := nearest_word(name, cls.Args.model_fields)) else ""
            unknown = f"the spider {cls.name} has no argument {name!r}; {hint}it has: {', '.join(cls.Args.model_fields)}"
            wrong = f"argument {name}={first['input']!r} of the spider {cls.name}: {first['msg']}"
            raise NewsportalError(unknown if first["type"] == "extra_forbidden" else wrong) from error


class SinglePage(PageRequests):
    """Subclasses implement how list pages (:meth:`read_links`) and item pages (:meth:`read_page`) are read."""

    Source: ClassVar[Any]
    """The model of a source in sources.yaml."""

    def sources(self) -> Iterable[Any]:
        raise NotImplementedError

    def is_selected(self, source: Any) -> bool:
        raise NotImplementedError

    def entry_pages(self, source: Any) -> Sequence[str]:
        """Return the URLs at which a visit of a source begins."""
        return (source.url,)

    def sample(self, response: Response) -> Any:
        """Return a source with default settings for this list page."""
        return self.Source(name=SAMPLE, url=response.url)

    def read_links(self, response: Response, source: Any) -> Iterable[Link | str]:
        """Return the links of a list page; further list pages as URLs. Raises ``NotApplicable`` for any other page."""
        raise NotImplementedError

    def read_page(self, page: Page, link: Link) -> Any:
        """Return the item of a page. Raises ``NotApplicable``."""
        return read_article(page, link)

    def source_for(self, response: Response) -> Any:
        """Return the source of a page: one whose visit begins there, else one of its host."""
        sources = [source for source in self.sources() if self.is_selected(source)]
        exact = (source for source in sources if response.url in self.entry_pages(source))
        host = urlsplit(response.url).netloc
        same_host = (source for source in sources if host in {urlsplit(url).netloc for url in self.entry_pages(source)})
        return next(exact, None) or next(same_host, None) or self.sample(response)

    async def parse(self, response: Response, link: Link | None = None) -> AsyncIterator[Any]:
        """Yield requests for the links of a list page, or the item of any other page.

        @source
        @returns requests 1
        """
        source = self.source_for(response)
        try:
            found = [] if link else list(await asyncio.to_thread(self.read_links, response, source))
        except (NotApplicable, EngineBlocked) as error:
            logger.info("%s is no list page: %s", response.url, error, extra={"url": response.url})
            found = []
        for target in found:
            url, next_link = (target, None) if isinstance(target, str) else (target.url, target)
            yield Request(url, callback=self.parse, cb_kwargs={"link": next_link}, dont_filter=True, meta=self.source_meta(source))
        if not found:
            try:
                yield await asyncio.to_thread(self.read_page, page_of(response), link or Link(response.url, source.key))
            except NotApplicable as error:
                logger.error("%s has no item: %s", response.url, error, extra={"url": response.url})


class SourceContract(Contract):
    """``@source``: the page is where a visit of the spider's first source begins. Without a source nothing is checked."""

    name = "source"

    def __init__(self, method: Any, *args: Any) -> None:
        super().__init__(method, *args)
        self._spider: SinglePage = method.__self__

    def adjust_request_args(self, args: dict[str, Any]) -> dict[str, Any]:
        spider = self._spider
        source = next((source for source in spider.sources() if spider.is_selected(source)), None)
        return args if source is None else {**args, "url": spider.entry_pages(source)[0], "meta": spider.source_meta(source)}
