"""Notes of a crawl's report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SENTENCES: Final[Mapping[str, str]] = {
    "note.state": "is “%(after)s” now (was “%(before)s”): %(why)s",
    "note.state-again": "is “%(after)s” again (was “%(before)s”)",
}
