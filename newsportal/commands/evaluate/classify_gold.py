"""Labelled texts for ``newsportal evaluate classify``: folders with ``train.jsonl(.gz)`` and ``test.jsonl(.gz)``."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from newsportal.classify.base import Example


def read(folder: Path, part: str) -> list[Example]:
    """The examples of ``part`` (``train`` or ``test``). Raises ``OSError`` or ``ValueError`` that says which line is wrong."""
    plain, packed = folder / f"{part}.jsonl", folder / f"{part}.jsonl.gz"
    file = plain if plain.exists() else packed
    found = list(_rows(file))
    if not found:
        raise ValueError(f"{file}: no labelled texts")
    return found


def _rows(file: Path) -> Iterator[Example]:
    with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _example(line, f"{file}:{number}")


def _example(line: str, place: str) -> Example:
    try:
        row: Any = json.loads(line)
        text, label, title = row["text"], row["label"], row.get("title") or ""
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f'{place}: a line must be {{"text": …, "label": …}}') from error
    if not all(isinstance(value, str) for value in (text, label, title)) or not label.strip():
        raise ValueError(f"{place}: text, label and title must be strings, and the label not empty")
    return Example(text, (label,), title)


def mapping(file: Path) -> dict[str, dict[str, str]]:
    """``{"common label": {"A": [labels], "B": [labels]}}`` as one mapping for each side. Raises ``OSError``, ``ValueError``."""
    try:
        sides: dict[str, dict[str, str]] = {"A": {}, "B": {}}
        for common, of in json.loads(file.read_text(encoding="utf-8")).items():
            for side, known in sides.items():
                known.update(dict.fromkeys(of[side], common))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f'{file}: must be {{"common label": {{"A": ["label", …], "B": ["label", …]}}}}') from error
    return sides


def renamed(examples: list[Example], names: Mapping[str, str]) -> list[Example]:
    """Those whose label has a name in common, under it."""
    return [Example(one.text, (names[one.labels[0]],), one.title) for one in examples if one.labels[0] in names]
