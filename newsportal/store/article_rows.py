"""Between articles and rows, and what a change does to a row: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any, Final, TypeVar

from newsportal.errors import StoreError
from newsportal.items import PAGE_TEXTS, Article, Fold, Image, TopicMark, content_id
from newsportal.store.columns import name, storable, to_json
from newsportal.store.results import StoredArticle, Story
from newsportal.store.results import host as host
from newsportal.store.tables import CONTENT


def optional(text: str | None) -> str | None:
    return None if text is None else storable(text)


def _name(text: str | None) -> str | None:
    return None if text is None else name(text)


def identity_of(article: Article) -> str:
    """The identity an article is known by. Raises ``StoreError`` for an article that is not ready to be stored."""
    missing = [field for field in ("identity", "title", "text") if getattr(article, field) is None]
    if missing:
        raise StoreError(f"{article.url}: an article without {', '.join(missing)} cannot be stored")
    return storable(article.identity or "")


def content_of(article: Article) -> dict[str, Any]:
    """The columns that a newer version of the page may change, but ``revision``."""
    return {
        "fetched": article.fetched, "published": article.published, "title": storable(article.title or ""),
        **{text: optional(getattr(article, text)) for text in PAGE_TEXTS}, "summary": optional(article.link.summary),
        "images": to_json(article.images), "text": storable(article.text or ""), "html": optional(article.html),
    }  # fmt: skip


def row_of(article: Article, *, now: datetime) -> dict[str, Any]:
    """All columns of a new article but its story and fold."""
    identity = identity_of(article)
    content = content_of(article)
    url = storable(article.url)
    site = _name(article.site or article.link.site)
    return content | {
        "id": content_id(identity), "identity": identity, "url": url, "source": name(article.source), "site": site,
        "publisher": site or name(host(url)), **category_of(article), **keywords_of(article), "first_seen": now,
        "moment": sorted_by(article.published, now), "length": len(content["text"]), "revision": 1,
    }  # fmt: skip


def category_of(article: Article) -> dict[str, Any]:
    """The columns of an article's category, and who says so; all empty without one."""
    if article.category is None:
        return dict.fromkeys(("category", "category_by", "category_score", "category_reason"))
    return {
        "category": name(article.category), "category_by": _name(article.category_by), "category_score": article.category_score,
        "category_reason": optional(article.category_reason),
    }  # fmt: skip


def keywords_of(article: Article) -> dict[str, Any]:
    """The column of an article's keywords; articles of before have none."""
    return {"keywords": [storable(word) for word in article.keywords] or None}


def topics_of(article: Article) -> dict[str, TopicMark]:
    """The topics of an article, with the one its link was found for, and how it came into each."""
    marks = {mark.topic: mark for mark in article.topic_marks}
    found = {topic: marks.get(topic, TopicMark(topic, "search" if topic == article.link.topic else "source")) for topic in article.topics}
    if article.link.topic:
        found.setdefault(article.link.topic, marks.get(article.link.topic, TopicMark(article.link.topic, "search")))
    return {name(topic): mark for topic, mark in found.items() if topic}


def sorted_by(published: datetime | None, first_seen: datetime) -> datetime:
    """The moment an article is sorted by (as ``StoredArticle.moment``): a page dated in the future must not stay on top for years."""
    return min(published, first_seen) if published else first_seen


PLAIN: Final = tuple(
    one.name for one in fields(StoredArticle) if one.name not in ("topics", "topic_marks", "keywords", "images", "corrected_fields")
)
"""Fields of an article that stand in columns of the same name, as they are."""


def article_from(row: Mapping[Any, Any], topics: Iterable[TopicMark]) -> StoredArticle:
    """A row of ``articles`` (columns by name; ``text`` may be cut, ``html`` missing) as the value."""
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
"""Who has the last word: what an editor said of an article stands when the page is revised and when the model changes."""


def revised_category(known: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """What of the category's ``columns`` a revised page may write over ``known``: nothing where it has no category or an editor spoke."""
    return {} if columns["category"] is None or known["category_by"] == EDITOR else dict(columns)


def changed_category(known: Mapping[str, Any], category: str | None, by: str, *, over: bool = False) -> dict[str, Any] | None:
    """The columns of the category that ``by`` gives the article ``known``; ``None`` if an editor spoke before (``over``: whoever spoke) or
    nothing changes."""
    if known["category_by"] == EDITOR != by and not over:
        return None
    values = {"category": name(category) if category else None, "category_by": by, "category_score": None, "category_reason": None}
    return None if all(known[column] == value for column, value in values.items()) else values


HIDDEN_COLUMNS: Final = ("hidden", "hidden_by", "hidden_reason")  # when, by whom and why; all empty: everybody sees it
Version = TypeVar("Version", bound=Mapping[str, Any])


def visible(versions: Iterable[Version]) -> list[Version]:
    """Those of ``versions`` that readers see."""
    return [version for version in versions if version.get("hidden") is None]


def is_newer(known: Mapping[str, Any], article: Article) -> bool:
    """Whether ``article`` has another title or text than the stored row."""
    content = content_of(article)
    return (content["title"], content["text"]) != (known["title"], known["text"])


def present_content(known: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of the present state when a newer one is written."""
    return {name: known.get(name) for name in CONTENT}


def revised_columns(known: Mapping[str, Any], article: Article) -> dict[str, Any]:
    """The columns that the newer ``article`` changes. What it does not say stays as it was."""
    values = {name: value for name, value in content_of(article).items() if value is not None}
    return {
        **values, **revised_category(known, category_of(article)), **keywords_of(article),
        "moment": sorted_by(values.get("published", known["published"]), known["first_seen"]), "length": len(values["text"]),
        "revision": known["revision"] + 1,
    }  # fmt: skip


def fold_columns(found: Fold | None) -> dict[str, Any]:
    """The columns of an article that was folded, or was not."""
    if found is None:
        return {"fold_of": None, "fold_reason": None, "fold_score": None}
    return {"fold_of": found.of, "fold_reason": found.reason, "fold_score": found.score}
