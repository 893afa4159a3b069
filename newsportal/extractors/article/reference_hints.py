"""Hints from an article's known title and description: blocks that match them are its text."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import numpy as np

from newsportal.extractors.article.blocks import Blocks
from newsportal.text import NON_LETTERS, letters

CJK_RUN: Final = re.compile("[\u3400-\u9fff]+")
LONG_WORD: Final = re.compile(r"[^\W\d_\u3400-\u9fff]{4,}")
LETTERS_OR_END: Final = re.compile(r"[^\W_]+|\n")
STEM_CHARS: Final = 7  # words are compared by their first characters: inflections differ between a title and its text
MAX_TERMS: Final = 40
PIECE: Final = 8  # Letters: descriptions are searched in pieces of this length
MAX_DESCRIPTION: Final = 400
MIN_DECLARED: Final = 200
MAX_DECLARED: Final = 100_000  # Characters of a declared text: shorter ones are summaries, longer ones are cut
MAX_HEADING_CHARS: Final = 300
MAX_RATIO: Final = 2  # a line with more than 2 times the title's letters, or less than half, is not compared
HEADINGS: Final = ("h1", "h2")


@dataclass(frozen=True, slots=True)
class ReferenceHints:
    """``heading``: the block that is the title; ``headings``: all such blocks; ``terms``: share of the title's words in each block;
    ``in_description``: how many of the description's ``pieces`` each block contains; ``declared``: share of the block's pieces in the
    article text that the page declares, −1 if it declares none."""

    heading: int | None
    headings: frozenset[int]
    terms: list[float]
    in_description: list[int]
    pieces: int
    declared: list[float]


def find_hints(page: Blocks, heading: str | None, description: str | None, declared: str | None = None) -> ReferenceHints:
    """Search for the title, the description and the declared text in the page's blocks."""
    texts = (page_text := "\n".join(page.texts).lower()).split("\n") if page.blocks else []
    heading_letters, same = letters(heading) if heading else "", list[int]()
    if heading and heading_letters:
        start, least, most = heading[:1], len(heading_letters) / MAX_RATIO, min(MAX_RATIO * len(heading_letters) + PIECE, MAX_HEADING_CHARS)
        near = ((number, block.text) for number, block in enumerate(page.blocks) if least <= block.length <= most and start in block.text)
        same = [number for number, text in near if letters(text) == heading_letters]
    likely = [number for number in same if page.nodes[page.blocks[number].box].tag in HEADINGS] or same
    words = terms(heading or "")
    pieces = _pieces(NON_LETTERS.sub("", description[:MAX_DESCRIPTION].lower())) if description else []
    declared = declared if declared and len(declared) >= MIN_DECLARED else None
    letters_of = "".join(LETTERS_OR_END.findall(page_text.replace(" ", ""))).split("\n") if texts and (pieces or declared) else []
    term_counts = count_words(texts, words)
    return ReferenceHints(
        likely[0] if likely else None,
        frozenset(same),
        (np.array(term_counts) / max(len(words), 1)).tolist(),
        count_words(letters_of, pieces) if pieces else [0] * len(texts),
        len(pieces),
        _declared(texts, letters_of, declared[:MAX_DECLARED]) if declared else [-1.0] * len(texts),
    )


def _declared(texts: Sequence[str], letters_of: Sequence[str], declared: str) -> list[float]:
    declared_letters = NON_LETTERS.sub("", declared.lower())
    if not declared_letters:
        return [-1.0] * len(texts)
    shares = []
    for text, all_letters in zip(texts, letters_of, strict=True):
        pieces = _pieces(NON_LETTERS.sub("", text[:MAX_DESCRIPTION]) if len(text) > MAX_DESCRIPTION else all_letters) or [all_letters]
        shares.append(sum([piece in declared_letters for piece in pieces]) / len(pieces))
    return shares


def terms(title: str) -> list[str]:
    """Return the words of a title that its article is likely to repeat: pairs of Chinese characters, beginnings of longer words."""
    title = title[:MAX_HEADING_CHARS].lower()
    pairs = [run[start : start + 2] for run in CJK_RUN.findall(title) for start in range(len(run) - 1)]
    words = [word[:STEM_CHARS] for word in LONG_WORD.findall(title)]
    return list(dict.fromkeys(pairs + words))[:MAX_TERMS]


def _pieces(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text) - PIECE + 1, PIECE)]


def count_words(lines: Sequence[str], words: Sequence[str]) -> list[int]:
    """Count how many of ``words`` each line contains. All lines are searched as one text, which does not contain most words."""
    found = [0] * len(lines)
    text = "\n".join(lines)
    starts = list(accumulate(map((1).__add__, map(len, lines)), initial=0))
    for word in words:
        place = text.find(word)
        while place >= 0:
            number = bisect_right(starts, place) - 1
            found[number] += 1
            place = text.find(word, starts[number + 1])
    return found
