"""Articles as Parquet: typed columns, a row an article; what has no column of its own stands as JSON in the last one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from datetime import datetime
from importlib import import_module
from tempfile import TemporaryFile
from typing import IO, Any, Final

from newsportal.errors import DependencyMissing, NewsportalError
from newsportal.services.exchange.cells import more_of
from newsportal.services.exchange.form import LISTS, MOMENTS, NUMBERS, TEXTS
from newsportal.store.dialects import chunks

GROUP: Final = 1000  # rows of a row group: some megabytes of articles
READ: Final = 100  # rows that are read at once
IMAGE: Final = ("url", "caption", "width", "height", "format", "page", "print", "dropped")
MORE: Final = "more"


def _pyarrow() -> Any:
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError as error:
        raise DependencyMissing("Parquet", "parquet") from error


def schema() -> Any:
    """The columns (a ``pyarrow.Schema``). Moments are microseconds in UTC."""
    arrow = _pyarrow()
    image = arrow.struct([(name, arrow.int64() if name in ("width", "height") else arrow.string()) for name in IMAGE])
    columns = [(name, arrow.string()) for name in TEXTS]
    columns += [(name, arrow.timestamp("us", tz="UTC")) for name in MOMENTS]
    columns += [(name, arrow.float64()) for name in NUMBERS]
    columns += [("revision", arrow.int64()), ("complete", arrow.bool_())]
    columns += [(name, arrow.list_(arrow.string())) for name in LISTS]
    return arrow.schema([*columns, ("images", arrow.list_(image)), (MORE, arrow.string())])


def write(rows: Iterable[dict[str, Any]], stream: IO[bytes]) -> None:
    """Streamed, a row group at a time. Raises ``DependencyMissing``."""
    arrow, columns = _pyarrow(), schema()
    with arrow.parquet.ParquetWriter(stream, columns, compression="zstd") as writer:
        for group in chunks(rows, GROUP):
            writer.write_table(arrow.Table.from_pylist([_row(row, columns.names) for row in group], schema=columns))


def _row(row: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    more = {name: value for name, value in row.items() if name not in names}
    moments: dict[str, Any] = {name: datetime.fromisoformat(row[name]) for name in MOMENTS if name in row}
    return {**row, **moments, MORE: json.dumps(more, ensure_ascii=False) if more else None}


def read(stream: IO[bytes]) -> Iterator[tuple[int, Any]]:
    """(number, row) of each, counted from 1. Raises ``NewsportalError`` for what is no such file, ``DependencyMissing``."""
    arrow = _pyarrow()
    if not stream.seekable():  # a pipe; what such a file holds stands at its end
        with TemporaryFile() as kept:
            shutil.copyfileobj(stream, kept)
            yield from read(kept)
        return
    try:
        file = arrow.parquet.ParquetFile(stream)
        rows = (row for batch in file.iter_batches(batch_size=READ) for row in batch.to_pylist())
        yield from enumerate(map(_plain_row, rows), 1)
    except (arrow.ArrowException, OSError, ValueError, OverflowError) as error:  # the last two: moments that no calendar has
        raise NewsportalError(f"not a readable Parquet file: {str(error)[:200]}") from error


def _present(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _plain_row(row: dict[str, Any]) -> Any:
    values = _present({name: value for name, value in row.items() if name != MORE})
    if isinstance(images := values.get("images"), list):
        values["images"] = [_present(one) if isinstance(one, dict) else one for one in images]
    more = more_of(str(row[MORE])) if row.get(MORE) else {}
    return more if isinstance(more, ValueError) else values | more
