"""The record of everything. ``open_store(uri)`` is the way in; :mod:`newsportal.store.store` says what every store promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from newsportal.errors import StoreError
from newsportal.store.dialects import mask_uri

if TYPE_CHECKING:
    from newsportal.store.store import Store

__all__ = ["DESTINATIONS", "STORES", "destination_instead", "open_store"]

STORES = ("sqlite", "postgresql", "mysql", "mariadb")
"""Schemes of a store's URI. The driver is imported when its scheme is asked for, never before."""

DESTINATIONS: dict[str, str] = {
    "mongodb": "MongoDB is a destination of articles, not a store",
    "elasticsearch": "Elasticsearch is a destination of articles and a search index, not a store",
}  # schemes that name no store -> what they are


def destination_instead(uri: str) -> str | None:
    """What to write in sources.yaml instead of a store URI that names a destination; ``None`` for every other URI."""
    scheme = uri.partition(":")[0].partition("+")[0].lower()
    if scheme not in DESTINATIONS:
        return None
    address = mask_uri(uri)
    index = f" and, to search there, `index: {address}`" if scheme == "elasticsearch" else ""
    return (
        f"{DESTINATIONS[scheme]}; write `store: sqlite:///data/newsportal.db` (or postgresql://…, mysql://…) "
        f'and `publish: [{{name: {scheme}, to: "{address}"}}]`{index}'
    )


def open_store(uri: str, *, create: bool = True, unfinished: bool = False) -> Store:
    """The store behind ``uri``, as ``sqlite:///data/news.db`` (relative) or ``sqlite:////srv/news.db`` (absolute).

    A missing database is made, with its folder, unless ``create`` is false. Raises ``StoreError`` for an unknown scheme,
    ``StoreUnavailable`` when the place cannot be used, ``StoreTooNew`` for a database of a later version, ``StoreUnfinished``
    for one that holds a part of a backup, unless ``unfinished`` says that somebody goes on with its restore.
    """
    scheme = uri.partition(":")[0].partition("+")[0].lower()
    if instead := destination_instead(uri):
        raise StoreError(instead)
    if scheme not in STORES:
        raise StoreError(
            f"no store for {scheme or uri!r}; these exist: {', '.join(sorted(STORES))} (for example sqlite:///data/newsportal.db)"
        )
    from newsportal.store.store import Store

    return Store(uri, create=create, unfinished=unfinished)
