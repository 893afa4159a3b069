"""Search engines defined in ``sources.yaml``: a URL template with ``##QUERY##``, and optional extraction rules.

Without rules the template-free reader extracts the results, so the search page of any site can be used as an engine.
"""

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal
from urllib.parse import urlsplit

from newsportal.errors import EngineBlocked
from newsportal.extractors.lists.engines import Engine, Result, Wrapper
from newsportal.extractors.lists.result_list import find_results
from newsportal.extractors.lists.result_pages import read_results
from newsportal.extractors.lists.selector import Rule
from newsportal.extractors.lists.wrapper import absolute
from newsportal.messages import Message, reason_message
from newsportal.text.dom import Document

TITLE_SELECTORS = ("h3 a", "h2 a", "h4 a", "a")  # where to look for a title without a rule
FIELDS = ("title", "link", "site", "summary", "date")
MIN_SHARE = 0.8  # minimum share of results with a field for its rule to be trusted; about one result in ten lacks site or date


def make_engine(
    name: str, url: str, *, block: Rule = (), title: Rule = (), link: Rule = (), site: Rule = (), summary: Rule = (), date: Rule = (),
    first: int = 0, step: int = 10, encoding: str = "utf-8", kind: Literal["news", "web"] = "web",
) -> Engine:  # fmt: skip
    """Create an engine from settings of ``sources.yaml``; rules as in :mod:`newsportal.extractors.lists.selector`. Raises ``ValueError``
    naming the field for a URL without ``##QUERY##``, an unknown encoding or an invalid rule."""
    if "##QUERY##" not in url:
        raise ValueError(f"url: must contain ##QUERY##, the placeholder for the query: {url!r}")
    try:
        parts = urlsplit(url.replace("##QUERY##", "q").replace("##START##", "0"))
    except ValueError as error:
        raise ValueError(f"url: {error}: {url!r}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"url: must be an http or https URL: {url!r}")
    try:
        codecs.lookup(encoding)
    except LookupError as error:
        raise ValueError(f"encoding: unknown: {encoding!r}") from error
    if not block:
        if fields := [key for key, rule in zip(FIELDS, (title, link, site, summary, date), strict=True) if rule]:
            raise ValueError(f"{fields[0]}: a rule for a field needs a rule for the block that contains it")
        return Engine(name, url, (), kind, first, step, encoding)
    wrapper = Wrapper(block, title or TITLE_SELECTORS, link, site, summary, date)
    wrapper.check()
    return Engine(name, url, (wrapper,), kind, first, step, encoding)


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """Result of testing a wrapper. ``agreed``: results that the template-free reader also found; ``problems``: errors with page numbers."""

    pages: int
    results: int
    agreed: int
    problems: tuple[Message, ...]

    @property
    def trusted(self) -> bool:
        """Whether the wrapper may be used: tested on at least two pages, with results and without problems."""
        return self.pages >= 2 and self.results > 0 and not self.problems


def cross_check(engine: Engine, documents: Sequence[Document], fetched: datetime | None = None) -> CrossCheck:
    """Test a wrapper on several pages before it is used (paper A). Never raises because of a page: see ``problems``."""
    results: list[Result] = []
    problems: list[Message] = []
    agreed = 0
    for number, document in enumerate(documents, 1):
        try:
            page = read_results(engine, document, fetched or datetime.now(UTC))
        except EngineBlocked as error:
            problems.append(Message("check.page", page=number, why=reason_message(error.reason)))
            continue
        results += page.results
        generic = {absolute(document, entry.link) for entry in find_results(document)}
        agreed += sum(result.link in generic for result in page.results)
        if page.changed:
            problems.append(Message("check.page", page=number, why=Message("check.fewer-results")))
        elif not page.results:
            problems.append(Message("check.page", page=number, why=Message("check.no-results")))
    for name in FIELDS[2:]:
        share = sum(bool(getattr(result, name)) for result in results) / max(len(results), 1)
        if 0 < share < MIN_SHARE:
            problems.append(Message("check.field-share", field=name, share=f"{share:.0%}"))
    return CrossCheck(len(documents), len(results), agreed, tuple(problems))
