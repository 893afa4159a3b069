"""An article as one plain document, for MongoDB and Elasticsearch."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC
from typing import Any, Final, NoReturn

from newsportal.errors import DependencyMissing, NewsportalError
from newsportal.services.publishing.base import Placed, Target, TargetUnfit, digest_of
from newsportal.services.publishing.fields import WEB, value
from newsportal.store.columns import storable
from newsportal.store.outbox import Entry
from newsportal.store.results import StoredArticle, Story
from newsportal.text import fold_characters, search_words

TEXTS: Final = ("id", "story", "url", "title", "summary", "text", "author", "origin", "site", "source", "kind", "language", "category")
LISTS: Final = ("topics", "keywords")
NUMBERS: Final = ("revision", "chars")


@dataclass(frozen=True, slots=True)
class StoryVersion(StoredArticle):
    """An article with what its story says of it: whether it is the original, and how many versions there are."""

    is_head: bool = True
    versions: int = 1


def story_version(article: StoredArticle, story: Story | None) -> StoryVersion:
    values = {field.name: getattr(article, field.name) for field in fields(StoredArticle)}
    return StoryVersion(**values) if story is None else StoryVersion(**values, is_head=story.head.id == article.id, versions=story.count)


def document(article: StoredArticle) -> dict[str, Any]:
    """Field → value. Lists are always there, other fields only if the article has them; dates are aware, in UTC."""
    found = {name: value(article, name, UTC) for name in (*TEXTS, *NUMBERS, "published", "first_seen")} | {"date": article.moment}
    story = article if isinstance(article, StoryVersion) else story_version(article, None)
    return {
        **{name: one for name, one in found.items() if one is not None},
        **{name: list(map(storable, getattr(article, name))) for name in LISTS},
        "images": [_image(image) for image in article.images if image.dropped is None and image.url.startswith(WEB)],
        "head": story.is_head,
        "versions": story.versions,
    }


def _image(image: Any) -> dict[str, Any]:
    texts = {name: storable(text) for name in ("url", "caption") if (text := getattr(image, name))}
    return texts | {name: size for name in ("width", "height") if (size := getattr(image, name)) is not None}


def words_of(article: StoredArticle) -> list[str]:
    """The words of title and text in order, with repetitions: simplified, half width, lower case."""
    return list(search_words(fold_characters(storable(f"{article.title}\n{article.text}")).lower()))


class DocumentTarget(Target):
    """A target that takes many articles in one call. Articles come to it as :class:`StoryVersion`, and the place of each is the id of its
    story: when a story changes, all its versions that are published there are brought up to date."""

    @abstractmethod
    def put_many(self, items: Sequence[tuple[StoredArticle, Entry]]) -> Sequence[Placed | NewsportalError]:
        """``put`` each; answers in the same order, with the error that ``put`` would raise about one article."""

    def digest(self, article: StoredArticle) -> str:
        """Without the words, which are made of title and text."""
        return digest_of(document(article))

    def put(self, article: StoredArticle, entry: Entry) -> Placed:
        (outcome,) = self.put_many([(article, entry)])
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class MissingDriver:
    """Stands for a target whose driver is not installed: the others are published to meanwhile."""

    def __init__(self, missing: DependencyMissing) -> None:
        self._missing = missing

    def check(self, *_: Any, **__: Any) -> NoReturn:
        raise TargetUnfit(str(self._missing)) from self._missing

    digest = put = remove = steps = check

    def close(self) -> None:
        """Nothing is open."""
