"""Values with URLs of pictures in the data of a page: scripts, hidden elements, attributes. No script is run.

    var slides = {"list": […]};     window.__STATE__ = {…}     gallery: JSON.parse("…")     <script type="application/json">
    photos.push({src: "/1.jpg"});   pics[0] = "/1.jpg"; texts[0] = "…";     <textarea hidden>{…}</textarea>     <div data-slides="[…]">

Bytes and attempts are limited, so time is linear in the page's size. :mod:`newsportal.extractors.fields.embedded` finds long texts there.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from newsportal.extractors.fields.embedded import parse_json, unescape_literal
from newsportal.text import dom

MAX_CHARS: Final = 12_000_000  # of one page, read as JSON; no real page has more data
MAX_LITERAL_CHARS: Final = 600_000  # of one page, read as JavaScript literals, which takes fifty times as long
MAX_VALUES: Final = 300  # values that are parsed per page
MAX_SIGNS: Final = 30_000  # possible starts of a value that are checked per page
VALUE_START: Final = re.compile(
    r"(?:[=:(]|\breturn\b)\s*+(?:(?P<parse>(?:\$|jQuery|JSON)\s*+\.\s*+parse(?:JSON)?\s*+\(\s*+(?=[\"']))|new\s++Array\s*+(?=\()|(?=[{\[])|(?P<text>(?=[\"'])))"
)
NAME_BEFORE: Final = re.compile(
    r"(?<![\w$])(?P<name>[\w$]{1,80}+)(?:\s*\[\s*[\"']?(?P<index>\w{1,60})[\"']?\s*\])?(?:\s*\.\s*(?P<field>\w{1,40}))?\s*[\"']?\s*$",
    re.ASCII,
)
MAX_NAME_DISTANCE: Final = 160
IMAGE_FILE: Final = re.compile(r"\.(?:jpe?g|png|webp|avif|gif)\b", re.IGNORECASE)
IMAGE_HINT: Final = re.compile(  # starts with a character class, which makes the search three times as fast
    r"[.ipstIPSTİıſ](?i:(?<=\.)(?:jpe?g|png|webp|avif|gif)\b|(?:(?<=i)(?:mage|mg)|(?<=p)(?:ic|hoto)|(?<=s)rc|(?<=t)humb)[\w-]{0,20}\\?[\"']?\s*:)"
)
MAX_IMAGE_DISTANCE: Final = 6_000  # Characters from a value's start in which a picture must be mentioned for it to be parsed
LINKED_DATA: Final = "ld+json"
DATA_TAGS: Final = ("textarea", "xmp", "pre", "code", "div", "span", "template", "noscript", "p", "input")
IN_ATTRIBUTE: Final = re.compile(r"""=\s*(?:"\s*[\[{]|'\s*[\[{])""")
ATTRIBUTES: Final = ".//@*[starts-with(normalize-space(.), '[') or starts-with(normalize-space(.), '{')]"
DECODER: Final = json.JSONDecoder(strict=False)


class _Budget:
    """The amount of a page that may still be read."""

    def __init__(self) -> None:
        self.json, self.literals, self.values, self.signs = MAX_CHARS, MAX_LITERAL_CHARS, MAX_VALUES, MAX_SIGNS

    @property
    def is_spent(self) -> bool:
        return self.values <= 0 or self.json <= 0


def find_values(document: dom.Document) -> Iterator[tuple[str, Any]]:
    """Yield name and value of data that may contain pictures, in page order, scripts first."""
    budget = _Budget()
    for node in document.root.iter("script"):
        text = node.text or ""
        if text and IMAGE_HINT.search(text):
            kind = (node.get("type") or "").lower()
            if "json" in kind:
                yield from _bare_value(text, LINKED_DATA if LINKED_DATA in kind else node.get("id") or "", budget)
            else:
                yield from _in_script(text, budget)
    if budget.is_spent:
        return
    for node in document.root.iter(*DATA_TAGS):
        text = node.get("value") if node.tag == "input" else node.text
        if text and text.lstrip()[:1] in ("{", "[") and IMAGE_FILE.search(text):
            yield from _bare_value(text, f"{node.get('id') or ''} {node.get('class') or ''} {node.get('name') or ''}", budget)
    if IN_ATTRIBUTE.search(document.html):
        for found in dom.xpath(document.root, ATTRIBUTES)[:MAX_VALUES]:
            if isinstance(found, str) and IMAGE_FILE.search(found):
                yield from _bare_value(found, str(getattr(found, "attrname", "") or ""), budget)


def _bare_value(text: str, name: str, budget: _Budget) -> Iterator[tuple[str, Any]]:
    text = text.strip().removeprefix("<!--").removesuffix("-->").strip()
    if (found := _read(text, 0, budget)) is not None:
        yield name, found[0]


def _in_script(text: str, budget: _Budget) -> Iterator[tuple[str, Any]]:
    """Yield the values of one script; those assembled piece by piece come last, as one object of lists."""
    pieces: dict[str, dict[str, Any]] = {}
    pictures = IMAGE_HINT.finditer(text)
    pictured = next(pictures, None)
    at = 0
    while not budget.is_spent and budget.signs > 0:
        budget.signs -= 1
        sign = VALUE_START.search(text, at)
        if sign is None:
            break
        start, at = sign.span()
        target = (
            NAME_BEFORE.search(text[max(0, start - MAX_NAME_DISTANCE) : start]) if sign["text"] is None or text[start] in "(=" else None
        )
        pushed = target is not None and target["field"] == "push" and text[start] == "("
        placed = target is not None and target["index"] is not None and text[start] == "="
        if sign["text"] is not None and not (pushed or placed):
            continue
        if not (pushed or placed):
            while pictured is not None and pictured.start() < at:
                pictured = next(pictures, None)
            if pictured is None:
                break
            if pictured.start() - at > MAX_IMAGE_DISTANCE:
                continue
        found = _read(text, at, budget)
        if found is None:
            continue
        value, at = found
        name = target["name"] if target is not None else ""
        if pushed or placed:
            _add_piece(pieces.setdefault(name, {}), target, value, pushed)
        elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            pieces.setdefault(name, {str(number): item for number, item in enumerate(value)})
        else:
            yield name, value
    if lists := {name: list(parts.values()) for name, parts in pieces.items()}:
        yield "", lists


def _add_piece(parts: dict[str, Any], target: re.Match[str] | None, value: Any, pushed: bool) -> None:
    """Add a value from ``x.push(value)``, ``x[0] = value`` or ``x[0].src = value``."""
    if pushed or target is None:
        parts[str(len(parts))] = value
    elif target["field"]:
        record = parts.setdefault(target["index"], {})
        if isinstance(record, dict):
            record[target["field"]] = value
    else:
        parts[target["index"]] = value


def _read(text: str, at: int, budget: _Budget) -> tuple[Any, int] | None:
    """Parse the value at ``at``: JSON, else a JavaScript literal; a string that contains JSON is parsed. Return it with its end."""
    budget.values -= 1
    try:
        value, end = DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        budget.json -= max(error.pos - at, 0)
        if budget.literals <= 0:
            return None
        try:
            value, end = parse_literal(text, at, min(len(text), at + budget.literals))
        except NoLiteral as error:
            budget.literals -= max(error.position - at, 0)
            return None
        except RecursionError:
            budget.literals = 0
            return None
        budget.literals -= end - at
        return _parse_nested(value, budget), end
    except (ValueError, RecursionError):
        budget.json -= len(text) - at
        return None
    budget.json -= end - at
    return _parse_nested(value, budget), end


def _parse_nested(value: Any, budget: _Budget) -> Any:
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    budget.json -= len(value)
    found = parse_json(value)
    return value if found is None else found


# JavaScript object literals that are not JSON: any kind of quotes, names without quotes, commas before a bracket, comments.
#     {img: '/1.jpg', note: "…", /* old */ big: "/1b.jpg",}
# Nothing is run: a call, a sum or a function is not a literal. Time is linear in the length of the text.

MAX_DEPTH: Final = 60
TOKEN: Final = re.compile(
    r"(?:\s++|/\*.{0,2000}?\*/|//[^\n]*+\n)*+"
    r"(?:(?P<mark>[{}\[\]:,()])|\"(?P<double>[^\"\\]*+(?:\\.[^\"\\]*+)*+)\"|'(?P<single>[^'\\]*+(?:\\.[^'\\]*+)*+)'"
    r"|`(?P<back>[^`\\$]*+(?:\\.[^`\\$]*+)*+)`|(?P<word>[\w$.+-]++))",
    re.DOTALL,
)
CONSTANTS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None, "undefined": None, "NaN": None}
CLOSING_BRACKETS: Final = {"{": "}", "[": "]", "(": ")"}


class NoLiteral(ValueError):
    """Raised for text that is not a literal. ``position``: where reading stopped; the caller continues after it."""

    def __init__(self, at: int) -> None:
        super().__init__(f"no literal at {at}")
        self.position = at


def _token(text: str, at: int, end: int) -> re.Match[str]:
    match = TOKEN.match(text, at, end)
    if match is None:
        raise NoLiteral(at)
    return match


def parse_literal(text: str, start: int, end: int, depth: int = 0) -> tuple[Any, int]:
    """Parse the literal that begins at ``start`` and ends before ``end``. Return it with its end. Raises :class:`NoLiteral`."""
    match = _token(text, start, end)
    mark = match["mark"]
    if mark in CLOSING_BRACKETS and depth < MAX_DEPTH:
        return (_object if mark == "{" else _list)(text, match.end(), end, depth + 1)
    if mark is not None:
        raise NoLiteral(start)
    return _scalar(match), match.end()


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
        found[unescape_literal(key)], at = parse_literal(text, colon.end(), end, depth)
        at = _after_comma(text, at, end, "}")


def _list(text: str, at: int, end: int, depth: int) -> tuple[Any, int]:
    found: list[Any] = []
    while True:
        match = _token(text, at, end)
        if match["mark"] in ("]", ")"):
            return found, match.end()
        value, at = parse_literal(text, at, end, depth)
        found.append(value)
        at = _after_comma(text, at, end, "])")


def _after_comma(text: str, at: int, end: int, closing: str) -> int:
    """Return where the next value begins, or the closing bracket's position if there is none."""
    match = _token(text, at, end)
    mark = match["mark"]
    if mark is None or (mark != "," and mark not in closing):
        raise NoLiteral(at)
    return match.end() if mark == "," else match.start("mark")


def _scalar(match: re.Match[str]) -> Any:
    for name in ("double", "single", "back"):
        if match[name] is not None:
            return unescape_literal(match[name])
    word = match["word"]
    if word in CONSTANTS:
        return CONSTANTS[word]
    try:
        return float(word) if "." in word else int(word[:20])
    except ValueError:
        raise NoLiteral(match.start()) from None
