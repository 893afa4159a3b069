"""Conversion between articles and rows, and the columns that a change writes. Pure functions."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any, Final, TypeVar

from newsportal.errors import StoreError
from newsportal.items import PAGE_TEXTS, Article, Fold, Image, TopicMark, content_id
from newsportal.store.columns import name, storable, to_json
from newsportal.store.results import StoredArticle, Story
from newsportal.store.results import host as host
from newsportal.store.tables import CONTENT
from newsportal.text.characters import news_length


def optional(text: str | None, form: Callable[[str], str] = storable) -> str | None:
    return None if text is None else form(text)


def identity_of(article: Article) -> str:
    """Return the identity of an article. Raises ``StoreError`` if a field that every stored article needs is missing."""
    missing = [field for field in ("identity", "title", "text") if getattr(article, field) is None]
    if missing:
        raise StoreError(f"{article.url}: an article without {', '.join(missing)} cannot be stored")
    return storable(article.identity or "")


def content_of(article: Article) -> dict[str, Any]:
    """Return the columns that a newer version of the page may change, except ``revision``."""
    return {
        "fetched": article.fetched, "published": article.published, "title": storable(article.title or ""),
        **{text: optional(getattr(article, text)) for text in PAGE_TEXTS}, "summary": optional(article.link.summary),
        "images": to_json(article.images), "text": storable(article.text or ""), "html": optional(article.html),
    }  # fmt: skip


def row_of(article: Article, *, now: datetime) -> dict[str, Any]:
    """Return all columns of a new article except its story and fold."""
    identity = identity_of(article)
    content = content_of(article)
    url = storable(article.url)
    site = optional(article.site or article.link.site, name)
    return content | {
        "id": content_id(identity), "identity": identity, "url": url, "source": name(article.source), "site": site,
        "publisher": site or name(host(url)), **category_of(article), **keywords_of(article), "first_seen": now,
        "moment": sorted_by(article.published, now), "length": news_length(content["text"]), "revision": 1,
    }  # fmt: skip


def category_of(article: Article) -> dict[str, Any]:
    """Return the columns of an article's category and of its author; all ``None`` without a category."""
    if article.category is None:
        return dict.fromkeys(("category", "category_by", "category_score", "category_reason"))
    return {
        "category": name(article.category), "category_by": optional(article.category_by, name), "category_score": article.category_score,
        "category_reason": optional(article.category_reason),
    }  # fmt: skip


def keywords_of(article: Article) -> dict[str, Any]:
    """Return the column of an article's keywords; ``None`` if it has none."""
    return {"keywords": [storable(word) for word in article.keywords] or None}


def topics_of(article: Article) -> dict[str, TopicMark]:
    """Return the marks of an article's topics, including the topic its link was found for."""
    marks = {mark.topic: mark for mark in article.topic_marks}
    found = {topic: marks.get(topic, TopicMark(topic, "search" if topic == article.link.topic else "source")) for topic in article.topics}
    if article.link.topic:
        found.setdefault(article.link.topic, marks.get(article.link.topic, TopicMark(article.link.topic, "search")))
    return {name(topic): mark for topic, mark in found.items() if topic}


def sorted_by(published: datetime | None, first_seen: datetime) -> datetime:
    """Return the sort key of an article (``StoredArticle.moment``): a page dated in the future must not stay on top for years."""
    return min(published, first_seen) if published else first_seen


PLAIN: Final = tuple(
    field.name for field in fields(StoredArticle) if field.name not in ("topics", "topic_marks", "keywords", "images", "corrected_fields")
)
"""Fields of ``StoredArticle`` that are columns of the same name, unconverted."""


def article_from(row: Mapping[Any, Any], topics: Iterable[TopicMark]) -> StoredArticle:
    """Build an article from a row of ``articles`` (a mapping by column name; ``text`` may be truncated, ``html`` missing)."""
    marks = tuple(sorted(topics, key=lambda mark: mark.topic))
    plain: dict[str, Any] = {name: row.get(name) for name in PLAIN}
    return StoredArticle(
        **plain, topics=tuple(mark.topic for mark in marks), topic_marks=marks, keywords=tuple(row["keywords"] or ()),
        images=tuple(Image(**image) for image in row["images"]), corrected_fields=tuple((row.get("corrected_fields") or "").split()),
    )  # fmt: skip


def story_from(row: Mapping[Any, Any], head: StoredArticle, versions: tuple[StoredArticle, ...] = ()) -> Story:
    figures = {name: row[name] for name in ("id", "count", "sites", "first_seen", "last_seen", "heat")}
    return Story(head=head, versions=versions, **figures)


EDITOR: Final = "editor"
"""``category_by`` of an editor, who overrides revisions of the page and changes of the model."""


def revised_category(row: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return those category ``columns`` that a revised page may write over ``row``: none if it has no category or an editor set it."""
    return {} if columns["category"] is None or row["category_by"] == EDITOR else dict(columns)


def changed_category(row: Mapping[str, Any], category: str | None, by: str, *, over: bool = False) -> dict[str, Any] | None:
    """Return the category columns to write when ``by`` classifies the article ``row``, or ``None`` if nothing changes or an editor set
    the category (``over``: override editors)."""
    if row["category_by"] == EDITOR != by and not over:
        return None
    values = {"category": name(category) if category else None, "category_by": by, "category_score": None, "category_reason": None}
    return None if all(row[column] == value for column, value in values.items()) else values


HIDDEN_COLUMNS: Final = ("hidden", "hidden_by", "hidden_reason")  # time, editor and reason; all NULL if the article is visible
Version = TypeVar("Version", bound=Mapping[str, Any])


def visible(versions: Iterable[Version]) -> list[Version]:
    return [version for version in versions if version.get("hidden") is None]


def is_newer(row: Mapping[str, Any], article: Article) -> bool:
    """Return whether the title or text of ``article`` differs from the stored row."""
    content = content_of(article)
    return (content["title"], content["text"]) != (row["title"], row["text"])


def current_content(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content columns to keep as a revision before a newer version is written."""
    return {name: row.get(name) for name in CONTENT}


def revised_columns(row: Mapping[str, Any], article: Article) -> dict[str, Any]:
    """Return the columns to update for the newer ``article``. Fields it lacks keep their values."""
    values = {name: value for name, value in content_of(article).items() if value is not None}
    return {
        **values, **revised_category(row, category_of(article)), **keywords_of(article),
        "moment": sorted_by(values.get("published", row["published"]), row["first_seen"]), "length": news_length(values["text"]),
        "revision": row["revision"] + 1,
    }  # fmt: skip


def fold_columns(found: Fold | None) -> dict[str, Any]:
    """Return the fold columns of an article; all ``None`` if it was not folded."""
    if found is None:
        return {"fold_of": None, "fold_reason": None, "fold_score": None}
    return {"fold_of": found.of, "fold_reason": found.reason, "fold_score": found.score}
