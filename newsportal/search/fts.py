"""Clauses as expressions of FTS5: every word quoted, and nothing but letters, digits and Chinese characters in a word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from newsportal.search.match import Clause, Match, Place

COLUMNS: dict[Place, str] = {"text": "{title body} : ", "grams": "", "title_grams": ""}
"""Where a clause looks within its table; a place that is not here is a column of its own name."""

TABLES: dict[Place, str] = {"grams": "grams", "title_grams": "title_grams"}
"""The table of a place, ``words`` if it is not here."""


def expressions(match: Match) -> list[tuple[str, list[str], list[str]]]:
    """Table, what is needed and what is unwanted there, of those tables that are asked at all; the first one leads."""
    tables = []
    for table in ("words", "grams", "title_grams"):
        needed, without = (
            [expression(clause) for clause in clauses if TABLES.get(clause.place, "words") == table]
            for clauses in (match.needed, match.without)
        )
        if needed or without:
            tables.append((table, needed, without))
    return sorted(tables, key=lambda one: not one[1])


def expression(clause: Clause) -> str:
    """A clause as an expression."""
    words = (" OR " if clause.any_of else " AND ").join(f'"{word}"' for word in clause.words)
    return f"{COLUMNS.get(clause.place, f'{clause.place} : ')}({words})"


def all_but(needed: Sequence[str], without: Sequence[str] = ()) -> str:
    """All of ``needed``, none of ``without``."""
    joined = " AND ".join(f"({part})" for part in needed)
    return f"({joined}) NOT ({any_of(without)})" if without else joined


def any_of(parts: Iterable[str]) -> str:
    """At least one of ``parts``."""
    return " OR ".join(f"({part})" for part in parts)
