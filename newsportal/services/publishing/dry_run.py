"""Dry runs of a target: with a sample article (``newsportal publish check``), with what is waiting, or with one article."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Final

from newsportal.items import Image
from newsportal.services.publishing.base import BadTarget, Refused, Step, Target, TargetDown, UnknownTarget
from newsportal.services.publishing.run import Work, load_articles, pending
from newsportal.services.publishing.targets import open_target
from newsportal.sources import Sources
from newsportal.store.outbox import OutboxEntry
from newsportal.store.results import StoredArticle
from newsportal.store.store import Store

ADDRESS = "news.example/sample"
MAX_ARTICLES: Final = 20  # articles in a dry run on a page


@dataclass(frozen=True, slots=True)
class DryRun:
    """Result of a check. ``problems``: to be corrected before publishing; ``notes``: remarks; ``steps``: what would be written."""

    problems: Sequence[str] = ()
    notes: Sequence[str] = ()
    steps: Sequence[Step] = ()


def dry_run(target: Target, name: str, now: datetime) -> DryRun:
    """Check ``target``, named ``name``, with a sample article, without writing or sending anything."""
    try:
        notes = target.check()
        return DryRun((), notes, target.steps(sample(now), OutboxEntry(name, sample(now).id, now, now)))
    except (TargetDown, BadTarget) as error:
        return DryRun(str(error).splitlines())
    except Refused as error:
        return DryRun((f"an article like the sample is rejected: {error}",), notes)


def sample(now: datetime) -> StoredArticle:
    """Return an article with every field. No stored one has its id."""
    return StoredArticle(
        "0" * 20, "0" * 20, ADDRESS, f"https://{ADDRESS}", "一篇样稿 (a sample)", now, now, "feed:sample",
        text="第一段。\nSecond paragraph.", html="<p>第一段。</p><p>Second paragraph.</p>", summary="一句话的摘要。", published=now,
        author="作者", origin="来源", site="网站", language="zh", category="类别", topics=("专题",), keywords=("关键词",),
        images=(Image(f"https://{ADDRESS}.jpg"),),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result for one entry. ``steps``: what would be done; ``refused``: why it would be refused. ``article`` ``None``: no longer stored."""

    entry: OutboxEntry
    article: StoredArticle | None
    steps: tuple[Step, ...] = ()
    refused: str | None = None


def preview_waiting(work: Work, *, limit: int | None = None) -> Iterator[Outcome]:
    """Yield what a run would write, in order. Raises ``TargetDown``, ``BadTarget`` and ``StoreError``, as a run does."""
    return (_tried(work, article, entry) for article, entry in islice(pending(work), limit))


def try_article(work: Work, article_id: str) -> Outcome:
    """Return the result of publishing this article now, regardless of earlier decisions."""
    article = load_articles(work, [article_id]).get(article_id)
    stored = work.store.outbox.of(work.settings.name, [article_id]).get(article_id)
    entry = stored or OutboxEntry(work.settings.name, article_id, due=work.now(), changed=work.now())
    withdrawn = article is None or article.hidden is not None
    return _tried(work, article, replace(entry, action="withdraw" if withdrawn else "publish"))


def _tried(work: Work, article: StoredArticle | None, entry: OutboxEntry) -> Outcome:
    try:
        return Outcome(entry, article, tuple(work.target.steps(article, entry)))
    except Refused as error:
        return Outcome(entry, article, refused=str(error))


def try_target(store: Store, sources: Sources | None, name: str, article_id: str | None, now: Callable[[], datetime]) -> Generator[Outcome]:
    """Yield the dry run of a target, for what is waiting or for one article. Raises ``UnknownTarget``, ``TargetDown``, ``BadTarget``."""
    settings = next((target for target in sources.publish if target.name == name), None) if sources else None
    if settings is None or sources is None or (article_id and store.article(article_id) is None):
        raise UnknownTarget(name)
    with closing(open_target(settings, sources)) as target:
        target.check()
        work = Work(store, settings, target, now)
        yield from [try_article(work, article_id)] if article_id else preview_waiting(work, limit=MAX_ARTICLES)
