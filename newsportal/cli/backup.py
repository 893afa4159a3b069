"""``newsportal backup`` and ``restore``: a store and its sources.yaml in one file, while a crawl goes on; and back into an empty store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from newsportal.cli.options import AsJsonLine, SourcesFile, load
from newsportal.cli.output import count_bar, print_json
from newsportal.cli.store import masked
from newsportal.errors import BackupError
from newsportal.messages import local
from newsportal.sources import find
from newsportal.store import open_store
from newsportal.store.backup import SOURCES, back_up, checked
from newsportal.store.backup import restore as restored
from newsportal.store.container import DATED
from newsportal.store.dialect_sqlite import sqlite_file, sqlite_uri
from newsportal.store.store import Store

FORM = "newsportal-%Y%m%d-%H%M%S.tar.zst"  # how a backup is called in a folder, by this machine's clock; DATED knows it again


def backup(
    place: Annotated[Path, typer.Argument(metavar="FILE", help="A .tar.zst or .zip file, or a folder, where its name is the time.")],
    keep: Annotated[int | None, typer.Option(min=1, help="In a folder: keep only the newest so many.")] = None,
    store: Annotated[str | None, typer.Option(help="Instead of that of sources.yaml.")] = None,
    sources: SourcesFile = None,
    as_json: AsJsonLine = False,
) -> None:
    """Save a store and sources.yaml in one file, while others read and write."""
    written = sources or find()
    known = None if store else load(sources)
    uri = known.store if known else store or ""
    folder = place.is_dir()
    if keep is not None and not folder:
        raise typer.BadParameter(f"{place} is no folder, and --keep is about one: make it, or leave --keep out", param_hint="FILE")
    path = place / local(datetime.now(UTC)).strftime(FORM) if folder else place
    try:
        saved = written.read_bytes() if written is not None else None
    except OSError as error:
        raise BackupError(f"{written}: cannot be read: {error.strerror or error}") from error
    with closing(open_store(uri, create=False)) as opened, count_bar(quiet=as_json) as tell:
        manifest = back_up(opened, path, sources=saved, now=datetime.now(UTC), tell=tell)
    if known is not None:
        mark = known.backup_mark
        try:
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()
        except OSError as error:
            typer.echo(f"{mark} cannot be touched ({error.strerror or error}): the portal's metrics do not tell of this backup", err=True)
    gone: list[str] = []
    if keep is not None:  # the new one stays, whatever the clock says, and so do files of other names
        others = sorted((other for other in place.iterdir() if DATED.fullmatch(other.name) and other != path), reverse=True)
        for other in others[keep - 1 :][::-1]:
            try:
                other.unlink()
            except OSError as error:
                raise BackupError(f"{path} is written, but {other} cannot be deleted: {error.strerror or error}") from error
            gone.append(other.name)
    row = {"file": str(path), "bytes": path.stat().st_size, "rows": manifest.rows, "last_change": manifest.last_change, "let_go": gone}
    typer.echo(json.dumps(row, ensure_ascii=False) if as_json else f"{path}: {manifest.rows} rows, {row['bytes']} bytes")


BESIDE = (".restoring", ".restoring-wal", ".restoring-shm")
"""What a SQLite file is called until it is whole, and what SQLite writes beside it."""


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup.")],
    to: Annotated[str | None, typer.Option(help="An empty store; default: that of sources.yaml.")] = None,
    sources: Annotated[
        Path | None,
        typer.Option(help="The sources file; default: the nearest sources.yaml, else that of the backup, which is written here."),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Only check the backup.")] = False,
    as_json: AsJsonLine = False,
) -> None:
    """Read a backup, checked first, into an empty store of any kind."""
    with count_bar(quiet=as_json) as tell:
        manifest = checked(file, tell)
        row = {"file": str(file), "made": manifest.made, "newsportal": manifest.newsportal, "rows": manifest.rows}
        if not check:
            if to is None and sources is None and find() is None:  # the sources.yaml of the backup is written here
                if manifest.sources is None:
                    raise BackupError("there is no sources.yaml here or above, and none in the backup; name the store: --to URI")
                try:
                    Path(SOURCES).write_bytes(manifest.sources)
                except OSError as error:
                    raise BackupError(f"{SOURCES} cannot be written here ({error.strerror or error}); name the store: --to URI") from error
            uri = to or load(sources).store
            with _whole_or_not(uri) as store:
                done = restored(file, store, manifest=manifest, tell=tell)
            row |= {"store": masked(uri), "left_out": done.left_out}
    if as_json:
        print_json(row)
        return
    typer.echo(f"{file}: {manifest.rows} rows, made {manifest.made} by newsportal {manifest.newsportal}: sound")
    if not check:
        without = f" without {row['left_out']} rows that came while it was made" if row["left_out"] else ""
        typer.echo(f"restored to {row['store']}{without}")


@contextmanager
def _whole_or_not(uri: str) -> Iterator[Store]:
    """The store at ``uri``. A SQLite file that is not there yet gets its name when all is in it, so a killed restore leaves none."""
    path = sqlite_file(uri)
    if path is None or path.exists():
        with closing(open_store(uri, unfinished=True)) as store:
            yield store
        return
    beside = [path.with_name(path.name + ending) for ending in BESIDE]
    _remove(beside)
    try:
        with closing(open_store(sqlite_uri(beside[0]))) as store:
            yield store
        if beside[1].exists():  # SQLite puts it into the file when it closes it, if it can
            raise BackupError(
                f"{path}: not restored: not all was written to the disk; see that it has room, and that nobody reads {beside[0]}"
            )
        beside[0].replace(path)
    finally:
        _remove(beside)


def _remove(paths: list[Path]) -> None:
    for path in paths:
        with suppress(OSError):  # it is not there, or has its name by now
            path.unlink()
