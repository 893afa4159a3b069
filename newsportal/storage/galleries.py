"""Photo stories, their pages and pictures: a protocol of its own, beside the articles. Every store passes
``tests/storage/test_galleries.py``.

A photo story is an article, too: its text is its captions, so lists, topics, search and export know it as they know any other. What is
here is what only photo stories have.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, Protocol

from newsportal.items import Gallery, GalleryPage, Image
from newsportal.storage.answers import StoredArticle

FAMILY = "gallery:"
"""How the names of the sources of photo stories begin: an article of such a source is a photo story."""


def is_gallery(source: str) -> bool:
    """Whether an article of this source is a photo story."""
    return source.startswith(FAMILY)


@dataclass(frozen=True, slots=True)
class SavedGallery:
    """The answer of ``save``. ``stored``: new; ``folded``: new, and part of another's story; ``grown``: known, and fuller now.

    ``vain``: visits in a row, this one included, that brought nothing to a story that is not complete.
    """

    outcome: Literal["stored", "folded", "grown", "same"]
    id: str
    story_id: str
    complete: bool
    vain: int = 0


@dataclass(frozen=True, slots=True)
class StoredGallery:
    """What is known of a photo story; its title, text and topics are its article's (``id``).

    ``score`` is what it is ranked by (``newsportal.recommend.score``). ``pictures`` counts those shown, ``pages`` those read. ``missing``
    are numbers of pages, ``failure`` why they are missing; ``vain``: visits in a row that brought nothing; ``addresses``: of its pages.
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
    vain: int = 0
    weight: int = 5
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """A picture of a photo story. ``place`` counts from 1 among those shown, those left out count on behind them; ``dropped``: why it is
    not shown (a slug), else ``None``. ``said``: its caption is an editor's; ``told``: what its page says."""

    place: int
    image: Image
    dropped: str | None = None
    said: bool = False
    told: str | None = None


LEFT_ALONE: Final = timedelta(hours=6)
"""So long a link that led to no photo story is not followed again: a page may be put up, or get its pictures, after its link. Chosen."""

WallOrder = Literal["ranked", "newest"]


@dataclass(frozen=True, slots=True)
class WallFilter:
    """Which photo stories; every field narrows. ``before`` is a cursor from ``WallPage.next``."""

    topic: str | None = None
    category: str | None = None
    source: str | None = None
    order: WallOrder = "ranked"
    before: str | None = None
    limit: int = 30


@dataclass(frozen=True, slots=True)
class WallStory:
    """A photo story on the wall: its article (the text cut to 300 characters; ``images`` its first pictures), what is known of the
    story, and how often and on how many sites it was found."""

    article: StoredArticle
    gallery: StoredGallery
    count: int
    sites: int


@dataclass(frozen=True, slots=True)
class WallPage:
    """A page of the wall, and the cursor of the next one (``None`` on the last)."""

    stories: tuple[WallStory, ...]
    next: str | None = None


class Galleries(Protocol):
    """Errors are those of the store."""

    def put(self, identity: str, page: GalleryPage, *, now: datetime) -> None:
        """Keep one page of the story known as ``identity``, whoever read it and in whatever order; the same page again replaces it."""
        ...

    def pages(self, identity: str) -> list[GalleryPage]:
        """The pages kept so far, by number, those without one last. They go when the story is saved complete."""
        ...

    def save(self, gallery: Gallery, *, now: datetime) -> SavedGallery:
        """Write a photo story with its pictures, those left out too, in one transaction with its row of the change log. An incomplete one
        is kept, and is finished when it is saved again with more; one that is saved again with less stays as it was."""
        ...

    def refuse(self, identity: str, reason: str, *, now: datetime) -> None:
        """What is known as ``identity`` is no photo story (an index page, a dead link); ``reason`` is a slug."""
        ...

    def refused(self, identities: Collection[str], *, now: datetime) -> set[str]:
        """Those of these identities that were refused within :data:`LEFT_ALONE`."""
        ...

    def drop(self, *, urls: Collection[str] = (), prints: Collection[str] = (), reason: str | None, now: datetime) -> int:
        """Leave pictures out of the stories that have them, by address or perceptual hash; ``reason`` is a slug (``None``: show them
        again). Answers how many pictures of stories that changed; each story's text, figures and score follow."""
        ...

    def caption(self, id: str, captions: Mapping[str, str | None], *, now: datetime) -> int:
        """An editor's captions in place of the pages': address of a picture → what it is to say (``""``: nothing; ``None``: again what its
        page says). They stand whatever later visits bring. Answers how many say something else now."""
        ...

    def known(self, identities: Collection[str]) -> Mapping[str, StoredGallery]:
        """Identity → photo story, of those that are stored; a name of any of its pages (an alias) leads to it."""
        ...

    def gallery(self, id: str) -> StoredGallery | None: ...

    def sizes(self, ids: Collection[str]) -> Mapping[str, int]:
        """Id → how many pictures a photo story shows, of those that exist."""
        ...

    def pictures(self, id: str, *, dropped: bool = False) -> list[StoredPicture]:
        """The pictures of a photo story in order; with ``dropped``, those left out too, at the end."""
        ...

    def incomplete(self, *, limit: int = 100) -> list[StoredGallery]:
        """Those that lack pages, the latest visited first."""
        ...

    def wall(self, which: WallFilter) -> WallPage:
        """Photo stories with pictures, one of each story (its head), by score or by time."""
        ...
