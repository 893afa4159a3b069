"""The run report (paper A, table 2): results for every list page, entry and article by source, with consistent sums.

    entries = known + repeated + new              an entry is a link on a list page, feed or result page
    new     = fetched + failed before a body + left    to be fetched (left: interrupted, will be found again)
    fetched = parsed + failed after a body
    parsed  = stored + folded + same              same: its canonical URL was already stored

Rates as in the paper: precision = articles with a body / pages fetched, recall = articles with a body / new links (88.2 and 76.1 %).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from operator import add
from typing import Any
from unicodedata import east_asian_width

from newsportal import messages
from newsportal.messages import Message

COUNTERS = ("list_pages", "not_modified", "entries", "known", "repeated", "new", "fetched", "parsed", "stored", "folded", "same")
"""Columns of the table, in processing order."""


@dataclass(frozen=True, slots=True)
class SourceReport:
    """A row of the report. ``failed`` counts articles by reason; ``list_failed`` list pages (``http-503``, ``blocked: captcha``).

    ``seconds``: total duration of the visits that ended in this run, from the first list page to the last article; visits run concurrently.
    ``topics``: topic → counters of the entries found for it, for search engines.
    """

    source: str
    list_pages: int = 0
    not_modified: int = 0
    entries: int = 0
    known: int = 0
    repeated: int = 0
    new: int = 0
    fetched: int = 0
    parsed: int = 0
    stored: int = 0
    folded: int = 0
    same: int = 0
    failed: Mapping[str, int] = field(default_factory=dict)
    list_failed: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[Message, ...] = ()
    seconds: float = 0.0
    topics: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def took(self) -> str:
        """``seconds`` formatted as ``48s`` or ``3m05s``."""
        minutes, seconds = divmod(round(self.seconds), 60)
        return f"{minutes}m{seconds:02}s" if minutes else f"{seconds}s" if self.seconds else "–"

    @property
    def failures(self) -> int:
        return sum(self.failed.values())

    @property
    def left(self) -> int:
        """New links without a result: the run was interrupted."""
        return self.new - self.parsed - self.failures

    @property
    def precision(self) -> float | None:
        return self.parsed / self.fetched if self.fetched else None

    @property
    def recall(self) -> float | None:
        return self.parsed / self.new if self.new else None


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl. ``reason`` is Scrapy's finish reason (``finished``, ``shutdown`` …); ``ended`` is ``None`` while it runs."""

    id: str
    started: datetime
    ended: datetime | None = None
    reason: str | None = None
    spiders: tuple[str, ...] = ()
    sources: tuple[SourceReport, ...] = ()

    @property
    def idle(self) -> bool:
        """Whether it finished and nothing was due."""
        if self.ended is None or self.reason != "finished":
            return False
        return not any(
            row.list_pages or row.list_failed or row.not_modified or row.new or row.fetched or row.failed for row in self.sources
        )

    @property
    def total(self) -> SourceReport:
        """Sum of all rows, with the duration of the run."""
        seconds = (self.ended - self.started).total_seconds() if self.ended else 0.0
        return replace(sum_reports("total", self.sources), seconds=seconds)

    @property
    def topics(self) -> dict[str, list[SourceReport]]:
        """Table 2 of paper A: topic → the sum, then a row for each engine. Counters only: failures are listed by source."""
        topics: dict[str, list[SourceReport]] = {}
        for row in self.sources:
            for topic, counts in row.topics.items():
                counters: dict[str, Any] = {key: counts.get(key, 0) for key in COUNTERS}
                topics.setdefault(topic, []).append(SourceReport(row.source, **counters))
        return {topic: [sum_reports("total", rows), *rows] for topic, rows in sorted(topics.items())}


def merge_runs(runs: Sequence[Run]) -> Run:
    """Merge the reports of spiders that ran concurrently in one crawl."""
    if len(runs) == 1:
        return runs[0]
    ended = [run.ended for run in runs if run.ended is not None]
    return Run(
        id=runs[0].id.rsplit("-", 1)[0], started=min(run.started for run in runs), ended=max(ended) if len(ended) == len(runs) else None,
        reason=", ".join(sorted({run.reason for run in runs if run.reason})),
        spiders=tuple(spider for run in runs for spider in run.spiders), sources=tuple(row for run in runs for row in run.sources),
    )  # fmt: skip


def sum_reports(name: str, rows: Iterable[SourceReport]) -> SourceReport:
    """Return the sum of ``rows`` as one row; failures are added by reason."""
    rows = tuple(rows)
    failed, list_failed = Counter[str](), Counter[str]()
    for row in rows:
        failed.update(row.failed)
        list_failed.update(row.list_failed)
    return SourceReport(
        source=name, **{key: sum(getattr(row, key) for row in rows) for key in COUNTERS}, failed=failed, list_failed=list_failed,
        notes=tuple(dict.fromkeys(note for row in rows for note in row.notes)), seconds=sum(row.seconds for row in rows),
    )  # fmt: skip


def to_dict(run: Run) -> dict[str, object]:
    """Convert ``run`` to JSON values, with derived figures (for ``--json`` and the store)."""

    def row(report: SourceReport) -> dict[str, object]:
        plain = {item.name: getattr(report, item.name) for item in fields(report)}
        rates = {"left": report.left, "precision": report.precision, "recall": report.recall}
        return plain | {"notes": [messages.to_json(note) for note in report.notes]} | rates

    topics = [
        {"topic": topic, "source": row.source} | {key: getattr(row, key) for key in (*COUNTERS, "precision", "recall")}
        for topic, rows in run.topics.items()
        for row in rows
    ]
    return {
        "id": run.id, "started": run.started.isoformat(), "ended": run.ended.isoformat() if run.ended else None, "reason": run.reason,
        "spiders": list(run.spiders), "sources": [row(report) for report in run.sources], "total": row(run.total), "topics": topics,
    }  # fmt: skip


def from_dict(plain: Mapping[str, object]) -> Run:
    """Invert :func:`to_dict`; unknown keys of later versions are ignored."""
    known = {item.name for item in fields(SourceReport)}

    def row(values: Mapping[str, object]) -> SourceReport:
        row_values = {key: value for key, value in values.items() if key in known}
        row_values["notes"] = tuple(map(messages.from_dict, row_values.get("notes", ())))  # type: ignore[call-overload]
        return SourceReport(**row_values)  # type: ignore[arg-type]

    ended = plain.get("ended")
    return Run(
        id=str(plain["id"]),
        started=datetime.fromisoformat(str(plain["started"])),
        ended=datetime.fromisoformat(str(ended)) if ended else None,
        reason=str(plain["reason"]) if plain.get("reason") else None,
        spiders=tuple(plain.get("spiders", ())),  # type: ignore[arg-type]
        sources=tuple(row(values) for values in plain.get("sources", ())),  # type: ignore[attr-defined]
    )


_COLUMNS = "source list_pages entries known repeated new fetched parsed stored folded same failures left took".split()
HEADINGS = {name: name for name in _COLUMNS} | {"list_pages": "lists", "repeated": "again", "failures": "failed", "took": "time"}
"""Columns of the text table: attribute of a row, heading."""

OPTIONAL_COLUMNS = frozenset({"known", "repeated", "same", "left", "took"})
"""Columns omitted if they are empty for all sources, so that the table fits a terminal."""

TOPIC_HEADINGS = {"source": "topic"} | {key: HEADINGS.get(key, key) for key in (*COUNTERS, "precision", "recall") if key != "not_modified"}


def table(run: Run) -> str:
    """Format the report as aligned text: rows of sources, the total, rows of topics and engines, the two rates, reasons of failures."""
    rows = [*run.sources, run.total] if len(run.sources) != 1 else list(run.sources)
    used = {key for key in HEADINGS if key not in OPTIONAL_COLUMNS or any(getattr(row, key) not in (0, "–") for row in run.sources)}
    lines = _aligned(rows, {key: heading for key, heading in HEADINGS.items() if key in used})
    topics: list[SourceReport] = []
    for topic, (total, *engines) in run.topics.items():
        topics += [replace(total, source=topic), *(replace(row, source=f"  {row.source}") for row in engines)]
    if topics:
        lines += ["", *_aligned(topics, TOPIC_HEADINGS), ""]
    return "\n".join([*lines, sentence(run.total), *reasons(run)])


def sentence(total: SourceReport) -> str:
    """Return the two rates of paper A as a sentence."""
    return f"precision {_cell(total.precision)} (bodies / pages fetched), recall {_cell(total.recall)} (bodies / new links)"


def reasons(run: Run) -> list[str]:
    """Return one line per source with failures or notes."""
    lines = []
    for row in run.sources:
        parts = [f"{reason} × {number}" for reason, number in sorted(row.failed.items())]
        parts += [f"list page: {reason} × {number}" for reason, number in sorted(row.list_failed.items())]
        if parts or row.notes:
            lines.append(f"{row.source}: {'; '.join(map(str, (*parts, *row.notes)))}")
    return lines


def _aligned(rows: Sequence[SourceReport], headings: Mapping[str, str]) -> list[str]:
    table = [[*headings.values()], *([_cell(getattr(row, key)) for key in headings] for row in rows)]
    widths = [max(map(_width, column)) for column in zip(*table, strict=True)]
    lines = []
    for cells in table:
        first, *others = (" " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True))
        lines.append("  ".join((cells[0] + first, *map(add, others, cells[1:]))).rstrip())
    return lines


def _cell(value: object) -> str:
    """Format counters and names unchanged, rates in per cent."""
    return "–" if value is None else f"{value:.1%}" if isinstance(value, float) else str(value)


def _width(text: str) -> int:
    """Return the columns used on a terminal: Chinese characters take two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
