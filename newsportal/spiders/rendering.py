"""What spiders say of sources whose pages are rendered: that there is no browser, and what it took."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from newsportal.handlers import render_notes
from newsportal.messages import as_text
from newsportal.rendering import missing

if TYPE_CHECKING:
    from newsportal.frontier.ledger import Ledger

logger = logging.getLogger(__name__)


def unshowable(ledger: Ledger, source: Any) -> bool:
    """Whether the source's pages need a browser and there is none: it is told of at once, and the other sources go on."""
    lack = missing(ledger.sources.rendering.browser) if getattr(source, "render", False) else None
    if lack:
        logger.error("%s is not visited, its pages are to be rendered: %s", source.key, lack)
        ledger.list_failed(source.key, "no-browser", lack)
        ledger.note(source.key, as_text(lack))
    return lack is not None


def tell(ledger: Ledger, stats: Mapping[str, Any], sources: Iterable[str]) -> None:
    """At the end: how much was rendered, in the report's notes."""
    for source in sources:
        for said in render_notes(stats, source):
            ledger.note(source, said)
