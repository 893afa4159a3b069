"""The briefing: the most important events of some hours, each in a few sentences of its articles (docs/algorithms/summaries.md)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from itertools import groupby
from typing import Any, Final

from newsportal.events import EventClusters
from newsportal.events.summaries import RepeatedSentences, Text, lead, sentences, summarise
from newsportal.services.events.following import state_of, story_of
from newsportal.store.events import Event
from newsportal.store.results import StoredArticle, Story, StoryFilter
from newsportal.store.store import Store

EVENTS: Final = 10  # events of a briefing: as many as can be read in five minutes
MAX_STORIES: Final = 400  # newest stories examined; the same number for the day before
READ: Final = 8  # stories of an event whose texts are read: those on most sites
BEGINNING: Final = 100  # characters used of a story without a complete sentence
DAY: Final = timedelta(days=1)

WITHOUT_BLANK: Final = re.compile(r"(?<=[{0}])\n|\n(?=[{0}])".format(r"\u3000-\u303f\u3400-\u9fff\uff00-\uffef"))
"""Line breaks next to Chinese characters and punctuation."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence and its article."""

    text: str
    story: str
    title: str
    site: str
    url: str


@dataclass(frozen=True, slots=True)
class BriefEvent:
    """An event of a briefing. ``stories``: those of the period, most reported first. ``sites``: how many have them. ``continues``: it was
    reported the day before. ``event``: its id in the store, if it has several stories there."""

    title: str
    sites: int
    stories: tuple[Story, ...]
    quotes: tuple[Quote, ...]
    continues: bool
    event: str | None = None

    @property
    def last(self) -> datetime:
        return max(story.first_seen for story in self.stories)


@dataclass(frozen=True, slots=True)
class Briefing:
    """The briefing from ``since`` until before ``until``. ``stories``: their number; ``events``: the main ones, most reported first."""

    topic: str | None
    since: datetime
    until: datetime
    stories: int
    events: tuple[BriefEvent, ...]


def day_range(day: date, zone: tzinfo) -> tuple[datetime, datetime]:
    """Return the beginning and end of a day. Raises ``OverflowError`` for dates out of range."""
    return datetime.combine(day, time(), zone), datetime.combine(day + DAY, time(), zone)


def compile_briefing(store: Store, since: datetime, until: datetime, *, topic: str | None = None, count: int = EVENTS) -> Briefing:
    """Return the briefing of a period without what the day before reported. Raises ``StoreError``."""
    new = _stories(store, topic, since, until)
    fresh = {story.id for story in new if story.head.moment >= since}  # without old news repeated by sites
    groups = _by_event(store, (*_stories(store, topic, since - DAY, since), *new)) if fresh else {}
    ranked = sorted(((_weight(story for story in group if story.id in fresh), id) for id, group in groups.items()), reverse=True)
    events = (_event(store, groups[id], fresh, store.events.event(id)) for weight, id in ranked if weight[0])
    selected = [event for event, _ in zip((event for event in events if event.quotes), range(count), strict=False)]
    return Briefing(topic, since, until, len(fresh), tuple(selected))


def _stories(store: Store, topic: str | None, since: datetime, until: datetime) -> list[Story]:
    return list(store.stories(StoryFilter(topic=topic, since=since, until=until, limit=MAX_STORIES)).stories)


def _heads(store: Store, stories: Iterable[Story]) -> dict[str, StoredArticle]:
    """Return story → its original article with the full text."""
    return {article.story_id: article for article in store.articles([story.head.id for story in stories])}


def _by_event(store: Store, stories: Iterable[Story]) -> dict[str, list[Story]]:
    """Group ``stories`` by event. Stories not yet assigned are clustered with the existing events or into new ones."""
    by_id = {story.id: story for story in stories}
    placed = store.events.of(by_id)
    heads = _heads(store, (story for story in by_id.values() if story.id not in placed))
    clusters, groups, boilerplate = EventClusters(), dict[str, list[Story]](), RepeatedSentences()
    for id, head in heads.items():
        boilerplate.add(id, head.site or head.source, head.text)
    if heads:
        for id, vector in store.events.vectors(len(placed), {place.event_id for place in placed.values()}):
            clusters.restore(state_of(id, vector))
    for story in sorted(by_id.values(), key=lambda story: (story.first_seen, story.id)):
        if story.id in placed:
            event = placed[story.id].event_id
        elif article := heads.get(story.id):
            text = boilerplate.remove_from(article.site or article.source, article.text)
            event = clusters.add(story_of(story.id, article.title, text, article.moment)).event
        else:
            continue  # deleted meanwhile
        groups.setdefault(event, []).append(story)
    return groups


def _weight(stories: Iterable[Story]) -> tuple[int, float, str]:
    """Return the rank: reporting sites, then heat; ties by id."""
    new = list(stories)
    return sum(story.sites for story in new), max((story.heat for story in new), default=0.0), min((story.id for story in new), default="")


def _event(store: Store, group: Sequence[Story], fresh: set[str], record: Event | None) -> BriefEvent:
    """Build an event. ``record``: the stored event, whose title is used if set by an editor."""
    earlier = [story for story in group if story.id not in fresh]
    new = sorted((story for story in group if story.id in fresh), key=lambda story: (-story.sites, story.first_seen, story.id))
    heads = _heads(store, (*earlier[-READ:], *new[:READ]))
    in_order = sorted((story for story in new[:READ] if story.id in heads), key=lambda story: (story.first_seen, story.id))
    reported = [sentence for story in earlier[-READ:] if story.id in heads for sentence in sentences(heads[story.id].text)]
    texts = [Text(story.id, heads[story.id].title, heads[story.id].text) for story in in_order]
    summary = summarise(texts, min(4, 1 + len(new)) if len(new) > 1 else 2, reported)
    by_id = {story.id: story for story in in_order}
    quotes = [_quote(by_id[sentence.id], sentence.text) for sentence in summary]
    if not quotes and texts and (start := lead(texts[0].title, texts[0].text, BEGINNING)) and not reported:
        quotes = [_quote(in_order[0], start)]
    sites = {story.head.publisher for story in new}
    title = record.title if record is not None and record.renamed else new[0].head.title
    event = record.id if record is not None and record.stories > 1 else None
    return BriefEvent(title, max(len(sites), max(story.sites for story in new)), tuple(new), tuple(quotes), bool(earlier), event)


def _quote(story: Story, text: str) -> Quote:
    return Quote(text, story.id, story.head.title, story.head.publisher, story.head.url)


def passages(quotes: Iterable[Quote]) -> list[Quote]:
    """Merge adjacent sentences of one article, without a space next to Chinese characters."""
    runs = [list(run) for _, run in groupby(quotes, key=lambda quote: quote.story)]
    return [replace(run[0], text=WITHOUT_BLANK.sub("", "\n".join(quote.text for quote in run)).replace("\n", " ")) for run in runs]


def as_dict(briefing: Briefing) -> dict[str, Any]:
    """Return the briefing as output by commands and API."""
    events = [
        {
            "title": event.title, "event": event.event, "sites": event.sites, "continues": event.continues, "last": event.last,
            "stories": [{"id": story.id, "title": story.head.title, "url": story.head.url} for story in event.stories],
            "sentences": [asdict(quote) for quote in event.quotes],
        }
        for event in briefing.events
    ]  # fmt: skip
    return {"topic": briefing.topic, "since": briefing.since, "until": briefing.until, "stories": briefing.stories, "events": events}
