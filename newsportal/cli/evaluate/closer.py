"""The worst pages of an evaluation: what an extracted text lacks and what it has too much.

The texts are compared by sentences, and within sentences that differ by characters: pieces that a reader can follow, where the exact
longest common subsequence, which the scores use, would strew single characters over a wrong paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final, Literal

from newsportal.cli.evaluate.gold import gold_page
from newsportal.cli.evaluate.running import Found, PageResult, Reader, worst
from newsportal.cli.evaluate.scoring import Answer

Kind = Literal["same", "missing", "surplus"]
SHOWN_CHARS: Final = 30_000  # longer texts are compared by their beginnings: nobody reads on, and the comparison is quadratic at worst
CLOSE_CHARS: Final = 300  # sentences up to this length that stand in one another's place are compared by characters
CLOSE_SHARE: Final = 0.5  # … if so much of them agrees; else one replaces the other whole
SENTENCE: Final = re.compile(r"[^\n。！？；!?;]*[\n。！？；!?;]+|[^\n。！？；!?;]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that both have (``same``), only gold (``missing``) or only the answer (``surplus``)."""

    kind: Kind
    text: str


def differences(gold: str, found: str) -> tuple[Piece, ...]:
    """The pieces of both texts in order; the ``same`` and ``missing`` ones together are gold, but for white space."""
    return tuple(_joined(_by_sentence(_sentences(gold[:SHOWN_CHARS]), _sentences(found[:SHOWN_CHARS]))))


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in SENTENCE.findall(text) if sentence.strip()]


def _by_sentence(gold: Sequence[str], found: Sequence[str]) -> Iterator[Piece]:
    first, second = (["".join(sentence.split()) for sentence in text] for text in (gold, found))
    for what, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        wanted, given = "".join(gold[a:b]), "".join(found[c:d])
        if what == "equal":
            yield Piece("same", wanted)
        elif wanted and given and max(len(wanted), len(given)) <= CLOSE_CHARS:
            yield from _by_character(wanted, given)
        else:
            yield Piece("missing", wanted)
            yield Piece("surplus", given)


def _by_character(gold: str, found: str) -> Iterator[Piece]:
    matcher = SequenceMatcher(None, gold, found, autojunk=False)
    if matcher.ratio() < CLOSE_SHARE:
        yield from (Piece("missing", gold), Piece("surplus", found))
        return
    for what, a, b, c, d in matcher.get_opcodes():
        if what == "equal":
            yield Piece("same", gold[a:b])
        else:
            yield from (Piece("missing", gold[a:b]), Piece("surplus", found[c:d]))


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Neighbours of one kind as one; white space alone is no difference."""
    last: Piece | None = None
    for piece in pieces:
        if not piece.text or (piece.kind != "same" and not piece.text.strip()):
            continue
        if last is not None and last.kind == piece.kind:
            last = Piece(last.kind, last.text + piece.text)
            continue
        if last is not None:
            yield last
        last = piece
    if last is not None:
        yield last


@dataclass(frozen=True, slots=True)
class Closer:
    """One of the pages that reader ``at`` reads worst. ``found`` and ``pieces`` go by the readers' places.

    For the first reader, the one under examination, everybody's answer is there; for the others only their own.
    """

    at: int
    result: PageResult
    gold: Answer
    names: tuple[str, ...]
    found: Mapping[int, Found]
    pieces: Mapping[int, tuple[Piece, ...]]

    @property
    def of(self) -> str:
        return self.names[self.at]

    def longest(self, kind: Kind) -> str | None:
        texts = [" ".join(piece.text.split()) for piece in self.pieces[self.at] if piece.kind == kind]
        return max(texts, key=len, default=None)

    def plain(self) -> dict[str, Any]:
        score = self.result.scores[self.at]
        return {
            "worst_of": self.of,
            "set": self.result.folder,
            "id": self.result.id,
            "f1": round(score.f1, 4),
            "missing": score.missing,
            "surplus": score.surplus,
            "error": self.result.errors[self.at],
            "longest_missing": self.longest("missing"),
            "longest_surplus": self.longest("surplus"),
            "others": {name: round(self.result.scores[at].f1, 4) for at, name in enumerate(self.names) if at != self.at},
        }


def look_closer(results: Sequence[PageResult], readers: Sequence[Reader], number: int) -> list[Closer]:
    return [_closer(result, readers, at) for at in range(len(readers)) for result in worst(results, at, number)]


def _closer(result: PageResult, readers: Sequence[Reader], at: int) -> Closer:
    page = gold_page(result.file)
    gold = page.gold if page is not None else Answer()
    looked = [at] if at else range(len(readers))
    found = {place: readers[place].read(page) if page is not None else Found(Answer()) for place in looked}
    pieces = {place: differences(gold.text or "", one.answer.text or "") for place, one in found.items()}
    return Closer(at, result, gold, tuple(reader.name for reader in readers), found, pieces)
