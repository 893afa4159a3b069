"""``newsportal photos`` and ``pictures``: stored photo stories, frequent images that are excluded from stories, and the image cache."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newsportal.cli.hints import counted
from newsportal.cli.options import AsJson, SourcesFile, open_record
from newsportal.cli.output import WIDEST, console, make_table, pick, print_json, print_table
from newsportal.errors import NewsportalError
from newsportal.extractors.images.filter import BY_HAND, KEPT, key
from newsportal.store.gallery_tables import StoredGallery, WallFilter
from newsportal.store.results import StoredArticle
from newsportal.store.store import Store

if TYPE_CHECKING:
    from newsportal.portal.reading.picture_cache import PictureCache

MAX_INCOMPLETE = 10_000  # incomplete stories searched for those of a topic or source


class Order(StrEnum):
    ranked = "ranked"
    newest = "newest"


NONE = "no photo stories are stored; name a channel (newsportal source add --gallery URL), then: newsportal crawl gallery"


def photos(
    incomplete: Annotated[bool, typer.Option("--incomplete", help="Only those with missing pages, latest visit first.")] = False,
    order: Annotated[Order, typer.Option(help="By score (ranked), or newest.")] = Order.ranked,
    topic: Annotated[str | None, typer.Option(help="Only this topic.")] = None,
    source: Annotated[str | None, typer.Option(help="Only this source.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many to list.")] = 20,
    as_json: AsJson = False,
    sources: SourcesFile = None,
) -> None:
    """List photo stories, and what is missing and why."""
    with open_record(sources) as (_, store):
        key = source if source is None or source.startswith("gallery:") else f"gallery:{source}"
        if incomplete:
            most = limit if topic is None and key is None else MAX_INCOMPLETE
            galleries = {gallery.id: gallery for gallery in store.galleries.incomplete(limit=most)}
            matches = [row for row in store.articles(list(galleries)) if topic in (None, *row.topics) and key in (None, row.source)]
            found = [(article, galleries[article.id]) for article in matches[:limit]]
        else:
            stories = store.galleries.wall(WallFilter(topic=topic, source=key, order=order.value, limit=limit)).stories
            found = [(story.article, story.gallery) for story in stories]
    if as_json:
        print_json(*(plain(article, gallery) for article, gallery in found))
        return
    if not found:
        typer.echo("no photo story has missing pages" if incomplete else NONE)
        return
    rows = ((article.id, article.title, summary(gallery), article.url) for article, gallery in found)
    print_table(make_table(("article", "title", "pictures", "address"), rows), width=WIDEST)


def plain(article: StoredArticle, gallery: StoredGallery) -> dict[str, Any]:
    row = {"id": article.id, "story": article.story_id, **pick(article, "title", "url", "source", "published")}
    return row | figures(gallery)


def figures(gallery: StoredGallery) -> dict[str, Any]:
    return {
        **pick(gallery, "complete", "pictures", "pages", "total", "missing", "failure", "visited"),
        "fruitless_visits": gallery.fruitless_visits,
        "score": round(gallery.score, 4),
        "page_urls": gallery.page_urls,
    }


def summary(gallery: StoredGallery) -> str:
    """Return ``12 pictures on 12 pages``, and the missing pages."""
    pages = f"{gallery.pages} of {gallery.total}" if gallery.total and gallery.total != gallery.pages else f"{gallery.pages}"
    text = f"{counted(gallery.pictures, 'picture')} on {pages} page{'' if pages == '1' else 's'}"
    if gallery.complete:
        return text
    missing = f" (page {', '.join(map(str, gallery.missing))})" if gallery.missing else ""
    failures = f", {gallery.fruitless_visits} unsuccessful visits" if gallery.fruitless_visits else ""
    return f"{text}, incomplete{missing}: {gallery.failure or 'missing-pages'}{failures}"


def pictures(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many to list.")] = 20,
    keep: Annotated[str | None, typer.Option(metavar="URL", help="Always show this picture.")] = None,
    leave_out: Annotated[str | None, typer.Option(metavar="URL", help="Never show this picture.")] = None,
    clear_cache: Annotated[bool, typer.Option("--clear-cache", help="Empty the portal's cache.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    sources: SourcesFile = None,
) -> None:
    """List the pictures of most stories, which are left out and why, and the cache's size."""
    from newsportal.portal.reading.picture_cache import PictureCache

    with open_record(sources) as (found, store):
        changed = sum(_mark(store, url, reason) for url, reason in ((keep, KEPT), (leave_out, BY_HAND)) if url)
        cache = PictureCache(found.pictures.cache, found.pictures.cache_size) if found.pictures.cache is not None else None
        cleared = None
        if clear_cache:
            if cache is None:
                raise NewsportalError(f"{found.path}: there is no cache; set pictures.cache to a folder")
            try:
                cleared = dict(zip(("files", "bytes"), cache.clear(), strict=True))
            except OSError as error:
                raise NewsportalError(f"{found.pictures.cache}: {error.strerror or error}") from error
        row = facts(store, cache, limit) | ({"changed": changed} if keep or leave_out else {}) | ({"cleared": cleared} if cleared else {})
    if as_json:
        print_json(row)
    else:
        _print(row)


def facts(store: Store, cache: PictureCache | None, limit: int) -> dict[str, Any]:
    totals = store.pictures.totals()
    sizes = [file.size for file in cache.files()] if cache is not None else []
    frequent = []
    for entry in store.pictures.most_frequent(limit=limit):
        picture, allowed = entry.picture, entry.picture.frequent_reason == KEPT
        row = pick(picture, "url") | pick(entry, "stories", "sites") | pick(picture, "width", "height", "format", "perceptual_hash")
        reason, since = (None, None) if allowed else (picture.frequent_reason, picture.frequent_since)
        row |= {"left_out": picture.rejected_reason or reason, "since": since}
        frequent.append(row | {"kept": allowed})
    return {
        **pick(totals, "pictures", "stories"), "fetched": totals.fetched, "rejected": totals.rejected, "left_out": totals.frequent,
        "cache": cache and {"folder": str(cache.folder), "files": len(sizes), "bytes": sum(sizes), "limit": cache.limit}, "often": frequent,
    }  # fmt: skip


def _mark(store: Store, url: str, reason: str) -> int:
    """Mark an image as kept or excluded; return the number of changed images of stories. Raises ``NewsportalError``."""
    name, now = key(url), datetime.now(UTC)
    if name not in store.pictures.find_stored([name]):
        raise NewsportalError(f"{url}: no photo story has this picture; `newsportal pictures` lists frequent ones")
    store.pictures.mark({name: reason}, now=now)
    ids = store.pictures.addresses([name]).get(name, frozenset())
    stored = {picture.image.url for id in ids for picture in store.galleries.pictures(id, dropped=True)}
    urls = {address for address in stored if key(address) == name}
    return store.galleries.drop(urls=urls, reason=None if reason == KEPT else reason, now=now)


def _print(row: dict[str, Any]) -> None:
    out = console()
    if "changed" in row:
        out.print(f"changed in stories: {row['changed']}")
    if "cleared" in row:
        out.print(f"removed from the cache: {row['cleared']['files']} pictures, {_megabytes(row['cleared']['bytes'])}")
    out.print(
        f"{row['pictures']} pictures of {row['stories']} photo stories; examined: {row['fetched']}, "
        f"invalid: {row['rejected']}, not of stories: {row['left_out']}"
    )
    cached = "cache: none (set a folder as pictures.cache in sources.yaml)"
    if cache := row["cache"]:
        cached = f"cache: {cache['files']} pictures, {_megabytes(cache['bytes'])} of {_megabytes(cache['limit'])} in {cache['folder']}"
    out.print(cached, markup=False)
    cells = []
    for entry in row["often"]:
        size = f"{entry['width']}×{entry['height']}" if entry["width"] else "?"
        cells.append((entry["stories"], entry["sites"], size, "kept by hand" if entry["kept"] else entry["left_out"] or "", entry["url"]))
    if cells:
        out.print(make_table(("stories", "sites", "size", "left out", "address"), cells, right=("stories", "sites")), width=WIDEST)


def _megabytes(size: int) -> str:
    return f"{size / 1024**2:.1f} MiB"
