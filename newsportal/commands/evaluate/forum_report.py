"""The report of an evaluation of threads: one HTML file that needs no other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from newsportal.text import clean

if TYPE_CHECKING:
    from newsportal.commands.evaluate.forum import Reading

SHOWN_CHARS: Final = 600
"""Characters shown of a post."""

FIGURES: Final = {"block_f1": "block", "body_f1": "body", "author": "author", "date": "date", "unanswered": "none", "ms": "ms"}


def report(title: str, rows: Mapping[str, Mapping[str, Any]], worst: Mapping[str, Sequence[Reading]]) -> str:
    """The report as HTML. Everything that comes from pages is escaped; the file asks nobody for anything."""
    world = Environment(
        loader=PackageLoader(__package__, "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return world.get_template("forum.html").render(
        title=clean(title),
        headings=list(FIGURES.values()),
        rows={name: [_written(name_of, figures[name_of]) for name_of in FIGURES] for name, figures in rows.items()},
        worst={name: [_page(reading) for reading in readings] for name, readings in worst.items()},
    )


def _written(name: str, value: Any) -> str:
    if value is None:
        return "–"
    return str(value) if name in ("unanswered", "ms") else f"{100 * value:.1f}"


def _page(reading: Reading) -> dict[str, Any]:
    return {
        "id": clean(reading.thread.page.id),
        "f1": f"{reading.score.counts.body_f1:.3f}",
        "error": clean(reading.error) if reading.error else None,
        "missing": [_shown(reading.thread.gold.posts[number].text) for number in reading.score.missing],
        "surplus": [_shown(reading.posts[number].full_text or reading.posts[number].text) for number in reading.score.surplus],
    }


def _shown(text: str) -> str:
    lines = [line for line in map(clean, text.split("\n")) if line]
    whole = "\n".join(lines)
    return whole if len(whole) <= SHOWN_CHARS else f"{whole[:SHOWN_CHARS]} […{len(whole) - SHOWN_CHARS:,}]"
