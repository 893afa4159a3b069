"""What is known of an article before its body is found: its title, and how the page describes it. Blocks that agree are its text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from newsportal.extractors.blocks import Blocks
from newsportal.text import letters

CJK_RUN: Final = re.compile("[\u3400-\u9fff]+")
LONG_WORD: Final = re.compile(r"[^\W\d_\u3400-\u9fff]{4,}")
NO_LETTERS: Final = re.compile(r"[\W_]+")

STEM_CHARS: Final = 7
"""Words are compared by their beginnings: endings differ between a title and its text."""

MAX_TERMS: Final = 40
PIECE: Final = 8
"""Letters: descriptions are looked for in pieces of this length."""

MAX_TOLD: Final = 400
MIN_DECLARED: Final = 200
MAX_DECLARED: Final = 100_000
"""Characters of a declared text: shorter ones are summaries, longer ones are cut."""

MAX_HEADING_CHARS: Final = 300
HEADINGS: Final = ("h1", "h2")


@dataclass(frozen=True, slots=True)
class Witness:
    """``heading``: the block that is the title; ``headings``: all that are; ``terms``: how many of the title's words each block holds
    (as a share of them); ``told``: how many of the ``pieces`` of the description; ``declared``: which share of the block's own pieces
    stand in the text that the page declares as its article's, −1 where it declares none."""

    heading: int | None
    headings: frozenset[int]
    terms: list[float]
    told: list[int]
    pieces: int
    declared: list[float]


def witness(page: Blocks, heading: str | None, told: str | None, declared: str | None = None) -> Witness:
    """Look for the title, the description and the declared text in the page's blocks."""
    texts = [text.lower() for text in page.texts]
    same = _headings(page, heading)
    likely = [number for number in same if page.nodes[page.blocks[number].box].tag in HEADINGS] or same
    words = terms(heading or "")
    pieces = _pieces(told or "")
    return Witness(
        likely[0] if likely else None,
        frozenset(same),
        [sum(word in text for word in words) / len(words) for text in texts] if words else [0.0] * len(texts),
        _counts(texts, pieces),
        len(pieces),
        _declared(texts, declared),
    )


def _declared(texts: Sequence[str], declared: str | None) -> list[float]:
    whole = NO_LETTERS.sub("", declared[:MAX_DECLARED].lower()) if declared and len(declared) >= MIN_DECLARED else ""
    if not whole:
        return [-1.0] * len(texts)
    shares = []
    for text in texts:
        pieces = _pieces(text) or [NO_LETTERS.sub("", text)]
        shares.append(sum(piece in whole for piece in pieces) / len(pieces))
    return shares


def _headings(page: Blocks, heading: str | None) -> list[int]:
    wanted = letters(heading) if heading else ""
    if not wanted or heading is None:
        return []
    start = heading[:1]
    return [
        number
        for number, block in enumerate(page.blocks)
        if block.length <= MAX_HEADING_CHARS and (start in block.text) and letters(block.text) == wanted
    ]


def terms(title: str) -> list[str]:
    """The words of a title that its article repeats: pairs of Chinese characters, beginnings of longer words."""
    title = title[:MAX_HEADING_CHARS].lower()
    pairs = [run[start : start + 2] for run in CJK_RUN.findall(title) for start in range(len(run) - 1)]
    words = [word[:STEM_CHARS] for word in LONG_WORD.findall(title)]
    return list(dict.fromkeys(pairs + words))[:MAX_TERMS]


def _pieces(told: str) -> list[str]:
    squeezed = NO_LETTERS.sub("", told[:MAX_TOLD].lower())
    return [squeezed[start : start + PIECE] for start in range(0, len(squeezed) - PIECE + 1, PIECE)]


def _counts(texts: Sequence[str], pieces: Sequence[str]) -> list[int]:
    if not pieces:
        return [0] * len(texts)
    found = []
    for text in texts:
        squeezed = NO_LETTERS.sub("", text) if len(text) >= PIECE else ""
        found.append(sum(piece in squeezed for piece in pieces) if len(squeezed) >= PIECE else 0)
    return found
