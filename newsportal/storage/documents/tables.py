"""The tables of articles and of what the crawl remembers. Their rows have the columns of the SQL tables under the same names, moments as
microseconds; ``id`` is the one column of the SQL primary key, or all of them in one text (``room_tables.row_id``).

What differs: small tables that belong to one article or story are lists in its row.

- An article's row holds its ``topics`` (``article_topics``: ``[{topic, by, score}, …]``), ``fold_keys`` (``fold_keys.key``), the stories it
  was taken ``apart`` from (``unfolded.story_id``), and the ``excerpt`` that lists show of its text.
- A story's row holds its ``labels`` (``story_labels``: ``topic:旅游``), the moments of its ``earliest`` and ``latest`` version, and what
  lists ask of its ``versions``. All of it follows from its articles (``folding.refresh``).
- A fingerprint's row is called like its article, and says in which story that is and why (``story_id``, ``fold_reason``), and which
  move of an article from story to story brought it there (``moved``).
- A change's row is called by its number (:func:`change_id`); the article or story it speaks of is ``of``.
- All articles that declare a name are ``article_ids`` of one row.
- What has keys of any text (``report``, ``state``) is written as JSON in a text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from newsportal.storage.documents.base import Row, Table
from newsportal.storage.documents.plain import plain
from newsportal.storage.story_lists import EXCERPT_CHARS

STORIES: Final = Table(
    "stories",
    {
        "id": "key", "head_id": "key", "count": "number", "sites": "number", "moment": "number", "heat": "float", "labels": "keys",
        "first_seen": "number", "earliest": "number", "latest": "number",
    },
    (("-moment", "-id"), ("-heat", "-id"), ("labels", "-moment", "-id"), ("labels", "-heat", "-id")),
)  # fmt: skip

ARTICLES: Final = Table(
    "articles",
    {
        "id": "key", "story_id": "key", "source": "key", "site": "key", "category": "key", "first_seen": "number", "moment": "number",
        "fold_keys": "keys", "corrected": "number", "hidden": "number",
    },
    (("story_id", "moment"), ("source",), ("-moment",), ("fold_keys", "moment"), ("corrected",), ("hidden",)),
)  # fmt: skip

REVISIONS: Final = Table("revisions", {"id": "key", "article_id": "key", "revision": "number"}, (("article_id", "revision"),))

ALIASES: Final = Table("aliases", {"id": "key", "article_id": "key", "seq": "number"}, (("seq", "id"), ("article_id",)))

DECLARED: Final = Table("declared_names", {"id": "key", "article_ids": "keys"})

PRINTS: Final = Table("prints", {"id": "key", "number": "number", "moved": "number"}, (("number",), ("moved",)), binary=frozenset({"runs"}))

CHANGES: Final = Table("changes", {"id": "key", "seq": "number", "kind": "key", "of": "key", "at": "number"}, (("seq",),))

RUNS: Final = Table("runs", {"id": "key", "started": "number"}, (("-started",),))

SOURCES: Final = Table("source_states", {"id": "key", "source": "key"}, (("source",),))

SITE_LINES: Final = Table("site_lines", {"id": "key", "site": "key", "seen": "number"}, (("-seen", "site"),))

DEFERRED: Final = Table(
    "deferred_links",
    {"id": "key", "source": "key", "since": "number", "position": "number"},
    (("source", "since", "position"),),
)

CORE_TABLES: Final = (STORIES, ARTICLES, REVISIONS, ALIASES, DECLARED, PRINTS, CHANGES, RUNS, SOURCES, SITE_LINES, DEFERRED)
"""In an order in which they may be written."""

ARTICLE_MOMENTS: Final = ("first_seen", "moment", "fetched", "published", "corrected", "hidden")
STORY_MOMENTS: Final = ("first_seen", "last_seen", "moment")

LONG: Final = ("text", "html")
"""What a list does not need of an article's row."""

CHANGE_NUMBERS, PRINT_NUMBERS, MOVES = "changes", "prints", "moves"
"""Counters: of ``changes.seq``, of ``prints.number``, and of ``prints.moved``."""

SEQ_DIGITS: Final = 19
"""Digits of the largest whole number a database holds."""


def change_id(seq: int) -> str:
    """What the row of a change is called: in the order of the numbers."""
    return f"{seq:0{SEQ_DIGITS}}"


def kept(values: Mapping[str, Any]) -> Row:
    """Columns of ``articles`` as its row holds them: moments as microseconds, and what follows from the text."""
    row = plain(values)
    return row if "text" not in row else {**row, "excerpt": row["text"][:EXCERPT_CHARS]}


def as_text(values: Mapping[str, Any]) -> str:
    """JSON values whose keys are of any text (addresses, names of hosts): no database takes all of them as names of fields."""
    return json.dumps(values, ensure_ascii=False)


def label(kind: str, value: str) -> str:
    """One of a story's ``labels``."""
    return f"{kind}:{value}"
