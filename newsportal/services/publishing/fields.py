"""Publishable fields of an article, the values of ``newsportal.sources.publishing.FIELDS``; and an article as a document for MongoDB and
Elasticsearch.

Characters that databases reject (NUL, lone surrogates) are removed from texts; the body is sanitised again, whatever the store contains.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, tzinfo
from html import escape
from operator import attrgetter
from typing import Any, Final, NoReturn

from newsportal.errors import DependencyMissing, NewsportalError
from newsportal.events.summaries import lead
from newsportal.extractors.article.sanitise import sanitise
from newsportal.services.publishing.base import BadTarget, Published, Target, digest_of
from newsportal.sources.publishing import FIELDS, template_parts
from newsportal.store.columns import storable
from newsportal.store.outbox import OutboxEntry
from newsportal.store.results import StoredArticle, Story, host, is_gallery, is_thread
from newsportal.text import fold_characters, search_words

SUMMARY_CHARS: Final = 200  # of the beginning of a text used as summary: two lines of a list
WEB: Final = ("https://", "http://")

Value = str | int | float | bool | datetime | tuple[str, ...] | None


def kind_of(article: StoredArticle) -> str:
    return "thread" if is_thread(article.source) else "photos" if is_gallery(article.source) else "article"


def body(article: StoredArticle) -> str:
    """Return the body as HTML with the same allow-list as in the store, or its text in paragraphs."""
    cleaned = sanitise(article.html, article.url).strip() if article.html else ""
    return cleaned or "\n".join(f"<p>{escape(line, quote=False)}</p>" for line in article.text.splitlines() if line.strip())


def _pictures(article: StoredArticle) -> tuple[str, ...]:
    """Return http(s) URLs only: they become links and image sources on other pages."""
    return tuple(image.url for image in article.images if image.dropped is None and image.url.startswith(WEB))


ATTRIBUTES: Final = (
    "id", "identity", "url", "title", "text", "published", "first_seen", "moment", "author", "origin", "source", "language", "category",
    "topics", "keywords", "revision",
)  # fmt: skip
"""Fields that are attributes of the article of the same name."""

VALUES: Final[Mapping[str, Callable[[StoredArticle], Value]]] = {
    **{name: attrgetter(name) for name in ATTRIBUTES},
    "story": lambda article: article.story_id,
    "html": body,
    "summary": lambda article: article.summary or lead(article.title, article.text, SUMMARY_CHARS),
    "site": lambda article: article.site or host(article.url),
    "kind": kind_of,
    "topic": lambda article: next(iter(article.topics), None),
    "images": _pictures,
    "image": lambda article: next(iter(_pictures(article)), None),
    "chars": lambda article: len(article.text),
}


def value(article: StoredArticle, name: str, zone: tzinfo) -> Value:
    """Return the field ``name`` of an article; ``None`` if it is empty. ``zone``: in which days begin."""
    if name == "day":
        return article.moment.astimezone(zone).date().isoformat()
    found = VALUES[name](article)
    if isinstance(found, str):
        return storable(found) or None
    return tuple(map(storable, found)) or None if isinstance(found, tuple) else found


def text(article: StoredArticle, name: str, zone: tzinfo) -> str:
    """Return the field as text; ``""`` if it is empty."""
    found = value(article, name, zone)
    if isinstance(found, datetime):
        return found.astimezone(zone).isoformat(timespec="seconds")
    return "" if found is None else ", ".join(found) if isinstance(found, tuple) else str(found)


def fill_template(template: str, article: StoredArticle, zone: tzinfo, of: Callable[[str], str] = str) -> str:
    """Fill in ``template`` with the article's fields, each passed through ``of``."""
    return "".join(literal + (of(text(article, name, zone)) if name else "") for literal, name in template_parts(template))


def plain(article: StoredArticle, zone: tzinfo) -> dict[str, Any]:
    """Return all fields by name as JSON values, without empty ones."""
    found = {name: value(article, name, zone) for name in FIELDS}
    return {
        name: item.isoformat() if isinstance(item, datetime) else list(item) if isinstance(item, tuple) else item
        for name, item in found.items()
        if item is not None
    }


TEXTS: Final = ("id", "story", "url", "title", "summary", "text", "author", "origin", "site", "source", "kind", "language", "category")
LISTS: Final = ("topics", "keywords")
NUMBERS: Final = ("revision", "chars")


@dataclass(frozen=True, slots=True)
class StoryVersion(StoredArticle):
    """An article with data of its story: whether it is the original, and the number of versions."""

    is_head: bool = True
    versions: int = 1


def story_version(article: StoredArticle, story: Story | None) -> StoryVersion:
    values = {field.name: getattr(article, field.name) for field in fields(StoredArticle)}
    return StoryVersion(**values) if story is None else StoryVersion(**values, is_head=story.head.id == article.id, versions=story.count)


def document(article: StoredArticle) -> dict[str, Any]:
    """Return field → value. Lists are always present, other fields only if not empty; dates are aware, in UTC."""
    found = {name: value(article, name, UTC) for name in (*TEXTS, *NUMBERS, "published", "first_seen")} | {"date": article.moment}
    story = article if isinstance(article, StoryVersion) else story_version(article, None)
    return {
        **{name: item for name, item in found.items() if item is not None},
        **{name: list(map(storable, getattr(article, name))) for name in LISTS},
        "images": [_image(image) for image in article.images if image.dropped is None and image.url.startswith(WEB)],
        "head": story.is_head,
        "versions": story.versions,
    }


def _image(image: Any) -> dict[str, Any]:
    texts = {name: storable(text) for name in ("url", "caption") if (text := getattr(image, name))}
    return texts | {name: size for name in ("width", "height") if (size := getattr(image, name)) is not None}


def words_of(article: StoredArticle) -> list[str]:
    """Return the words of title and text in order, with repetitions: simplified, half width, lower case."""
    return list(search_words(fold_characters(storable(f"{article.title}\n{article.text}")).lower()))


class DocumentTarget(Target):
    """A target that takes many articles in one call. Articles are passed as :class:`StoryVersion`, and the ``place`` of each is the id of
    its story: when a story changes, all its published versions are updated."""

    @abstractmethod
    def put_many(self, items: Sequence[tuple[StoredArticle, OutboxEntry]]) -> Sequence[Published | NewsportalError]:
        """Call ``put`` for each; return the results in the same order, including errors about single articles."""

    def digest(self, article: StoredArticle) -> str:
        """Compute the digest without the words, which are derived from title and text."""
        return digest_of(document(article))

    def put(self, article: StoredArticle, entry: OutboxEntry) -> Published:
        (outcome,) = self.put_many([(article, entry)])
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class MissingDriver:
    """Placeholder for a target whose driver is not installed, so that the others can be used."""

    def __init__(self, missing: DependencyMissing) -> None:
        self._missing = missing

    def check(self, *_: Any, **__: Any) -> NoReturn:
        raise BadTarget(str(self._missing)) from self._missing

    digest = put = remove = steps = check

    def close(self) -> None:
        """Do nothing."""
