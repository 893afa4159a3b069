"""Labelled texts: the tables, what is read from them, and those that are brought, kept in a file until the last has come."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import Any, Final, Literal

from sqlalchemy import Column, Connection, ForeignKey, Index, Integer, String, Table, select

from newsportal.errors import StoreError, StoreUnavailable
from newsportal.items import content_id
from newsportal.store.columns import LONG_TEXT, METADATA, NAME_CHARS, Moment, id_column
from newsportal.store.columns import name as looked_up

LabelSource = Literal["from-store", "imported", "editor"]
"""Whence a label is: the category of the source an article came from, a file, or a person who looked at the article."""

RANKS: Final[Mapping[LabelSource, int]] = MappingProxyType({"from-store": 0, "imported": 1, "editor": 2})
"""A label gives way to one of the same or a higher rank."""

CATEGORIES: Final = "categories"  # The corpus whose active model gives articles their category; what commands mean when none is named


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A text with its label, as a file or the store brings it. ``article_id``: it is a stored article, whose text is read from there;
    ``name`` is what the file called it."""

    label: str
    text: str = field(default="", repr=False)
    title: str = ""
    name: str | None = None
    article_id: str | None = None

    @property
    def id(self) -> str:
        """What it is known by in its corpus: the article's id, else the hash of title and text."""
        return self.article_id or content_id(f"{self.title}\n{self.text}")


@dataclass(frozen=True, slots=True)
class Label:
    """A label that a document has or had. ``None``: an editor took the document out of the corpus."""

    label: str | None
    source: LabelSource
    at: datetime
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A labelled document. ``number`` counts its labels from 1; ``story_id`` and ``site`` are those of a stored article."""

    id: str
    label: Label
    number: int
    title: str = ""
    text: str = field(default="", repr=False)
    name: str | None = None
    article_id: str | None = None
    story_id: str | None = None
    site: str | None = None


@dataclass(frozen=True, slots=True)
class Brought:
    """What ``add`` did with the documents it was given; the counts add up to them.

    ``relabelled``: known, and the label was changed; ``kept``: known under another label of a higher rank, which stays; ``same``: known
    under this label; ``repeated``: twice in this call; ``contradicted``: twice in this call under different labels, the first stays.
    """

    added: int = 0
    relabelled: int = 0
    kept: int = 0
    same: int = 0
    repeated: int = 0
    contradicted: int = 0


@dataclass(frozen=True, slots=True)
class Counted:
    """Documents of one label: how many, whence, and when the first and the last label was given."""

    label: str
    documents: int
    sources: Mapping[LabelSource, int] = field(metadata={"description": "How many of them came from where."})
    oldest: datetime
    newest: datetime


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus and its figures."""

    name: str
    created: datetime
    note: str
    documents: int
    labels: int
    versions: int
    active: int | None = field(metadata={"description": "The version of its model that is in use."})


CORPORA = Table(
    "corpora",
    METADATA,
    id_column("id", primary_key=True),
    Column("name", String(NAME_CHARS), nullable=False),
    Column("created", Moment, nullable=False),
    Column("note", LONG_TEXT, nullable=False),
    Column("active", Integer),
)
"""``id`` is the hash of ``name``; ``active`` the version of the model in use."""


def _label() -> list[Column[Any]]:
    """A label that a document has (``labelled``) or had (``former_labels``); none: an editor left the document out."""
    return [
        Column("label", String(NAME_CHARS)),
        Column("label_source", String(16), nullable=False),
        Column("label_by", String(NAME_CHARS)),
        Column("label_at", Moment, nullable=False),
    ]


LABELLED = Table(
    "labelled",
    METADATA,
    id_column("corpus_id", ForeignKey("corpora.id"), primary_key=True),
    id_column("id", primary_key=True),
    id_column("article_id"),  # no foreign key: an article may go although somebody labelled it
    Column("name", LONG_TEXT),
    Column("title", LONG_TEXT),
    Column("text", LONG_TEXT),
    Column("number", Integer, nullable=False),
    *_label(),
    Index(None, "corpus_id", "label"),
    Index(None, "article_id"),
)
"""Texts that classifiers learn from. A stored article has its title and text in ``articles`` alone."""

FORMER_LABELS = Table(
    "former_labels",
    METADATA,
    id_column("corpus_id", ForeignKey("corpora.id"), primary_key=True),
    id_column("id", primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    *_label(),
)


def corpus_id(connection: Connection, name: str) -> str:
    """The id of a corpus. Raises ``StoreError`` that lists those there are."""
    id = content_id(looked_up(name))
    if connection.scalar(select(CORPORA.c.id).where(CORPORA.c.id == id)):
        return id
    there = connection.scalars(select(CORPORA.c.name).order_by(CORPORA.c.name)).all()
    raise StoreError(f"no corpus {name!r}; " + (f"there are: {', '.join(there)}" if there else "there is none yet"))


@contextmanager
def spooled(documents: Iterable[NewDocument]) -> Iterator[Iterator[NewDocument]]:
    """``documents``, when all of them have been read. What they raise on the way comes through; ``StoreUnavailable``: no room for them."""
    try:
        with TemporaryFile("w+", encoding="utf-8", errors="surrogatepass", newline="\n") as file:
            rows = ((one.label, one.text, one.title, one.name, one.article_id) for one in documents)
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            file.seek(0)
            yield (NewDocument(*json.loads(line)) for line in file)
    except OSError as error:
        why = error.strerror or error
        raise StoreUnavailable(f"a temporary file cannot be written ({why}); make room, or name another folder in TMPDIR") from error
