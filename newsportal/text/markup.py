"""Sanitizing of markup before parsing: removes what would take libxml2 quadratic time, or overflow the stack of its callers.

All functions work on text and bytes in linear time; ordinary pages are unchanged.
"""

import re
from itertools import islice

import numpy as np
from numpy.typing import NDArray

BREAKING_TAGS = frozenset(
    "address article aside blockquote br caption center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 "
    "header hr li main nav ol p pre section table td th tr ul".split()
)
"""Elements that end a line."""

MAX_DEPTH = 1000  # deeper markup is flattened before parsing: libxml2 stops at 2,048 levels, and real pages have fewer than 100
MAX_TAGS = 50_000
"""Pages with more are refused: a few packed bytes each become elements of some 300 bytes. Of 2,259 real pages the largest has 21,646."""

MAX_ALL_ATTRIBUTES = 150_000
"""Pages with more are refused: two bytes each, they become nodes of some 200 bytes. Three times the maximum number of tags."""

LONG_TAG = 4_000  # length from which a tag's attributes are counted
MAX_ATTRIBUTES = 500  # further attributes of a tag are cut: libxml2's time is quadratic in their number (a million: hours)
LESS_THAN, GREATER_THAN, SLASH = b"<>/"
CASE_BIT = 0x20  # the bit missing in capitals
Places = NDArray[np.intp]


def bounded_html(html: str) -> bytes:
    """Return ``html`` as UTF-8 that can be parsed in linear time, without NUL."""
    data = html.encode("utf-8", "replace").replace(b"\x00", b"")
    codes = np.frombuffer(data, dtype=np.uint8)
    marks = np.flatnonzero((codes | 2) == GREATER_THAN)  # ``<`` is ``>`` without that bit
    opens = codes[marks] == LESS_THAN
    tags = marks[opens]
    if len(tags) > MAX_TAGS and len(elements := tags[_make_elements(codes, tags)]) > MAX_TAGS:
        return bounded_html(data[: int(elements[MAX_TAGS])].decode("utf-8", "replace"))
    deep = _may_be_deep(codes, tags)
    hidden = _may_hide_attributes(data, marks)
    data = _with_fewer_attributes(data, marks, opens)
    data = _WHOLE_TAG.sub(_cut_attributes, data) if hidden else data
    if deep:
        text = data.decode("utf-8", "replace")
        data = _flattened(text).encode("utf-8", "replace") if _depth_bound(text) > MAX_DEPTH else data
    return data


_ATTRIBUTE = re.compile(rb"""[^\s"'=/>]+(?:\s*=\s*(?:"[^"]*(?:"|$)|'[^']*(?:'|$)|[^\s"'>]+))?|["']""")

_WORDS_OF_TAG = re.compile(r"""<[a-zA-Z](?:[^=>]++|=\s*+(?:"[^"]*+"|'[^']*+')?)*+""")
_WORD = re.compile(r"""[\s/"'][^\s/"'=>]""")
_PARTING = b" \n\t\r\f/\"'"  # possible separators of attributes


def _make_elements(codes: NDArray[np.uint8], tags: Places) -> NDArray[np.bool_]:
    """Return a mask of the tags that create an element: start tags, and ``</p>`` and ``</br>``, which create one if none is open."""
    after, second = (codes[np.minimum(tags + place, len(codes) - 1)] for place in (1, 2))
    letter = after | CASE_BIT
    closes = (after == SLASH) & np.isin(second | CASE_BIT, np.frombuffer(b"pb", dtype=np.uint8))
    mask: NDArray[np.bool_] = ((letter >= ord("a")) & (letter <= ord("z"))) | closes
    return mask


def count_attributes(html: str) -> int:
    """Return an upper bound for the number of attributes created, without scripts; 0 if counting separators shows that they are few."""
    data = html.encode("utf-8", "replace")
    if len(data) - len(data.translate(None, _PARTING)) <= MAX_ALL_ATTRIBUTES:
        return 0
    first, *others = re.split("(?i)<script", html)
    visible = (first, *(re.split("(?i)</script", part, maxsplit=1)[-1] for part in others))
    tags = (tag[0] for part in visible for tag in _WORDS_OF_TAG.finditer(part))
    return sum(sum(1 for _ in islice(_WORD.finditer(tag), MAX_ATTRIBUTES)) if tag[LONG_TAG:] else len(_WORD.findall(tag)) for tag in tags)


MANY_SEPARATORS = 5_000
"""Number of separators in a stretch without marks from which quotes are checked for hidden marks, which takes 0.1 s."""

_WHOLE_TAG = re.compile(
    rb"""(?P<raw><(?:script|style)\b(?:[^<]++|<(?!/(?:script|style)))*+</(?:script|style))|<[a-zA-Z](?:[^=>]++|=\s*+(?:"[^"]*+"|'[^']*+')?)*+>?""",
    re.IGNORECASE,
)
"""A quote starts a value only after an equals sign, as in HTML; elsewhere it is a mistake."""

BLANKS = (b" ", b"\n", b"\t", b"\r", b"\f", b"/")


def _may_hide_attributes(data: bytes, marks: Places) -> bool:
    """Return whether many words lie between two marks: a tag with a mark in quotes (``<a b="<" x0 x1 …>``), or just text."""
    ends = np.append(marks[1:], len(data))
    long = np.flatnonzero(ends[: len(marks)] - marks > MANY_SEPARATORS)
    stretches = ((int(marks[number]), int(ends[number])) for number in long)
    return any(sum(data.count(blank, *stretch) for blank in BLANKS) > MANY_SEPARATORS for stretch in stretches)


def _cut_attributes(tag: re.Match[bytes]) -> bytes:
    if tag["raw"] is not None or len(tag[0]) <= LONG_TAG:
        return tag[0]
    cuts = list(islice(_ATTRIBUTE.finditer(tag[0]), MANY_SEPARATORS))
    return tag[0] if len(cuts) < MANY_SEPARATORS else tag[0][: cuts[MAX_ATTRIBUTES].start()] + b">"


def _with_fewer_attributes(data: bytes, marks: Places, opens: NDArray[np.bool_]) -> bytes:
    """Limit each long tag in ``data`` to ``MAX_ATTRIBUTES``. ``marks``: positions of all ``<`` and ``>``; ``opens``: mask of ``<``."""
    ends = np.append(marks[1:], len(data))
    parts, start = [], 0
    for number in np.flatnonzero(opens & (ends[: len(marks)] - marks > LONG_TAG)):
        place, end = int(marks[number]), int(ends[number])
        attributes = _ATTRIBUTE.finditer(data, place, end) if data[place + 1 : place + 2].isalpha() else iter(())
        if (first_cut := next(islice(attributes, MAX_ATTRIBUTES + 1, None), None)) is not None:
            parts.append(data[start : first_cut.start()])
            start = end
    return b"".join((*parts, data[start:])) if parts else data


_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_RAW = frozenset(("script", "style", "textarea", "title"))
_CLOSED_BY_NEXT = frozenset("p li dt dd tr td th option tbody thead tfoot colgroup".split())
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]{0,40})[^<>]*>")
_FLAT = "|".join(_VOID | _RAW | _CLOSED_BY_NEXT)
_NESTING_TAG = re.compile(rf"<(/?)(?!(?:{_FLAT})(?![a-z0-9:-]))[a-z][^<>]*>", re.IGNORECASE | re.ASCII)


def _may_be_deep(codes: NDArray[np.uint8], tags: Places) -> bool:
    """Check: ``<`` before a letter opens, ``</`` closes (a wrong one hides a level; libxml2's limit bounds that). ``tags``: all ``<``."""
    after = codes[np.minimum(tags + 1, len(codes) - 1)]
    letter = after | CASE_BIT
    opened = (letter >= ord("a")) & (letter <= ord("z"))
    return _deepest(opened.astype(np.int64) - (after == SLASH)) > MAX_DEPTH


def _deepest(steps: NDArray[np.int64]) -> int:
    """Return the maximum depth of ``steps`` of 1 (down) and -1 (up, or nothing at the top)."""
    depth = np.cumsum(steps)
    return int((depth - np.minimum(np.minimum.accumulate(depth), 0)).max(initial=0))


def _depth_bound(text: str) -> int:
    """Return the maximum depth of the tree by its tags, except those that end at the next one of their kind."""
    return _deepest(np.array([-1 if slash else 1 for slash in _NESTING_TAG.findall(text)], dtype=np.int64))


def _flattened(text: str) -> str:
    """Remove the tags beyond ``MAX_DEPTH``; those that break lines become ``<br>``."""
    depth = 0

    def balanced(match: re.Match[str]) -> str:
        nonlocal depth
        name = match[2].lower()
        if name in _VOID or name in _RAW:
            return match[0]
        if match[1]:
            depth = max(depth - 1, 0)
            return match[0] if depth < MAX_DEPTH else ""
        depth += 1
        if depth <= MAX_DEPTH:
            return match[0]
        return "<br>" if name in BREAKING_TAGS else ""

    return _TAG.sub(balanced, text)
