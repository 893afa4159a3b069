"""Store the articles read from archives: the crawl's stages that need the store, one article after the other."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from newsportal.errors import StoreError, StoreUnavailable
from newsportal.items import Article
from newsportal.pipelines.base import ItemDone
from newsportal.pipelines.duplicate import DuplicatePipeline, UrlFilterPipeline
from newsportal.pipelines.store import StorePipeline
from newsportal.processing.archives import Planner, scan
from newsportal.processing.mapping import Mapped
from newsportal.processing.reading import ReadPage, read_articles
from newsportal.processing.tracker import ArchiveTracker, Shared
from newsportal.store.copying import OnProgress
from newsportal.store.store import Store

OnPage = Callable[[ReadPage, str, str | None], None]
"""Called for each page with its outcome (``stored``, ``folded``, ``same``, ``failed``), and the reason of a failure."""


@dataclass(slots=True)
class Summary:
    """Counts of pages: ``stored``, ``folded``, ``same`` (known already, or revised), and the reasons of those without article.

    ``lists``: list pages read; ``missing``: pages linked there that no archive contains. ``broken``: unreadable files with the reason;
    ``cut``: files that end inside a record.
    """

    lists: int = 0
    missing: int = 0
    pages: int = 0
    stored: int = 0
    folded: int = 0
    same: int = 0
    failed: dict[str, int] = field(default_factory=dict)
    broken: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()


def process_archives(
    shared: Shared, files: Sequence[str], store: Store, mapped: Mapped, summary: Summary, *, listed_only: bool = False,
    on_progress: OnProgress | None = None, on_page: OnPage | None = None,
) -> None:  # fmt: skip
    """Read the articles of archives, store them, and count the outcomes. ``listed_only``: those linked from list pages in the archives.

    Raises ``StoreError``, and the errors of ``mapped``.
    """
    archives = []
    for archive in mapped(scan, files):
        archives.append(archive)
        if on_progress is not None:
            on_progress("archives", len(archives), len(files))
    plan = Planner(shared, archives, mapped, listed_only=listed_only).plan()
    summary.lists, summary.missing = plan.lists, plan.missing
    summary.broken = tuple(archive.error for archive in archives if archive.error is not None)
    summary.cut = tuple(warning for archive in archives for warning in archive.warnings)
    stories = Stories(shared, store)
    done = 0
    for task, pages in zip(plan.tasks, mapped(read_articles, plan.tasks), strict=True):
        asyncio.run(stories.add(pages, summary, on_page))
        done += sum(map(len, task.sites))
        if on_progress is not None:
            on_progress("pages", done, plan.pages)


class Stories:
    """Stores articles into ``store``, with the same result as a crawl of the same pages in this order."""

    def __init__(self, shared: Shared, store: Store) -> None:
        settings = shared.sources.duplicates
        store.fold_by(settings.method, theta=settings.theta, days=settings.days)
        self._tracker = ArchiveTracker(shared, store)
        tracker = self._tracker.as_of_crawl()
        self._stages = (UrlFilterPipeline(tracker), DuplicatePipeline(tracker), StorePipeline(tracker))

    async def add(self, pages: Iterable[ReadPage], summary: Summary, on_page: OnPage | None = None) -> None:
        """Raises ``StoreUnavailable``."""
        for page in pages:
            summary.pages += 1
            outcome, error = ("failed", page.reason) if page.article is None else await self._store(page.article)
            if error is None:
                setattr(summary, outcome, getattr(summary, outcome) + 1)
            else:
                summary.failed[error] = summary.failed.get(error, 0) + 1
            if on_page is not None:
                on_page(page, outcome, error)

    async def _store(self, article: Article) -> tuple[str, str | None]:
        self._tracker.outcomes.clear()
        try:
            for stage in self._stages:
                article = await stage.process(article)
        except ItemDone:
            pass
        except StoreUnavailable:
            raise
        except StoreError as error:
            return "failed", str(error)
        return next(iter(self._tracker.outcomes)), None
