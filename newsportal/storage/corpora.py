"""The Corpora protocol: labelled texts that a classifier learns from, and the versions of the models that were trained on them.

A part of every store, reached as ``store.corpora``; ``tests/storage/test_corpora.py`` holds its promises:

- a document is in a corpus once, however often it is brought; a changed label keeps the former one;
- who may change a label: an editor's word stands for ever, an imported label gives way to imports and editors, a label that came from a
  source's category gives way to everybody (:data:`RANKS`);
- ``add`` is one transaction: all of a file or nothing;
- versions of a corpus' models count up and are never used twice; two trainings at once give two versions;
- ``StoreError`` for an unknown corpus, document or version; the message lists what there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol

from newsportal.items import content_id

LabelSource = Literal["from-store", "imported", "editor"]
"""Whence a label is: the category of the source an article came from, a file, or a person who looked at the article."""

RANKS: Final[Mapping[LabelSource, int]] = MappingProxyType({"from-store": 0, "imported": 1, "editor": 2})
"""A label gives way to one of the same or a higher rank."""

CATEGORIES: Final = "categories"
"""The corpus whose active model gives articles their category; what commands mean when none is named."""

MODELS_KEPT: Final = 5
"""Versions whose model is kept, the active one always: a model takes up to 20 MB. Of older ones the figures stay."""


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
    sources: Mapping[LabelSource, int]
    oldest: datetime
    newest: datetime


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus and its figures. ``active``: the version of the model in use."""

    name: str
    created: datetime
    note: str = ""
    documents: int = 0
    labels: int = 0
    versions: int = 0
    active: int | None = None


@dataclass(frozen=True, slots=True)
class Model:
    """A version of a corpus' model. ``facts`` is the report of its training as JSON; ``size`` the bytes of the model, 0 once it was let
    go; ``held_out`` the ids of the documents it has not seen, so that versions can be compared on those that none has."""

    corpus: str
    version: int
    algorithm: str
    created: datetime
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)
    size: int = 0
    active: bool = False
    held_out: frozenset[str] = field(default=frozenset(), repr=False)


class Corpora(Protocol):
    """See the module's promises. Blocking calls; threads may share it."""

    def create(self, name: str, *, now: datetime, note: str = "") -> bool:
        """Make an empty corpus; answers whether there was none of this name."""
        ...

    def all(self) -> list[Corpus]:
        """By name."""
        ...

    def find(self, name: str) -> Corpus | None: ...

    def delete(self, name: str) -> None:
        """Delete a corpus with its documents and models. Articles stay."""
        ...

    def add(
        self, name: str, documents: Iterable[NewDocument], *, source: LabelSource, now: datetime, by: str | None = None
    ) -> Brought:  # fmt: skip
        """Bring documents; makes the corpus if need be. An error that ``documents`` raises on the way leaves everything as it was.

        Nobody waits while ``documents`` come: others may write meanwhile.
        """
        ...

    def label(self, name: str, id: str, label: str | None, *, now: datetime, by: str | None = None) -> Document:
        """An editor's word on a document of the corpus or a stored article (which joins the corpus, which is made if need be).

        ``None``: it belongs to no label and is left out of training for ever. Answers with the document as it is now.
        """
        ...

    def document(self, name: str, id: str) -> Document | None: ...

    def documents(self, name: str, *, label: str | None = None) -> Iterator[Document]:
        """All documents that have a label, or those of one label, streamed by id. Articles that were deleted are left out."""
        ...

    def history(self, name: str, id: str) -> tuple[Label, ...]:
        """All labels of a document, the first one first, the present one last."""
        ...

    def count(self, name: str) -> list[Counted]:
        """The labels of a corpus, the one with most documents first."""
        ...

    def articles(self, name: str) -> dict[str, str | None]:
        """The stored articles in a corpus with their labels, those left out (``None``) too."""
        ...

    def save_model(
        self, name: str, blob: bytes, *, algorithm: str, facts: Mapping[str, Any], now: datetime, held_out: Sequence[str] = (),
        keep: int = MODELS_KEPT,
    ) -> int:  # fmt: skip
        """Keep a model as the next version (not yet active), let go of the oldest beyond ``keep``, and answer its number."""
        ...

    def models(self, name: str) -> list[Model]:
        """Every version, newest first."""
        ...

    def model(self, name: str, version: int | None = None) -> Model:
        """One version; the active one if not said."""
        ...

    def blob(self, name: str, version: int) -> bytes:
        """The model itself. ``StoreError`` if it was let go."""
        ...

    def activate(self, name: str, version: int, *, now: datetime) -> None:
        """Put a version to use. ``StoreError`` if its model was let go."""
        ...

    def rollback(self, name: str, *, now: datetime) -> int:
        """Go back to the newest version before the active one that was in use once and is still kept; answers its number."""
        ...

    def delete_model(self, name: str, version: int) -> None:
        """Delete a version with its figures; its number is not used again. ``StoreError`` for the one in use."""
        ...

    def active(self, name: str) -> int | None:
        """The version in use; ``None`` for none, or for no such corpus. One look at one row: ask as often as you like."""
        ...
