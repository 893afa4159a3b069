"""Backup of a store to one file, and restore: records as JSON lines in pieces, followed by a manifest with row counts and digests.

A restore first reads the complete file, within the limits of :mod:`container`, and verifies it against the manifest row by row; only then
does it write into an empty store.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NoReturn

from newsportal import __version__
from newsportal.errors import BackupError, StoreError
from newsportal.store import container
from newsportal.store.container import new_file
from newsportal.store.copying import OnProgress, ignore_progress, is_empty
from newsportal.store.dialects import chunks
from newsportal.store.records import BY_NAME, FORMS, PAGE, Digest, Form, Records, TableReader, from_plain, plain
from newsportal.store.schema import all_renames
from newsportal.store.store import Store

FORMAT, VERSION = "newsportal-backup", 1  # format name and version in the manifest
DROPPED_TABLES: Final = frozenset({"deferred_links"})
"""Tables of earlier versions that are no longer needed: deferred links are found again at the next visit."""


def current_table(name: str) -> str:
    """Return the present name of a table of an older version."""
    for renames in all_renames():
        name = renames.tables.get(name, name)
    return name


def current_row(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of an older version under its present names; ``table``: present name."""
    found = dict(row)
    for renames in all_renames():
        columns, changed = renames.columns.get(table, {}), renames.values.get(table, {})
        found = {columns.get(column, column): value for column, value in found.items()}
        found |= {column: values.get(str(found[column]), found[column]) for column, values in changed.items() if column in found}
    return found


MANIFEST, SOURCES = "manifest.json", "sources.yaml"

Files = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Manifest:
    """Manifest of a backup. ``tables``: rows, digest and columns of each; ``files``: size in bytes and SHA-256 of each."""

    made: str
    newsportal: str
    last_change: int
    tables: Mapping[str, Mapping[str, Any]]
    files: Mapping[str, Mapping[str, Any]]
    sources: bytes | None = field(default=None, repr=False)

    @property
    def rows(self) -> int:
        return sum(int(table["rows"]) for table in self.tables.values())

    @property
    def name(self) -> str:
        """Identifier of the backup's content: 16 hexadecimal digits."""
        return hashlib.blake2b(json.dumps([self.made, dict(self.files)], sort_keys=True).encode(), digest_size=8).hexdigest()


def back_up(store: Store, path: Path, *, sources: bytes | None, now: datetime, progress: OnProgress = ignore_progress) -> Manifest:
    """Write the contents of ``store`` to a temporary file beside ``path``, verify it and rename it, so that a file at ``path`` is always
    complete. Temporary files of killed backups are deleted.

    Raises ``BackupError`` if it cannot be written, and the errors of the store.
    """
    container.is_zip(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_file(path) as (part, file):
            with container.write_archive(path, file) as put:
                manifest = _write(store, put, sources, now, progress)
            file.flush()
            os.fsync(file.fileno())
            verify(part, progress)
            part.replace(path)
    except OSError as error:
        raise BackupError(f"{path}: cannot be written: {error.strerror or error}") from error
    return manifest


def _write(store: Store, put: container.Put, sources: bytes | None, now: datetime, progress: OnProgress) -> Manifest:
    files: Files = {}

    def add(name: str, content: bytes) -> None:
        files[name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        put(name, content)

    if sources is not None:
        add(SOURCES, sources)
    last_change = store.last_seq()
    with store.records.reading() as reader:
        tables = _write_tables(reader, add, progress)
    manifest = Manifest(now.isoformat(), __version__, last_change, tables, files)
    header = {"format": FORMAT, "version": VERSION, "newsportal": __version__, "made": manifest.made}
    put(MANIFEST, json.dumps({**header, "last_change": last_change, "tables": tables, "files": files}, indent=1).encode())
    return manifest


def _write_tables(reader: TableReader, add: container.Put, progress: OnProgress) -> dict[str, dict[str, Any]]:
    total, done = sum(reader.count(form) for form in FORMS), 0
    tables: dict[str, dict[str, Any]] = {}
    for form in FORMS:
        digest, buffer, number = Digest(), bytearray(), 0
        for row in reader.rows(form):
            digest.add(form, row)
            buffer += _to_line(plain(form, row))
            done += 1
            if len(buffer) >= container.PIECE_BYTES:
                add(_name(form, number), bytes(buffer))
                buffer, number = bytearray(), number + 1
                progress(f"saving {form.name}", done, max(total, done))
        if buffer:
            add(_name(form, number), bytes(buffer))
        progress(f"saving {form.name}", done, max(total, done))
        tables[form.name] = {"rows": digest.count, "digest": digest.hexdigest(), "columns": list(form.columns)}
    return tables


def _name(form: Form, number: int) -> str:
    return f"records/{form.name}/{number:06d}.jsonl"


def _to_line(row: Mapping[str, Any]) -> bytes:
    try:
        return (json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
    except UnicodeEncodeError:  # lone surrogates in JSON values
        return (json.dumps(row, separators=(",", ":")) + "\n").encode()


def verify(path: Path, progress: OnProgress = ignore_progress) -> Manifest:
    """Read a backup completely and verify it against its manifest. Raises ``BackupError`` for any difference."""
    found: Files = {}
    sums = {form.name: Digest() for form in FORMS}
    manifest: Manifest | None = None
    sources: bytes | None = None
    for name, content in container.read_files(path):
        if name == MANIFEST:
            manifest = _manifest(path, content)
            continue
        found[name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        if name == SOURCES:
            sources = content
        elif (form := _form(path, name)) is not None:
            for row in _rows(path, form, name, content):
                sums[form.name].add(form, row)
        progress("checking", len(found), len(found))
    if manifest is None:
        raise BackupError(f"{path}: has no manifest: truncated, or not a backup; nothing was restored")
    if found != manifest.files:
        wrong = sorted(name for name in {*found, *manifest.files} if found.get(name) != manifest.files.get(name))
        raise BackupError(f"{path}: damaged: {', '.join(wrong)[:200]} do not match the manifest; nothing was restored")
    for name, digest in sums.items():
        expected = manifest.tables.get(name, {"rows": 0, "digest": Digest().hexdigest(), "columns": list(BY_NAME[name].columns)})
        comparable = set(expected["columns"]) == set(
            BY_NAME[name].columns
        )  # otherwise columns were added or renamed since, and the digests differ
        if expected["rows"] != digest.count or (comparable and expected["digest"] != digest.hexdigest()):
            raise BackupError(f"{path}: damaged: the rows of {name} do not match the manifest; nothing was restored")
    return replace(manifest, sources=sources)


def _manifest(path: Path, content: bytes) -> Manifest:
    try:
        values = json.loads(content)
        if values["format"] != FORMAT:
            raise ValueError(f"not {FORMAT}")  # noqa: TRY301  caught below
        if (version := int(values["version"])) > VERSION:
            _raise_newer(path, f"format {version}; supported: {VERSION}")
        tables = {current_table(name): table for name, table in values["tables"].items() if name not in DROPPED_TABLES}
        if unknown := sorted(set(tables) - set(BY_NAME)):
            _raise_newer(path, f"tables {', '.join(unknown)[:100]}")
        for name, table in tables.items():
            if more := sorted(set(current_row(name, dict.fromkeys(table["columns"]))) - set(BY_NAME[name].columns)):
                _raise_newer(path, f"{name} with {', '.join(more)[:100]}")
            if not isinstance(table["rows"], int) or not isinstance(table["digest"], str):
                raise TypeError(f"rows and digest of {name}")  # noqa: TRY301
        return Manifest(str(values["made"]), str(values["newsportal"]), int(values["last_change"]), tables, dict(values["files"]))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise BackupError(f"{path}: its manifest is invalid ({error}); nothing was restored") from error


def _raise_newer(path: Path, detail: str) -> NoReturn:
    raise BackupError(f"{path}: written by a later newsportal ({detail}); upgrade with `pip install -U newsportal`; nothing was restored")


def _form(path: Path, name: str) -> Form | None:
    """Return the table whose rows a file holds, or ``None`` for a table of :data:`DROPPED_TABLES`."""
    table = current_table(name.split("/")[1])
    form = BY_NAME.get(table)
    if form is None and table not in DROPPED_TABLES:
        raise BackupError(f"{path}: holds {name!r}, an unknown table of a later version of newsportal; nothing was restored")
    return form


def _rows(path: Path, form: Form, name: str, content: bytes) -> Iterator[dict[str, Any]]:
    """Yield the rows of one file. Columns that did not exist in an older version are ``None``."""
    for number, line in enumerate(content.splitlines(), 1):
        try:
            container.check_row(line)
            row = json.loads(line, parse_constant=_reject_constant)
            yield from_plain(form, dict.fromkeys(form.nullable) | current_row(form.name, row) if isinstance(row, dict) else row)
        except (ValueError, RecursionError) as error:
            raise BackupError(f"{path}: {name}, line {number}: {error}; nothing was restored") from error


def _reject_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


@dataclass(frozen=True, slots=True)
class Restored:
    """``left_out``: rows of articles added during the backup (of databases that cannot provide a consistent snapshot)."""

    manifest: Manifest
    rows: int
    left_out: int


def restore(path: Path, store: Store, *, manifest: Manifest, progress: OnProgress = ignore_progress) -> Restored:
    """Write a backup verified by :func:`verify` into an empty store, or resume its interrupted restore. If that fails or the process dies,
    the mark in the store identifies the unfinished backup.

    Raises ``BackupError`` if the store holds anything else, another process wrote to it meanwhile, or it fails.
    """
    interrupted = store.records.restoring()  # rows of this backup that were restored before are written again: the same rows
    if interrupted is not None and interrupted != manifest.name:
        raise BackupError(
            "the target store has an interrupted copy, or an interrupted restore of another backup, and was not changed; repeat "
            "that, delete this store by hand, or name another one: --to URI"
        )
    if interrupted is None:
        if not is_empty(store.records):
            raise BackupError("the target store is not empty and was not changed; name another one: --to URI")
        store.records.mark(manifest.name)
    try:
        written = _write_rows(path, store.records, manifest.rows, progress)
        store.records.finish()
        store.records.mark(None)
    except StoreError as error:
        raise BackupError(f"{path}: not completely restored: {error}; then restore the same file again, which continues") from error
    with store.records.reading() as reader:
        rows = sum(reader.count(form) for form in FORMS)
    if rows != written:  # rows of another process must not be deleted
        raise BackupError(
            f"{path}: {written} rows were written and {rows} are there: another process writes to this store, which keeps all of them; "
            "stop that process, and restore to another store: --to URI"
        )
    return Restored(manifest, written, manifest.rows - written)


def _write_rows(path: Path, records: Records, total: int, progress: OnProgress) -> int:
    """Write the rows in the order of the file: parents before their children."""
    written = done = 0
    for name, content in container.read_files(path):
        form = None if name in (MANIFEST, SOURCES) else _form(path, name)
        if form is None:
            continue
        for page in chunks(_rows(path, form, name, content), PAGE):
            written += records.write(form, page)
            done += len(page)
            progress(f"restoring {form.name}", done, total)
    return written
