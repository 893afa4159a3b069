"""A closer look at the worst pages: they are read again, and what was found is laid beside gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from newsportal.commands.evaluate.differences import Kind, Piece, differences
from newsportal.commands.evaluate.gold import gold_page
from newsportal.commands.evaluate.readers import Found, Reader
from newsportal.commands.evaluate.running import PageResult, worst
from newsportal.commands.evaluate.scoring import Answer


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
        """The longest piece of a kind, on one line."""
        texts = [" ".join(piece.text.split()) for piece in self.pieces[self.at] if piece.kind == kind]
        return max(texts, key=len, default=None)

    def plain(self) -> dict[str, Any]:
        """The page as a JSON line says it."""
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
    """The ``number`` worst pages of each reader, the worst first."""
    return [_closer(result, readers, at) for at in range(len(readers)) for result in worst(results, at, number)]


def _closer(result: PageResult, readers: Sequence[Reader], at: int) -> Closer:
    page = gold_page(result.file)
    gold = page.gold if page is not None else Answer()
    looked = [at] if at else range(len(readers))
    found = {place: readers[place].read(page) if page is not None else Found(Answer()) for place in looked}
    pieces = {place: differences(gold.text or "", one.answer.text or "") for place, one in found.items()}
    return Closer(at, result, gold, tuple(reader.name for reader in readers), found, pieces)
