"""A dry run: what a target would do with what waits, or with one article. Nothing is written, and no message is sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from newsportal.publishing.base import Refused, Step
from newsportal.publishing.run import Work, load_articles, pending
from newsportal.store.outbox import Entry
from newsportal.store.results import StoredArticle


@dataclass(frozen=True, slots=True)
class Tried:
    """``steps``: what would be done; ``refused``: why the target would not take it. ``article`` ``None``: it is not stored any more."""

    entry: Entry
    article: StoredArticle | None
    steps: tuple[Step, ...] = ()
    refused: str | None = None


def waiting(work: Work, *, limit: int | None = None) -> Iterator[Tried]:
    """What a run would write, in its order. Raises ``TargetAway``, ``TargetUnfit`` and ``StoreError``, as a run does."""
    return (_tried(work, article, entry) for article, entry in islice(pending(work), limit))


def one(work: Work, article_id: str) -> Tried:
    """What it would be to publish this article now, whatever was decided about it before."""
    article = load_articles(work, [article_id]).get(article_id)
    known = work.store.outbox.of(work.settings.name, [article_id]).get(article_id)
    entry = known or Entry(work.settings.name, article_id, due=work.now(), changed=work.now())
    gone = article is None or article.hidden is not None
    return _tried(work, article, replace(entry, wanted="gone" if gone else "there"))


def _tried(work: Work, article: StoredArticle | None, entry: Entry) -> Tried:
    try:
        return Tried(entry, article, tuple(work.target.steps(article, entry)))
    except Refused as error:
        return Tried(entry, article, refused=str(error))
