"""Full-text search. ``open_index(uri)`` is the way in; :mod:`newsportal.search.base` says what every index promises."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from newsportal.errors import SearchError

if TYPE_CHECKING:
    from newsportal.search.base import Index

__all__ = ["INDEXES", "open_index"]

INDEXES: dict[str, str] = {"sqlite": "newsportal.search.sqlite_fts:SqliteIndex", "elasticsearch": "newsportal.search.elastic:ElasticIndex"}
"""Scheme of the URI -> ``module:class``; the driver is imported when its scheme is asked for."""


def open_index(uri: str) -> Index:
    """The index behind ``uri``, as ``sqlite:///data/index.db``; made if it is missing. Raises ``SearchError``."""
    scheme = uri.partition(":")[0].partition("+")[0].lower()
    if scheme not in INDEXES:
        raise SearchError(
            f"no search index for {scheme or uri!r}; these exist: {', '.join(sorted(INDEXES))} (for example sqlite:///data/index.db)"
        )
    module, _, name = INDEXES[scheme].partition(":")
    try:
        opened = getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise SearchError(
            f"{error.name} is missing, which an index in {scheme} needs; install it: pip install newsportal[{scheme}]"
        ) from error
    return cast("Index", opened(uri))
