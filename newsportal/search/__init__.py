"""Full-text search. Open an index with ``open_index(uri)``; :mod:`newsportal.search.base` lists the guarantees of every index."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from newsportal.errors import SearchError

if TYPE_CHECKING:
    from newsportal.search.base import Index

__all__ = ["INDEXES", "open_index"]

INDEXES: dict[str, str] = {"sqlite": "newsportal.search.sqlite_fts:SqliteIndex", "elasticsearch": "newsportal.search.elastic:ElasticIndex"}
"""Scheme of the URI -> ``module:class``; a driver is imported only when a URI of its scheme is opened."""


def open_index(uri: str) -> Index:
    """Open the index at ``uri``, such as ``sqlite:///data/index.db``; it is created if missing. Raises ``SearchError``."""
    scheme = uri.partition(":")[0].partition("+")[0].lower()
    if scheme not in INDEXES:
        raise SearchError(
            f"unsupported search index: {scheme or uri!r}; supported: {', '.join(sorted(INDEXES))} (for example sqlite:///data/index.db)"
        )
    module, _, name = INDEXES[scheme].partition(":")
    try:
        opened = getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise SearchError(
            f"{error.name} is missing, which an index in {scheme} needs; install it: pip install newsportal[{scheme}]"
        ) from error
    return cast("Index", opened(uri))
