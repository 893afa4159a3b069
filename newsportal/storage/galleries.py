"""Photo stories, their pages and pictures: a protocol of its own, beside the articles. Every store passes
``tests/storage/test_galleries.py``.

A photo story is an article, too: its text is its captions, so lists, topics, search and export know it as they know any other. What is
here is what only photo stories have.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from newsportal.items import Gallery, GalleryPage, Image

FAMILY = "gallery:"
"""How the names of the sources of photo stories begin: an article of such a source is a photo story."""


def is_gallery(source: str) -> bool:
    """Whether an article of this source is a photo story."""
    return source.startswith(FAMILY)


@dataclass(frozen=True, slots=True)
class SavedGallery:
    """The answer of ``save``. ``stored``: new; ``folded``: new, and part of another's story; ``grown``: known, and fuller now."""

    outcome: Literal["stored", "folded", "grown", "same"]
    id: str
    story_id: str
    complete: bool


@dataclass(frozen=True, slots=True)
class StoredGallery:
    """What is known of a photo story; its title, text and topics are its article's (``id``).

    ``score`` is what it is ranked by (``newsportal.recommend.score``). ``missing`` are numbers of pages, ``failure`` why they are missing.
    """

    id: str
    identity: str
    complete: bool
    pictures: int
    pages: int
    total: int | None
    missing: tuple[int, ...]
    failure: str | None
    visited: datetime
    score: float


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """A picture of a photo story. ``place`` counts from 1 among those shown; ``dropped``: why it is not shown (a slug), else ``None``."""

    place: int
    image: Image
    dropped: str | None = None


class Galleries(Protocol):
    """Errors are those of the store."""

    def put(self, identity: str, page: GalleryPage, *, now: datetime) -> None:
        """Keep one page of the story known as ``identity``, whoever read it and in whatever order; the same page again replaces it."""
        ...

    def pages(self, identity: str) -> list[GalleryPage]:
        """The pages kept so far, by number, those without one last."""
        ...

    def save(self, gallery: Gallery, *, now: datetime) -> SavedGallery:
        """Write a photo story with its pictures, in one transaction with its row of the change log. An incomplete one is kept too, and
        is finished when it is saved again with more."""
        ...

    def known(self, identities: Collection[str]) -> Mapping[str, StoredGallery]:
        """Identity → photo story, of those that are stored."""
        ...

    def gallery(self, id: str) -> StoredGallery | None: ...

    def pictures(self, id: str, *, dropped: bool = False) -> list[StoredPicture]:
        """The pictures of a photo story in order; with ``dropped``, those left out too, at the end."""
        ...

    def incomplete(self, *, limit: int = 100) -> list[StoredGallery]:
        """Those that wait for pages, the latest visited first."""
        ...
