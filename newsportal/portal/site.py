"""What the portal needs to know of ``sources.yaml``: its title, its language, its time zone, its topics."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from newsportal.sources import Sources
from newsportal.sources.parts import Recommending
from newsportal.sources.watched import Watched, watched

log = logging.getLogger(__name__)

DEFAULT_TITLE = "newsportal"
DEFAULT_LANGUAGE = "zh"
DEFAULT_TIMEZONE = "Asia/Shanghai"
"""Chinese first: most servers run on UTC, where «today» would begin at eight in the morning for the readers."""


class TopicLike(Protocol):
    """A topic of ``sources.yaml``, as far as the portal looks."""

    @property
    def name(self) -> str: ...


class SourcesLike(Protocol):
    """The loaded ``sources.yaml``, as far as the portal looks. ``portal`` may have ``title``, ``language``, ``url``, ``timezone``."""

    @property
    def topics(self) -> Sequence[TopicLike]: ...

    @property
    def portal(self) -> object: ...


@dataclass(frozen=True, slots=True)
class Site:
    """The portal's own name and habits."""

    title: str
    language: str
    zone: tzinfo
    topics: tuple[str, ...] = ()
    url: str | None = None  # the address readers use, without a slash at the end
    recommends: bool = True  # False: nothing is kept of readers, and nothing recommended
    recommendation: Recommending = field(default_factory=Recommending)
    publishes: tuple[str, ...] = ()  # the names of the places where articles are published besides
    members: bool = False  # True: only who is signed in reads


def site_of(sources: SourcesLike) -> Site:
    """What ``sources`` says about the portal; what it leaves open has the defaults above."""
    said, recommending = sources.portal, getattr(sources, "recommendation", None)
    return Site(
        title=getattr(said, "title", None) or DEFAULT_TITLE,
        language=getattr(said, "language", None) or DEFAULT_LANGUAGE,
        zone=zone_named(getattr(said, "timezone", None) or DEFAULT_TIMEZONE),
        topics=tuple(topic.name for topic in sources.topics),
        url=(getattr(said, "url", None) or "").rstrip("/") or None,
        recommends=getattr(recommending, "enabled", True),
        recommendation=recommending or Recommending(),
        publishes=tuple(target.name for target in getattr(sources, "publish", ())),
        members=getattr(said, "reading", "open") == "members",
    )


def watched_of(sources: SourcesLike) -> tuple[Watched, ...]:
    """The sources that are visited; none where only a part of ``sources.yaml`` is known."""
    return watched(sources) if isinstance(sources, Sources) else ()


def zone_named(name: str) -> tzinfo:
    """The time zone ``name``; UTC, with a warning, where the machine does not know it (Windows without ``tzdata``)."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        log.warning("time zone %r is unknown on this machine; times are shown in UTC", name)
        return UTC
