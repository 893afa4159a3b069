"""One search in a SQLite index: candidates from FTS5, stories collapsed, facets counted, one page shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection

from newsportal.search.base import Hit, Query, Results
from newsportal.search.highlight import marked, one_line, snippet
from newsportal.search.layout import PLACES, TOPIC_BREAK, first_place, unpack
from newsportal.search.match import Match, Reading, any_of, compile_terms, expression
from newsportal.search.syntax import Term, parse
from newsportal.search.words import sequence
from newsportal.storage.tables import EPOCH, MICROSECOND

MAX_CANDIDATES = 2_000
"""Relevance, totals and facets speak of the newest matches up to this number; ``Results.capped`` tells when there are more."""

MAX_VERIFIED = 500
"""Newest candidates whose texts are read to see whether a phrase is really there."""

WIDEN_BELOW = 20
"""With fewer hits than a page, whatever contains the characters is shown after what contains the words."""

WEIGHTS = "10.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0"
"""bm25 weights of title, body and the names: a word of the title tells ten times as much. Usual for titles, not fitted."""

SLACK = 3600 * PLACES
"""How far behind its second an article may have found a free rowid."""

READINGS: tuple[tuple[int, Reading], ...] = ((2, "words"), (1, "grams"), (0, "any"))

TITLE_BONUS = 1.0
"""What the characters of a query in the title add to the relevance of a match by characters. Chosen, not fitted."""

EARLIEST, LATEST = -(2**62), 2**53
DAY = 86_400_000_000


class Found(NamedTuple):
    """A candidate; a tuple, since thousands are made for every search.

    ``score`` grows with relevance; ``moment`` is microseconds since 1970.
    """

    rowid: int
    score: float
    id: str
    story_id: str
    site: str | None
    category: str | None
    topics: str
    moment: int


CLOSE = 1.0
"""From this score on a match holds all the words (see :func:`_candidates`)."""


def find(connection: Connection, generation: int, query: Query) -> Results:
    """See ``Index.search``."""
    terms = parse(query.text)
    if not any(term.sign != "-" for term in terms):
        return Results((), 0)
    found, capped = _candidates(connection, generation, query, terms)
    found.sort(key=_by_time if query.sort == "time" else _by_relevance)
    groups = _groups(found, query.collapse)
    words = tuple(dict.fromkeys(word for term in terms if term.sign != "-" and term.field != "kind" for word in term.words))
    page = groups[max(0, query.offset) : max(0, query.offset) + max(0, query.limit)]
    hits = _hits(connection, generation, page, words)
    loose = bool(found) and all(candidate.score < CLOSE for candidate in found)
    return Results(hits, len(groups), words, _facets(found, query.collapse), capped, loose)


def _by_time(candidate: Found) -> tuple[int, str]:
    return -candidate.moment, candidate.id


def _by_relevance(candidate: Found) -> tuple[float, int, str]:
    return -candidate.score, -candidate.moment, candidate.id


def _candidates(connection: Connection, generation: int, query: Query, terms: Sequence[Term]) -> tuple[list[Found], bool]:
    """Matches under the strictest reading that finds enough, then those that only a wider one found.

    The whole part of a score tells the reading (2: as words, 1: as characters, 0: some of the words), the rest the relevance.
    """
    found: dict[int, Found] = {}
    capped = False
    for rank, reading in READINGS:
        if len(found) >= WIDEN_BELOW or (reading == "any" and found):
            break
        match = compile_terms(terms, query, reading)
        rows, full = _matches(connection, generation, query, match)
        in_title = _in_title(connection, generation, match.grams)
        capped = capped or full
        for row in rows:
            if row[0] not in found:
                relevance = max(0.0, row[1]) + (TITLE_BONUS if row[0] in in_title else 0.0)
                found[row[0]] = Found(row[0], rank + relevance / (1.0 + relevance), *row[2:])
    return list(found.values()), capped


def _matches(connection: Connection, generation: int, query: Query, match: Match) -> tuple[Sequence[Any], bool]:
    """The newest matches (the columns of :class:`Found`, the score as bm25 gives it), and whether there may be others."""
    sql, values = _statement(generation, query, match)
    rows = connection.exec_driver_sql(sql, tuple(values)).all()
    full = len(rows) >= MAX_CANDIDATES
    if match.phrases:
        full = full or len(rows) > MAX_VERIFIED
        rows = _with_phrases(connection, generation, rows[:MAX_VERIFIED], match.phrases)
    return rows, full


def _in_title(connection: Connection, generation: int, needed: Sequence[str]) -> set[int]:
    """The newest articles that have the characters in their titles."""
    if not needed:
        return set()
    table = f"title_grams_{generation}"
    sql = f"SELECT rowid FROM {table} WHERE {table} MATCH ? ORDER BY rowid DESC LIMIT {MAX_CANDIDATES}"  # noqa: S608
    return set(connection.exec_driver_sql(sql, (expression(needed),)).scalars())


def _statement(generation: int, query: Query, match: Match) -> tuple[str, list[str | int]]:
    """The newest matches with what is needed to rank, collapse and count them."""
    tables = (
        (f"words_{generation}", match.words, match.without_words),
        (f"grams_{generation}", match.grams, match.without_grams),
        (f"title_grams_{generation}", match.title_grams, match.without_title_grams),
    )
    (main, main_expression), *others = [(table, expression(needed, without)) for table, needed, without in tables if needed]
    filters = [(table, "IN", text) for table, text in others]
    filters += [(table, "NOT IN", any_of(without)) for table, needed, without in tables if without and not needed]
    score = f"-bm25({main}, {WEIGHTS})" if main.startswith("words") else "0.0"
    low, high = _bounds(query)
    conditions = [f"{main} MATCH ?", "rowid BETWEEN ? AND ?"]
    # the plus keeps SQLite from asking the main table anew for every row of the others
    conditions += [f"+rowid {word} (SELECT rowid FROM {table} WHERE {table} MATCH ?)" for table, word, _ in filters]  # noqa: S608
    inner = f"SELECT rowid, {score} AS score FROM {main} WHERE {' AND '.join(conditions)} ORDER BY rowid DESC LIMIT {MAX_CANDIDATES}"  # noqa: S608
    values: list[str | int] = [main_expression, first_place(low), first_place(high) + SLACK, *(text for _, _, text in filters), low, high]
    columns = "m.rowid, m.score, d.id, d.story_id, d.site, d.category, d.topics, d.moment"
    shown = "d.id IS NOT NULL AND d.moment BETWEEN ? AND ?"
    return f"SELECT {columns} FROM ({inner}) m JOIN docs_{generation} d ON d.rowid = m.rowid WHERE {shown}", values  # noqa: S608


def _bounds(query: Query) -> tuple[int, int]:
    """The first and the last microsecond asked for."""
    low = (query.since - EPOCH) // MICROSECOND if query.since else EARLIEST
    high = (query.until - EPOCH) // MICROSECOND - 1 if query.until else LATEST
    return low, high


def _with_phrases(connection: Connection, generation: int, rows: Sequence[Any], phrases: Sequence[tuple[str | None, str]]) -> Sequence[Any]:
    """Those of ``rows`` whose title or text has every phrase, word by word."""
    kept = []
    for row, title, text in _texts(connection, generation, rows):
        both = {"title": sequence(title)}
        if any(name is None for name, _ in phrases):
            both["text"] = both["title"] + "\n" + sequence(text)
        if all(phrase in both[name or "text"] for name, phrase in phrases):
            kept.append(row)
    return kept


def _texts(connection: Connection, generation: int, rows: Iterable[Any]) -> Iterable[tuple[Any, str, str]]:
    """Each candidate with its title and text."""
    sql = f"SELECT d.title, t.packed FROM docs_{generation} d JOIN texts_{generation} t ON t.rowid = d.rowid WHERE d.rowid = ?"  # noqa: S608
    for row in rows:
        title, packed = connection.exec_driver_sql(sql, (row[0],)).one()
        yield row, title, unpack(packed)


def _groups(found: Sequence[Found], collapse: bool) -> list[list[Found]]:
    """The candidates by story, in their order; each by itself without ``collapse``."""
    groups: dict[str, list[Found]] = {}
    for candidate in found:
        groups.setdefault(candidate.story_id if collapse else candidate.id, []).append(candidate)
    return list(groups.values())


def _hits(connection: Connection, generation: int, page: Sequence[Sequence[Found]], words: Sequence[str]) -> tuple[Hit, ...]:
    hits = []
    texts = f"docs_{generation} d JOIN texts_{generation} t ON t.rowid = d.rowid"
    sql = f"SELECT d.url, d.title, d.published, t.packed FROM {texts} WHERE d.rowid = ?"  # noqa: S608
    for group in page:
        best = group[0]
        url, title, published, packed = connection.exec_driver_sql(sql, (best.rowid,)).one()
        hits.append(
            Hit(
                id=best.id,
                story_id=best.story_id,
                url=url,
                score=best.score,
                title=title,
                title_html=marked(one_line(title), words),
                snippet_html=snippet(unpack(packed), words),
                site=best.site,
                published=None if published is None else EPOCH + published * MICROSECOND,
                moment=EPOCH + best.moment * MICROSECOND,
                folded=len(group) - 1,
            )
        )
    return tuple(hits)


def _facets(found: Sequence[Found], collapse: bool) -> dict[str, dict[str, int]]:
    """How many stories (articles without ``collapse``) have each value, the most frequent first; days newest first."""
    keys = [candidate.story_id if collapse else candidate.id for candidate in found]
    days = _Days()
    values: dict[str, Iterable[tuple[str, str | None]]] = {
        "site": zip(keys, (candidate.site for candidate in found), strict=True),
        "category": zip(keys, (candidate.category for candidate in found), strict=True),
        "topic": ((key, topic) for key, candidate in zip(keys, found, strict=True) for topic in candidate.topics.split(TOPIC_BREAK)),
        "day": zip(keys, (days.of(candidate.moment) for candidate in found), strict=True),
    }
    counted = {facet: Counter(value for _, value in set(pairs) if value) for facet, pairs in values.items()}
    ordered = {facet: dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))) for facet, counts in counted.items()}
    return ordered | {"day": dict(sorted(ordered["day"].items(), reverse=True))}


class _Days:
    """Calendar days in the zone of this machine, worked out once a day of the facet."""

    def __init__(self) -> None:
        self._shift = (datetime.now().astimezone().utcoffset() or timedelta(0)) // MICROSECOND
        self._known: dict[int, str] = {}

    def of(self, microseconds: int) -> str:
        number = (microseconds + self._shift) // DAY
        if number not in self._known:
            ordinal = min(max(EPOCH.toordinal() + number, date.min.toordinal()), date.max.toordinal())
            self._known[number] = date.fromordinal(ordinal).isoformat()
        return self._known[number]
