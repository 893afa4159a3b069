"""Export and import of articles as tables, a row per article, and as Web pages.

CSV: no cell is interpreted as a formula by spreadsheets, and values survive a round trip; lists have an item per line. Parquet: typed
columns. Fields without a column are stored as JSON in the last one, so that nothing is lost.

WARC: readable by ``crawl --replay`` and all tools for Web archives. Pages are rebuilt from the stored article (title, body, date, author,
language), each under its URL; for the bytes served by the site use ``crawl --archive``. Each page is preceded by a metadata record with the
article as a JSON line, from which it is imported unchanged; pages of other archives are read by the extractor.
"""

import csv
import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from html import escape
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final, TextIO

from newsportal.errors import DependencyMissing, NewsportalError, NotApplicable
from newsportal.extractors import extractor
from newsportal.extractors.article.sanitise import sanitise
from newsportal.items import Page
from newsportal.net.archive import Exchange, Record, Writer, records, url_key
from newsportal.net.egress.decompress import TooLarge, decompress
from newsportal.services.exchange.form import LISTS, MOMENTS, NUMBERS, TEXTS
from newsportal.store.dialects import chunks
from newsportal.store.results import StoredArticle
from newsportal.text import clean
from newsportal.text.dom import document

COLUMNS: Final = (
    "id", "story", "url", "title", "site", "author", "published", "first_seen", "language", "category", "topics", "keywords", "source",
    "fold_of", "fold_reason", "summary", "text", "more",
)  # fmt: skip

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Cells that begin so are formulas for a spreadsheet (OWASP, CSV injection); a preceding apostrophe makes them text."""

LONGEST: Final = 64 * 1024 * 1024
"""Characters of a line and of a cell: an article has at most 16 MB of text, and an unclosed quote must not fill the memory."""

BOM: Final = "\ufeff"
ESCAPED: Final = re.compile("[\udc80-\udcff]")  # bytes that are not UTF-8, in a stream opened with surrogateescape


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet may interpret the cell as a formula, as it is or after our apostrophes."""
    plain = text.lstrip("'")
    return plain.lstrip(" \u3000").startswith(FORMULA) or plain.startswith(FORMULA)


def escape_cell(text: str) -> str:
    """Escape ``text`` so that no spreadsheet interprets it as a formula."""
    return f"'{text}" if is_formula(text) else text


def unescape_cell(cell: str) -> str:
    """Invert :func:`escape_cell`."""
    return cell[1:] if cell.startswith("'") and is_formula(cell[1:]) else cell


def write_csv(rows: Iterable[dict[str, Any]], stream: TextIO, *, bom: bool = True) -> None:
    """Write CSV, with a byte order mark, by which spreadsheets recognise UTF-8, unless ``bom`` is false."""
    stream.write(BOM if bom else "")
    out = csv.writer(stream, lineterminator="\r\n")
    out.writerow(COLUMNS)
    for row in rows:
        out.writerow([escape_cell(_written(row, column)) for column in COLUMNS])


def _written(row: dict[str, Any], column: str) -> str:
    if column == "more":
        more = {name: value for name, value in row.items() if name not in COLUMNS}
        return json.dumps(more, ensure_ascii=False)
    if column in LISTS:
        return "\n".join(item.replace("\\", "\\\\").replace("\n", "\\n") for item in row.get(column, ()))
    return str(row.get(column, ""))


def read_csv(stream: TextIO) -> Iterator[tuple[int, Any]]:
    """Yield (line, row); an invalid row is a ``ValueError``. Files of other programs may have some of the columns, in any order."""
    csv.field_size_limit(LONGEST)
    lines = csv.reader(_lines(stream), strict=True)
    header = next(_valid_rows(lines), None)
    names = [unescape_cell(name.removeprefix(BOM)).strip() for name in header] if isinstance(header, list) else []
    if "url" not in names:
        raise ValueError("not a CSV file of articles: its first line has no column url")
    for row in _valid_rows(lines):
        if isinstance(row, ValueError):
            yield lines.line_num, row
        elif row:
            yield lines.line_num, _values_of(names, row)


def _lines(stream: TextIO) -> Iterator[str]:
    """Yield lines. Raises ``ValueError`` for one that is too long for an article."""
    while line := stream.readline(LONGEST):
        if len(line) == LONGEST and not line.endswith("\n"):
            raise ValueError(f"a line longer than {LONGEST} characters; is it a CSV?")
        yield line


def _valid_rows(lines: Any) -> Iterator[list[str] | ValueError]:
    while True:
        try:
            yield next(lines)
        except StopIteration:
            return
        except csv.Error as error:
            yield ValueError(str(error))


def _values_of(names: list[str], cells: list[str]) -> Any:
    if any(ESCAPED.search(cell) for cell in cells):
        return ValueError("not UTF-8; save the file in UTF-8")
    if len(cells) != len(names):
        return ValueError(f"{len(cells)} cells instead of {len(names)}")
    values: dict[str, Any] = {}
    for name, found in zip(names, map(unescape_cell, cells), strict=True):
        if name == "more" and found:
            more = parse_more(found)
            if isinstance(more, ValueError):
                return more
            values |= more
        elif name in LISTS:
            values[name] = [("\\".join(part.replace("\\n", "\n") for part in item.split("\\\\"))) for item in found.split("\n") if item]
        elif found or name in ("title", "text"):
            values[name] = found
    return values


def parse_more(text: str) -> dict[str, Any] | ValueError:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        return ValueError(f"more is not valid JSON ({error})")
    return found if isinstance(found, dict) else ValueError("more is not a JSON object")


GROUP: Final = 1000  # rows of a row group: some megabytes of articles
ROWS_AT_ONCE: Final = 100  # rows read in one batch
IMAGE: Final = ("url", "caption", "width", "height", "format", "page", "print", "dropped")
MORE: Final = "more"


def _pyarrow() -> Any:
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError as error:
        raise DependencyMissing("Parquet", "parquet") from error


def schema() -> Any:
    """Return the columns (a ``pyarrow.Schema``). Times are microseconds in UTC."""
    arrow = _pyarrow()
    image = arrow.struct([(name, arrow.int64() if name in ("width", "height") else arrow.string()) for name in IMAGE])
    columns = [(name, arrow.string()) for name in TEXTS]
    columns += [(name, arrow.timestamp("us", tz="UTC")) for name in MOMENTS]
    columns += [(name, arrow.float64()) for name in NUMBERS]
    columns += [("revision", arrow.int64()), ("complete", arrow.bool_())]
    columns += [(name, arrow.list_(arrow.string())) for name in LISTS]
    return arrow.schema([*columns, ("images", arrow.list_(image)), (MORE, arrow.string())])


def write_parquet(rows: Iterable[dict[str, Any]], stream: IO[bytes]) -> None:
    """Write Parquet, streaming a row group at a time. Raises ``DependencyMissing``."""
    arrow, columns = _pyarrow(), schema()
    with arrow.parquet.ParquetWriter(stream, columns, compression="zstd") as writer:
        for group in chunks(rows, GROUP):
            writer.write_table(arrow.Table.from_pylist([_row(row, columns.names) for row in group], schema=columns))


def _row(row: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    more = {name: value for name, value in row.items() if name not in names}
    moments: dict[str, Any] = {name: datetime.fromisoformat(row[name]) for name in MOMENTS if name in row}
    return {**row, **moments, MORE: json.dumps(more, ensure_ascii=False) if more else None}


def read_parquet(stream: IO[bytes]) -> Iterator[tuple[int, Any]]:
    """Yield (number, row), counted from 1. Raises ``NewsportalError`` for an unreadable file, and ``DependencyMissing``."""
    arrow = _pyarrow()
    if not stream.seekable():  # a pipe; the index of the file is at its end
        with TemporaryFile() as copy:
            shutil.copyfileobj(stream, copy)
            yield from read_parquet(copy)
        return
    try:
        file = arrow.parquet.ParquetFile(stream)
        rows = (row for batch in file.iter_batches(batch_size=ROWS_AT_ONCE) for row in batch.to_pylist())
        yield from enumerate(map(_plain_row, rows), 1)
    except (arrow.ArrowException, OSError, ValueError, OverflowError) as error:  # the last two: dates out of range
        raise NewsportalError(f"not a readable Parquet file: {str(error)[:200]}") from error


def _present(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _plain_row(row: dict[str, Any]) -> Any:
    values = _present({name: value for name, value in row.items() if name != MORE})
    if isinstance(images := values.get("images"), list):
        values["images"] = [_present(image) if isinstance(image, dict) else image for image in images]
    more = parse_more(str(row[MORE])) if row.get(MORE) else {}
    return more if isinstance(more, ValueError) else values | more


ARTICLE: Final = "application/vnd.newsportal.article+json"  # content type of records that contain an article as a JSON line
LONGEST_PAGE: Final = 64 * 1024 * 1024  # bytes of a decompressed page: four times the maximum of a download
EXTRACTED: Final = ("title", "text", "html", "published", "author", "origin", "language", "algorithm")  # fields found by the extractor
HEADERS = (("Content-Type", "text/html; charset=utf-8"),)


def write_warc(articles: Iterable[StoredArticle], path: Path, form: Callable[[StoredArticle], dict[str, Any]]) -> None:
    with Writer(path) as writer:
        for article in articles:
            metadata = json.dumps(form(article), ensure_ascii=False).encode("utf-8", "replace")
            writer.write_metadata(article.url, ARTICLE, metadata, article.fetched)
            body = html_page(article).encode("utf-8", "replace")
            writer.write(Exchange(article.url, 200, HEADERS, body, when=article.fetched))


def read_warc(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield (number, row) of each article, counted from 1; a page without an article is a ``ValueError``. Raises ``ReplayError``."""
    described: set[str] = set()  # URLs whose article is in a metadata record
    number = 0
    for record in records(path):
        if record.kind == "metadata" and record.content_type == ARTICLE:
            described.add(url_key(record.url))
            number += 1
            yield number, _from_metadata(record)
        elif record.kind == "response" and record.status == 200 and "html" in record.content_type and url_key(record.url) not in described:
            number += 1
            yield number, _from_page(record)


def _from_metadata(record: Record) -> Any:
    try:
        return json.loads(record.body)
    except (ValueError, RecursionError) as error:
        return ValueError(f"{record.url}: {error}")


def _from_page(record: Record) -> Any:
    try:
        body = decompress(record.body, record.encodings, LONGEST_PAGE)
    except TooLarge as error:
        return ValueError(f"{record.url}: {error}")
    except ValueError:  # not compressed: some crawlers keep the header
        body = record.body
    try:
        found = extractor("best")(document(Page(record.url, body, record.when, 200, record.content_type)), None, record.when)
    except NotApplicable as error:
        return ValueError(f"{record.url}: no article found: {error}")
    values: dict[str, Any] = {name: getattr(found, name) for name in EXTRACTED if getattr(found, name) is not None}
    images = [{name: value for name, value in asdict(image).items() if value is not None} for image in found.images]
    return {"url": record.url, "fetched": record.when, **values, "images": images}


def html_page(article: StoredArticle) -> str:
    """Return an article as a plain HTML page from which an extractor reads the same article."""
    language = f' lang="{escape(article.language)}"' if article.language else ""
    head = "\n".join(_head(article))
    body = sanitise(article.html, article.url) if article.html else "\n".join(f"<p>{escape(line)}</p>" for line in article.text.split("\n"))
    article_html = f"<article>\n<h1>{escape(clean(article.title))}</h1>\n{body}\n</article>"
    return f"<!doctype html>\n<html{language}>\n<head>\n{head}\n</head>\n<body>\n{article_html}\n</body>\n</html>\n"


def _head(article: StoredArticle) -> Iterator[str]:
    yield '<meta charset="utf-8">'
    yield f"<title>{escape(article.title)}</title>"
    yield f'<link rel="canonical" href="{escape(article.url)}">'
    if article.author:
        yield f'<meta name="author" content="{escape(article.author)}">'
    if article.published:
        yield f'<meta property="article:published_time" content="{article.published.isoformat()}">'
    if article.site:
        yield f'<meta property="og:site_name" content="{escape(article.site)}">'
