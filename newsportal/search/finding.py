"""Search in a SQLite index: candidates from FTS5, collapsing of stories, facets, one page of hits."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from newsportal.search import match
from newsportal.search.base import Query, Results
from newsportal.search.counting import Candidate, count_facets, group_by_story
from newsportal.search.highlight import build_hit
from newsportal.search.layout import ROWIDS_PER_SECOND, first_rowid, unpack
from newsportal.search.words import sequence
from newsportal.store.columns import EPOCH, MICROSECOND

COLUMNS: dict[match.Place, str] = {"text": "{title body} : ", "grams": "", "title_grams": ""}
"""Column filter of a clause within its table; other places are columns of that name."""

TABLES: dict[match.Place, str] = {"grams": "grams", "title_grams": "title_grams"}  # table of a place, by default words


def expressions(compiled: match.Match) -> list[tuple[str, list[str], list[str]]]:
    """Return table, needed and unwanted expressions for each table used; the first one is the main table."""
    tables = []
    for table in ("words", "grams", "title_grams"):
        needed, without = (
            [expression(clause) for clause in clauses if TABLES.get(clause.place, "words") == table]
            for clauses in (compiled.required, compiled.excluded)
        )
        if needed or without:
            tables.append((table, needed, without))
    return sorted(tables, key=lambda table: not table[1])


def expression(clause: match.Clause) -> str:
    words = (" OR " if clause.any_of else " AND ").join(f'"{word}"' for word in clause.words)
    return f"{COLUMNS.get(clause.place, f'{clause.place} : ')}({words})"


def all_except(needed: Sequence[str], without: Sequence[str] = ()) -> str:
    joined = " AND ".join(f"({part})" for part in needed)
    return f"({joined}) NOT ({any_of(without)})" if without else joined


def any_of(parts: Iterable[str]) -> str:
    return " OR ".join(f"({part})" for part in parts)


MAX_CANDIDATES = 2_000
"""Relevance, totals and facets cover the newest matches up to this number; ``Results.capped`` is set if there are more."""

MAX_VERIFIED = 500  # newest candidates whose texts are read to verify a phrase
BM25_WEIGHTS = f"{match.TITLE_WEIGHT}, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0"  # bm25 weights of title, body, the names and the labels
MAX_ROWID_DISTANCE = 3600 * ROWIDS_PER_SECOND  # maximum distance between an article's second and its rowid
LAST_CHARACTER = "\U0010ffff"

EARLIEST, LATEST = -(2**62), 2**53


def find(connection: Connection, generation: int, query: Query) -> Results:
    parsed = match.parse(query)
    if parsed.empty:
        return Results((), 0)
    found, capped = _candidates(connection, generation, query, parsed)
    found.sort(key=lambda candidate: (0.0 if query.sort == "time" else -candidate.score, -candidate.moment, candidate.id))
    grouped = group_by_story(found, query.collapse)
    page = grouped[max(0, query.offset) : max(0, query.offset) + max(0, query.limit)]
    texts = f"docs_{generation} d JOIN texts_{generation} t ON t.rowid = d.rowid"
    sql = f"SELECT d.*, t.packed FROM {texts} WHERE d.rowid = ?"  # noqa: S608
    rows = ((connection.exec_driver_sql(sql, (group[0].rowid,)).mappings().one(), group) for group in page)
    hits = tuple(build_hit({**row, "text": unpack(row["packed"])}, group[0].score, len(group) - 1, parsed.words) for row, group in rows)
    loose = bool(found) and all(candidate.score < match.MIN_CLOSE_SCORE for candidate in found)
    return Results(hits, len(grouped), parsed.words, count_facets(grouped, query.zone), capped, loose)


def _candidates(connection: Connection, generation: int, query: Query, parsed: match.ParsedQuery) -> tuple[list[Candidate], bool]:
    """Return matches of the strictest reading that finds enough, followed by those of wider ones, and whether the count is capped."""
    found: dict[int, Candidate] = {}
    capped = False
    for rank, reading in match.READINGS:
        if len(found) >= match.WIDEN_BELOW or (reading == "any" and found):
            break
        compiled = match.compile_terms(parsed, query, reading)
        rows, full = _matches(connection, generation, parsed, compiled, scored=query.sort == "relevance")
        titled = _in_title(connection, generation, match.title_bonus_grams(compiled.required)) if query.sort == "relevance" else set()
        capped = capped or full
        for rowid, score, *fields in rows:
            if rowid not in found:
                earned = match.relevance(rank, score + match.TITLE_BONUS if rowid in titled else score) if score or titled else float(rank)
                found[rowid] = Candidate(rowid, earned, *fields)
    return list(found.values()), capped


def _matches(
    connection: Connection, generation: int, parsed: match.ParsedQuery, compiled: match.Match, *, scored: bool
) -> tuple[Sequence[Any], bool]:
    """Return the newest matches (columns of :class:`Candidate`, score of bm25), and whether there may be others."""
    sql, values = _statement(generation, parsed, compiled, scored=scored)
    rows: Sequence[Any] = connection.connection.cursor().execute(sql, values).fetchall()  # plain tuples: there may be thousands
    full = len(rows) >= MAX_CANDIDATES
    if compiled.phrases:
        full = full or len(rows) > MAX_VERIFIED
        rows = _with_phrases(connection, generation, rows[:MAX_VERIFIED], compiled.phrases)
    return rows, full


def _in_title(connection: Connection, generation: int, words: tuple[str, ...]) -> set[int]:
    """Return the newest articles with these characters in their titles."""
    if not words:
        return set()
    table = f"title_grams_{generation}"
    sql = f"SELECT rowid FROM {table} WHERE {table} MATCH ? ORDER BY rowid DESC LIMIT {MAX_CANDIDATES}"  # noqa: S608
    return set(connection.exec_driver_sql(sql, (expression(match.Clause("title_grams", words)),)).scalars())


def _statement(generation: int, parsed: match.ParsedQuery, compiled: match.Match, *, scored: bool) -> tuple[str, list[str | int]]:
    """Return the statement for the newest matches and the columns to rank and count them. ``scored``: bm25 reads all matches of a word."""
    (first, needed, without), *others = expressions(compiled)
    main = f"{first}_{generation}"
    filters = [(f"{table}_{generation}", "IN", all_except(needs, excluded)) for table, needs, excluded in others if needs]
    filters += [(f"{table}_{generation}", "NOT IN", any_of(excluded)) for table, needs, excluded in others if not needs]
    score = f"-bm25({main}, {BM25_WEIGHTS})" if scored and first == "words" else "0.0"
    low = microseconds(parsed.since) if parsed.since else EARLIEST
    high = microseconds(parsed.until) - 1 if parsed.until else LATEST
    conditions = [f"{main} MATCH ?", "rowid BETWEEN ? AND ?"]
    # the plus keeps SQLite from querying the main table again for every row of the others
    conditions += [f"+rowid {word} (SELECT rowid FROM {table} WHERE {table} MATCH ?)" for table, word, _ in filters]  # noqa: S608
    inner = f"SELECT rowid, {score} AS score FROM {main} WHERE {' AND '.join(conditions)} ORDER BY rowid DESC LIMIT {MAX_CANDIDATES}"  # noqa: S608
    values: list[str | int] = [all_except(needed, without), first_rowid(low), first_rowid(high) + MAX_ROWID_DISTANCE]
    values += [*(text for _, _, text in filters), low, high]
    columns = "m.rowid, m.score, d.id, d.story_id, d.site, d.category, d.topics, d.moment"
    visible = "d.id IS NOT NULL AND d.moment BETWEEN ? AND ?"
    return f"SELECT {columns} FROM ({inner}) m JOIN docs_{generation} d ON d.rowid = m.rowid WHERE {visible}", values  # noqa: S608


def microseconds(moment: datetime) -> int:
    return (moment - EPOCH) // MICROSECOND


def _with_phrases(connection: Connection, generation: int, rows: Sequence[Any], phrases: Sequence[tuple[str | None, str]]) -> Sequence[Any]:
    """Return the ``rows`` whose title or text has every phrase, word by word."""
    sql = f"SELECT d.title, t.packed FROM docs_{generation} d JOIN texts_{generation} t ON t.rowid = d.rowid WHERE d.rowid = ?"  # noqa: S608
    matching = []
    for row in rows:
        title, packed = connection.exec_driver_sql(sql, (row[0],)).one()
        sequences = {"title": sequence(title)}
        if any(name is None for name, _ in phrases):
            sequences["text"] = sequences["title"] + "\n" + sequence(unpack(packed))
        if all(phrase in sequences[name or "text"] for name, phrase in phrases):
            matching.append(row)
    return matching


def find_suggestions(connection: Connection, generation: int, prefix: str, limit: int) -> list[tuple[str, str]]:
    """Return plain and displayed forms of the completions of ``prefix``, as :data:`~newsportal.search.suggesting.Lookup` requires."""
    sql = (
        f"SELECT plain, shown FROM offers_{generation} WHERE plain >= ? AND plain < ? AND docs > 0 "  # noqa: S608
        "GROUP BY plain, shown ORDER BY max(topic) DESC, max(docs) DESC, shown LIMIT ?"
    )
    return [(plain, display) for plain, display in connection.exec_driver_sql(sql, (prefix, prefix + LAST_CHARACTER, max(0, limit)))]
