"""Compare a source's rule with the template-free extractor, page by page.

Neither is the truth. If both agree the rule is hardly needed; if the rule extracts what the other misses, it is useful; if it extracts
nothing, the site has pages with another layout.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

from pydantic import ValidationError

from newsportal.errors import NotApplicable
from newsportal.extractors.article import best
from newsportal.extractors.article.rule import ArticleRule, apply
from newsportal.items import Extraction, Page
from newsportal.sources import Sources
from newsportal.sources.places import ArticlePlace, ArticleSelectors
from newsportal.text import dom

ALIKE: Final = 0.9  # share of characters in common lines from which two texts count as equal: they may differ in a byline
LINES: Final = 400  # lines compared of a text; longer ones are truncated
PARTS: Final = ("body", "title", "date", "author", "remove")  # of a rule
Part = Literal["both", "rule", "best"]


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """A line of the merged texts, and which of them has it."""

    text: str
    of: Part


@dataclass(frozen=True, slots=True)
class Comparison:
    """Result for a page. ``ruled`` ``None``: the rule finds no body; ``free`` ``None``: the template-free extractor finds none, for the
    ``reason``. ``similarity``: share of characters in common lines, from 0 to 1."""

    url: str
    ruled: Extraction | None
    free: Extraction | None
    reason: str | None
    similarity: float
    same_title: bool
    same_date: bool
    lines: tuple[ComparedLine, ...] = ()


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """All pages, and the numbers of those extracted by the rule, with similar texts, the same title, the same date."""

    pages: tuple[Comparison, ...]
    read: int
    similar: int
    titles: int
    dates: int
    similarity: float


def cross_check(rule: ArticleRule, pages: Iterable[Page]) -> CrossCheck:
    """Apply the rule to pages. Pages that neither can read are not articles, and skipped."""
    compared = [row for row in (compare(rule, page) for page in pages) if row.ruled or row.free]
    pairs = [row for row in compared if row.ruled and row.free]
    mean = sum(row.similarity for row in pairs) / len(pairs) if pairs else 0.0
    return CrossCheck(
        tuple(sorted(compared, key=lambda row: (row.ruled is not None and row.free is not None, row.similarity))),
        sum(row.ruled is not None for row in compared), sum(row.similarity >= ALIKE for row in pairs), sum(row.same_title for row in pairs),
        sum(row.same_date for row in pairs), mean,
    )  # fmt: skip


def compare(rule: ArticleRule, page: Page) -> Comparison:
    """Extract a page with and without the rule. Parts not in the rule (title, date) are extracted without it, as in the crawl."""
    document = dom.document(page)
    ruled: Extraction | None = apply(rule, document, page.fetched)
    assert ruled is not None
    free, reason = None, None
    try:
        free = best.extract(dom.document(page), None, page.fetched)
    except NotApplicable as error:
        reason = error.reason
    if ruled.text is None:
        return Comparison(page.url, None, free, reason, 0.0, False, False)
    same_title = rule.title is None or free is None or _plain(ruled.title) == _plain(free.title)
    same_date = rule.date is None or free is None or _day(ruled) == _day(free)
    text = (free.text if free else None) or ""
    return Comparison(page.url, ruled, free, reason, similarity(ruled.text, text), same_title, same_date, compared_lines(ruled.text, text))


def similarity(first: str, second: str) -> float:
    left, right = (Counter(filter(None, map(_plain, text.splitlines()))) for text in (first, second))
    total = sum(len(line) * count for lines in (left, right) for line, count in lines.items())
    return 2 * sum(len(line) * count for line, count in (left & right).items()) / total if total else 0.0


def compared_lines(ruled: str, free: str) -> tuple[ComparedLine, ...]:
    """Merge the lines of both texts in order, common ones once."""
    first, second = ruled.splitlines()[:LINES], free.splitlines()[:LINES]
    found: list[ComparedLine] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, [*map(_plain, first)], [*map(_plain, second)], autojunk=False).get_opcodes():
        found += [ComparedLine(line, "both" if tag == "equal" else "rule") for line in first[i1:i2]]
        found += [ComparedLine(line, "best") for line in second[j1:j2] if tag != "equal"]
    return tuple(found)


def _plain(text: str | None) -> str:
    return "".join((text or "").split())


def _day(found: Extraction) -> str | None:
    return found.published.date().isoformat() if found.published else None


def places_of(sources: Sources) -> list[ArticlePlace]:
    """Return the sources whose pages are articles: those with a rule first."""
    places: list[ArticlePlace] = [*sources.feeds, *sources.sitemaps, *sources.regions]
    return sorted(places, key=lambda place: place.article is None)


def rule_of(texts: dict[str, str]) -> tuple[ArticleRule | None, str]:
    """Parse a rule from a form; ``None`` with the reason for an invalid selector."""
    remove = tuple(line.strip() for line in texts["remove"].splitlines() if line.strip())
    single = {name: texts[name] or None for name in PARTS if name != "remove"}
    try:
        ArticleSelectors.model_validate({**single, "remove": list(remove)})
    except ValidationError as error:
        return None, str(error.errors()[0]["msg"])
    return ArticleRule(remove=remove, **single), ""
