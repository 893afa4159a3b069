"""The way in: ``open_documents(uri, tables)``."""

from __future__ import annotations

from collections.abc import Sequence

from newsportal.errors import StoreError
from newsportal.storage.documents.backend import Backend
from newsportal.storage.documents.base import Documents, Table
from newsportal.storage.documents.transactions import Transactions


def open_documents(uri: str, tables: Sequence[Table], *, create: bool = True) -> Documents:
    """The database of documents behind ``uri``, with these tables (those of :mod:`pieces` among them, if pieces are used).

    Raises ``StoreUnavailable`` if it is away, or missing and not to be made.
    """
    backend = backend_of(uri)
    return Transactions(backend, tables)


def backend_of(uri: str) -> Backend:
    """The backend behind ``uri``; its driver is loaded."""
    scheme = uri.partition(":")[0].partition("+")[0].lower()
    if scheme == "mongodb":
        from newsportal.storage.documents.mongo import MongoBackend

        return MongoBackend(uri)
    if scheme == "elasticsearch":
        from newsportal.storage.documents.elastic import ElasticBackend

        return ElasticBackend(uri)
    raise StoreError(f"no database of documents for {scheme!r}")
