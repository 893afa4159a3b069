"""Rows of photo stories as the values they stand for."""

from __future__ import annotations

from newsportal.storage.documents.base import Row
from newsportal.storage.documents.plain import aware
from newsportal.storage.galleries import StoredGallery
from newsportal.storage.galleries_rows import gallery_of


def told(row: Row, identity: str) -> StoredGallery:
    """A row of ``galleries`` with its article's identity."""
    return gallery_of({**aware(row, "visited"), "identity": identity})
