"""Classify the links of a list page (front page, channel, board) as articles, further list pages and others, without site rules.

Own method (the papers name the problem: B's hub pages against topic pages, C's ``seed`` and ``banned_seed``, E's URL patterns): features of
URL, text and position are weighted for every link, then its score moves towards the mean of the links with the same URL pattern. Rules of a
region, if given, override the result.
"""

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial

from newsportal.extractors.article.hints import ancestors
from newsportal.extractors.fields.date import default_zone, read_date
from newsportal.extractors.lists import hub_anchors, hub_score
from newsportal.extractors.lists.hub_urls import MAX_URL_CHARS, Address
from newsportal.extractors.lists.page_turns import NEXT, is_disabled
from newsportal.items import LinkKind
from newsportal.text import dom
from newsportal.text.expressions import EXPRESSION_PREFIX, compile_expression, has_match

# Next pages of a list page: ``rel=next``, 「下一页」 and similar texts, and rows of page numbers. Numbers alone are no pager (forums
# write 「2 3 4」 after every long thread): a row counts only if its URLs continue the page's own URL, if an element around it is named
# like a pager, or if a next link has the same form.

MAX_PAGES = 20  # more pages of one list are history, not news
MAX_NUMBER = 9_999
MAX_ANCHORS = 5_000
PAGER_NAME = re.compile(r"pag(?:e|er|ination|ebar|enav|elist|es|ing)?(?![a-z])|fenye|\bpg\b|pagination|navigation", re.IGNORECASE)
PAGER_LEVELS = 4
MIN_ROW_PAGES = 2
MIN_STEP = 5  # minimum entries per page, for URLs that count entries


@dataclass(slots=True)
class PagerRow:
    """Numbered links of one URL form. ``pages`` maps page numbers to URLs; ``named``: whether an element around has a pager's name."""

    pages: dict[int, str] = field(default_factory=dict)
    named: bool = False


def next_pages(document: dom.Document) -> list[str]:
    """Return the other pages of this list on the same site, the next page first; at most ``MAX_PAGES``, without the page itself."""
    current = Address(document.url)
    rows: dict[str, PagerRow] = defaultdict(PagerRow)
    declared = (node for node in document.root.iter("link") if (node.get("rel") or "").lower() == "next")
    urls = [url for node in declared if (url := dom.link_of(node, document.base))]
    for node in list(document.root.iter("a"))[:MAX_ANCHORS]:
        text = hub_anchors.link_text(document, node)[:40]
        number = text.strip("[]【】()· ")
        is_next = bool(NEXT.match(text)) or "next" in (node.get("rel") or "").lower().split()
        url = dom.link_of(node, document.base) if is_next or number.isdecimal() else None  # few need to be joined
        if url is None:
            continue
        page = int(number[:6]) if not is_next else 0
        if is_next:
            urls += [url] if not is_disabled(node) else []
        elif 0 < page <= MAX_NUMBER and (form := _form(url, page)):
            rows[form].pages.setdefault(page, url)
            names = (f"{above.get('class') or ''} {above.get('id') or ''}" for above in ancestors(node, PAGER_LEVELS))
            rows[form].named = rows[form].named or any(map(PAGER_NAME.search, names))
    row, best = PagerRow(), (False, False, False, 0)
    for form, other in rows.items():
        # URLs of this form with any number
        before, _, after = form.partition("{}")
        numbered = re.compile(f"{re.escape(before.rstrip('_-'))}[_-]?\\d*{re.escape(after)}")
        rank = (any(numbered.fullmatch(url) for url in urls), bool(numbered.fullmatch(current.same_page)), other.named, len(other.pages))
        if any(rank[:3]) and (len(other.pages) >= MIN_ROW_PAGES or rank[0]) and rank > best:
            row, best = other, rank
    found = dict.fromkeys([*urls, *(row.pages[number] for number in sorted(row.pages))])
    current_url = current.same_page.rstrip("/")
    same_site = (address for address in map(Address, found) if address.domain == current.domain)
    return [address.url for address in same_site if address.same_page.rstrip("/") != current_url][:MAX_PAGES]


def _form(url: str, number: int) -> str | None:
    """Return ``url`` with the page number (or offset: ``pn=20`` for 「3」) replaced by ``{}``; ``None`` if the URL does not contain it."""
    runs = [run for run in re.finditer(r"\d+", url[:MAX_URL_CHARS]) if len(run.group()) < 9]
    ranked = [(_distance(int(run.group()), number), -run.start(), run) for run in runs]
    distance, _, best = min(ranked, default=(None, 0, None), key=lambda found: (found[0] is None, found[0] or 0, found[1]))
    return f"{url[: best.start()]}{{}}{url[best.end() :]}" if best and distance is not None else None


def _distance(value: int, number: int) -> int | None:
    """Return how far a number in a URL is from a page number: 0 if equal, 1 if counted from 0, 2 for an offset; ``None`` if unrelated."""
    if value in (number, number - 1):
        return number - value
    step, rest = divmod(value, max(number - 1, 1))
    return 2 if number > 1 and step >= MIN_STEP and rest == 0 else None


ARTICLE_SCORE = 0.5
ALLOW_BONUS = 3.0  # logits added for a URL part named by the operator: as much as a full date in the path
NOT_HUB_FEATURES = frozenset("url-file url-too-long url-search url-comments url-media-word url-service-word url-later-page".split())
HUB_FEATURES = frozenset("url-root url-shallow url-list-word".split())


@dataclass(frozen=True, slots=True)
class HubLink:
    """A link of a list page. ``url`` is absolute, with its fragment; ``text`` the longest link text; ``score`` from 0 to 1 (certainly an
    article); ``summary`` and ``published`` (aware, if ``now`` was given) belong to its entry in the list."""

    url: str
    text: str
    kind: LinkKind
    score: float
    summary: str | None = None
    published: datetime | None = None


@dataclass(frozen=True)
class HubRules:
    """URL rules of a region. Article URLs start with ``prefix``, match one of ``allow`` (if given) and none of ``deny``.

    A rule is a substring of the URL (paper C's ``seed`` and ``banned_seed``), or ``re:`` and a regular expression. A match of an expression
    in ``allow`` is decisive; a substring also matches menus, so it only raises the score. Raises ``ValueError`` for an invalid expression
    when the rules are first used.
    """

    prefix: str | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    @cached_property
    def _matchers(self) -> dict[str, Callable[[str], bool]]:
        return {rule: _matcher(rule) for rule in (*self.allow, *self.deny)}

    def includes(self, url: str) -> bool:
        """Return whether the URL starts with the prefix and is not denied."""
        if self.prefix and not _without_scheme(url).startswith(_without_scheme(self.prefix)):
            return False
        return not any(self._matchers[rule](url) for rule in self.deny)

    def score(self, url: str, score: float) -> float:
        """Return a link's score adjusted by the rules: 0 for excluded links, 1 for links that match an ``allow`` expression."""
        if not self.includes(url):
            return 0.0
        allowed = [rule for rule in self.allow if self._matchers[rule](url)]
        if not self.allow:
            return score
        if any(rule.startswith(EXPRESSION_PREFIX) for rule in allowed):
            return 1.0
        return hub_score.add_evidence(score, ALLOW_BONUS) if allowed else 0.0


def links(document: dom.Document, rules: HubRules | None = None, now: datetime | None = None, base: str | None = None) -> list[HubLink]:
    """Return the links of a list page in page order, one per URL, each with its kind. Never raises for a malformed page.

    ``now`` (aware) is the time of the fetch; if given, the dates beside the links are parsed. ``base`` is the base URL of relative links,
    if known better than from the page.
    """
    anchors = hub_anchors.collect_anchors(document, base)
    page = Address(document.url)
    found = []
    for anchor, score in zip(anchors, hub_score.score_anchors(anchors, page), strict=True):
        address, url = anchor.address, anchor.address.same_page
        score = score if rules is None or url == page.same_page else rules.score(url, score)
        listing = address.domain == page.domain and address.features & HUB_FEATURES and not address.features & NOT_HUB_FEATURES
        kind: LinkKind = "article" if score >= ARTICLE_SCORE else "hub" if listing else "other"
        card = hub_anchors.read_card(anchor) if kind == "article" else hub_anchors.Card()
        published = read_date(card.date_text, now, default_zone(anchor.text)) if now and card.date_text else None
        found.append(HubLink(address.url, anchor.text, kind, round(score, 4), card.summary, published))
    return found


def _matcher(rule: str) -> Callable[[str], bool]:
    if not rule.startswith(EXPRESSION_PREFIX):
        return lambda url: rule in url
    return partial(has_match, compile_expression(rule.removeprefix(EXPRESSION_PREFIX)))


def _without_scheme(url: str) -> str:
    """Remove the scheme and ``www.``: a region's prefix applies with and without them."""
    return url.partition("://")[2].removeprefix("www.") if "://" in url else url
