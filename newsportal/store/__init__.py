"""The database of record. Open it with ``open_store(uri)``; :mod:`newsportal.store.store` lists the guarantees of every store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from newsportal.errors import StoreError
from newsportal.store.dialects import mask_uri

if TYPE_CHECKING:
    from newsportal.store.store import Store

__all__ = ["DESTINATIONS", "STORES", "destination_instead", "open_store"]

STORES = ("sqlite", "postgresql", "mysql", "mariadb")
"""Schemes of store URIs. A driver is imported only when a URI of its scheme is opened."""

DESTINATIONS: dict[str, str] = {
    "mongodb": "MongoDB is a destination of articles, not a store",
    "elasticsearch": "Elasticsearch is a destination of articles and a search index, not a store",
}  # schemes of databases that are not stores -> explanation


def destination_instead(uri: str) -> str | None:
    """Return what to write in sources.yaml instead of a store URI that names a destination, or ``None`` for any other URI."""
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
    """Open the store at ``uri``, such as ``sqlite:///data/news.db`` (relative) or ``sqlite:////srv/news.db`` (absolute).

    A missing database and its folder are created unless ``create`` is false. Raises ``StoreError`` for an unknown scheme,
    ``StoreUnavailable`` if the database cannot be used, ``StoreTooNew`` if a later version wrote it, ``StoreUnfinished`` if it holds a
    partly restored backup, unless ``unfinished`` allows that to resume the restore.
    """
    scheme = uri.partition(":")[0].partition("+")[0].lower()
    if instead := destination_instead(uri):
        raise StoreError(instead)
    if scheme not in STORES:
        raise StoreError(
            f"no store for {scheme or uri!r}; supported: {', '.join(sorted(STORES))} (for example sqlite:///data/newsportal.db)"
        )
    from newsportal.store.store import Store

    return Store(uri, create=create, unfinished=unfinished)
