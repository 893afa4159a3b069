"""Pages that several algorithms are measured on, parsed once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache

import pytest

from newsportal.items import Page
from newsportal.text import dom


@contextmanager
def parsed_once() -> Iterator[None]:
    """Let algorithms that read one page after another share its document, as the stages of a crawl do."""
    document, now = dom.document, datetime.now(UTC)

    @lru_cache(maxsize=1)
    def parsed(url: str, body: bytes) -> dom.Document:
        return document(Page(url, body, now))

    with pytest.MonkeyPatch.context() as patch:
        for name in ("newsportal.text.dom.document", "newsportal_lab.evaluate.forum.document"):
            patch.setattr(name, lambda page: parsed(page.url, page.body))
        yield
