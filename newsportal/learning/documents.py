"""A labelled document as plain values: what an export has, and what brings it back."""

from __future__ import annotations

from typing import Any

from newsportal.store.labels import Document
from newsportal.text import clean


def plain(document: Document, excerpt: int | None = None) -> dict[str, Any]:
    """A document as values of JSON (moments as they are); what it has not is left out. ``excerpt``: characters of its text."""
    text = document.text if excerpt is None else clean(document.text[: 4 * excerpt])[:excerpt]
    values = {
        "id": document.id, "name": document.name, "title": document.title or None, "text": text, "label": document.label.label,
        "source": document.label.source, "by": document.label.by, "at": document.label.at, "site": document.site,
    }  # fmt: skip
    return {key: value for key, value in values.items() if value is not None}
