"""``newsportal evaluate summaries``: measure how much of a later round-up daily summaries of an event cover, beside lead and random."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Annotated, Final

import typer

from newsportal.cli.options import AsJsonRows
from newsportal.cli.output import print_json, track_items
from newsportal.dedup.document import Document
from newsportal.errors import NewsportalError
from newsportal.events.summaries import Text, summarise
from newsportal.services.briefing import READ
from newsportal.text import STOP_WORDS, clean
from newsportal.text.words import segment
from newsportal_lab.evaluate.events import read

ROUND_UP: Final = re.compile("始末|回顾|梳理|时间[线轴]|全过程|来龙去脉|大事记|全记录|历程|timeline|what we know", re.IGNORECASE)
"""Titles of articles that recount an event from its beginning."""

MIN_ROUND_UP: Final = 300  # characters; shorter ones cover only the last day
SENTENCES: Final = 3  # per day and event, for every method
SPLIT: Final = re.compile(r"(?<=[。！？!?])")  # sentence boundaries for the baselines
Day = Sequence[Document]
Method = Callable[[Day, Sequence[str], int], list[str]]
"""The day's articles, earlier summaries of the event, and the length of our summary in characters."""


def ours(day: Day, earlier: Sequence[str], length: int = 0) -> list[str]:
    return [sentence.text for sentence in summarise([Text(item.id, item.title, item.text) for item in day[:READ]], SENTENCES, earlier)]


def lead(day: Day, earlier: Sequence[str], length: int) -> list[str]:
    return _split(day[0].text)[:SENTENCES]


def by_chance(day: Day, earlier: Sequence[str], length: int) -> list[str]:
    return _shuffled(day)[:SENTENCES]


def long_lead(day: Day, earlier: Sequence[str], length: int) -> list[str]:
    return _as_long(_split(day[0].text), length)


def long_chance(day: Day, earlier: Sequence[str], length: int) -> list[str]:
    return _as_long(_shuffled(day), length)


def _shuffled(day: Day) -> list[str]:
    parts = [part for document in day[:READ] for part in _split(document.text)]
    return Random(day[0].id).sample(parts, len(parts))  # noqa: S311 - a baseline, the same each time


def _as_long(parts: Sequence[str], length: int) -> list[str]:
    """Return the first of ``parts`` with ``length`` characters in total."""
    return [part for part, before in zip(parts, accumulate(map(len, parts), initial=0), strict=False) if before + len(part) / 2 < length]


def _split(text: str) -> list[str]:
    return [part for line in text.splitlines() for part in map(clean, SPLIT.split(line)) if part]


METHODS: Final[Mapping[str, Method]] = {
    "summaries": ours, "lead-3": lead, "random-3": by_chance, "lead, as long": long_lead, "random, as long": long_chance,
}  # fmt: skip


@dataclass(slots=True)
class Score:
    """``coverage``: share of a round-up's words that the earlier summaries contain. ``redundancy``: share of a sentence's words in the most
    similar earlier sentence of the event."""

    coverage: list[float] = field(default_factory=list)
    redundancy: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)


def score(method: Method, documents: Sequence[Document], gold: Mapping[str, str | None]) -> Score:
    """Score a method on ``documents`` in time order with the event of each."""
    found = Score()
    for event in dict.fromkeys(name for name in gold.values() if name):
        summary: list[str] = []
        for day in _days([document for document in documents if gold[document.id] == event]):
            news = [document for document in day if not ROUND_UP.search(document.title)]
            covered = frozenset[str]().union(*map(_words, summary))
            for document in day:
                if ROUND_UP.search(document.title) and len(document.text) >= MIN_ROUND_UP and summary:
                    found.coverage.append(_share(_words(document.text), covered))
            for sentence in method(news, summary, sum(map(len, ours(news, summary)))) if news else ():
                found.redundancy.append(max((_share(_words(sentence), _words(other)) for other in summary), default=0.0))
                found.lengths.append(len(sentence))
                summary.append(sentence)
    return found


def _days(documents: Sequence[Document]) -> Iterator[list[Document]]:
    by_day: defaultdict[str, list[Document]] = defaultdict(list)
    for document in documents:
        by_day[f"{document.published:%Y-%m-%d}" if document.published else ""].append(document)
    yield from by_day.values()


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in segment(text) if len(word) > 1 and word not in STOP_WORDS)


def _share(words: frozenset[str], others: frozenset[str]) -> float:
    return len(words & others) / len(words) if words else 0.0


def summaries(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A document a line, in time order; those of gold events have event.")],
    sample: Annotated[int, typer.Option(min=0, help="Print this many of our sentences instead.")] = 0,
    as_json: AsJsonRows = False,
) -> None:
    """Coverage of later round-ups by an event's daily summaries, redundancy and length: ours, lead-3, random."""
    documents, gold = read(file)
    if sample:
        found = [text for event in dict.fromkeys(gold.values()) for text in _summaries_of(documents, gold, event)]
        for text in found[:: max(1, len(found) // sample)][:sample]:
            typer.echo(text)
        return
    if not as_json:
        typer.echo(f"{'':16}{'coverage':>10}{'redundancy':>12}{'sentences':>11}{'characters':>12}")
    for name in track_items(list(METHODS), "summarising", beside_output=True):
        result = score(METHODS[name], documents, gold)
        if not result.coverage:
            raise NewsportalError(f"{file}: no event has a round-up (title: 始末, 回顾, 梳理, timeline …) behind its first day")
        row = {"coverage": fmean(result.coverage), "redundancy": fmean(result.redundancy)}
        if as_json:
            figures = {key: round(value, 4) for key, value in row.items()}
            print_json({"algorithm": name, **figures, "round_ups": len(result.coverage), "characters": sum(result.lengths)})
        else:
            shares = f"{100 * row['coverage']:>10.1f}{100 * row['redundancy']:>12.1f}"
            typer.echo(f"{name:16}{shares}{len(result.lengths):>11}{sum(result.lengths):>12}")


def _summaries_of(documents: Sequence[Document], gold: Mapping[str, str | None], event: str | None) -> list[str]:
    """Return our summaries of an event, day by day; each document without an event is one of its own."""
    selected = [document for document in documents if gold[document.id] == event]
    if event is None:
        return [text for document in selected for text in ours([document], ())]
    summary: list[str] = []
    for day in _days(selected):
        summary += ours(day, summary)
    return summary
