"""Search engines: one file each with URLs, wrappers, hosts and walls. Adding one is one file and one line in ``ENGINES``."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from newsportal.extractors.lists.engines.base import Engine, Result, ResultPage, Wall

__all__ = ["ENGINES", "Engine", "Result", "ResultPage", "load", "names", "walls"]
ENGINES = {
    **dict.fromkeys(("baidu_news", "baidu_web"), "baidu"),
    **dict.fromkeys(("so360_news", "so360_web"), "so360"),
    **dict.fromkeys(("sogou_news", "sogou_web"), "sogou"),
    **dict.fromkeys(("bing_news", "bing_web"), "bing"),
    **dict.fromkeys(("google_news", "google_news_rss", "google_web"), "google"),
    "duckduckgo_web": "duckduckgo",
    **dict.fromkeys(("yahoo_news", "yahoo_web"), "yahoo"),
}  # Name in ``sources.yaml`` → module of this package with ``ENGINES`` and ``WALLS``, imported when it is needed


def names() -> tuple[str, ...]:
    return tuple(ENGINES)


@cache
def load(name: str) -> Engine:
    """Return the engine called ``name``. Raises ``KeyError`` for an unknown one."""
    engines: tuple[Engine, ...] = import_module(f"{__name__}.{ENGINES[name]}").ENGINES
    return next(engine for engine in engines if engine.name == name)


@cache
def walls() -> tuple[Wall, ...]:
    """Return what all engines answer instead of results."""
    modules = dict.fromkeys(ENGINES.values())
    return tuple(wall for module in modules for wall in import_module(f"{__name__}.{module}").WALLS)
