"""Read labelled texts from files: JSON lines, CSV, or a folder of ``LABEL/*.txt``; plain or gzipped.

A file is imported completely, or an error names the line: training on part of a corpus would be removed unnoticed.
"""

import codecs
import csv
import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from io import BufferedIOBase
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from newsportal.errors import CorpusError
from newsportal.messages import Message, as_text
from newsportal.store.columns import NAME_CHARS
from newsportal.store.labels import Document, NewDocument
from newsportal.text import clean

LONGEST_LINE: Final = 64 << 20  # bytes of one document's line: a file with a longer one is of another kind
UTF8: Final = "utf-8"
FIELDS: Final = ("text", "label", "title", "id")
WIDE: Final = ("utf-16", "utf-32")  # encodings in which a byte of 10 is not always a line end


class WrongLine(CorpusError):
    """Raised for a line that is not a labelled text. Nothing of the file was imported."""

    def __init__(self, file: str, line: int, reason: Message) -> None:
        super().__init__(f"{file}:{line}: {reason}; nothing was imported from the file")
        self.line, self.reason = line, reason

    @property
    def message(self) -> Message:
        return Message("corpus.line", line=self.line, why=self.reason)


def read_file(path: Path, form: str, encoding: str = UTF8, opened: Callable[[Path], BinaryIO] | None = None) -> Iterator[NewDocument]:
    """Yield the documents of a file or folder; ``form`` is one of ``FORMS`` or ``auto``. Texts may be empty. Raises ``CorpusError``.
    ``opened`` opens a file for reading (e.g. with a progress bar)."""
    check_encoding(encoding)
    form = guess_form(path) if form == "auto" else form
    try:
        if form == "folder":
            yield from _folder(path, encoding)
            return
        with opened(path) if opened else path.open("rb") as stream:
            lines = cast(BinaryIO, gzip.GzipFile(fileobj=stream, mode="rb")) if path.suffix.lower() == ".gz" else stream
            yield from read_stream(lines, form, str(path), encoding)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise CorpusError(f"{path}: not a gzip file, or cut off; nothing was imported from it") from error
    except OSError as error:
        raise CorpusError(f"{path}: {error.strerror or error}") from error


def read_stream(stream: BinaryIO, form: str, name: str, encoding: str = UTF8) -> Iterator[NewDocument]:
    """Yield the documents of an open file. Raises ``CorpusError``."""
    yield from STREAMS[form](_lines(stream, name, encoding), name)


def find_mistakes(stream: BinaryIO, form: str, name: str, encoding: str = UTF8, limit: int = 20) -> list[CorpusError]:
    """Return the first errors of an open file, one per line, so that they can be corrected together; empty if it is valid."""
    return list(islice(_mistakes(stream, form, name, encoding), limit))


def _mistakes(stream: BinaryIO, form: str, name: str, encoding: str) -> Iterator[CorpusError]:
    """Yield the errors; of CSV only the first, since it makes the following lines unreliable."""
    try:
        if form != "jsonl":
            for _ in read_stream(stream, form, name, encoding):
                pass
            return
        for number, line in enumerate(_lines(stream, name, encoding), 1):
            try:
                list(_jsonl(iter([line]), name))
            except WrongLine as error:
                yield WrongLine(name, number, error.reason)
    except CorpusError as error:  # not text, or a line that is too long
        yield error


def guess_form(path: Path) -> str:
    """Guess the form of a file by its name: JSON lines, unless it is a folder or ends with ``.csv``."""
    if path.is_dir():
        return "folder"
    return "csv" if ".csv" in [suffix.lower() for suffix in path.suffixes[-2:]] else "jsonl"


def check_encoding(encoding: str) -> None:
    """Raise ``CorpusError`` for an unknown encoding."""
    try:
        "".encode(encoding)
    except LookupError as error:
        raise CorpusError(f"{encoding!r} is not a known encoding; usual ones are utf-8, gb18030, big5") from error


def _lines(stream: BinaryIO | BufferedIOBase, name: str, encoding: str) -> Iterator[str]:
    """Yield the lines of a file, decoded separately so that an error has a line number."""
    if codecs.lookup(encoding).name.startswith(WIDE):
        yield from _decoded(stream.read(), name, 1, encoding).splitlines(keepends=True)
        return
    for number, raw in enumerate(iter(partial(stream.readline, LONGEST_LINE), b""), 1):
        if len(raw) == LONGEST_LINE:
            raise WrongLine(name, number, Message("corpus.long-line", number=LONGEST_LINE >> 20))
        yield _decoded(raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw, name, number, encoding)


def _decoded(raw: bytes, name: str, number: int, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise WrongLine(name, number, Message("corpus.wrong-encoding", encoding=encoding, byte=error.start + 1)) from error


def _jsonl(lines: Iterator[str], name: str) -> Iterator[NewDocument]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if not isinstance(row, dict):
                raise ValueError(Message("corpus.not-an-object"))  # noqa: TRY004, TRY301
            yield document(row)
        except (json.JSONDecodeError, RecursionError) as error:
            raise WrongLine(name, number, Message("corpus.invalid-json", why=str(error))) from error
        except ValueError as error:
            raise WrongLine(name, number, as_text(error.args[0])) from error


def _csv(lines: Iterator[str], name: str) -> Iterator[NewDocument]:
    csv.field_size_limit(LONGEST_LINE)
    rows = csv.reader(lines, strict=True)
    heading: list[str] | None = None
    try:
        for row in rows:
            if heading is None:
                heading = [cell.strip().lower() for cell in row]
                if not {"text", "label"} <= set(heading):
                    raise ValueError(Message("corpus.missing-columns", found=", ".join(heading)))  # noqa: TRY301
            elif row and len(row) != len(heading):
                raise ValueError(Message("corpus.wrong-cell-count", cells=len(row), headings=len(heading)))  # noqa: TRY301
            elif row:
                yield document({key: cell for key, cell in zip(heading, row, strict=True) if key in FIELDS})
    except (ValueError, csv.Error) as error:
        raise WrongLine(name, rows.line_num, as_text(error.args[0])) from error


def _folder(folder: Path, encoding: str) -> Iterator[NewDocument]:
    """Yield every ``.txt`` below a folder; its label is the path of its folder."""
    files = sorted(folder.rglob("*.txt"))
    if not files:
        raise CorpusError(f"{folder}: no LABEL/*.txt in this folder")
    for file in files:
        label = file.parent.relative_to(folder).as_posix()
        if label == ".":
            raise CorpusError(f"{file}: not in a folder named as its label")
        with file.open("rb") as stream:
            text = "".join(_lines(stream, str(file), encoding))
        try:
            yield document({"text": text, "label": label, "id": file.relative_to(folder).as_posix()})
        except ValueError as error:
            raise CorpusError(f"{file}: {error}") from error


def document(row: dict[str, Any]) -> NewDocument:
    """Convert a row to a document. Raises ``ValueError`` with a message."""
    label, text = row.get("label"), row.get("text")
    if isinstance(label, int) and not isinstance(label, bool):
        label = str(label)
    if not isinstance(label, str) or not label.strip():
        raise ValueError(Message("corpus.invalid-label"))
    if len(label) > NAME_CHARS:
        raise ValueError(Message("corpus.long-label", found=len(label), limit=NAME_CHARS))
    title, name = row.get("title") or "", row.get("id")
    if not isinstance(text, str) or not isinstance(title, str):
        raise ValueError(Message("corpus.invalid-text"))  # noqa: TRY004
    return NewDocument(label.strip(), text, title, None if name in (None, "") else str(name))


def is_empty(document: NewDocument) -> bool:
    return not document.text.strip() and not document.title.strip()


STREAMS: Final[dict[str, Callable[[Iterator[str], str], Iterator[NewDocument]]]] = {"jsonl": _jsonl, "csv": _csv}
FORMS: Final = ("auto", *STREAMS, "folder")


def plain(document: Document, excerpt: int | None = None) -> dict[str, Any]:
    """Return a document as JSON values (times unchanged), without missing ones. ``excerpt``: characters of its text."""
    text = document.text if excerpt is None else clean(document.text[: 4 * excerpt])[:excerpt]
    values = {
        "id": document.id, "name": document.name, "title": document.title or None, "text": text, "label": document.label.label,
        "source": document.label.source, "by": document.label.by, "at": document.label.at, "site": document.site,
    }  # fmt: skip
    return {key: value for key, value in values.items() if value is not None}
