"""Whose result page is this? For saved pages that come without a word about their engine."""

from __future__ import annotations

from datetime import UTC, datetime

from newsportal.dom import Document
from newsportal.engines import ENGINES, Engine, load
from newsportal.extractors.result_list import page_host

UNKNOWN = Engine(name="unknown", url="##QUERY##")  # Nobody's page that we know: the template-free reader reads it

HOSTS = {
    "baidu.com": ("baidu_web", "baidu_news"),
    "so.com": ("so360_web", "so360_news"),
    "haosou.com": ("so360_web", "so360_news"),
    "sogou.com": ("sogou_web", "sogou_news"),
    "bing.com": ("bing_web", "bing_news"),
    "google.": ("google_web", "google_news"),
    "duckduckgo.com": ("duckduckgo_web",),
    "yahoo.": ("yahoo_web", "yahoo_news"),
}
"""A part of the page's host → engines it may be of."""

AT_LEAST = 3  # results a wrapper must find to be believed on a page whose host says nothing


def guess(document: Document) -> Engine:
    """The engine whose wrapper reads most of ``document``: among those of its host, or among all if the host says nothing.

    Of equals the first: an engine's news pages often have the layout of its Web pages, seldom the other way round.
    """
    host = page_host(document)
    candidates = next((names for part, names in HOSTS.items() if f".{part}" in f".{host}"), tuple(ENGINES))
    found = [(_weight(load(name), document), -order, name) for order, name in enumerate(candidates)]
    weight, _, name = max(found)
    least = AT_LEAST if len(candidates) == len(ENGINES) else 0
    return load(name) if weight > least else UNKNOWN


def _weight(engine: Engine, document: Document) -> float:
    """Results the wrapper finds; a summary and a site make one count fully, since wide rules find titles anywhere."""
    results = engine.parse(document, datetime.now(UTC)) if engine.parse else []
    return sum(0.4 + 0.3 * bool(result.summary) + 0.3 * bool(result.site) for result in results)
