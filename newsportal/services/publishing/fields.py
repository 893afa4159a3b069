"""The fields of an article that can be published: the values behind ``newsportal.sources.templates.FIELDS``.

Texts come without what no database keeps (NUL, lone surrogates); the body is made safe once more, whatever the store holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo
from html import escape
from operator import attrgetter
from typing import Any, Final

from newsportal.events.summaries import beginning
from newsportal.extractors.article.sanitise import sanitise
from newsportal.sources import templates
from newsportal.store.columns import storable
from newsportal.store.results import StoredArticle, host, is_gallery, is_thread

SUMMARY_CHARS: Final = 200  # of a text that stands in for a summary: two lines of a list
WEB: Final = ("https://", "http://")

Value = str | int | float | bool | datetime | tuple[str, ...] | None


def kind_of(article: StoredArticle) -> str:
    return "thread" if is_thread(article.source) else "photos" if is_gallery(article.source) else "article"


def body(article: StoredArticle) -> str:
    """Its body as HTML by the same allow-list as when it was stored, or its text in paragraphs."""
    cleaned = sanitise(article.html, article.url).strip() if article.html else ""
    return cleaned or "\n".join(f"<p>{escape(line, quote=False)}</p>" for line in article.text.splitlines() if line.strip())


def _pictures(article: StoredArticle) -> tuple[str, ...]:
    """Addresses of the Web alone: they become links and sources of pictures in other people's pages."""
    return tuple(image.url for image in article.images if image.dropped is None and image.url.startswith(WEB))


ATTRIBUTES: Final = (
    "id", "identity", "url", "title", "text", "published", "first_seen", "moment", "author", "origin", "source", "language", "category",
    "topics", "keywords", "revision",
)  # fmt: skip
"""Fields that are attributes of the article under their own name."""

VALUES: Final[Mapping[str, Callable[[StoredArticle], Value]]] = {
    **{name: attrgetter(name) for name in ATTRIBUTES},
    "story": lambda article: article.story_id,
    "html": body,
    "summary": lambda article: article.summary or beginning(article.title, article.text, SUMMARY_CHARS),
    "site": lambda article: article.site or host(article.url),
    "kind": kind_of,
    "topic": lambda article: next(iter(article.topics), None),
    "images": _pictures,
    "image": lambda article: next(iter(_pictures(article)), None),
    "chars": lambda article: len(article.text),
}


def value(article: StoredArticle, name: str, zone: tzinfo) -> Value:
    """The field ``name`` of an article; ``None`` where it has nothing. ``zone``: in which days begin."""
    if name == "day":
        return article.moment.astimezone(zone).date().isoformat()
    found = VALUES[name](article)
    if isinstance(found, str):
        return storable(found) or None
    return tuple(map(storable, found)) or None if isinstance(found, tuple) else found


def text(article: StoredArticle, name: str, zone: tzinfo) -> str:
    """The field as text; ``""`` where the article has nothing."""
    found = value(article, name, zone)
    if isinstance(found, datetime):
        return found.astimezone(zone).isoformat(timespec="seconds")
    return "" if found is None else ", ".join(found) if isinstance(found, tuple) else str(found)


def filled(template: str, article: StoredArticle, zone: tzinfo, of: Callable[[str], str] = str) -> str:
    """``template`` with the article's fields in it; ``of`` is what becomes of each of them."""
    return "".join(literal + (of(text(article, name, zone)) if name else "") for literal, name in templates.parts(template))


def plain(article: StoredArticle, zone: tzinfo) -> dict[str, Any]:
    """All fields by name, as JSON writes them; what was not found is left out."""
    found = {name: value(article, name, zone) for name in templates.FIELDS}
    return {
        name: one.isoformat() if isinstance(one, datetime) else list(one) if isinstance(one, tuple) else one
        for name, one in found.items()
        if one is not None
    }
