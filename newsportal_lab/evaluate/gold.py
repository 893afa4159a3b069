"""Gold data: a folder of ``<id>.html`` or ``<id>.html.gz`` with an ``<id>.json`` beside each, or files of JSON lines.

Gold answers of a page are ``text``, ``title``, ``date`` (or ``published``), ``author`` (or ``authors``) and ``source``, as far as
present; ``url`` and ``summary`` are passed to the algorithms.
"""

import gzip
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from newsportal.cli.pages import SavedPage, page_files, page_id, saved_pages
from newsportal.errors import NewsportalError
from newsportal_lab.evaluate.scoring import Answer, day


class NoGold(NewsportalError):
    """Raised by :func:`survey` for a folder without gold pages. The command explains the expected files and stops."""


@dataclass(frozen=True, slots=True)
class GoldPage:
    """A saved page with its gold answers. ``site``: its host, or the site in the gold; ``kind``: the kind of page in the gold."""

    saved: SavedPage
    gold: Answer = field(repr=False)
    site: str | None = None
    kind: str | None = None

    @property
    def id(self) -> str:
        return self.saved.id


@dataclass(frozen=True, slots=True)
class Survey:
    """The contents of a folder: number of pages with gold, ids of those without, and remarks on invalid gold."""

    pages: int
    without: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def survey(folder: Path) -> Survey:
    """Examine the descriptions in ``folder``, not the pages. Raises ``NoGold``."""
    if not folder.is_dir():
        raise NoGold(f"{folder} is no folder; gold pages are a folder of <id>.html or <id>.html.gz with <id>.json beside each")
    names = [page_id(file) for file in page_files(folder)]
    without = tuple(name for name in names if _answer(read_description(folder / f"{name}.json")) == Answer())
    remarks = tuple(remark for name in names if (remark := _remark(folder / f"{name}.json")))
    if len(without) == len(names):
        message = f"no page in {folder} has gold beside it: <id>.json with text, title, date, author or source; see docs/evaluation.md"
        raise NoGold("\n".join((message, *remarks)))
    return Survey(len(names) - len(without), without, remarks)


def _remark(file: Path) -> str | None:
    """Return what is invalid in a description."""
    try:
        found = json.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        return f"{file}: no JSON in UTF-8: {error}"
    if not isinstance(found, dict):
        return f"{file}: no JSON object with text, title, date, author or source"
    date = _answer(found).date
    return f"{file}: the date {date!r} is not scored; write it as 2024-03-05" if date and day(date) is None else None


def gold_pages(folder: Path) -> Iterator[GoldPage]:
    """Yield the pages of ``folder`` with gold, by name, read on demand."""
    for saved in saved_pages(folder):
        if (page := _page(folder, saved)) is not None:
            yield page


def gold_page(file: Path) -> GoldPage | None:
    """The page saved in ``file``; ``None`` without gold."""
    return _page(file.parent, next(iter(saved_pages(file))))


def _page(folder: Path, saved: SavedPage) -> GoldPage | None:
    description = read_description(folder / f"{saved.id}.json")
    gold = _answer(description)
    if gold == Answer():
        return None
    site = description.get("site")
    if not isinstance(site, str) and saved.url:
        with suppress(ValueError):
            site = urlsplit(saved.url).hostname
    kind = description.get("kind")
    return GoldPage(saved, gold, site if isinstance(site, str) else None, kind if isinstance(kind, str) else None)


def read_description(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _answer(description: dict[str, Any]) -> Answer:
    return Answer(
        text=text_of(description.get("text"), "\n"),
        title=text_of(description.get("title")),
        date=text_of(description.get("date") or description.get("published")),
        author=text_of(description.get("author") or description.get("authors")),
        source=text_of(description.get("source")),
    )


def text_of(value: object, separator: str = "; ") -> str | None:
    """Return a non-empty text; a list of names or paragraphs is joined by ``separator``."""
    if isinstance(value, list):
        value = separator.join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) and value.strip() else None


def gold_lines(folder: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield the non-blank lines of ``name``.jsonl or ``name``.jsonl.gz in ``folder``, as (``file:number``, line).

    Raises ``ValueError`` if both files are missing or one is not UTF-8; ``OSError``.
    """
    plain, packed = folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz"
    file = next((file for file in (plain, packed) if file.exists()), None)
    if file is None:
        raise ValueError(f"{folder}: there is neither {plain.name} nor {packed.name} in it")
    number = 0
    try:
        with gzip.open(file, "rt", encoding="utf-8") if file is packed else file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield f"{file}:{number}", line
    except (UnicodeDecodeError, EOFError) as error:
        raise ValueError(
            f"{file}:{number + 1}: {'it is not UTF-8' if isinstance(error, UnicodeError) else 'the file is cut off'}"
        ) from error
