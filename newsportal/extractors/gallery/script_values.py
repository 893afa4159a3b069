"""Values that hold addresses of pictures, wherever a page keeps data: scripts, hidden elements, attributes. Nothing is run.

    var slides = {"list": […]};     window.__STATE__ = {…}     gallery: JSON.parse("…")     <script type="application/json">
    photos.push({src: "/1.jpg"});   pics[0] = "/1.jpg"; texts[0] = "…";     <textarea hidden>{…}</textarea>     <div data-slides="[…]">

Bytes and tries are bounded, so the time is linear in the page. :mod:`newsportal.extractors.fields.embedded` looks there for long texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from newsportal.extractors.fields.embedded import decoded, unescaped
from newsportal.text import dom

MAX_CHARS: Final = 12_000_000  # of one page, read as JSON; a page with more data than this is no page
MAX_LITERAL_CHARS: Final = 600_000  # of one page, read as JavaScript literals, which takes fifty times as long
MAX_VALUES: Final = 300  # values that are tried in one page
MAX_SIGNS: Final = 30_000  # places where a value may begin that are looked at in one page
SIGN: Final = re.compile(
    r"(?:[=:(]|\breturn\b)\s*+(?:(?P<parse>(?:\$|jQuery|JSON)\s*+\.\s*+parse(?:JSON)?\s*+\(\s*+(?=[\"']))|new\s++Array\s*+(?=\()|(?=[{\[])|(?P<text>(?=[\"'])))"
)
BEFORE: Final = re.compile(
    r"(?<![\w$])(?P<name>[\w$]{1,80}+)(?:\s*\[\s*[\"']?(?P<index>\w{1,60})[\"']?\s*\])?(?:\s*\.\s*(?P<field>\w{1,40}))?\s*[\"']?\s*$",
    re.ASCII,
)
NEAR_BEFORE: Final = 160
PICTURED: Final = re.compile(r"\.(?:jpe?g|png|webp|avif|gif)\b", re.IGNORECASE)
MAYBE_PICTURED: Final = re.compile(
    r"\.(?:jpe?g|png|webp|avif|gif)\b|(?:image|img|pic|photo|src|thumb)[\w-]{0,20}\\?[\"']?\s*:", re.IGNORECASE
)
NEAR: Final = 6_000  # Characters of a value in which a picture must be named for it to be read at all
LINKED_DATA: Final = "ld+json"
HOLDERS: Final = ("textarea", "xmp", "pre", "code", "div", "span", "template", "noscript", "p", "input")
IN_ATTRIBUTE: Final = re.compile(r"""=\s*(?:"\s*[\[{]|'\s*[\[{])""")
ATTRIBUTES: Final = ".//@*[starts-with(normalize-space(.), '[') or starts-with(normalize-space(.), '{')]"
DECODER: Final = json.JSONDecoder(strict=False)


class _Budget:
    """How much may still be read of a page."""

    def __init__(self) -> None:
        self.json, self.literals, self.values, self.signs = MAX_CHARS, MAX_LITERAL_CHARS, MAX_VALUES, MAX_SIGNS

    @property
    def spent(self) -> bool:
        return self.values <= 0 or self.json <= 0


def values(document: dom.Document) -> Iterator[tuple[str, Any]]:
    """Name and value of what may hold pictures, in page order, scripts first."""
    budget = _Budget()
    for node in document.root.iter("script"):
        text = node.text or ""
        if text and MAYBE_PICTURED.search(text):
            kind = (node.get("type") or "").lower()
            if "json" in kind:
                yield from _bare_value(text, LINKED_DATA if LINKED_DATA in kind else node.get("id") or "", budget)
            else:
                yield from _in_script(text, budget)
    if budget.spent:
        return
    for node in document.root.iter(*HOLDERS):
        text = node.get("value") if node.tag == "input" else node.text
        if text and text.lstrip()[:1] in ("{", "[") and PICTURED.search(text):
            yield from _bare_value(text, f"{node.get('id') or ''} {node.get('class') or ''} {node.get('name') or ''}", budget)
    if IN_ATTRIBUTE.search(document.html):
        for found in dom.xpath(document.root, ATTRIBUTES)[:MAX_VALUES]:
            if isinstance(found, str) and PICTURED.search(found):
                yield from _bare_value(found, str(getattr(found, "attrname", "") or ""), budget)


def _bare_value(text: str, name: str, budget: _Budget) -> Iterator[tuple[str, Any]]:
    text = text.strip().removeprefix("<!--").removesuffix("-->").strip()
    if (found := _read(text, 0, budget)) is not None:
        yield name, found[0]


def _in_script(text: str, budget: _Budget) -> Iterator[tuple[str, Any]]:
    """The values of one script; those that are put together piece by piece come last, as one object of lists."""
    pieces: dict[str, dict[str, Any]] = {}
    pictures = MAYBE_PICTURED.finditer(text)
    pictured = next(pictures, None)
    at = 0
    while not budget.spent and budget.signs > 0:
        budget.signs -= 1
        sign = SIGN.search(text, at)
        if sign is None:
            break
        at = sign.end()
        named = BEFORE.search(text[max(0, sign.start() - NEAR_BEFORE) : sign.start()])
        pushed = named is not None and named["field"] == "push" and text[sign.start()] == "("
        placed = named is not None and named["index"] is not None and text[sign.start()] == "="
        if sign["text"] is not None and not (pushed or placed):
            continue
        if not (pushed or placed):
            while pictured is not None and pictured.start() < at:
                pictured = next(pictures, None)
            if pictured is None:
                break
            if pictured.start() - at > NEAR:
                continue
        found = _read(text, at, budget)
        if found is None:
            continue
        value, at = found
        name = named["name"] if named is not None else ""
        if pushed or placed:
            _place(pieces.setdefault(name, {}), named, value, pushed)
        elif isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            pieces.setdefault(name, {str(number): one for number, one in enumerate(value)})
        else:
            yield name, value
    if lists := {name: list(held.values()) for name, held in pieces.items()}:
        yield "", lists


def _place(held: dict[str, Any], named: re.Match[str] | None, value: Any, pushed: bool) -> None:
    """``x.push(value)``, ``x[0] = value``, ``x[0].src = value``."""
    if pushed or named is None:
        held[str(len(held))] = value
    elif named["field"]:
        record = held.setdefault(named["index"], {})
        if isinstance(record, dict):
            record[named["field"]] = value
    else:
        held[named["index"]] = value


def _read(text: str, at: int, budget: _Budget) -> tuple[Any, int] | None:
    """The value at ``at`` and where it ends: JSON, else a literal; a text that is JSON itself is opened."""
    budget.values -= 1
    try:
        value, end = DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        budget.json -= max(error.pos - at, 0)
        if budget.literals <= 0:
            return None
        try:
            value, end = literal(text, at, min(len(text), at + budget.literals))
        except NoLiteral as error:
            budget.literals -= max(error.at - at, 0)
            return None
        except RecursionError:
            budget.literals = 0
            return None
        budget.literals -= end - at
        return _opened(value, budget), end
    except (ValueError, RecursionError):
        budget.json -= len(text) - at
        return None
    budget.json -= end - at
    return _opened(value, budget), end


def _opened(value: Any, budget: _Budget) -> Any:
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    budget.json -= len(value)
    found = decoded(value)
    return value if found is None else found


# Object literals of JavaScript that are no JSON: quotes of any kind, names without quotes, commas before a bracket, comments.
#     {img: '/1.jpg', note: "…", /* old */ big: "/1b.jpg",}
# Nothing is run: a call, a sum or a function is no literal. The time is linear in the text.

MAX_DEPTH: Final = 60
TOKEN: Final = re.compile(
    r"(?:\s++|/\*.{0,2000}?\*/|//[^\n]*+\n)*+"
    r"(?:(?P<mark>[{}\[\]:,()])|\"(?P<double>[^\"\\]*+(?:\\.[^\"\\]*+)*+)\"|'(?P<single>[^'\\]*+(?:\\.[^'\\]*+)*+)'"
    r"|`(?P<back>[^`\\$]*+(?:\\.[^`\\$]*+)*+)`|(?P<word>[\w$.+-]++))",
    re.DOTALL,
)
CONSTANTS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None, "undefined": None, "NaN": None}
OPEN: Final = {"{": "}", "[": "]", "(": ")"}


class NoLiteral(ValueError):
    """Raised for text that is no literal; ``at`` is how far it was read. The caller goes on behind it."""

    def __init__(self, at: int) -> None:
        super().__init__(f"no literal at {at}")
        self.at = at


def _token(text: str, at: int, end: int) -> re.Match[str]:
    match = TOKEN.match(text, at, end)
    if match is None:
        raise NoLiteral(at)
    return match


def literal(text: str, start: int, end: int, depth: int = 0) -> tuple[Any, int]:
    """The literal that begins at ``start`` and ends before ``end``, and where it ends. Raises :class:`NoLiteral`."""
    match = _token(text, start, end)
    mark = match["mark"]
    if mark in OPEN and depth < MAX_DEPTH:
        return (_object if mark == "{" else _list)(text, match.end(), end, depth + 1)
    if mark is not None:
        raise NoLiteral(start)
    return _plain(match), match.end()


def _object(text: str, at: int, end: int, depth: int) -> tuple[Any, int]:
    found: dict[str, Any] = {}
    while True:
        match = _token(text, at, end)
        if match["mark"] == "}":
            return found, match.end()
        key = next((match[name] for name in ("double", "single", "word") if match[name] is not None), None)
        colon = _token(text, match.end(), end)
        if key is None or colon["mark"] != ":":
            raise NoLiteral(at)
        found[unescaped(key)], at = literal(text, colon.end(), end, depth)
        at = _behind_comma(text, at, end, "}")


def _list(text: str, at: int, end: int, depth: int) -> tuple[Any, int]:
    found: list[Any] = []
    while True:
        match = _token(text, at, end)
        if match["mark"] in ("]", ")"):
            return found, match.end()
        value, at = literal(text, at, end, depth)
        found.append(value)
        at = _behind_comma(text, at, end, "])")


def _behind_comma(text: str, at: int, end: int, closing: str) -> int:
    """Where the next value begins; at the bracket where there is none."""
    match = _token(text, at, end)
    mark = match["mark"]
    if mark is None or (mark != "," and mark not in closing):
        raise NoLiteral(at)
    return match.end() if mark == "," else match.start("mark")


def _plain(match: re.Match[str]) -> Any:
    for name in ("double", "single", "back"):
        if match[name] is not None:
            return unescaped(match[name])
    word = match["word"]
    if word in CONSTANTS:
        return CONSTANTS[word]
    try:
        return float(word) if "." in word else int(word[:20])
    except ValueError:
        raise NoLiteral(match.start()) from None
