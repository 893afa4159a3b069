"""Ranked lists (hot lists, charts): extract entries by JMESPath rules from JSON or CSS, XPath and ``re:`` rules from HTML; known boards."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal
from urllib.parse import urljoin, urlsplit

from newsportal.errors import NotApplicable
from newsportal.extractors import load_yaml
from newsportal.items import Page
from newsportal.text import clean

MAX_TITLE_CHARS: Final = 300
NUMBER: Final = re.compile(r"\d[\d,]*(?:\.\d+)?")
SCALES: Final = {"千": 1e3, "k": 1e3, "万": 1e4, "萬": 1e4, "w": 1e4, "m": 1e6, "亿": 1e8, "億": 1e8}

MAX_RANK: Final = 100_000
MAX_HEAT: Final = 1e15

Format = Literal["json", "html"]


@dataclass(frozen=True, slots=True)
class BoardRules:
    """Rules: ``items`` finds the entries of a page; the others are applied to an entry. Without ``rank`` the page order counts."""

    format: Format
    items: str
    title: str
    link: str
    rank: str | None = None
    heat: str | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """An entry of a board. ``heat``: its popularity as the board gives it, in the board's own unit."""

    title: str
    url: str
    rank: int
    heat: float | None = None


@cache
def presets() -> dict[str, dict[str, str]]:
    """Return the settings of the known boards (``boards.yaml``) by board name, with the keys of a list in ``sources.yaml``."""
    found: dict[str, dict[str, str]] = load_yaml(__package__, "boards.yaml")
    return found


def check_rule(rule: str, format: Format) -> None:
    """Check a rule of the given format. Raises ``ValueError`` if it is invalid."""
    if format == "html":
        from newsportal.extractors.lists import selector  # loaded late: few processes need lxml

        selector.check_rule(rule)
    else:
        _expression(rule)


def _expression(rule: str) -> Any:
    import jmespath  # type: ignore[import-untyped]

    try:
        return jmespath.compile(rule)
    except jmespath.exceptions.JMESPathError as error:
        raise ValueError(f"not a JMESPath expression: {rule!r}") from error


def read_board(page: Page, rules: BoardRules) -> list[BoardEntry]:
    """Return the entries in page order, each URL once. Raises ``NotApplicable`` for a page without entries."""
    found: dict[str, BoardEntry] = {}
    for parts in (_json_entries if rules.format == "json" else _html_entries)(page, rules):
        title, url = clean(parts("title") or "")[:MAX_TITLE_CHARS], _url(page.url, parts("link"))
        if title and url and url not in found:
            rank, heat = parse_number(parts("rank")), parse_number(parts("heat"))
            place = int(rank) if rank is not None and 1 <= rank <= MAX_RANK else len(found) + 1
            found[url] = BoardEntry(title, url, place, heat if heat is not None and heat <= MAX_HEAT else None)
        if len(found) >= rules.limit:
            break
    if not found:
        raise NotApplicable("no-entries", "no item of the list has a title and a link")
    return list(found.values())


FieldReader = Callable[[str], str | None]  # returns a field of an entry by the name of its rule


def _json_entries(page: Page, rules: BoardRules) -> Iterator[FieldReader]:
    from jmespath.exceptions import JMESPathError  # type: ignore[import-untyped]

    from newsportal.text.encoding import decode

    pairs = ((name, getattr(rules, name)) for name in ("title", "link", "rank", "heat"))
    compiled = {name: _expression(rule) for name, rule in pairs if rule}
    try:
        items = _expression(rules.items).search(json.loads(decode(page.body, page.content_type)[0]))
    except (ValueError, RecursionError, JMESPathError) as error:
        raise NotApplicable("no-entries", f"not JSON that the rules can be applied to: {type(error).__name__}") from error

    def part(item: Any, name: str) -> str | None:
        try:
            value = compiled[name].search(item) if name in compiled else None
        except JMESPathError:  # join() of a value that the item lacks
            return None
        return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None

    for item in items if isinstance(items, list) else ():
        yield lambda name, item=item: part(item, name)  # type: ignore[misc]


def _html_entries(page: Page, rules: BoardRules) -> Iterator[FieldReader]:
    from newsportal.extractors.lists import selector
    from newsportal.text import dom

    def part(item: selector.Piece, name: str) -> str | None:
        if not (rule := getattr(rules, name)):
            return None
        found = next(iter(selector.select(item, rule)), None)
        return selector.url_of(found) if name == "link" else selector.text_of(found)

    for item in selector.select_in(dom.document(page), rules.items):
        yield lambda name, item=item: part(item, name)  # type: ignore[misc]


def _url(base: str, href: str | None) -> str | None:
    try:
        url = urljoin(base, (href or "").strip())
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return url if href and parts.scheme in ("http", "https") and parts.hostname and len(url) <= 2000 else None


def parse_number(text: str | None) -> float | None:
    """Return the first number in a text, multiplied by its unit: ``1,204``, ``356 万热度``, ``12.3k``."""
    match = NUMBER.search(text or "")
    if match is None or text is None or len(match[0]) > 20:
        return None
    unit = text[match.end() :].lstrip()[:1].lower()
    return float(match[0].replace(",", "")) * SCALES.get(unit, 1.0)
