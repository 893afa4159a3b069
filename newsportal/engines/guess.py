"""Whose result page is this? For saved pages that come without a word about their engine."""

from __future__ import annotations

from datetime import UTC, datetime

from newsportal.dom import Document
from newsportal.engines import ENGINES, Engine, load
from newsportal.extractors.result_list import page_host

UNKNOWN = Engine(name="unknown", url="##QUERY##")  # Nobody's page that we know: the template-free reader reads it
AT_LEAST = 3  # results a wrapper must find to be believed on a page whose host says nothing


def guess(document: Document) -> Engine:
    """The engine whose wrapper reads most of ``document``: among those of its host, or among all if the host says nothing.

    Of equals the first: an engine's news pages often have the layout of its Web pages, seldom the other way round.
    """
    host = page_host(document)
    engines = [load(name) for name in ENGINES]
    own = [engine for engine in engines if any(f".{part}" in f".{host}" for part in engine.hosts)]
    candidates = sorted(own, key=lambda engine: engine.kind == "news") or engines
    found = [(_weight(engine, document), -order, engine) for order, engine in enumerate(candidates)]
    weight, _, engine = max(found, key=lambda one: one[:2])
    return engine if weight > (0 if own else AT_LEAST) else UNKNOWN


def _weight(engine: Engine, document: Document) -> float:
    """Results the wrapper finds; a summary and a site make one count fully, since wide rules find titles anywhere."""
    results = engine.parse(document, datetime.now(UTC)) if engine.parse else []
    return sum(0.4 + 0.3 * bool(result.summary) + 0.3 * bool(result.site) for result in results)
