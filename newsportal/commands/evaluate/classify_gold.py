"""Labelled texts for ``newsportal evaluate classify``: folders with ``train.jsonl(.gz)`` and ``test.jsonl(.gz)``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from newsportal.classify.base import Example
from newsportal.commands.evaluate.gold_lines import gold_lines

FORM: Final = '{"text": …, "label": …}'


def read(folder: Path, part: str) -> list[Example]:
    """The examples of ``part`` (``train`` or ``test``). Raises ``OSError`` or ``ValueError`` that says which line is wrong."""
    found = [_example(line, place) for place, line in gold_lines(folder, part)]
    if not found:
        raise ValueError(f"{folder}: no labelled texts in its {part} part; a line is {FORM}")
    return found


def _example(line: str, place: str) -> Example:
    try:
        row: Any = json.loads(line)
        text, label, title = row["text"], row["label"], row.get("title") or ""
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{place}: a line must be {FORM}") from error
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
