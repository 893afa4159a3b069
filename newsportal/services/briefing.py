"""The briefing: the events of some hours that matter, each in a few sentences of its articles (docs/algorithms/summaries.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from itertools import groupby
from typing import Any, Final

from newsportal.events import EventClusters
from newsportal.events.summaries import Text, beginning, sentences, summarise
from newsportal.services.events.following import state_of, story_of
from newsportal.store.events import Event
from newsportal.store.results import StoredArticle, Story, StoryFilter
from newsportal.store.store import Store

EVENTS: Final = 10  # events of a briefing: what is read in five minutes
MOST: Final = 400  # stories that are looked at, the newest; as many of the day before
READ: Final = 8  # stories of an event whose texts are read: those that most sites have
BEGINNING: Final = 100  # characters of a story of which no whole sentence can be taken
DAY: Final = timedelta(days=1)

WITHOUT_BLANK: Final = re.compile(r"(?<=[{0}])\n|\n(?=[{0}])".format(r"\u3000-\u303f\u3400-\u9fff\uff00-\uffef"))
"""Ends of sentences beside Chinese characters and punctuation."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence, and the article that has it."""

    text: str
    story: str
    title: str
    site: str
    url: str


@dataclass(frozen=True, slots=True)
class BriefEvent:
    """``stories``: those of the time, the most reported first. ``sites``: how many have them. ``follows``: it was told the day before.
    ``event``: its id in the record, where it has several stories there."""

    title: str
    sites: int
    stories: tuple[Story, ...]
    quotes: tuple[Quote, ...]
    follows: bool
    event: str | None = None

    @property
    def last(self) -> datetime:
        """When something new came last."""
        return max(story.first_seen for story in self.stories)


@dataclass(frozen=True, slots=True)
class Briefing:
    """From ``since`` until before ``until``. ``stories``: how many there were; ``events``: those that matter, the most reported first."""

    topic: str | None
    since: datetime
    until: datetime
    stories: int
    events: tuple[BriefEvent, ...]


def day_range(day: date, zone: tzinfo) -> tuple[datetime, datetime]:
    """Where a day begins and ends. Raises ``OverflowError`` at the edge of the calendar."""
    return datetime.combine(day, time(), zone), datetime.combine(day + DAY, time(), zone)


def compile_briefing(store: Store, since: datetime, until: datetime, *, topic: str | None = None, count: int = EVENTS) -> Briefing:
    """The briefing of a time; what was told in the day before it is not told again. Raises ``StoreError``."""
    new = _stories(store, topic, since, until)
    fresh = {story.id for story in new if story.head.moment >= since}  # what sites only repeat was told
    groups = _by_event(store, (*_stories(store, topic, since - DAY, since), *new)) if fresh else {}
    ranked = sorted(((_weight(story for story in group if story.id in fresh), id) for id, group in groups.items()), reverse=True)
    events = (_event(store, groups[id], fresh, store.events.event(id)) for weight, id in ranked if weight[0])
    found = [event for event, _ in zip((event for event in events if event.quotes), range(count), strict=False)]
    return Briefing(topic, since, until, len(fresh), tuple(found))


def _stories(store: Store, topic: str | None, since: datetime, until: datetime) -> list[Story]:
    return list(store.stories(StoryFilter(topic=topic, since=since, until=until, limit=MOST)).stories)


def _heads(store: Store, stories: Iterable[Story]) -> dict[str, StoredArticle]:
    """Story → its original with the whole text."""
    return {article.story_id: article for article in store.articles([story.head.id for story in stories])}


def _by_event(store: Store, stories: Iterable[Story]) -> dict[str, list[Story]]:
    """``stories`` by the event of the record, each once. What is in none yet goes to the event it is most like, or to a new one."""
    of_id = {story.id: story for story in stories}
    placed = store.events.of(of_id)
    heads = _heads(store, (story for story in of_id.values() if story.id not in placed))
    clusters, found = EventClusters(), dict[str, list[Story]]()
    if heads:
        for id, vector in store.events.vectors(len(placed), {one.event_id for one in placed.values()}):
            clusters.restore(state_of(id, vector))
    for story in sorted(of_id.values(), key=lambda story: (story.first_seen, story.id)):
        if story.id in placed:
            event = placed[story.id].event_id
        elif head := heads.get(story.id):
            event = clusters.add(story_of(story.id, head.title, head.text, head.moment)).event
        else:
            continue  # deleted meanwhile
        found.setdefault(event, []).append(story)
    return found


def _weight(stories: Iterable[Story]) -> tuple[int, float, str]:
    """Sites that report, then heat; the id decides between equals."""
    new = list(stories)
    return sum(story.sites for story in new), max((story.heat for story in new), default=0.0), min((story.id for story in new), default="")


def _event(store: Store, group: Sequence[Story], fresh: set[str], record: Event | None) -> BriefEvent:
    """``record``: the event there, whose title counts where an editor gave it."""
    told = [story for story in group if story.id not in fresh]
    new = sorted((story for story in group if story.id in fresh), key=lambda story: (-story.sites, story.first_seen, story.id))
    heads = _heads(store, (*told[-READ:], *new[:READ]))
    read = sorted((story for story in new[:READ] if story.id in heads), key=lambda story: (story.first_seen, story.id))
    known = [sentence for story in told[-READ:] if story.id in heads for sentence in sentences(heads[story.id].text)]
    texts = [Text(story.id, heads[story.id].title, heads[story.id].text) for story in read]
    found = summarise(texts, min(4, 1 + len(new)) if len(new) > 1 else 2, known)
    by_id = {story.id: story for story in read}
    quotes = [_quote(by_id[one.id], one.text) for one in found]
    if not quotes and texts and (start := beginning(texts[0].title, texts[0].text, BEGINNING)) and not known:
        quotes = [_quote(read[0], start)]
    sites = {story.head.publisher for story in new}
    title = record.title if record is not None and record.renamed else new[0].head.title
    event = record.id if record is not None and record.stories > 1 else None
    return BriefEvent(title, max(len(sites), max(story.sites for story in new)), tuple(new), tuple(quotes), bool(told), event)


def _quote(story: Story, text: str) -> Quote:
    return Quote(text, story.id, story.head.title, story.head.publisher, story.head.url)


def passages(quotes: Iterable[Quote]) -> list[Quote]:
    """Neighbouring sentences of one article as one quote; beside Chinese characters no blank parts them."""
    together = [list(same) for _, same in groupby(quotes, key=lambda quote: quote.story)]
    return [replace(same[0], text=WITHOUT_BLANK.sub("", "\n".join(quote.text for quote in same)).replace("\n", " ")) for same in together]


def as_dict(made: Briefing) -> dict[str, Any]:
    """As commands and the API tell it."""
    events = [
        {
            "title": event.title, "event": event.event, "sites": event.sites, "follows": event.follows, "last": event.last,
            "stories": [{"id": story.id, "title": story.head.title, "url": story.head.url} for story in event.stories],
            "sentences": [asdict(quote) for quote in event.quotes],
        }
        for event in made.events
    ]  # fmt: skip
    return {"topic": made.topic, "since": made.since, "until": made.until, "stories": made.stories, "events": events}
