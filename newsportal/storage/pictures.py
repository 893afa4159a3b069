"""The dictionary of pictures (paper C, 2.2.1): which stories showed a picture, and what its first bytes told. A protocol of its own,
beside the articles. Every store passes ``tests/storage/test_pictures.py``.

A picture is known by the key of its address (``newsportal.pictures.filter.key``). What is counted are stories, not requests: a story
that is saved twice counts once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from newsportal.pictures.filter import Shown as Shown  # part of the protocol


@dataclass(frozen=True, slots=True)
class Picture:
    """What is known of a picture. ``key``: by what it is known, ``url``: where it was seen first; the rest is ``None`` while nobody
    looked.

    ``refused``: why its bytes are no picture to show (a slug); ``frequent``: why it belongs to no story (a slug), ``since`` when;
    ``looked``: when its bytes were asked for.
    """

    key: str
    url: str
    width: int | None = None
    height: int | None = None
    format: str | None = None
    print: str | None = None
    refused: str | None = None
    looked: datetime | None = None
    frequent: str | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """A picture and how many stories of how many sites showed it."""

    picture: Picture
    stories: int
    sites: int


@dataclass(frozen=True, slots=True)
class Census:
    """What the dictionary holds: pictures, those whose bytes were looked at, refused ones, frequent ones, stories."""

    pictures: int
    looked: int
    refused: int
    frequent: int
    stories: int


class Pictures(Protocol):
    """Errors are those of the store."""

    def known(self, keys: Collection[str]) -> Mapping[str, Picture]:
        """Key → picture, of those that were seen before."""
        ...

    def saw(self, story: Shown, pictures: Sequence[Picture], *, now: datetime) -> None:
        """The story shows these pictures (``story.pictures`` are their keys). Added to those it had before; what was learnt of a picture's
        bytes (``looked``) takes the place of what was known."""
        ...

    def stories(self, keys: Collection[str], *, least: int, most: int) -> Mapping[str, tuple[Shown, ...]]:
        """Key → stories that show this picture or one with its print and size, ``most`` of them at most; pictures of fewer than ``least``
        stories are left out. The stories' ``pictures`` are told by their prints where those are known, else by their keys."""
        ...

    def alike(self, keys: Collection[str]) -> Mapping[str, frozenset[str]]:
        """Key → keys of the pictures that are this one: itself, and those with its print and size (a thumbnail has the print alone)."""
        ...

    def counted(self, site: str) -> int:
        """How many stories of a site were counted."""
        ...

    def mark(self, reasons: Mapping[str, str | None], *, now: datetime) -> None:
        """Say of pictures why they belong to no story (``None``: they do again; ``kept``: for ever, an editor says so)."""
        ...

    def marked(self, *, since: datetime | None = None) -> list[Picture]:
        """The frequent pictures (marked at ``since`` or later), the latest first."""
        ...

    def addresses(self, keys: Collection[str]) -> Mapping[str, frozenset[str]]:
        """Key → ids of the stories that show the picture."""
        ...

    def often(self, *, limit: int = 50) -> list[Seen]:
        """The pictures of most stories."""
        ...

    def census(self) -> Census: ...
