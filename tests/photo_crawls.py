"""Helpers for tests and benchmark of photo stories: crawl the made-up picture Web and read the resulting store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from newsportal.store import open_store
from newsportal.store.store import Store
from tests import forked

if TYPE_CHECKING:
    from madeup.photos.measure import StoredStory

SECONDS = 900
"""Seconds for a complete crawl on a busy machine."""


def crawl(sources: Path, *options: str) -> dict[str, Any]:
    """Crawl and return the report after checking that its figures add up."""
    report = forked.crawl(sources, "gallery", *options)
    for row in (*report["sources"], report["total"]):
        assert row["entries"] == row["known"] + row["repeated"] + row["new"], row
        assert row["new"] == row["parsed"] + sum(row["failed"].values()) + row["left"], row
        assert row["parsed"] == row["stored"] + row["folded"] + row["same"], row
    return report


def opened(sources: Path) -> Store:
    return open_store(f"sqlite:///{sources.parent}/data/newsportal.db", create=False)


def stored_galleries(store: Store) -> list[StoredStory]:
    """Return every photo story of the store, with the pictures that readers see."""
    from madeup.photos.gold import Picture
    from madeup.photos.measure import StoredStory

    found = []
    for article in store.all_articles():
        gallery = store.galleries.gallery(article.id)
        if gallery is not None:
            story = store.story(article.story_id)
            pictures = tuple(Picture(row.image.url, row.image.caption) for row in store.galleries.pictures(article.id))
            found.append(
                StoredStory(
                    article.url, gallery.complete, pictures, article.story_id, article.title, article.author, article.published,
                    head=story is None or story.head.id == article.id,
                )
            )  # fmt: skip
    return found
