"""The stories of the made-up Web: plain text files in ``stories/``, parsed once.

A file begins with ``key: value`` lines for all its stories. A story begins with ``= TITLE``, followed by its own ``key: value`` lines, an
empty line and the body: paragraphs, ``# subhead``, ``* list item``, ``> quotation``, ``| cell | cell |``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

FOLDER = Path(__file__).parent / "stories"

Kind = Literal["p", "h", "li", "quote", "row"]
MARKS: dict[str, Kind] = {"# ": "h", "* ": "li", "> ": "quote", "| ": "row"}


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, subhead, list item, quotation or table row. ``cells`` is set for rows only."""

    kind: Kind
    text: str
    cells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    motif: str
    caption: str


@dataclass(frozen=True, slots=True)
class Retelling:
    """The same event with another headline and first paragraph, on another site."""

    site: str
    title: str
    lead: str


@dataclass(frozen=True, slots=True)
class Story:
    """A story in its first version. ``reposts`` repeat it verbatim, ``simplified`` in simplified characters, ``retold`` rewritten."""

    id: str
    title: str
    category: str
    language: str
    home: str
    author: str | None
    blocks: tuple[Block, ...]
    reposts: tuple[str, ...] = ()
    simplified: tuple[str, ...] = ()
    retold: tuple[Retelling, ...] = ()
    pictures: tuple[Picture, ...] = ()
    pages: int = 1
    column: bool = False
    private: bool = False

    @property
    def is_flash(self) -> bool:
        return self.id.startswith("flash-")


def lines_of(blocks: Iterable[Block]) -> str:
    """Return the gold text: one paragraph, item, quotation or row per line."""
    return "\n".join(block.text for block in blocks)


def stories() -> list[Story]:
    """Return all stories, by file and position in it."""
    return [story for path in sorted(FOLDER.glob("*.txt")) if path.name != "characters.txt" for story in _read(path)]


def _read(path: Path) -> Iterator[Story]:
    head, *parts = ("\n" + path.read_text(encoding="utf-8")).split("\n= ")
    shared = _fields(head.strip().splitlines())
    for part in parts:
        top, _, body = part.partition("\n\n")
        title, *lines = top.splitlines()
        yield _story(title, shared | _fields(lines), tuple(map(_block, filter(None, body.splitlines()))))


def _fields(lines: list[str]) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    for line in lines:
        key, _, value = line.partition(": ")
        fields.setdefault(key, []).append(value)
    return fields


def _block(line: str) -> Block:
    kind = MARKS.get(line[:2], "p")
    if kind == "row":
        cells = tuple(cell.strip() for cell in line.strip("| ").split("|"))
        return Block(kind, " ".join(cells), cells)
    return Block(kind, line if kind == "p" else line[2:])


def _story(title: str, fields: dict[str, list[str]], blocks: tuple[Block, ...]) -> Story:
    def one(key: str, default: str = "") -> str:
        return fields.get(key, [default])[0]

    return Story(
        id=one("id"),
        title=title,
        category=one("category"),
        language=one("language", "zh"),
        home=one("site"),
        author=None if one("author", "none") == "none" else one("author"),
        blocks=blocks,
        reposts=tuple(one("reposts").split()),
        simplified=tuple(one("simplified").split()),
        retold=tuple(Retelling(*(part.strip() for part in value.split("|"))) for value in fields.get("retold", [])),
        pictures=tuple(Picture(*(part.strip() for part in value.split("|"))) for value in fields.get("picture", [])),
        pages=int(one("pages", "1")),
        column=one("column") == "yes",
        private=one("private") == "yes",
    )
