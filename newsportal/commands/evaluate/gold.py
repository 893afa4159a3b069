"""Gold pages: a folder of ``<id>.html`` or ``<id>.html.gz``, beside each ``<id>.json`` that says what the page holds.

Of the description ``text``, ``title``, ``date`` (or ``published``), ``author`` (or ``authors``) and ``source`` are gold, as far as they
are there; ``url`` and ``summary`` are handed to the algorithms.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from newsportal.commands.evaluate.scoring import Answer
from newsportal.commands.pages import SavedPage, saved_pages
from newsportal.errors import NewsportalError


class NoGold(NewsportalError):
    """Raised by :func:`gold_pages` for a folder without a page that has gold. The command says what is expected there and stops."""


@dataclass(frozen=True, slots=True)
class GoldPage:
    """A saved page and what is known of it. ``site`` is its host, or what gold calls its site."""

    saved: SavedPage
    gold: Answer = field(repr=False)
    site: str | None = None

    @property
    def id(self) -> str:
        return self.saved.id


def gold_pages(folder: Path) -> Iterator[GoldPage]:
    """The pages of ``folder`` that have gold, by name, each read when it is asked for. Raises ``NoGold``."""
    if not folder.is_dir():
        raise NoGold(f"{folder} is no folder; gold pages are a folder of <id>.html or <id>.html.gz with <id>.json beside each")
    found = False
    for saved in saved_pages(folder):
        page = _page(folder, saved)
        if page is not None:
            found = True
            yield page
    if not found:
        raise NoGold(f"no page in {folder} has gold beside it: <id>.json with text, title, date, author or source; see docs/evaluation.md")


def gold_page(file: Path) -> GoldPage | None:
    """The page saved in ``file``; ``None`` without gold."""
    return _page(file.parent, next(iter(saved_pages(file))))


def _page(folder: Path, saved: SavedPage) -> GoldPage | None:
    known = _description(folder / f"{saved.id}.json")
    gold = _answer(known)
    if gold == Answer():
        return None
    site = known.get("site")
    if not isinstance(site, str) and saved.url:
        site = _host(saved.url)
    return GoldPage(saved, gold, site if isinstance(site, str) else None)


def _description(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _answer(known: dict[str, Any]) -> Answer:
    return Answer(
        text=_text(known.get("text")),
        title=_text(known.get("title")),
        date=_text(known.get("date") or known.get("published")),
        author=_text(known.get("author") or known.get("authors")),
        source=_text(known.get("source")),
    )


def _text(value: object) -> str | None:
    """A string that says something; a list is its parts, parted by 「;」."""
    if isinstance(value, list):
        value = "; ".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) and value.strip() else None


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
