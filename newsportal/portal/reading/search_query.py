"""A search as given in a URL: words and filters, validated; invalid values are ignored. And its results from the index."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, Literal
from urllib.parse import parse_qsl

from newsportal.portal.context import Portal
from newsportal.portal.render import address
from newsportal.search.base import MAX_QUERY_CHARS, Index, Query, Results
from newsportal.text import clean

PAGE: Final = 20
MAX_PAGES: Final = 500  # deeper pages cost the index more and are requested by robots only
SHOWN_QUERY_CHARS: Final = 300  # longer queries are answered, but not repeated in links
FACETS: Final = ("topic", "site", "category", "day")
KINDS: Final = ("article", "thread", "photos")
EVERYTHING: Final = "since:1900-01-01"  # the query if there are filters only: an index needs words or a time
MAX_FIELDS: Final = 30
MAX_CHARS: Final = 200  # of a filter

SPANS: Final[Mapping[str, timedelta]] = {
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=31),
    "year": timedelta(days=366),
}


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """``since`` and ``until`` are inclusive days; ``folds`` ``open`` lists every version of a story."""

    text: str
    when: str | None = None
    since: str | None = None
    until: str | None = None
    kind: str | None = None
    folds: Literal["open"] | None = None
    sort: Literal["relevance", "time"] = "relevance"
    page: int = 1
    topic: str | None = None
    site: str | None = None
    category: str | None = None
    day: str | None = None

    @property
    def filters(self) -> dict[str, str]:
        names = ("when", "since", "until", "kind", *FACETS)
        return {name: value for name in names if (value := getattr(self, name))}

    @property
    def empty(self) -> bool:
        return not self.text and not self.filters

    def parameters(self, **changes: object) -> dict[str, object]:
        """Return the parameters of this search's URL with ``changes``; the page is reset to the first."""
        sort = self.sort if self.sort != "relevance" else None
        return {"q": self.text[:SHOWN_QUERY_CHARS], **self.filters, "folds": self.folds, "sort": sort, **changes}

    def address(self, path: str = "/search", /, **changes: object) -> str:
        return address(path, **self.parameters(**changes))

    def query(self, now: datetime, zone: tzinfo, *, limit: int = PAGE) -> Query:
        """Return the query for an index. Without words the newest come first."""
        spans = [now.astimezone(UTC) - SPANS[self.when]] if self.when else []
        begins = [_day_start(day, zone) for day in (self.since, self.day) if day]
        ends = [_day_start(day, zone, 1) for day in (self.until, self.day) if day]
        words = f"{self.text} kind:{self.kind}" if self.kind else self.text or EVERYTHING
        return Query(
            text=words, topic=self.topic, site=self.site, category=self.category, since=max([*spans, *begins], default=None),
            until=min(ends, default=None), sort=self.sort if self.text else "time", collapse=self.folds is None,
            offset=(self.page - 1) * limit, limit=limit, zone=zone,
        )  # fmt: skip


def parse_search(portal: Portal, query: str) -> SearchRequest:
    """Parse the query string of a saved search. A topic renamed since has its present name."""
    try:
        values = dict(parse_qsl(query, max_num_fields=MAX_FIELDS))
    except ValueError:
        values = {}
    search = search_from(lambda name, limit=MAX_CHARS: values.get(name, "")[:limit].strip() or None)
    return replace(search, topic=portal.renamed_topic(search.topic) or search.topic) if search.topic else search


def search_from(get: Callable[..., str | None]) -> SearchRequest:
    """Return the search for parameters: ``get(name)``, ``get(name, limit)``."""
    page, when, kind = get("page") or "", get("when"), get("kind")
    return SearchRequest(
        text=clean(get("q", MAX_QUERY_CHARS) or ""), when=when if when in SPANS else None, since=valid_day(get("since")),
        until=valid_day(get("until")), kind=kind if kind in KINDS else None, folds="open" if get("folds") == "open" else None,
        sort="time" if get("sort") == "time" else "relevance",
        page=min(int(page), MAX_PAGES) if page.isdecimal() and len(page) < 6 and int(page) > 0 else 1, topic=get("topic"), site=get("site"),
        category=get("category"), day=valid_day(get("day")),
    )  # fmt: skip


def _day_start(day: str, zone: tzinfo, later: int = 0) -> datetime:
    """Return the start of a day, or of one ``later`` days on, in ``zone``."""
    return datetime.combine(date.fromisoformat(day) + timedelta(days=later), time.min, zone).astimezone(UTC)


def valid_day(text: str | None) -> str | None:
    """Return a valid day; the first and last years of ``date`` would overflow in some time zones."""
    try:
        return text if text and 1 < date.fromisoformat(text).year < 9999 and len(text) == 10 else None
    except ValueError:
        return None


def search_index(portal: Portal, index: Index, query: Query) -> Results:
    """Return the hits of ``index``. Raises ``SearchError``, and ``StoreError`` while the index is behind.

    An index that is behind may contain hidden or deleted articles, which are removed here; the counts are not corrected.
    """
    results = index.search(query)
    if not results.hits or index.position() >= portal.store.last_seq():
        return results
    visible = {article.id for article in portal.store.articles([hit.id for hit in results.hits]) if article.hidden is None}
    return replace(results, hits=tuple(hit for hit in results.hits if hit.id in visible))
