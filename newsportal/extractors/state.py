"""Texts that a page's scripts hold: its state as JSON, assigned or alone, and long string literals where that is no JSON.

    <script type="application/json"> · <script id="__NEXT_DATA__"> · window.__INITIAL_STATE__ = {...} · JSON.parse("...")
    window.__NUXT__=(function(a,b){return {...}}(...)) · var content = "..."

Nothing is run. Bytes, objects, depth and tries are bounded, so the time is linear in the page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from newsportal import dom
from newsportal.text import WORD

MIN_SCRIPT_CHARS: Final = 150
MAX_SCRIPT_CHARS: Final = 4_000_000
MAX_OBJECTS: Final = 30_000
MAX_DEPTH: Final = 40
MAX_STATES: Final = 20
"""Assignments tried in one script."""

LONG: Final = 120  # characters of a text that may be an article's: the shortest is a paragraph

MAX_LITERAL_CHARS: Final = 500_000
NEAR: Final = 3000
"""Characters around a string literal in which its title and date are looked for."""

ABOVE: Final = 3  # objects above a text that may hold its title: ``article.content.html`` beside ``article.title``

START: Final = re.compile(r"(?:=|:|return)\s*(?=[{\[])|JSON\.parse\(\s*(?=[\"'])")
UNDEFINED: Final = re.compile(r"(?<=[:,\[])\s{0,2}undefined(?=[,}\]])")
_SPAN: Final = f"{{{LONG},{MAX_LITERAL_CHARS}}}"
LITERAL: Final = re.compile(rf'(?<!\\)(?:"((?:[^"\\\n]|\\.){_SPAN})"|\'((?:[^\'\\\n]|\\.){_SPAN})\'|`((?:[^`\\]|\\.){_SPAN})`)')
"""A quote behind a backslash begins none: from each of thousands the rest of the script would be read in vain."""

TITLES: Final = ("title", "headline", "articleTitle", "article_title", "newsTitle", "news_title", "subject", "name")
DATES: Final = (
    "datePublished",
    "publishedAt",
    "published_at",
    "publishTime",
    "publish_time",
    "publishDate",
    "publish_date",
    "pubDate",
    "pub_date",
    "pubtime",
    "newsTime",
    "firstPublished",
    "createTime",
    "create_time",
    "createdAt",
    "created_at",
    "ctime",
    "date",
)
KEYED: Final = re.compile(
    rf"""({"|".join((*TITLES, *DATES))})["']?\s*[:=]\s*"""
    r"""(?:"((?:[^"\\\n]|\\.){4,300})"|'((?:[^'\\\n]|\\.){4,300})'|(\d{10,13}))"""
)
TEXT_KEYS: Final = ("html", "text", "content", "body", "value", "paragraph", "data", "children", "items", "model")


@dataclass(frozen=True, slots=True)
class Held:
    """A text in the state, the titles and dates that stand in its object or those around it, and the name it is kept under."""

    text: str
    titles: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    key: str = ""


def held_texts(document: dom.Document) -> Iterator[Held]:
    """Every long text that the scripts of a page hold."""
    left = MAX_SCRIPT_CHARS
    for node in document.root.iter("script"):
        text, kind = node.text or "", (node.get("type") or "").lower()
        if len(text) < MIN_SCRIPT_CHARS or "ld+json" in kind:
            continue
        text, left = text[:left], left - len(text)
        alone = "json" in kind
        states = [state for state in (_decoded(text.strip()),) if state is not None] if alone else list(_assigned(text))
        for state in states:
            yield from _in_state(state)
        if not states:
            # long string literals, with the titles and dates that are written near them
            for match in LITERAL.finditer(text):
                near = (*_keyed(text, max(0, match.start() - NEAR), match.start()), *_keyed(text, match.end(), match.end() + NEAR))
                named = [(key, unescaped(double or single or number)) for key, double, single, number in near]
                titles = tuple(value for key, value in named if key in TITLES)
                yield Held(unescaped(next(filter(None, match.groups()))), titles, tuple(value for key, value in named if key in DATES))
        if left <= 0:
            return


def _decoded(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _assigned(text: str) -> Iterator[Any]:
    """The JSON values that are assigned, passed on or returned; ``undefined`` counts as null."""
    decoder = json.JSONDecoder(strict=False)
    text = UNDEFINED.sub("null", text) if "undefined" in text else text
    start = tried = 0
    while tried < MAX_STATES:
        match = START.search(text, start)
        if match is None:
            return
        start, tried = match.end(), tried + 1
        state, end = _decode_at(decoder, text, match.end())
        if isinstance(state, str):
            state = _decoded(state)
        if isinstance(state, (dict, list)) and state:
            start = max(end, start)
            yield state


def _decode_at(decoder: json.JSONDecoder, text: str, start: int) -> tuple[Any, int]:
    try:
        return decoder.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start


def _in_state(state: Any) -> Iterator[Held]:
    """A walk in document order; texts that are JSON themselves are opened once more."""
    waiting: list[tuple[Any, str, tuple[Mapping[str, Any], ...], int]] = [(state, "", (), 0)]
    seen = 0
    while waiting and seen < MAX_OBJECTS:
        value, key, owners, depth = waiting.pop()
        seen += 1
        if isinstance(value, str):
            opened = _decoded(value) if depth < MAX_DEPTH and len(value) >= LONG and value[:1] in "{[" else None
            if opened is not None:
                waiting.append((opened, key, owners, depth + 1))
            elif len(value) >= LONG:
                yield Held(value, _named(owners, TITLES), _named(owners, DATES), key)
        elif depth >= MAX_DEPTH:
            continue
        elif isinstance(value, dict):
            within = (value, *owners)[: ABOVE + 1]
            waiting.extend((inner, str(name), within, depth + 1) for name, inner in reversed(value.items()))
        elif isinstance(value, list):
            joined = _joined(value)
            if len(joined) >= LONG:
                yield Held(joined, _named(owners, TITLES), _named(owners, DATES), key)
            waiting.extend((inner, key, owners, depth + 1) for inner in reversed(value))


def _named(owners: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> tuple[str, ...]:
    found = (owner.get(key) for owner in owners for key in keys)
    return tuple(str(value) for value in found if (isinstance(value, str) and value.strip()) or (isinstance(value, int) and value > 10**9))


def _joined(blocks: Sequence[Any]) -> str:
    """A list of paragraphs, as texts or as objects with a text, as one text with a paragraph a line."""
    if len(blocks) < 2:
        return ""
    return "\n".join(filter(None, (_block_text(block, 0) for block in blocks[:2000])))


def _block_text(block: Any, depth: int) -> str:
    if isinstance(block, str):
        return block if " " in block or not block.isascii() else ""
    if depth > 4:
        return ""
    if isinstance(block, dict):
        return next((text for text in (_block_text(block.get(key), depth + 1) for key in TEXT_KEYS) if text), "")
    return "".join(_block_text(inner, depth + 1) for inner in block[:500]) if isinstance(block, list) else ""


def _keyed(text: str, start: int, end: int) -> Iterator[tuple[str | Any, ...]]:
    """Where a name begins is asked after it is found: a pattern that begins with it is searched in a third of the time."""
    return (match.groups() for match in KEYED.finditer(text, start, end) if not WORD.match(text[match.start() - 1 : match.start()]))


ESCAPE: Final = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_SHORT: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "", "f": "", "0": ""}


def unescaped(text: str) -> str:
    """A string literal of JavaScript, read."""
    if "\\" not in text:
        return text

    def meant(match: re.Match[str]) -> str:
        code = match[1] or match[2] or match[3]
        if code is None:
            return _SHORT.get(match[4], match[4])
        return chr(int(code, 16)) if int(code, 16) < 0x110000 else ""

    joined = ESCAPE.sub(meant, text)
    return joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if "\\u" in text else joined
