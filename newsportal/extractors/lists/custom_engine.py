"""An engine described in ``sources.yaml`` alone: an address with ``##QUERY##``, and rules if somebody wrote them.

Without rules the template-free reader reads the pages, so that any site's own search is an engine by its address.
"""

from __future__ import annotations

import codecs
from typing import Literal
from urllib.parse import urlsplit

from newsportal.extractors.lists.engines import Engine
from newsportal.extractors.lists.selector import Rule
from newsportal.extractors.lists.wrapper import Wrapper, parse_with

TITLES = ("h3 a", "h2 a", "h4 a", "a")  # where a title is when no rule says it
FIELDS = ("title", "link", "site", "summary", "date")


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
    """An engine from what ``sources.yaml`` says. Rules are CSS, XPath or ``re:`` (see :mod:`newsportal.extractors.lists.selector`).

    Raises ``ValueError`` naming the field for an address without ``##QUERY##``, an unknown encoding or a rule that is none.
    """
    _check_url(url)
    try:
        codecs.lookup(encoding)
    except LookupError as error:
        raise ValueError(f"encoding: unknown: {encoding!r}") from error
    if not block:
        if given := [key for key, rule in zip(FIELDS, (title, link, site, summary, date), strict=True) if rule]:
            raise ValueError(f"{given[0]}: a rule for a field needs a rule for the block it is in")
        return Engine(name, url, None, kind, first, step, encoding)
    wrapper = Wrapper(block, title or TITLES, link, site, summary, date)
    wrapper.check()
    return Engine(name, url, parse_with(wrapper), kind, first, step, encoding)


def _check_url(url: str) -> None:
    if "##QUERY##" not in url:
        raise ValueError(f"url: must hold ##QUERY##, the place of the words: {url!r}")
    try:
        parts = urlsplit(url.replace("##QUERY##", "q").replace("##START##", "0"))
    except ValueError as error:
        raise ValueError(f"url: {error}: {url!r}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"url: must be an http or https address: {url!r}")
