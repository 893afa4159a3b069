"""Tables and dataclasses of labelled texts, and a temporary file for texts being added."""

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
from newsportal.store.columns import name as stored_name

LabelSource = Literal["from-store", "imported", "editor"]
"""Origin of a label: the category of the article's source, a file, or an editor."""

RANKS: Final[Mapping[LabelSource, int]] = MappingProxyType({"from-store": 0, "imported": 1, "editor": 2})
"""A label may be replaced by one of the same or a higher rank."""

CATEGORIES: Final = "categories"  # the corpus whose active model classifies articles; default of commands


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A text with its label, from a file or the store. ``article_id``: the stored article that holds the text; ``name``: in the file."""

    label: str
    text: str = field(default="", repr=False)
    title: str = ""
    name: str | None = None
    article_id: str | None = None

    @property
    def id(self) -> str:
        """Identifier within the corpus: the article's id, or the hash of title and text."""
        return self.article_id or content_id(f"{self.title}\n{self.text}")


@dataclass(frozen=True, slots=True)
class Label:
    """A current or former label of a document. ``None``: an editor excluded the document."""

    label: str | None
    source: LabelSource
    at: datetime
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A labelled document. ``number`` counts its labels from 1; ``story_id`` and ``site`` belong to a stored article."""

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
class ImportResult:
    """Result of ``add``; the counts sum up to the number of documents.

    ``relabelled``: known, with a changed label; ``outranked``: known, with a label of a higher rank, which stays; ``same``: known with this
    label; ``repeated``: repeated within this call; ``contradicted``: repeated with different labels, the first is used.
    """

    added: int = 0
    relabelled: int = 0
    outranked: int = 0
    same: int = 0
    repeated: int = 0
    contradicted: int = 0


@dataclass(frozen=True, slots=True)
class LabelStatistics:
    """Statistics of one label: documents, origins, and the times of the first and last label."""

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
    active_version: int | None = field(metadata={"description": "The version of its model that is in use."})


CORPORA = Table(
    "corpora",
    METADATA,
    id_column("id", primary_key=True),
    Column("name", String(NAME_CHARS), nullable=False),
    Column("created", Moment, nullable=False),
    Column("note", LONG_TEXT, nullable=False),
    Column("active_version", Integer),
)
"""``id``: hash of ``name``; ``active_version``: version of the model in use."""


def _label() -> list[Column[Any]]:
    """Return the columns of a label (``labelled_texts``) or a former one (``former_labels``); NULL: excluded by an editor."""
    return [
        Column("label", String(NAME_CHARS)),
        Column("label_source", String(16), nullable=False),
        Column("label_by", String(NAME_CHARS)),
        Column("label_at", Moment, nullable=False),
    ]


LABELLED = Table(
    "labelled_texts",
    METADATA,
    id_column("corpus_id", ForeignKey("corpora.id"), primary_key=True),
    id_column("id", primary_key=True),
    id_column("article_id"),  # no foreign key: a labelled article may be deleted
    Column("name", LONG_TEXT),
    Column("title", LONG_TEXT),
    Column("text", LONG_TEXT),
    Column("number", Integer, nullable=False),
    *_label(),
    Index(None, "corpus_id", "label"),
    Index(None, "article_id"),
)
"""Texts for training classifiers. The title and text of a stored article are only in ``articles``."""

FORMER_LABELS = Table(
    "former_labels",
    METADATA,
    id_column("corpus_id", ForeignKey("corpora.id"), primary_key=True),
    id_column("id", primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    *_label(),
)


def corpus_id(connection: Connection, name: str) -> str:
    """Return the id of a corpus. Raises ``StoreError``, which lists the existing ones."""
    id = content_id(stored_name(name))
    if connection.scalar(select(CORPORA.c.id).where(CORPORA.c.id == id)):
        return id
    names = connection.scalars(select(CORPORA.c.name).order_by(CORPORA.c.name)).all()
    raise StoreError(f"no corpus {name!r}; " + (f"there are: {', '.join(names)}" if names else "there is none yet"))


@contextmanager
def spool_documents(documents: Iterable[NewDocument]) -> Iterator[Iterator[NewDocument]]:
    """Copy all ``documents`` to a temporary file, and yield an iterator over it. Raises ``StoreUnavailable`` if the disk is full."""
    try:
        with TemporaryFile("w+", encoding="utf-8", errors="surrogatepass", newline="\n") as file:
            rows = ((document.label, document.text, document.title, document.name, document.article_id) for document in documents)
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            file.seek(0)
            yield (NewDocument(*json.loads(line)) for line in file)
    except OSError as error:
        reason = error.strerror or error
        raise StoreUnavailable(f"a temporary file cannot be written ({reason}); free space, or name another folder in TMPDIR") from error
