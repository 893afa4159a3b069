"""Search engines: one file each, named here. Adding one is one file and one line."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from newsportal.engines.base import Engine, Result, ResultPage

__all__ = ["ENGINES", "Engine", "Result", "ResultPage", "load", "names"]

ENGINES = {
    "baidu_news": "baidu_news",
    "baidu_web": "baidu_web",
    "so360_news": "so360_news",
    "so360_web": "so360_web",
    "sogou_news": "sogou_news",
    "sogou_web": "sogou_web",
    "bing_news": "bing_news",
    "bing_web": "bing_web",
    "google_news": "google_news",
    "google_news_rss": "google_news_rss",
    "google_web": "google_web",
    "duckduckgo_web": "duckduckgo_web",
    "yahoo_news": "yahoo_news",
    "yahoo_web": "yahoo_web",
}
"""Name in ``sources.yaml`` → module of this package with an ``ENGINE``, imported when it is asked for."""


def names() -> tuple[str, ...]:
    """The names of all engines, as ``sources.yaml`` and ``--engine`` take them."""
    return tuple(ENGINES)


@cache
def load(name: str) -> Engine:
    """The engine called ``name``. Raises ``KeyError`` for an unknown one; the caller knows whom to tell."""
    engine: Engine = import_module(f"{__name__}.{ENGINES[name]}").ENGINE
    return engine
