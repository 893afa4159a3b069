"""What every page shows of ``sources.yaml``: the portal's title, language, time zone and topics."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from zoneinfo import ZoneInfo

from newsportal.sources import Sources
from newsportal.sources.parts import Recommending


@dataclass(frozen=True, slots=True)
class Site:
    title: str
    language: str
    zone: tzinfo
    topics: tuple[str, ...]
    url: str | None  # the address readers use, without a slash at the end
    recommendation: Recommending
    publishes: tuple[str, ...]  # names of the publishing targets
    members: bool  # only people who are signed in may read

    @property
    def recommends(self) -> bool:
        """False: nothing is recorded of readers, and nothing is recommended."""
        return self.recommendation.enabled


def site_of(sources: Sources) -> Site:
    portal = sources.portal
    return Site(
        title=portal.title or "newsportal",
        language=portal.language,
        zone=ZoneInfo(portal.timezone),
        topics=tuple(topic.name for topic in sources.topics),
        url=portal.url.rstrip("/") if portal.url else None,
        recommendation=sources.recommendation,
        publishes=tuple(target.name for target in sources.publish),
        members=portal.reading == "members",
    )
