"""How a site names the further pages of a story (paper C, 2.2.1, way 1): ``{id}_{n}.html``, counted up to a limit.

A pattern is the end of an address, or a whole one, with places in braces:

=================  =================================================================================
``{id}``           what all pages of a story share: anything but ``/ ? # &``
``{n}``, ``{nn}``  the page's number; ``{nn}`` has two digits at least
``{a}``            the page's letter: a, b, c …
``{n-1}``          the number counts from 0: page 2 of ``{id}.html`` is ``{id}_1.html``; so ``{a-1}``
=================  =================================================================================

The first page may lack the mark: ``123.html`` goes with ``{id}_{n}.html``, ``123/`` with ``{n}.html``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase
from typing import Final

MAX_PAGES: Final = 200  # of one story; the paper gives no figure, and the longest stories known have below 200
PLACE: Final = re.compile(r"\{(id|n{1,4}|a)(-1)?\}")
# The mark with what parts it from the name: the first page often has neither.
LEFT_OUT: Final = re.compile(r"(?:[?&][\w\[\]-]+=|/(?:pages?/|p)?|[_\-,.]{0,2}(?:pages?|p)?[_\-]?)\{(?:n{1,4}|a)(?:-1)?\}")
MAX_URL_CHARS: Final = 2_048


@dataclass(frozen=True, slots=True)
class Pattern:
    """``marked`` reads an address with a mark, ``bare`` the first page's without one. ``shift``: what the mark lacks to the number."""

    marked: re.Pattern[str]
    bare: re.Pattern[str] | None
    letters: bool
    shift: int
    digits: int
    text: str

    def number(self, url: str) -> int | None:
        """Which page of its story ``url`` is, from 1; ``None`` for an address that is named otherwise."""
        if len(url) > MAX_URL_CHARS:
            return None
        match = self._marked(url)
        if match:
            mark = match["mark"].lower()
            return (ascii_lowercase.index(mark) + 1 if self.letters else int(mark)) + self.shift or None
        return 1 if self.bare is not None and self.bare.match(url) else None

    def address(self, url: str, number: int) -> str | None:
        """The address of page ``number`` of the story that ``url`` is a page of; for page 1 only where ``url`` has a mark as well."""
        if len(url) > MAX_URL_CHARS or number < 1:
            return None
        match = self._marked(url) or (self.bare.match(url) if self.bare is not None and number > 1 else None)
        count = number - self.shift
        if match is None or (self.letters and not 1 <= count <= len(ascii_lowercase)):
            return None
        mark = ascii_lowercase[count - 1] if self.letters else str(count).zfill(self.digits)
        found = match.groupdict()
        parts = (mark if place[1] != "id" else found.get("id") or "" for place in PLACE.finditer(self.text))
        fixed = PLACE.split(self.text)[::3]
        return found["head"] + "".join(text + part for text, part in zip(fixed, (*parts, ""), strict=True))

    def _marked(self, url: str) -> re.Match[str] | None:
        """Larger numbers than stories have pages, and those with zeros in front, are part of a name: ``2024_0305.html``."""
        match = self.marked.match(url)
        if match is None or self.letters:
            return match
        mark = match["mark"]
        return match if int(mark) <= MAX_PAGES and len(mark) == max(self.digits, len(str(int(mark)))) else None


@lru_cache(maxsize=256)
def parse(text: str) -> Pattern:
    """Raises ``ValueError``, with the reason in words, for a text that is no pattern."""
    places = list(PLACE.finditer(text))
    marks = [place for place in places if place[1] != "id"]
    if len(marks) != 1:
        raise ValueError(f"{text!r} has {len(marks)} places for the page; it needs exactly one {{n}} or {{a}}")
    if len(places) > len(marks) + 1:
        raise ValueError(f"{text!r} has several {{id}}; one is enough")
    if re.search(r"[{}]", PLACE.sub("", text)):
        raise ValueError(f"{text!r} has braces that mean nothing; allowed are {{id}}, {{n}}, {{nn}}, {{a}}, {{n-1}} and {{a-1}}")
    mark = marks[0]
    letters = mark[1] == "a"
    # how the first page is named without its mark
    left = LEFT_OUT.sub("", text, count=1) if mark.start() else ""
    if "?" in text and "?" not in left and "&" in left:
        left = left.replace("&", "?", 1)
    bare = _expression(left, letters=False) + ("$" if mark.start() else r"(?:(?:index|default)\.\w+)?$")
    return Pattern(
        marked=re.compile(_expression(text, letters)),
        bare=re.compile(bare),
        letters=letters,
        shift=1 if mark[2] else 0,
        digits=len(mark[1]),
        text=text,
    )


def _expression(text: str, letters: bool) -> str:
    mark = r"(?P<mark>(?<![a-zA-Z])[a-zA-Z])(?![a-zA-Z])" if letters else r"(?P<mark>(?<!\d)\d{1,4})(?!\d)"
    head = (
        "(?P<head>)"
        if text.startswith(("http://", "https://"))
        else r"(?P<head>https?://[^?#]*?%s)" % ("" if text[:1] in "/?" and text else "/")
    )
    expression, end = "", 0
    for place in PLACE.finditer(text):
        expression += re.escape(text[end : place.start()])
        expression += r"(?P<id>[^/?#&]+?)" if place[1] == "id" else mark
        end = place.end()
    if text:
        return rf"^{head}{expression}{re.escape(text[end:])}" + ("$" if "mark" in expression else "")
    return rf"^{head}"
