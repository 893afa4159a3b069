"""Lists of stories for readers and of articles for editors, page after page; the hottest stories with their ranks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import isfinite
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, FromClause, RowMapping, Select, exists, func, or_, select, text

from newsportal.store.article_rows import story_from
from newsportal.store.columns import EPOCH, MICROSECOND, name
from newsportal.store.dialects import PAGE, Part, chunks
from newsportal.store.folding import HEAT_HALF_LIFE, coolest, heat
from newsportal.store.reading import LISTED, articles, with_articles
from newsportal.store.results import FORUM, StoredArticle, Story, StoryFilter, StoryPage
from newsportal.store.tables import ARTICLES, EVENT_STORIES, LABELS, STORIES, TOPICS

KINDS: Final = ("topic", "site", "source", "category")
"""What narrows, rarest first: the first one given is read from the index in order, the others are looked up."""

ORDERS: Final = {"newest": "moment", "hottest": "heat"}  # order of a list -> what stories are sorted by, the largest first

Edge = tuple[datetime | float, str]  # what the story at the edge of a page is sorted by, and its id


def edge(cursor: str | None, order: str = "newest") -> Edge | None:
    """The edge that a cursor names; ``None`` without a cursor, or for one that is none."""
    value, _, last = (cursor or "").partition("~")
    try:
        if order == "newest":
            return EPOCH + int(value) * MICROSECOND, last
        heat = float(value)
    except (ValueError, OverflowError):
        return None
    return (heat, last) if isfinite(heat) else None


def cursor(value: datetime | float, story_id: str) -> str:
    """The cursor behind a story that was sorted by ``value``."""
    return f"{value!r}~{story_id}" if isinstance(value, float) else f"{(value - EPOCH) // MICROSECOND}~{story_id}"


def cursor_of(story: Story) -> str:
    """The cursor behind ``story`` in lists by time."""
    return cursor(story.head.moment, story.id)


BRIEF: Final = timedelta(days=2)

BY_MODEL: Final = ("model", "lexicon")  # how ``category_by`` begins where no person chose the category


@dataclass(frozen=True, slots=True)
class ArticleFilter:
    """Which articles; every field narrows. ``hidden`` and ``corrected``: True, False, or ``None`` for both. ``judged``: an editor chose
    its category. ``undated``: its page tells no time. ``shorter``: than so many characters. ``unsure``: a model or the lexicon gave the
    category with less than this score.
    ``title``: a part of it. ``ids``: some hundred at most. ``before``: a cursor from ``ArticlePage.next``."""

    hidden: bool | None = None
    corrected: bool | None = None
    judged: bool = False
    undated: bool = False
    shorter: int | None = None
    unsure: float | None = None
    source: str | None = None
    category: str | None = None
    topic: str | None = None
    title: str | None = None
    ids: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: str | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True)
class ArticlePage:
    """Articles, their texts cut as in lists of stories; the cursor of the next page (``None`` on the last)."""

    articles: tuple[StoredArticle, ...]
    next: str | None = None


def _heads(*further: ColumnElement[Any]) -> Select[Any]:
    """Stories with what a list shows of their heads, which the caller joins."""
    figures = [STORIES.c.count, STORIES.c.sites, STORIES.c.last_seen, STORIES.c.heat, STORIES.c.first_seen.label("story_first_seen")]
    return select(*LISTED, *figures, *further).select_from(STORIES)


def _page(which: StoryFilter) -> Select[Any]:
    """Stories with their head and the value they are sorted by (``order_key``), in order, behind the cursor."""
    driver, story_id, narrowed = _driver(which)
    key: ColumnElement[Any] = driver.c[ORDERS[which.order]]
    if _brief(which):
        key = unindexed(key)
    statement = _heads(key.label("order_key"))
    if driver is not STORIES:
        statement = statement.join(LABELS, LABELS.c.story_id == STORIES.c.id)
    least = coolest(which.since) if which.since and which.order == "hottest" else None
    if least is not None:
        narrowed = [*narrowed, key >= least]
    statement = statement.join(ARTICLES, ARTICLES.c.id == STORIES.c.head_id).where(*narrowed)
    if (end := edge(which.after, which.order)) is not None:
        return statement.where(key >= end[0], or_(key > end[0], story_id > end[1])).order_by(key, story_id)
    return statement.where(*behind(edge(which.before, which.order), key, story_id)).order_by(key.desc(), story_id.desc())


def _driver(which: StoryFilter) -> tuple[FromClause, ColumnElement[str], list[ColumnElement[bool]]]:
    """The table that is read in order, its story column, and the conditions."""
    kinds = [kind for kind in KINDS if getattr(which, kind) is not None]
    narrowed: list[ColumnElement[bool]] = []
    if kinds:
        narrowed = [LABELS.c.kind == kinds[0], LABELS.c.value == name(getattr(which, kinds[0]))]
    if len(kinds) > 1 or which.since or which.until:
        version = ARTICLES.alias("version")
        conditions: list[ColumnElement[bool]] = [unindexed(version.c.hidden).is_(None)]
        conditions += [
            version.c[kind] == name(getattr(which, kind)) for kind in KINDS if kind != "topic" and getattr(which, kind) is not None
        ]
        if which.topic is not None:
            conditions.append(exists().where(TOPICS.c.article_id == version.c.id, TOPICS.c.topic == name(which.topic)))
        conditions += [version.c.moment >= which.since] if which.since else []
        conditions += [version.c.moment < which.until] if which.until else []
        if _brief(which):
            told = STORIES.c.id.in_(select(version.c.story_id).where(*conditions))
            return STORIES, STORIES.c.id, [told, STORIES.c.count > 0]
        narrowed.append(exists().where(version.c.story_id == STORIES.c.id, *conditions))
    return (LABELS, LABELS.c.story_id, narrowed) if kinds else (STORIES, STORIES.c.id, [*narrowed, STORIES.c.count > 0])


def _brief(which: StoryFilter) -> bool:
    """Whether the articles of the time asked for are few: they are all read and sorted, however long ago it was. In the order of time every
    later story would be looked at first."""
    return which.since is not None and which.until is not None and which.until - which.since <= BRIEF


def behind(last: Edge | None, key: ColumnElement[Any], id: ColumnElement[str]) -> list[ColumnElement[bool]]:
    """What stands behind ``last`` in a list by ``key`` and ``id``, the largest first.

    The first condition says nothing new, but with it an index is entered at the edge and not read up to it.
    """
    return [] if last is None else [key <= last[0], or_(key < last[0], id < last[1])]


def _story(row: RowMapping, head: StoredArticle) -> Story:
    return story_from({**row, "id": row["story_id"], "first_seen": row["story_first_seen"]}, head)


def _few(which: ArticleFilter) -> bool:
    """Whether few are asked for: those are all read from their index and sorted, rather than looked for in the order of time."""
    return bool(which.hidden or which.corrected or which.shorter is not None)


def _by_score(which: ArticleFilter) -> bool:
    """Whether they are read by their score and sorted: there may be many, but nothing else of them is to be looked at. Since a day they are
    read by time, as far as that day."""
    return which.unsure is not None and which.source is None and which.category is None and which.since is None


def unindexed(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """The number in ``column``, for which no database looks into an index."""
    return column.op("+")(text("0"))


def _conditions(which: ArticleFilter) -> list[ColumnElement[bool]]:
    wanted: list[ColumnElement[bool]] = []
    for column, asked in ((ARTICLES.c.hidden, which.hidden), (ARTICLES.c.corrected, which.corrected)):
        if asked is not None:
            # SQLite has no index look for what is not NULL, and takes one for what is NULL, as almost all are
            wanted.append(column >= EPOCH if asked else unindexed(column).is_(None))
    for column, value in ((ARTICLES.c.source, which.source), (ARTICLES.c.category, which.category)):
        if value is not None:
            wanted.append((func.coalesce(column, "") if _few(which) else column) == name(value))
    if which.judged:
        wanted.append(ARTICLES.c.category_by == "editor")
    if which.undated:
        wanted.append(ARTICLES.c.published.is_(None))
    if which.shorter is not None:
        wanted.append(ARTICLES.c.length < which.shorter)
    if which.unsure is not None:
        score = ARTICLES.c.category_score if _by_score(which) else unindexed(ARTICLES.c.category_score)
        wanted += [score < which.unsure, or_(*(ARTICLES.c.category_by.startswith(way) for way in BY_MODEL))]
    if which.topic is not None:
        wanted.append(exists().where(TOPICS.c.article_id == ARTICLES.c.id, TOPICS.c.topic == name(which.topic)))
    if which.title is not None:
        wanted.append(ARTICLES.c.title.icontains(which.title, autoescape=True))
    if which.ids is not None:
        wanted.append(ARTICLES.c.id.in_(which.ids))
    wanted += [ARTICLES.c.moment >= which.since] if which.since else []
    wanted += [ARTICLES.c.moment < which.until] if which.until else []
    return wanted + behind(edge(which.before), ARTICLES.c.moment, ARTICLES.c.id)


class Lists(Part):
    def stories(self, which: StoryFilter) -> StoryPage:
        with self._read() as connection:
            limit = max(1, which.limit)
            rows = with_articles(connection, _page(which).limit(limit + 1))
            found = tuple(_story(row, head) for row, head in rows[:limit])
            if edge(which.after, which.order):
                return StoryPage(found[::-1])
            last = rows[limit - 1][0] if len(rows) > limit else None
            return StoryPage(found, cursor(last["order_key"], last["story_id"]) if last else None)

    def newest(self, which: StoryFilter, most: int) -> list[Story]:
        """The first ``most`` stories, read in pages of ``which.limit``."""
        found: list[Story] = []
        while len(found) < most:
            page = self.stories(which)
            found += page.stories
            if page.next is None:
                break
            which = replace(which, before=page.next)
        return found[:most]

    def listed(self, ids: Collection[str]) -> Mapping[str, Story]:
        """Id → story as lists show it, of those that exist; the id of a story that was folded away leads to where its founder is now."""
        with self._read() as connection:
            present: dict[str, str] = {}
            for chunk in chunks(dict.fromkeys(ids)):
                present |= {id: id for id in connection.scalars(select(STORIES.c.id).where(STORIES.c.id.in_(chunk)))}
                moved = select(ARTICLES.c.id, ARTICLES.c.story_id).where(ARTICLES.c.id.in_([id for id in chunk if id not in present]))
                present |= {row.id: row.story_id for row in connection.execute(moved)}
            found: dict[str, Story] = {}
            for chunk in chunks(dict.fromkeys(present.values())):
                heads = _heads().join(ARTICLES, ARTICLES.c.id == STORIES.c.head_id).where(STORIES.c.id.in_(chunk), STORIES.c.count > 0)
                found |= {row["story_id"]: _story(row, head) for row, head in with_articles(connection, heads)}
            return {id: found[present[id]] for id in ids if present.get(id) in found}

    def founders(self, since: datetime, until: datetime, *, topic: str | None = None, fetched: datetime | None = None) -> Iterator[Any]:
        """Of each story its first article, the earliest first, streamed: id, story_id, event_id, publisher, moment, first_seen, title,
        keywords.

        Threads are left out. ``fetched``: only what was first seen before.
        """
        columns = (getattr(ARTICLES.c, one) for one in ("id", "story_id", "publisher", "moment", "first_seen", "title", "keywords"))
        joined = ARTICLES.outerjoin(EVENT_STORIES, EVENT_STORIES.c.story_id == ARTICLES.c.story_id)
        wanted = select(*columns, EVENT_STORIES.c.event_id).select_from(joined).where(
            ARTICLES.c.moment < until, ARTICLES.c.fold_of.is_(None), unindexed(ARTICLES.c.hidden).is_(None),
            ~ARTICLES.c.source.startswith(FORUM),
        )  # fmt: skip
        if topic is not None:
            wanted = wanted.where(exists().where(TOPICS.c.article_id == ARTICLES.c.id, TOPICS.c.topic == name(topic)))
        if fetched is not None:
            wanted = wanted.where(ARTICLES.c.first_seen < fetched)
        wanted = wanted.order_by(ARTICLES.c.moment, ARTICLES.c.id).limit(PAGE)

        def read(connection: Connection, last: tuple[datetime, str]) -> Sequence[Any]:
            further = or_(ARTICLES.c.moment > last[0], ARTICLES.c.id > last[1])
            return connection.execute(wanted.where(ARTICLES.c.moment >= last[0], further)).all()

        return self._pages(read, lambda row: (row.moment, row.id), (since, ""))

    def pick(self, which: ArticleFilter) -> ArticlePage:
        """Articles, the newest first, as editors look through them. A cursor that is none gives the first page.

        Which they are is read from an index alone, and then no more rows than are shown."""
        limit = max(1, which.limit)
        sorted_later = _few(which) or _by_score(which)
        moment = unindexed(ARTICLES.c.moment) if sorted_later else ARTICLES.c.moment
        order = (moment.desc(), ARTICLES.c.id.desc())
        wanted = select(ARTICLES.c.id, ARTICLES.c.moment).where(*_conditions(which)).order_by(*order).limit(limit + 1)
        with self._read() as connection:
            picked = [(row.moment, row.id) for row in connection.execute(wanted)]
            found = articles(connection, [id for _, id in picked[:limit]], LISTED)
        return ArticlePage(tuple(found), cursor(*picked[limit - 1]) if len(picked) > limit else None)


LOOK_BACK: Final = timedelta(hours=3)
"""How long ago the places are compared with: what moved since somebody looked at noon is seen in the afternoon. Chosen."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A story at its ``rank`` (from 1). ``heat``: its reports, each counting half after 12 hours. ``rose``: places since then, below 0
    for those that fell; None: the portal did not have it then."""

    story: Story
    rank: int
    heat: float
    rose: int | None


def ranked(whole: Callable[[str], Story | None], stories: Sequence[Story], *, now: datetime) -> tuple[Ranked, ...]:
    """``stories``, the hottest first, compared with their order among themselves as it was :data:`LOOK_BACK` before ``now``.

    Those with reports since then are read with their versions (``whole``: ``Store.story``); all others stand as they stood.
    """
    then = now - LOOK_BACK
    before = {story.id: found for story in stories if (found := heat_at(whole, story, then)) is not None}
    places = {id: place for place, (id, _) in enumerate(sorted(before.items(), key=lambda pair: (-pair[1], pair[0])), 1)}
    in_order = sorted(stories, key=lambda story: (-story.heat, story.id))
    known = [story for story in in_order if story.id in places]
    rose = {story.id: places[story.id] - place for place, story in enumerate(known, 1)}
    return tuple(
        Ranked(story, rank, float(2.0 ** (story.heat - (now - EPOCH) / HEAT_HALF_LIFE)), rose.get(story.id))  # in reports made just now
        for rank, story in enumerate(in_order, 1)
    )


def heat_at(whole: Callable[[str], Story | None], story: Story, then: datetime) -> float | None:
    """The heat of ``story`` by what the portal had ``then``; None if it had nothing of it."""
    if story.last_seen <= then:
        return story.heat
    if story.first_seen > then:
        return None
    found = whole(story.id)
    versions = [(one.moment, one.publisher) for one in found.versions if one.first_seen <= then] if found else []
    return heat(versions) if versions else None
