"""Between values and rows: an ``Article`` as the columns of ``articles``, a row as ``StoredArticle`` or ``Story``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from newsportal.errors import StoreError
from newsportal.items import Article, Image, TopicMark, content_id
from newsportal.storage.answers import StoredArticle, Story
from newsportal.storage.answers import host as host
from newsportal.storage.columns import NAME_CHARS

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""NUL and lone surrogates: PostgreSQL refuses the first, UTF-8 cannot write the second."""


def storable(text: str) -> str:
    """``text`` as every database can keep it: without NUL, lone surrogates replaced. Any other text is itself."""
    return UNSTORABLE.sub(lambda found: "" if found[0] == "\x00" else "\ufffd", text)


def name(text: str) -> str:
    """A topic, site or source as it is looked up."""
    return storable(text)[:NAME_CHARS]


def _maybe(text: str | None) -> str | None:
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
        "fetched": article.fetched,
        "published": article.published,
        "title": storable(article.title or ""),
        "author": _maybe(article.author),
        "origin": _maybe(article.origin),
        "language": _maybe(article.language),
        "algorithm": _maybe(article.algorithm),
        "summary": _maybe(article.link.summary),
        "images": [plain_image(image) for image in article.images],
        "text": storable(article.text or ""),
        "html": _maybe(article.html),
    }


def row_of(article: Article, *, now: datetime) -> dict[str, Any]:
    """All columns of a new article but its story and fold."""
    identity = identity_of(article)
    content = content_of(article)
    url = storable(article.url)
    site = _name(article.site or article.link.site)
    return content | {
        "id": content_id(identity),
        "identity": identity,
        "url": url,
        "source": name(article.source),
        "site": site,
        "publisher": site or name(host(url)),
        **category_of(article),
        **keywords_of(article),
        "first_seen": now,
        "moment": sorted_by(article.published, now),
        "length": len(content["text"]),
        "revision": 1,
    }


def category_of(article: Article) -> dict[str, Any]:
    """The columns of an article's category, and who says so; all empty without one."""
    columns = ("category", "category_by", "category_score", "category_reason")
    if article.category is None:
        return dict.fromkeys(columns)
    return dict(
        zip(
            columns,
            (name(article.category), _name(article.category_by), article.category_score, _maybe(article.category_reason)),
            strict=True,
        )
    )


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


def plain_image(image: Image) -> dict[str, Any]:
    """A picture as the column ``images`` holds it."""
    plain = asdict(image)
    return {key: storable(value) if isinstance(value, str) else value for key, value in plain.items() if value is not None}


def article_from(row: Mapping[str, Any], topics: Iterable[TopicMark]) -> StoredArticle:
    """A row of ``articles`` (columns by name; ``text`` may be cut, ``html`` missing) as the value."""
    marks = tuple(sorted(topics, key=lambda mark: mark.topic))
    return StoredArticle(
        id=row["id"],
        story_id=row["story_id"],
        identity=row["identity"],
        url=row["url"],
        title=row["title"],
        first_seen=row["first_seen"],
        fetched=row["fetched"],
        source=row["source"],
        text=row["text"],
        html=row.get("html"),
        summary=row["summary"],
        published=row["published"],
        author=row["author"],
        origin=row["origin"],
        site=row["site"],
        language=row["language"],
        category=row["category"],
        category_by=row["category_by"],
        category_score=row["category_score"],
        category_reason=row["category_reason"],
        topics=tuple(mark.topic for mark in marks),
        topic_marks=marks,
        keywords=tuple(row["keywords"] or ()),
        images=tuple(Image(**image) for image in row["images"]),
        algorithm=row["algorithm"],
        revision=row["revision"],
        corrected=row.get("corrected"),
        corrected_by=row.get("corrected_by"),
        corrected_fields=tuple((row.get("corrected_fields") or "").split()),
        hidden=row.get("hidden"),
        hidden_by=row.get("hidden_by"),
        hidden_reason=row.get("hidden_reason"),
        fold_of=row["fold_of"],
        fold_reason=row["fold_reason"],
        fold_score=row["fold_score"],
    )


def story_from(row: Mapping[str, Any], head: StoredArticle, versions: tuple[StoredArticle, ...] = ()) -> Story:
    """A row of ``stories`` with its original."""
    return Story(
        id=row["id"],
        head=head,
        count=row["count"],
        sites=row["sites"],
        first_seen=row["first_seen"],
        last_seen=row["last_seen"],
        heat=row["heat"],
        versions=versions,
    )
