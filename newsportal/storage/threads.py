"""Threads of forums and their posts: a protocol of its own, beside the articles. Every store passes ``tests/storage/test_threads.py``.

A thread is an article, too: its text is that of its posts, so lists, topics, search and export know it as they know any other; it is
never folded. What is here is what only threads have.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from newsportal.items import Image, Thread

FAMILY = "forum:"
"""How the names of the sources of threads begin: an article of such a source is a thread."""


def is_thread(source: str) -> bool:
    """Whether an article of this source is a forum's thread."""
    return source.startswith(FAMILY)


@dataclass(frozen=True, slots=True)
class Saved:
    """The answer of ``save``. ``posts`` are new ones, ``edited`` those whose text is another now."""

    outcome: Literal["stored", "grown", "same"]
    id: str
    story_id: str
    posts: int
    edited: int


@dataclass(frozen=True, slots=True)
class StoredThread:
    """What is known of a thread; its title, author and topics are its article's (``id``).

    ``newest``: the time of its last post. ``last_page``: where the next visit begins; ``whole``: that was the last page.
    ``replies`` and ``listed``: what the board's list said before the last visit.
    """

    id: str
    identity: str
    board: str | None
    posts: int
    newest: datetime | None
    visited: datetime
    last_page: str
    whole: bool
    replies: int | None
    listed: datetime | None


@dataclass(frozen=True, slots=True)
class StoredPost:
    """A post as it is kept. ``place`` counts from 0 in the order of reading; ``earlier`` are texts that it had before it was edited."""

    name: str
    place: int
    text: str
    first_seen: datetime
    author: str | None = None
    published: datetime | None = None
    date_text: str | None = None
    floor: int | None = None
    quoted: str | None = None
    images: tuple[Image, ...] = ()
    changed: datetime | None = None
    earlier: tuple[str, ...] = field(default=(), repr=False)


class Threads(Protocol):
    """Errors are those of the store."""

    def save(self, thread: Thread, *, now: datetime) -> Saved:
        """Write a thread with the posts that were read of it, in one transaction with its row of the change log.

        Posts are known by their ``id`` (else by what they say): one that is there is not written again, but takes another text if it has
        one now (the text before is kept). Posts that are not among those given stay: they were deleted, or stand on other pages.
        """
        ...

    def known(self, identities: Collection[str]) -> Mapping[str, StoredThread]:
        """Identity → thread, of those that are stored."""
        ...

    def thread(self, id: str) -> StoredThread | None: ...

    def posts(self, id: str, *, offset: int = 0, limit: int | None = None) -> list[StoredPost]:
        """The posts of a thread in order."""
        ...
