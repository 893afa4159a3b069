"""Paginated lists of stories for readers and of articles for editors; the hottest stories with their ranks."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import isfinite
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, FromClause, RowMapping, Select, exists, func, or_, select, text

from newsportal.store.article_rows import story_from
from newsportal.store.columns import EPOCH, MICROSECOND, name
from newsportal.store.dialects import PAGE, Part, chunks
from newsportal.store.folding import HEAT_HALF_LIFE, heat, min_heat
from newsportal.store.reading import LISTED, articles, with_articles
from newsportal.store.results import FORUM, StoredArticle, Story, StoryFilter, StoryPage
from newsportal.store.tables import ARTICLES, EVENT_STORIES, LABELS, STORIES, TOPICS

KINDS: Final = ("topic", "site", "source", "category")
"""Filters of lists, rarest first: the first one given is read from the index in order, the others are looked up."""

ORDERS: Final = {"newest": "moment", "hottest": "heat"}  # order of a list -> sort key of stories, descending

Edge = tuple[datetime | float, str]  # sort key and id of the story at the edge of a page


def parse_cursor(cursor: str | None, order: str = "newest") -> Edge | None:
    """Parse a cursor. Return ``None`` without a cursor, or for an invalid one."""
    value, _, last = (cursor or "").partition("~")
    try:
        if order == "newest":
            return EPOCH + int(value) * MICROSECOND, last
        heat = float(value)
    except (ValueError, OverflowError):
        return None
    return (heat, last) if isfinite(heat) else None


def cursor(value: datetime | float, story_id: str) -> str:
    """Return the cursor after a story with the sort key ``value``."""
    return f"{value!r}~{story_id}" if isinstance(value, float) else f"{(value - EPOCH) // MICROSECOND}~{story_id}"


def cursor_of(story: Story) -> str:
    """Return the cursor after ``story`` in lists by time."""
    return cursor(story.head.moment, story.id)


BRIEF: Final = timedelta(days=2)

BY_MODEL: Final = ("model", "lexicon")  # prefixes of ``category_by`` of categories that no person chose


@dataclass(frozen=True, slots=True)
class ArticleFilter:
    """Selection of articles; every field narrows it. ``hidden`` and ``corrected``: True, False, or ``None`` for both. ``judged``: an editor
    set its category. ``undated``: its page has no date. ``shorter``: maximum ``length``, exclusive. ``unsure``: a model or the lexicon
    set the category with a lower score. ``title``: a substring. ``ids``: some hundred at most. ``before``: ``ArticlePage.next``.
    """

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
    """A page of articles with excerpts of their texts, and the cursor of the next page (``None`` on the last)."""

    articles: tuple[StoredArticle, ...]
    next: str | None = None


def _heads(*further: ColumnElement[Any]) -> Select[Any]:
    """Select stories with the columns of their heads that lists show; the caller joins the heads."""
    figures = [STORIES.c.count, STORIES.c.sites, STORIES.c.last_seen, STORIES.c.heat, STORIES.c.first_seen.label("story_first_seen")]
    return select(*LISTED, *figures, *further).select_from(STORIES)


def _page(criteria: StoryFilter) -> Select[Any]:
    """Select stories with their head and sort key (``order_key``), in order, after the cursor."""
    driver, story_id, filters = _driver(criteria)
    key: ColumnElement[Any] = driver.c[ORDERS[criteria.order]]
    if _is_short_range(criteria):
        key = unindexed(key)
    query = _heads(key.label("order_key"))
    if driver is not STORIES:
        query = query.join(LABELS, LABELS.c.story_id == STORIES.c.id)
    least = min_heat(criteria.since) if criteria.since and criteria.order == "hottest" else None
    if least is not None:
        filters = [*filters, key >= least]
    query = query.join(ARTICLES, ARTICLES.c.id == STORIES.c.head_id).where(*filters)
    if (end := parse_cursor(criteria.after, criteria.order)) is not None:
        return query.where(key >= end[0], or_(key > end[0], story_id > end[1])).order_by(key, story_id)
    return query.where(*rows_after(parse_cursor(criteria.before, criteria.order), key, story_id)).order_by(key.desc(), story_id.desc())


def _driver(criteria: StoryFilter) -> tuple[FromClause, ColumnElement[str], list[ColumnElement[bool]]]:
    """Return the table that is read in order, its story column, and the conditions."""
    kinds = [kind for kind in KINDS if getattr(criteria, kind) is not None]
    filters: list[ColumnElement[bool]] = []
    if kinds:
        filters = [LABELS.c.kind == kinds[0], LABELS.c.value == name(getattr(criteria, kinds[0]))]
    if len(kinds) > 1 or criteria.since or criteria.until:
        version = ARTICLES.alias("version")
        conditions: list[ColumnElement[bool]] = [unindexed(version.c.hidden).is_(None)]
        conditions += [
            version.c[kind] == name(getattr(criteria, kind)) for kind in KINDS if kind != "topic" and getattr(criteria, kind) is not None
        ]
        if criteria.topic is not None:
            conditions.append(exists().where(TOPICS.c.article_id == version.c.id, TOPICS.c.topic == name(criteria.topic)))
        conditions += [version.c.moment >= criteria.since] if criteria.since else []
        conditions += [version.c.moment < criteria.until] if criteria.until else []
        if _is_short_range(criteria):
            condition = STORIES.c.id.in_(select(version.c.story_id).where(*conditions))
            return STORIES, STORIES.c.id, [condition, STORIES.c.count > 0]
        filters.append(exists().where(version.c.story_id == STORIES.c.id, *conditions))
    return (LABELS, LABELS.c.story_id, filters) if kinds else (STORIES, STORIES.c.id, [*filters, STORIES.c.count > 0])


def _is_short_range(criteria: StoryFilter) -> bool:
    """Return whether the time range is short: all its articles are then read and sorted, instead of reading every later story first."""
    return criteria.since is not None and criteria.until is not None and criteria.until - criteria.since <= BRIEF


def rows_after(last: Edge | None, key: ColumnElement[Any], id: ColumnElement[str]) -> list[ColumnElement[bool]]:
    """Return the conditions for rows after ``last`` in a descending list by ``key`` and ``id``.

    The first condition is redundant, but lets the database enter the index at the edge instead of reading up to it.
    """
    return [] if last is None else [key <= last[0], or_(key < last[0], id < last[1])]


def _story(row: RowMapping, head: StoredArticle) -> Story:
    return story_from({**row, "id": row["story_id"], "first_seen": row["story_first_seen"]}, head)


def _matches_few(criteria: ArticleFilter) -> bool:
    """Return whether few articles match: read all of them from their index and sort them, instead of searching in order of time."""
    return bool(criteria.hidden or criteria.corrected or criteria.shorter is not None)


def _is_read_by_score(criteria: ArticleFilter) -> bool:
    """Return whether to read articles by score and sort them: many may match, but no others are read. With ``since``: by time."""
    return criteria.unsure is not None and criteria.source is None and criteria.category is None and criteria.since is None


def unindexed(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return an expression for a numeric ``column`` that prevents the use of an index."""
    return column.op("+")(text("0"))


def _conditions(criteria: ArticleFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    for column, flag in ((ARTICLES.c.hidden, criteria.hidden), (ARTICLES.c.corrected, criteria.corrected)):
        if flag is not None:
            # SQLite uses no index for IS NOT NULL, but uses one for IS NULL, which almost all rows match
            conditions.append(column >= EPOCH if flag else unindexed(column).is_(None))
    for column, value in ((ARTICLES.c.source, criteria.source), (ARTICLES.c.category, criteria.category)):
        if value is not None:
            conditions.append((func.coalesce(column, "") if _matches_few(criteria) else column) == name(value))
    if criteria.judged:
        conditions.append(ARTICLES.c.category_by == "editor")
    if criteria.undated:
        conditions.append(ARTICLES.c.published.is_(None))
    if criteria.shorter is not None:
        conditions.append(ARTICLES.c.length < criteria.shorter)
    if criteria.unsure is not None:
        score = ARTICLES.c.category_score if _is_read_by_score(criteria) else unindexed(ARTICLES.c.category_score)
        conditions += [score < criteria.unsure, or_(*(ARTICLES.c.category_by.startswith(prefix) for prefix in BY_MODEL))]
    if criteria.topic is not None:
        conditions.append(exists().where(TOPICS.c.article_id == ARTICLES.c.id, TOPICS.c.topic == name(criteria.topic)))
    if criteria.title is not None:
        conditions.append(ARTICLES.c.title.icontains(criteria.title, autoescape=True))
    if criteria.ids is not None:
        conditions.append(ARTICLES.c.id.in_(criteria.ids))
    conditions += [ARTICLES.c.moment >= criteria.since] if criteria.since else []
    conditions += [ARTICLES.c.moment < criteria.until] if criteria.until else []
    return conditions + rows_after(parse_cursor(criteria.before), ARTICLES.c.moment, ARTICLES.c.id)


class Lists(Part):
    def stories(self, criteria: StoryFilter) -> StoryPage:
        with self._read() as connection:
            limit = max(1, criteria.limit)
            rows = with_articles(connection, _page(criteria).limit(limit + 1))
            found = tuple(_story(row, head) for row, head in rows[:limit])
            if parse_cursor(criteria.after, criteria.order):
                return StoryPage(found[::-1])
            last = rows[limit - 1][0] if len(rows) > limit else None
            return StoryPage(found, cursor(last["order_key"], last["story_id"]) if last else None)

    def newest(self, criteria: StoryFilter, count: int) -> list[Story]:
        """Return the first ``count`` stories, read in pages of ``which.limit``."""
        found: list[Story] = []
        while len(found) < count:
            page = self.stories(criteria)
            found += page.stories
            if page.next is None:
                break
            criteria = replace(criteria, before=page.next)
        return found[:count]

    def by_id(self, ids: Collection[str]) -> Mapping[str, Story]:
        """Map ids to stories as shown in lists; the id of a story that was folded away maps to its founder's current story."""
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
        """Yield the first article of each story, earliest first: id, story_id, event_id, publisher, moment, first_seen, title, keywords.

        Threads are left out. ``fetched``: only articles first seen before it.
        """
        columns = (getattr(ARTICLES.c, column) for column in ("id", "story_id", "publisher", "moment", "first_seen", "title", "keywords"))
        joined = ARTICLES.outerjoin(EVENT_STORIES, EVENT_STORIES.c.story_id == ARTICLES.c.story_id)
        query = select(*columns, EVENT_STORIES.c.event_id).select_from(joined).where(
            ARTICLES.c.moment < until, ARTICLES.c.fold_of.is_(None), unindexed(ARTICLES.c.hidden).is_(None),
            ~ARTICLES.c.source.startswith(FORUM),
        )  # fmt: skip
        if topic is not None:
            query = query.where(exists().where(TOPICS.c.article_id == ARTICLES.c.id, TOPICS.c.topic == name(topic)))
        if fetched is not None:
            query = query.where(ARTICLES.c.first_seen < fetched)
        query = query.order_by(ARTICLES.c.moment, ARTICLES.c.id).limit(PAGE)

        def read(connection: Connection, last: tuple[datetime, str]) -> Sequence[Any]:
            further = or_(ARTICLES.c.moment > last[0], ARTICLES.c.id > last[1])
            return connection.execute(query.where(ARTICLES.c.moment >= last[0], further)).all()

        return self._pages(read, lambda row: (row.moment, row.id), (since, ""))

    def select_articles(self, criteria: ArticleFilter) -> ArticlePage:
        """Return articles for editors, newest first. An invalid cursor gives the first page.

        The selection only reads an index, then the rows shown.
        """
        limit = max(1, criteria.limit)
        sorted_later = _matches_few(criteria) or _is_read_by_score(criteria)
        moment = unindexed(ARTICLES.c.moment) if sorted_later else ARTICLES.c.moment
        order = (moment.desc(), ARTICLES.c.id.desc())
        query = select(ARTICLES.c.id, ARTICLES.c.moment).where(*_conditions(criteria)).order_by(*order).limit(limit + 1)
        with self._read() as connection:
            picked = [(row.moment, row.id) for row in connection.execute(query)]
            found = articles(connection, [id for _, id in picked[:limit]], LISTED)
        return ArticlePage(tuple(found), cursor(*picked[limit - 1]) if len(picked) > limit else None)


LOOK_BACK: Final = timedelta(hours=3)
"""Age of the ranks compared with: a reader who looked at noon sees the changes in the afternoon. Chosen, not measured."""


@dataclass(frozen=True, slots=True)
class RankedStory:
    """A story at its ``rank`` (from 1). ``heat``: number of reports, each halved per 12 hours of age. ``rose``: ranks gained since then,
    negative if lost; ``None``: not in the store then."""

    story: Story
    rank: int
    heat: float
    rose: int | None


def rank_stories(read_story: Callable[[str], Story | None], stories: Sequence[Story], *, now: datetime) -> tuple[RankedStory, ...]:
    """Rank ``stories``, hottest first, and compare with their order :data:`LOOK_BACK` before ``now``.

    Stories with reports since then are read with their versions (``read_story``: ``Store.story``); the heat of the others is unchanged.
    """
    earlier = now - LOOK_BACK
    before = {story.id: found for story in stories if (found := heat_at(read_story, story, earlier)) is not None}
    places = {id: place for place, (id, _) in enumerate(sorted(before.items(), key=lambda pair: (-pair[1], pair[0])), 1)}
    in_order = sorted(stories, key=lambda story: (-story.heat, story.id))
    compared = [story for story in in_order if story.id in places]
    rose = {story.id: places[story.id] - place for place, story in enumerate(compared, 1)}
    return tuple(
        RankedStory(story, rank, float(2.0 ** (story.heat - (now - EPOCH) / HEAT_HALF_LIFE)), rose.get(story.id))
        for rank, story in enumerate(in_order, 1)
    )


def heat_at(read_story: Callable[[str], Story | None], story: Story, moment: datetime) -> float | None:
    """Return the heat of ``story`` at ``moment``, by the versions stored by then; ``None`` if there were none."""
    if story.last_seen <= moment:
        return story.heat
    if story.first_seen > moment:
        return None
    found = read_story(story.id)
    versions = [(version.moment, version.publisher) for version in found.versions if version.first_seen <= moment] if found else []
    return heat(versions) if versions else None
