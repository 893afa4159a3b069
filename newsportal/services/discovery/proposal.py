"""A source that could be added, what it would bring, and how it is ranked among others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from newsportal.items import Link
from newsportal.messages import Message

Kind = Literal["feeds", "sitemaps", "regions", "forums", "galleries"]

WORTH: dict[Kind, float] = {"feeds": 1.0, "forums": 0.9, "galleries": 0.85, "sitemaps": 0.8, "regions": 0.7}
"""What a kind is worth where entries, age and titles are equal: a feed tells title, date and summary in one small file; a sitemap often
tells dates alone; a region depends on how its list page looks. Set by hand."""

FULL = 20  # entries beyond which more make no better source: what feeds of news sites carry
STALE = timedelta(days=30)  # a source whose newest entry is older is shown, but nothing is done without asking for it
WEEK = timedelta(days=7)
UNKNOWN = 0.4  # what freshness counts where no entry is dated: as if the newest were ten days old
COMMENTS = 0.3  # what is left of the score of a feed of comments


@dataclass(frozen=True, slots=True)
class Proposal:
    """``values`` is the entry in ``sources.yaml``; ``entries`` how many it lists now; ``links`` those that could be shown, newest first.

    ``per_day``: entries published in a day, from the dates of those listed. ``why`` tells how it was found and what is odd.
    """

    kind: Kind
    values: dict[str, str]
    entries: int
    links: tuple[Link, ...] = field(default=(), repr=False)
    newest: datetime | None = None
    per_day: float | None = None
    why: tuple[Message, ...] = ()
    score: float = 0.0

    @property
    def address(self) -> str:
        return self.values.get("url") or self.values.get("seeds") or self.values["prefix"]

    @property
    def family(self) -> str:
        """The kind of one source, as its key begins."""
        return {"galleries": "gallery"}.get(self.kind, self.kind.removesuffix("s"))


def rated(proposal: Proposal, now: datetime) -> Proposal:
    """With newest date, entries a day and score filled in from its links.

        score = worth(kind) · (0.2 + 0.3 · min(entries, 20)/20 + 0.3 · 1/(1 + age of the newest in weeks) + 0.2 · share with titles)

    from 0 to 1; what comes only from comments keeps a third of it, an empty source a tenth.
    """
    dates = sorted((link.published for link in proposal.links if link.published), reverse=True)
    newest = dates[0] if dates else None
    fresh = 1 / (1 + max(timedelta(), now - newest) / WEEK) if newest else UNKNOWN
    titled = sum(link.title is not None for link in proposal.links) / max(1, len(proposal.links))
    score = WORTH[proposal.kind] * (0.2 + 0.3 * min(proposal.entries, FULL) / FULL + 0.3 * fresh + 0.2 * titled)
    score *= (COMMENTS if is_comments(proposal) else 1.0) * (1.0 if proposal.entries else 0.1)
    why = proposal.why
    if newest and now - newest > STALE:
        why = (*why, Message("found.stale", days=(now - newest).days))
    return replace(proposal, newest=newest, per_day=cadence(dates), score=round(score, 3), why=why)


def is_comments(proposal: Proposal) -> bool:
    """Whether a feed carries what readers say rather than articles."""
    said = f"{proposal.values.get('name', '')} {proposal.address}".lower()
    return proposal.kind == "feeds" and any(word in said for word in ("comment", "评论", "評論", "回复"))


def cadence(dates: Sequence[datetime]) -> float | None:
    """Entries a day, from dates newest first; ``None`` where two are not known or all are one moment."""
    if len(dates) < 2 or dates[0] <= dates[-1]:
        return None
    return round((len(dates) - 1) / ((dates[0] - dates[-1]) / timedelta(days=1)), 2)


def is_good(proposal: Proposal, now: datetime) -> bool:
    """Whether one need not look further: it lists several articles, and the newest is not old."""
    fresh = proposal.newest is None or now - proposal.newest <= STALE
    return proposal.entries >= 5 and fresh and not is_comments(proposal)


def newest_first(links: Sequence[Link]) -> tuple[Link, ...]:
    """``links`` by date, those without one behind in their order."""
    return tuple(sorted(links, key=lambda link: link.published or datetime.min.replace(tzinfo=UTC), reverse=True))
