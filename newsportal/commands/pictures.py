"""``newsportal pictures``: what the dictionary of pictures knows, what is left out of photo stories and why, and the cache."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.table import Table

from newsportal.commands.context import open_record
from newsportal.commands.options import SourcesFile
from newsportal.commands.output import WIDEST, console, make_table, print_json
from newsportal.errors import NewsportalError
from newsportal.pictures.filter import BY_HAND, KEPT, key
from newsportal.sources import Sources
from newsportal.store.pictures import Seen
from newsportal.store.store import Store


def pictures(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="Pictures that are listed: those of most stories.")] = 20,
    keep: Annotated[str | None, typer.Option(metavar="URL", help="Show this picture in its stories, whatever is counted.")] = None,
    leave_out: Annotated[str | None, typer.Option(metavar="URL", help="Leave this picture out of all stories.")] = None,
    clear_cache: Annotated[bool, typer.Option("--clear-cache", help="Remove the pictures that the portal keeps.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    sources: SourcesFile = None,
) -> None:
    """Tell which pictures most stories show, which are left out of photo stories and why, and how full the cache is."""
    with open_record(sources) as (found, store):
        changed = sum(_mark(store, url, reason) for url, reason in ((keep, KEPT), (leave_out, BY_HAND)) if url)
        cleared = _clear(found) if clear_cache else None
        told = facts(found, store, limit) | ({"changed": changed} if keep or leave_out else {}) | ({"cleared": cleared} if cleared else {})
        if as_json:
            print_json(told)
        else:
            _print(told)


def facts(sources: Sources, store: Store, limit: int) -> dict[str, Any]:
    census = store.pictures.census()
    return {
        "pictures": census.pictures,
        "stories": census.stories,
        "looked_at": census.looked,
        "refused": census.refused,
        "left_out": census.frequent,
        "cache": _cache(sources),
        "often": [_row(one) for one in store.pictures.often(limit=limit)],
    }


def _row(one: Seen) -> dict[str, Any]:
    picture = one.picture
    return {
        "url": picture.url,
        "stories": one.stories,
        "sites": one.sites,
        "width": picture.width,
        "height": picture.height,
        "format": picture.format,
        "print": picture.print,
        "left_out": picture.refused or (None if picture.frequent == KEPT else picture.frequent),
        "since": picture.since.isoformat() if picture.since and picture.frequent != KEPT else None,
        "kept": picture.frequent == KEPT,
    }


def _mark(store: Store, url: str, reason: str) -> int:
    """Say of a picture that it is kept or left out; answers how many pictures of stories that changed. Raises ``NewsportalError``."""
    name, now = key(url), datetime.now(UTC)
    if name not in store.pictures.known([name]):
        raise NewsportalError(f"{url}: no photo story shows this picture; `newsportal pictures` lists those that many show")
    store.pictures.mark({name: reason}, now=now)
    ids = store.pictures.addresses([name]).get(name, frozenset())
    stored = {one.image.url for id in ids for one in store.galleries.pictures(id, dropped=True)}
    urls = {address for address in stored if key(address) == name}
    return store.galleries.drop(urls=urls, reason=None if reason == KEPT else reason, now=now)


def _cache(sources: Sources) -> dict[str, Any] | None:
    from newsportal.portal.picture_cache import PictureCache

    said = sources.pictures
    if said.cache is None:
        return None
    sizes = [one.size for one in PictureCache(said.cache, said.cache_size).files()]
    return {"folder": str(said.cache), "files": len(sizes), "bytes": sum(sizes), "limit": said.cache_size}


def _clear(sources: Sources) -> dict[str, int]:
    """Raises ``NewsportalError`` where there is no cache, or its files cannot be removed."""
    from newsportal.portal.picture_cache import PictureCache

    said = sources.pictures
    if said.cache is None:
        raise NewsportalError(f"{sources.path}: there is no cache; pictures.cache names its folder")
    try:
        number, size = PictureCache(said.cache, said.cache_size).clear()
    except OSError as error:
        raise NewsportalError(f"{said.cache}: {error.strerror or error}") from error
    return {"files": number, "bytes": size}


def _print(told: dict[str, Any]) -> None:
    out = console()
    if "changed" in told:
        out.print(f"changed in stories: {told['changed']}")
    if "cleared" in told:
        out.print(f"removed from the cache: {told['cleared']['files']} pictures, {_mega(told['cleared']['bytes'])}")
    out.print(
        f"{told['pictures']} pictures of {told['stories']} photo stories; looked at: {told['looked_at']}, "
        f"no pictures: {told['refused']}, of no story: {told['left_out']}"
    )
    cache = told["cache"]
    out.print(
        f"cache: {cache['files']} pictures, {_mega(cache['bytes'])} of {_mega(cache['limit'])} in {cache['folder']}"
        if cache
        else "cache: none (pictures.cache in sources.yaml names a folder)",
        markup=False,
    )
    if told["often"]:
        out.print(_table(told["often"]), width=WIDEST)


def _mega(size: int) -> str:
    return f"{size / 1024**2:.1f} MiB"


def _table(rows: list[dict[str, Any]]) -> Table:
    cells = []
    for row in rows:
        size = f"{row['width']}×{row['height']}" if row["width"] else "?"
        cells.append((row["stories"], row["sites"], size, "kept by hand" if row["kept"] else row["left_out"] or "", row["url"]))
    return make_table(("stories", "sites", "size", "left out", "address"), cells, right=("stories", "sites"))
