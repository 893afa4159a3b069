"""Made-up news in five languages: voices that expand a grammar, and stories of many kinds as pieces of plain text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Literal

from training import grammar_en, grammar_other, grammar_zh
from training.grammar import Grammar, grammar, speak, traditional

Tongue = Literal["zh-CN", "zh-TW", "en", "ja", "de"]
TONGUES: dict[Tongue, int] = {"zh-CN": 62, "zh-TW": 14, "en": 16, "ja": 4, "de": 4}
"""Percentage of pages per language; most readers of the portal read Chinese."""

Kind = Literal["p", "h", "list", "table", "quote", "lead", "post"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a story. ``rows`` are its lines: one for a paragraph, the items of a list, the cells of a table's rows."""

    kind: Kind
    rows: tuple[tuple[str, ...], ...]

    @property
    def lines(self) -> list[str]:
        return [cell for row in self.rows for cell in row]


@dataclass(frozen=True, slots=True)
class Voice:
    """Expands symbols of a language's grammar with a page's own random numbers."""

    tongue: Tongue
    rules: Grammar
    rng: Random

    def __call__(self, symbol: str) -> str:
        text = speak(self.rules, symbol, self.rng).replace("SPACE", " ").strip()
        return text[:1].upper() + text[1:] if self.spaced else text

    @property
    def spaced(self) -> bool:
        """Whether words are separated by spaces."""
        return self.tongue in ("en", "de")

    def many(self, symbol: str, least: int, most: int) -> list[str]:
        return [self(symbol) for _ in range(self.rng.randint(least, most))]


@cache
def rules_of(tongue: Tongue) -> Grammar:
    """Return the grammar of a language. The small ones use the English one for missing symbols, as most sites use loanwords for labels."""
    chinese = [getattr(grammar_zh, part) for part in ("WORDS", "CLAUSES", "AROUND", "LABELS")]
    english = [getattr(grammar_en, part) for part in ("WORDS", "CLAUSES", "AROUND", "LABELS")]
    if tongue == "zh-TW":
        return grammar(*map(traditional, chinese))
    if tongue == "zh-CN":
        return grammar(*chinese)
    borrowed = dict(grammar(*english))
    text = {"ja": grammar_other.JAPANESE, "de": grammar_other.GERMAN}.get(tongue)
    return borrowed | dict(grammar(text, "date: DATE")) if text else borrowed


TOPICAL = ("place", "thing", "good", "firm", "office", "field", "team")
"""Symbols that a story repeats, also in its title."""


def about_one_topic(voice: Voice) -> Voice:
    """Return the voice of one story, restricted to a few places and things of the language."""
    rules = dict(voice.rules)
    for symbol in TOPICAL:
        if len(alternatives := rules.get(symbol, ())) > 3:
            rules[symbol] = tuple(voice.rng.sample(alternatives, voice.rng.randint(1, 3)))
    return Voice(voice.tongue, rules, voice.rng)


def a_voice(rng: Random) -> Voice:
    tongue = rng.choices(list(TONGUES), list(TONGUES.values()))[0]
    return Voice(tongue, rules_of(tongue), rng)


def paragraph(text: str) -> Piece:
    return Piece("p", ((text,),))


def _report(voice: Voice, least: int, most: int) -> list[Piece]:
    pieces = [paragraph(text) for text in voice.many("p", least, most)]
    if voice.rng.random() < 0.4:
        pieces[0] = paragraph(voice("dateline") + (" " if voice.spaced else "") + pieces[0].lines[0])
    return pieces


def _news(voice: Voice) -> list[Piece]:
    return _report(voice, 3, 9)


def _brief(voice: Voice) -> list[Piece]:
    return _report(voice, 1, 3)


def _long_read(voice: Voice) -> list[Piece]:
    pieces = _report(voice, 10, 40)
    every = voice.rng.randint(3, 8)
    for place in range(len(pieces) - 2, 1, -every):
        pieces.insert(place, Piece("h", ((voice("subhead"),),)))
    return pieces


def _flash(voice: Voice) -> list[Piece]:
    return [paragraph(voice("flash"))]


def _photo_story(voice: Voice) -> list[Piece]:
    return [paragraph(text) for text in voice.many("photo", 1, 3)]


def _interview(voice: Voice) -> list[Piece]:
    pieces = _report(voice, 1, 3)
    for _ in range(voice.rng.randint(3, 12)):
        pieces += [paragraph(voice("question")), paragraph(voice("answer"))]
        pieces += [paragraph(text) for text in voice.many("p", 0, 1)]
    return pieces


def _points(voice: Voice) -> list[Piece]:
    pieces = _report(voice, 1, 4)
    pieces.append(Piece("list", tuple((item,) for item in voice.many("item", 3, 12))))
    return pieces + _tail(voice)


def _numbers(voice: Voice) -> list[Piece]:
    rng = voice.rng
    subject = rng.choice(("city", "good", "team"))
    width = rng.randint(2, 5)
    cells: dict[str, Callable[[], str]] = {
        "city": lambda: rng.choice((voice("sky"), f"{rng.randint(-9, 38)}℃", f"{rng.randint(1, 6)}~{rng.randint(7, 20)}")),
        "good": lambda: f"{rng.uniform(1, 9000):.2f}",
        "team": lambda: str(rng.randint(0, 90)),
    }
    head = tuple(voice(rng.choice(("field", "day", "good"))) for _ in range(width)) if voice.tongue not in ("ja", "de") else ()
    rows = [(voice(subject), *(cells[subject]() for _ in range(width - 1))) for _ in range(rng.randint(3, 14))]
    return [*_report(voice, 1, 4), Piece("table", ((head,) if head else ()) + tuple(rows)), *_tail(voice)]


def _recipe(voice: Voice) -> list[Piece]:
    parts = Piece("list", tuple((item,) for item in voice.many("portion", 4, 9)))
    return [*_report(voice, 1, 2), parts, *(paragraph(text) for text in voice.many("step", 3, 7)), *_tail(voice)]


def _event(voice: Voice) -> list[Piece]:
    return [*_report(voice, 1, 3), *(paragraph(text) for text in voice.many("event", 3, 6)), *_tail(voice)]


def _ticker(voice: Voice) -> list[Piece]:
    return [*_report(voice, 1, 2), *(paragraph(text) for text in voice.many("live", 6, 25))]


def _opinion(voice: Voice) -> list[Piece]:
    pieces = _report(voice, 4, 9)
    pieces.insert(voice.rng.randint(1, 3), Piece("quote", tuple((text,) for text in voice.many("p", 1, 2))))
    return pieces


def _tail(voice: Voice) -> list[Piece]:
    return [paragraph(text) for text in voice.many("p", 0, 2)]


STORIES: dict[Callable[[Voice], list[Piece]], int] = {
    _news: 40,
    _brief: 10,
    _long_read: 14,
    _flash: 6,
    _photo_story: 5,
    _interview: 5,
    _points: 5,
    _numbers: 5,
    _recipe: 2,
    _event: 2,
    _ticker: 3,
    _opinion: 5,
}
"""The kinds of stories, with percentages: most news is plain, the rest is what simple rules get wrong."""


def story(voice: Voice) -> list[Piece]:
    """Return a body: its paragraphs, subheads, lists, tables and quotes in order."""
    body = voice.rng.choices(list(STORIES), list(STORIES.values()))[0](voice)
    if voice.spaced:
        return body
    full_width = voice.rng.random() < 0.9
    return body if full_width else [Piece(piece.kind, tuple(tuple(_half_width(c) for c in row) for row in piece.rows)) for piece in body]


def _half_width(text: str) -> str:
    """Return Chinese with ASCII punctuation, as some sites write it."""
    return text.replace("，", ",").replace("“", '"').replace("”", '"').replace("：", ":").replace("？", "?")
