"""The page of an event: its milestones by the days named in its texts, its reporters in time, its stories.

A milestone is a day on which something happened: the latest day named at the beginning of a story (「3月5日」, 「昨日」) that is not after
its publication, else the day of publication.

Related stories are those of its event, then those that share rare names with it, or, if there are none, its keywords. Words common to many
subjects (新机) do not make stories related by themselves.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from math import sqrt
from typing import Final

from newsportal.classify.keywords import READ_CHARS, is_name, keywords
from newsportal.events.summaries import DANGLING, DATELINE, is_sentence, sentences
from newsportal.search.base import Index, Query
from newsportal.search.overview import TIME_SPAN, similar
from newsportal.search.suggesting import QUOTED
from newsportal.store.columns import shift
from newsportal.store.events import Assignment, Event, ReportingSite
from newsportal.store.results import StoredArticle, Story
from newsportal.store.store import Store
from newsportal.text import clean

MAX_STORIES: Final = 200  # latest stories of an event that are read
MAX_POINTS: Final = 20  # maximum milestones: of more days, those whose stories were on most sites
DATED_WITHIN: Final = 400  # characters of a text in which its day is searched: later ones are background
BACK: Final = timedelta(days=60)  # a day longer ago before publication is background
SENTENCE: Final = re.compile(r"[^。！？!?\n]+[。！？!?]?")
MAX_SENTENCE_CHARS: Final = 120
DAY: Final = re.compile(
    r"(?:(?P<year>20\d\d)[年/.-])?(?P<month>1[0-2]|0?[1-9])[月/.-](?P<day>3[01]|[12]\d|0?[1-9])(?=日|号|\D|$)日?"
    r"|(?<![\d月])(?P<alone>3[01]|[12]\d|[1-9])日(?![内前后至起均常益])"
    r"|(?P<named>今[天日晨晚早]|昨[天日晨晚夜]|前[天日](?!发))"
)
NAMED: Final = {"今": 0, "昨": 1, "前": 2}


@dataclass(frozen=True, slots=True)
class Point:
    """What happened on a day: a ``sentence`` of the most reported story; ``dated``: the text names the day; ``more``: other stories."""

    day: date
    sentence: str
    story: Story
    dated: bool
    more: int = 0


@dataclass(frozen=True, slots=True)
class EventView:
    """Data of an event's page. ``stories``: earliest first; ``articles``: their originals, with texts. ``publishers``: sites, earliest
    first. ``placed``: why each story belongs to it. ``changed``: those of ``articles`` revised since publication, latest change first."""

    event: Event
    stories: tuple[Story, ...]
    articles: tuple[StoredArticle, ...]
    points: tuple[Point, ...]
    publishers: tuple[ReportingSite, ...]
    placed: dict[str, Assignment]
    changed: tuple[StoredArticle, ...] = ()


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A story in its event, with the previous and the next one."""

    event: Event
    before: Story | None
    after: Story | None


def view(store: Store, event: Event, zone: tzinfo) -> EventView:
    members = {member.story_id: member for member in store.events.members([event.id]).get(event.id, [])[-MAX_STORIES:]}
    stories = tuple(sorted(store.by_id(list(members)).values(), key=lambda story: (story.head.moment, story.id)))
    texts = {article.story_id: article for article in store.articles([story.head.id for story in stories])}
    articles = tuple(texts.get(story.id, story.head) for story in stories)
    points = milestones(stories, articles, zone)
    revised = (article for article in texts.values() if article.revision > 1)
    changed = tuple(sorted(revised, key=lambda article: (article.corrected or article.fetched, article.id), reverse=True))
    return EventView(event, stories, articles, points, tuple(store.events.reporting_sites(event.id)), members, changed)


def neighbourhood(store: Store, story_id: str) -> Neighbourhood | None:
    """Return the place of a story in its event; None if it is alone."""
    assignment = store.events.of([story_id]).get(story_id)
    event = store.events.event(assignment.event_id) if assignment else None
    if event is None or event.stories < 2:
        return None
    ids = [member.story_id for member in store.events.members([event.id]).get(event.id, [])]
    at = ids.index(story_id) if story_id in ids else len(ids)
    neighbours = [ids[at - 1] if at else None, ids[at + 1] if at + 1 < len(ids) else None]
    found = store.by_id([id for id in neighbours if id is not None])
    before, after = (found.get(id) if id is not None else None for id in neighbours)
    return Neighbourhood(event, before, after)


def milestones(stories: Sequence[Story], articles: Sequence[StoredArticle], zone: tzinfo) -> tuple[Point, ...]:
    """Return the milestones of an event, earliest first. ``articles``: the originals of ``stories``, with their texts."""
    by_day: dict[date, list[Point]] = {}
    for story, article in zip(stories, articles, strict=True):
        day, sentence = dated_sentence(article.text, article.moment.astimezone(zone))
        summary = DATELINE.sub("", sentence or "", count=1)
        if not is_sentence(summary) or DANGLING.match(summary):  # incomplete by itself (「其中三座今天起限行。」)
            summary = next(sentences(article.text), article.title)
        point = Point(day or article.moment.astimezone(zone).date(), _cut(summary), story, day is not None)
        by_day.setdefault(point.day, []).append(point)
    best_points = []
    for candidates in by_day.values():
        best = max(candidates, key=lambda point: (point.story.sites, point.dated, -point.story.head.moment.timestamp()))
        best_points.append(Point(best.day, best.sentence, best.story, best.dated, len(candidates) - 1))
    top = sorted(best_points, key=lambda point: (-point.story.sites - point.more, point.day))[:MAX_POINTS]
    return tuple(sorted(top, key=lambda point: point.day))


def dated_sentence(text: str, published: datetime) -> tuple[date | None, str | None]:
    """Return the latest day named at the beginning of a text, and its sentence."""
    found: tuple[date | None, str | None] = None, None
    for sentence in SENTENCE.finditer(text[:DATED_WITHIN]):
        for match in DAY.finditer(sentence[0]):
            day = _day(match, published)
            if day is not None and (found[0] is None or day > found[0]):
                found = day, _cut(sentence[0])
    return found


def _day(match: re.Match[str], published: datetime) -> date | None:
    today = published.date()
    if match["named"]:
        return today - timedelta(days=NAMED[match["named"][0]])
    try:
        if match["alone"]:
            day = today.replace(day=int(match["alone"]))
            day = day if day <= today else (today.replace(day=1) - timedelta(days=1)).replace(day=int(match["alone"]))
        else:
            day = date(int(match["year"] or today.year), int(match["month"]), int(match["day"]))
            day = day if match["year"] or day <= today else day.replace(year=today.year - 1)
    except ValueError:
        return None
    return day if today - BACK <= day <= today else None


def _cut(sentence: str) -> str:
    line = " ".join(sentence.split())
    return line if len(line) <= MAX_SENTENCE_CHARS else line[: MAX_SENTENCE_CHARS - 1] + "…"


WORDS: Final = 24
"""Keywords of an article among which its names are found: names of the second paragraph are not among the first eight."""

NAMES: Final = 6  # names used; each costs a search
COMMON: Final = 50
"""A name in more stories of the period does not identify one: a capital, a government. Chosen, not measured."""

IN_TITLE: Final = 2.0  # weight of a name in the title of the other story, relative to its text. Chosen.
LONGEST: Final = 12
NO_NAME: Final = re.compile(r"[，。！？；、\s]")  # a longer quotation, or one with these characters, is speech


def related(store: Store, index: Index | None, article: StoredArticle, limit: int) -> list[str]:
    """Return story ids, nearest first: at most ``limit`` of its event, and as many others. Raises ``StoreError`` and ``SearchError``."""
    found = _of_event(store, article)
    others: list[str] = []
    if index is not None:
        others = _by_names(index, article) or [hit.story_id for hit in similar(index, article, limit=limit)]
    return [*found[:limit], *[id for id in others if id not in found][:limit]]


def _of_event(store: Store, article: StoredArticle) -> list[str]:
    """Return the other stories of its event, nearest in time first."""
    assignment = store.events.of([article.story_id]).get(article.story_id)
    ids = [member.story_id for member in store.events.members([assignment.event_id]).get(assignment.event_id, [])] if assignment else []
    if article.story_id not in ids:
        return []
    at = ids.index(article.story_id)
    by_distance = sorted(range(len(ids)), key=lambda place: (abs(place - at), place))
    return [ids[place] for place in by_distance if place != at]


def _by_names(index: Index, article: StoredArticle) -> list[str]:
    """Return stories that share names with an article; rare names weigh more."""
    since, until = shift(article.moment, -TIME_SPAN), shift(article.moment, TIME_SPAN)
    weights: dict[str, float] = {}
    for name in names_of(article.title, article.text)[:NAMES]:
        found = index.search(Query(f'"{name}"', since=since, until=until, limit=COMMON))
        if found.total > COMMON or found.relaxed:
            continue
        for hit in found.hits:
            if hit.story_id != article.story_id:
                weight = IN_TITLE if name in hit.title else 1.0
                weights[hit.story_id] = weights.get(hit.story_id, 0.0) + weight / sqrt(found.total)
    return sorted(weights, key=lambda id: -weights[id])


def names_of(title: str, text: str) -> list[str]:
    """Return the names an article is about: quoted ones (《》, “”) in its title or used twice, then names among its keywords."""
    title = clean(title)
    quotations = Counter(name for match in QUOTED.finditer(f"{title}\n{text[:READ_CHARS]}") for name in match.groups() if name)
    quoted = [name for name, times in quotations.most_common() if (times > 1 or name in title) and not NO_NAME.search(name)]
    words = (keyword.word.replace('"', " ") for keyword in keywords(title, text, WORDS))
    return list(dict.fromkeys([*(name for name in quoted if len(name) <= LONGEST), *filter(is_name, words)]))
