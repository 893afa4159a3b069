"""``newsportal photos``: the stored photo stories, and those that lack pages."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from newsportal.commands.context import open_record
from newsportal.commands.hints import counted
from newsportal.commands.options import AsJson, SourcesFile
from newsportal.commands.output import WIDEST, make_table, print_json, print_table
from newsportal.store.gallery_tables import StoredGallery, WallFilter
from newsportal.store.results import StoredArticle
from newsportal.store.store import Store

MOST_INCOMPLETE = 10_000
"""Stories that lack pages among which those of a topic or source are looked for."""


class Order(StrEnum):
    ranked = "ranked"
    newest = "newest"


NONE = "no photo stories are stored; name a channel (newsportal source add --gallery URL), then: newsportal crawl gallery"


def photos(
    incomplete: Annotated[bool, typer.Option("--incomplete", help="Only those that lack pages, the latest visited first.")] = False,
    order: Annotated[Order, typer.Option(help="By score, or the newest first.")] = Order.ranked,
    topic: Annotated[str | None, typer.Option(help="Only this topic.")] = None,
    source: Annotated[str | None, typer.Option(help="Only this source: its name, or gallery:NAME.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Photo stories to show.")] = 20,
    as_json: AsJson = False,
    sources: SourcesFile = None,
) -> None:
    """List photo stories: pictures, pages read, what is missing and why."""
    with open_record(sources) as (_, store):
        key = source if source is None or source.startswith("gallery:") else f"gallery:{source}"
        found = _incomplete(store, limit, topic, key) if incomplete else _wall(store, order, limit, topic, key)
    if as_json:
        print_json(*(plain(article, gallery) for article, gallery in found))
        return
    if not found:
        typer.echo("no photo story lacks pages" if incomplete else NONE)
        return
    _print(found)


Row = tuple[StoredArticle, StoredGallery]


def _wall(store: Store, order: Order, limit: int, topic: str | None, source: str | None) -> list[Row]:
    which = WallFilter(topic=topic, source=source, order=order.value, limit=limit)
    return [(one.article, one.gallery) for one in store.galleries.wall(which).stories]


def _incomplete(store: Store, limit: int, topic: str | None, source: str | None) -> list[Row]:
    most = limit if topic is None and source is None else MOST_INCOMPLETE
    galleries = {gallery.id: gallery for gallery in store.galleries.incomplete(limit=most)}
    articles = store.articles(list(galleries))
    fitting = [one for one in articles if topic in (None, *one.topics) and source in (None, one.source)]
    return [(article, galleries[article.id]) for article in fitting[:limit]]


def plain(article: StoredArticle, gallery: StoredGallery) -> dict[str, Any]:
    values = {
        "id": article.id, "story": article.story_id, "title": article.title, "url": article.url, "source": article.source,
        "published": article.published and article.published.isoformat(),
    }  # fmt: skip
    return values | figures(gallery)


def figures(gallery: StoredGallery) -> dict[str, Any]:
    """What only photo stories have, as JSON values."""
    return {
        "complete": gallery.complete, "pictures": gallery.pictures, "pages": gallery.pages, "total": gallery.total,
        "missing": list(gallery.missing), "failure": gallery.failure, "visited": gallery.visited.isoformat(), "in_vain": gallery.vain,
        "score": round(gallery.score, 4), "addresses": list(gallery.addresses),
    }  # fmt: skip


def told(gallery: StoredGallery) -> str:
    """``12 pictures on 12 pages``, and what is missing."""
    pages = f"{gallery.pages} of {gallery.total}" if gallery.total and gallery.total != gallery.pages else f"{gallery.pages}"
    said = f"{counted(gallery.pictures, 'picture')} on {pages} page{'' if pages == '1' else 's'}"
    if gallery.complete:
        return said
    missing = f" (page {', '.join(map(str, gallery.missing))})" if gallery.missing else ""
    vain = f", {gallery.vain} visits in vain" if gallery.vain else ""
    return f"{said}, incomplete{missing}: {gallery.failure or 'missing-pages'}{vain}"


def _print(found: list[Row]) -> None:
    rows = ((article.id, article.title, told(gallery), article.url) for article, gallery in found)
    print_table(make_table(("article", "title", "pictures", "address"), rows), width=WIDEST)
