"""Sort the links of a list page (front page, channel, board) into articles, further list pages and the rest, without site rules.

Own method (the papers name the problem: B's hub pages against topic pages, C's ``seed`` and ``banned_seed``, E's URL patterns):
facts about address, text and place are weighed for every link, then links of the same address shape vote together.
Rules of a region, where given, have the last word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import regex  # type: ignore[import-untyped, unused-ignore]

from newsportal.extractors import hub_anchors, hub_score
from newsportal.extractors.date import default_zone, parse_date
from newsportal.extractors.hub_pager import next_pages
from newsportal.extractors.hub_urls import Address

if TYPE_CHECKING:
    from datetime import datetime

    from newsportal import dom
    from newsportal.items import LinkKind

__all__ = ["HubLink", "HubRules", "links", "next_pages"]

ARTICLE_SCORE = 0.5
ALLOWED = 3.0  # logits that a part of a URL named by the operator is worth: as much as a whole date in the path
EXPRESSION = "re:"
RULE_SECONDS = 0.05  # for one expression on one address; an expression that backtracks is refused its match
NEVER_HUB = frozenset("url-file url-too-long url-search url-comments url-media-word url-service-word url-later-page".split())
HUB_FACTS = frozenset("url-root url-shallow url-list-word".split())


@dataclass(frozen=True, slots=True)
class HubLink:
    """One link of a list page. ``url`` is absolute, as the page has it (with its fragment); ``text`` the longest text it is linked with.

    ``score`` runs from 0 to 1 (1: surely an article). ``summary``, ``date_text`` (as written) and ``published`` (aware; only when the
    caller said what time it is) stand beside it in its list entry.
    """

    url: str
    text: str
    kind: LinkKind
    score: float
    title: str | None = None
    summary: str | None = None
    date_text: str | None = None
    published: datetime | None = None


@dataclass(frozen=True)
class HubRules:
    """A region's rules. Articles lie under ``prefix``, fit one of ``allow`` (where given) and none of ``deny``.

    A rule is a part of the URL (paper C's ``seed`` and ``banned_seed``), or ``re:`` and a regular expression. An expression in
    ``allow`` decides by itself; a part of the URL holds for menus too, so it only makes articles likelier.
    Raises ``ValueError`` for an expression that is none, when the rules are first used.
    """

    prefix: str | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    @cached_property
    def _matchers(self) -> dict[str, Callable[[str], bool]]:
        return {rule: _matcher(rule) for rule in (*self.allow, *self.deny)}

    def score(self, url: str, score: float) -> float:
        """A link's score, corrected by the rules: 0 for what they exclude, 1 for what they name."""
        if self.prefix and not _bare(url).startswith(_bare(self.prefix)):
            return 0.0
        if any(self._matchers[rule](url) for rule in self.deny):
            return 0.0
        allowed = [rule for rule in self.allow if self._matchers[rule](url)]
        if not self.allow:
            return score
        if any(rule.startswith(EXPRESSION) for rule in allowed):
            return 1.0
        return hub_score.raised(score, ALLOWED) if allowed else 0.0


def links(document: dom.Document, rules: HubRules | None = None, now: datetime | None = None, base: str | None = None) -> list[HubLink]:
    """The links of a list page in page order, one a URL, each with its kind. Never raises for a bad page.

    ``now`` (aware) is when the page was fetched; with it the dates beside the links are read. ``base`` is what relative links are
    relative to, where that is known better than from the page.
    """
    anchors = hub_anchors.collect(document, base)
    page = Address(document.url)
    found = zip(anchors, hub_score.scores(anchors, page), strict=True)
    return [_link(anchor, page, _ruled(anchor.address, page, score, rules), now) for anchor, score in found]


def _ruled(address: Address, page: Address, score: float, rules: HubRules | None) -> float:
    return score if rules is None or address.same_page == page.same_page else rules.score(address.same_page, score)


def _link(anchor: hub_anchors.Anchor, page: Address, score: float, now: datetime | None) -> HubLink:
    kind = _kind(anchor.address, page, score)
    around = hub_anchors.card(anchor) if kind == "article" else hub_anchors.Card()
    published = parse_date(around.date_text, now, default_zone(anchor.text)) if now and around.date_text else None
    return HubLink(
        url=anchor.address.url,
        text=anchor.text,
        kind=kind,
        score=round(score, 4),
        title=anchor.title,
        summary=around.summary,
        date_text=around.date_text,
        published=published,
    )


def _kind(address: Address, page: Address, score: float) -> LinkKind:
    if score >= ARTICLE_SCORE:
        return "article"
    own = address.domain == page.domain
    return "hub" if own and address.facts & HUB_FACTS and not address.facts & NEVER_HUB else "other"


def _matcher(rule: str) -> Callable[[str], bool]:
    if not rule.startswith(EXPRESSION):
        return lambda url: rule in url
    try:
        expression = regex.compile(rule.removeprefix(EXPRESSION))
    except regex.error as error:
        raise ValueError(f"not a regular expression: {rule!r} ({error})") from error

    def matches(url: str) -> bool:
        try:
            return expression.search(url, timeout=RULE_SECONDS) is not None
        except TimeoutError:
            return False

    return matches


def _bare(url: str) -> str:
    """Without scheme and ``www.``: a region's prefix holds for both."""
    return url.partition("://")[2].removeprefix("www.") if "://" in url else url
