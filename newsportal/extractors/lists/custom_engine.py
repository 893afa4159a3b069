"""An engine described in ``sources.yaml`` alone: an address with ``##QUERY##``, and rules if somebody wrote them.

Without rules the template-free reader reads the pages, so that any site's own search is an engine by its address.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal
from urllib.parse import urlsplit

from newsportal.errors import EngineBlocked
from newsportal.extractors.lists.engines import Engine, Result, Wrapper
from newsportal.extractors.lists.result_list import result_list
from newsportal.extractors.lists.result_pages import read
from newsportal.extractors.lists.selector import Rule
from newsportal.extractors.lists.wrapper import absolute
from newsportal.messages import Message, reason_message
from newsportal.text.dom import Document

TITLES = ("h3 a", "h2 a", "h4 a", "a")  # where a title is when no rule says it
FIELDS = ("title", "link", "site", "summary", "date")
ENOUGH = 0.8  # share of results that must have a field for its rule to be trusted; about one of ten lacks its small print


def custom(
    name: str,
    url: str,
    *,
    block: Rule = (),
    title: Rule = (),
    link: Rule = (),
    site: Rule = (),
    summary: Rule = (),
    date: Rule = (),
    first: int = 0,
    step: int = 10,
    encoding: str = "utf-8",
    kind: Literal["news", "web"] = "web",
) -> Engine:
    """An engine from what ``sources.yaml`` says; rules as in :mod:`newsportal.extractors.lists.selector`. Raises ``ValueError`` naming
    the field for an address without ``##QUERY##``, an unknown encoding, a rule that is none."""
    if "##QUERY##" not in url:
        raise ValueError(f"url: must hold ##QUERY##, the place of the words: {url!r}")
    try:
        parts = urlsplit(url.replace("##QUERY##", "q").replace("##START##", "0"))
    except ValueError as error:
        raise ValueError(f"url: {error}: {url!r}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"url: must be an http or https address: {url!r}")
    try:
        codecs.lookup(encoding)
    except LookupError as error:
        raise ValueError(f"encoding: unknown: {encoding!r}") from error
    if not block:
        if given := [key for key, rule in zip(FIELDS, (title, link, site, summary, date), strict=True) if rule]:
            raise ValueError(f"{given[0]}: a rule for a field needs a rule for the block it is in")
        return Engine(name, url, (), kind, first, step, encoding)
    wrapper = Wrapper(block, title or TITLES, link, site, summary, date)
    wrapper.check()
    return Engine(name, url, (wrapper,), kind, first, step, encoding)


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """How a wrapper did on pages. ``agreed``: results that the template-free reader has, too; ``problems``: what was wrong, and where."""

    pages: int
    results: int
    agreed: int
    problems: tuple[Message, ...]

    @property
    def trusted(self) -> bool:
        """Whether the wrapper may be used: it was tried on two pages or more, and all of them were read."""
        return self.pages >= 2 and self.results > 0 and not self.problems


def cross_check(engine: Engine, documents: Sequence[Document], fetched: datetime | None = None) -> CrossCheck:
    """Try a wrapper on several pages before it is trusted (paper A). Never raises for a page: see ``problems``."""
    results: list[Result] = []
    problems: list[Message] = []
    agreed = 0
    for number, document in enumerate(documents, 1):
        try:
            page = read(engine, document, fetched or datetime.now(UTC))
        except EngineBlocked as error:
            problems.append(Message("check.page", page=number, why=reason_message(error.reason)))
            continue
        results += page.results
        free = {absolute(document, entry.link) for entry in result_list(document)}
        agreed += sum(result.link in free for result in page.results)
        if page.changed:
            problems.append(Message("check.page", page=number, why=Message("check.fewer")))
        elif not page.results:
            problems.append(Message("check.page", page=number, why=Message("check.no-results")))
    for name in FIELDS[2:]:
        share = sum(bool(getattr(result, name)) for result in results) / max(len(results), 1)
        if 0 < share < ENOUGH:
            problems.append(Message("check.share", field=name, share=f"{share:.0%}"))
    return CrossCheck(len(documents), len(results), agreed, tuple(problems))
