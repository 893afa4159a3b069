"""The HTML of every site, as files with sections: a line ``%% NAME`` begins a section, ``${name}`` is replaced."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Template

FOLDER = Path(__file__).parent / "layouts"


@cache
def layout(key: str) -> dict[str, Template]:
    """Return the sections of ``layouts/KEY.html`` by name."""
    sections = ("\n" + (FOLDER / f"{key}.html").read_text(encoding="utf-8")).split("\n%% ")[1:]
    return {name: Template(text) for name, _, text in (part.partition("\n") for part in sections)}
