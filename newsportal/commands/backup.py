"""``newsportal backup``: everything of a store and its sources.yaml in one file, while a crawl goes on."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from newsportal.commands.options import AsJsonLine, SourcesFile
from newsportal.commands.output import count_bar
from newsportal.errors import BackupError
from newsportal.sources import find, load
from newsportal.store import open_store
from newsportal.store.backup import back_up
from newsportal.store.beside import DATED

FORM = "newsportal-%Y%m%d-%H%M%S.tar.zst"
"""How a backup is called in a folder, by this machine's clock; :data:`~newsportal.store.beside.DATED` knows it again."""


def backup(
    place: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where to: a name in .tar.zst or .zip, or a folder, where it gets a name by the time.")
    ],
    keep: Annotated[int | None, typer.Option(min=1, help="In a folder: keep so many of the backups there, the newest.")] = None,
    store: Annotated[str | None, typer.Option(help="Another store than that of sources.yaml.")] = None,
    sources: SourcesFile = None,
    as_json: AsJsonLine = False,
) -> None:
    """Save everything of a store, and sources.yaml, in one file, while others read and write. `newsportal restore` reads it back."""
    written = sources or find()
    uri = store or load(sources).store
    folder = place.is_dir()
    if keep is not None and not folder:
        raise typer.BadParameter("only in a folder that exists", param_hint="--keep")
    path = place / datetime.now().astimezone().strftime(FORM) if folder else place
    with closing(open_store(uri, create=False)) as opened, count_bar(quiet=as_json) as tell:
        manifest = back_up(opened, path, sources=_read(written), now=datetime.now(UTC), tell=tell)
    gone = _let_go(place, keep, path) if keep is not None else []
    told = {"file": str(path), "bytes": path.stat().st_size, "rows": manifest.rows, "last_change": manifest.last_change, "let_go": gone}
    typer.echo(json.dumps(told, ensure_ascii=False) if as_json else f"{path}: {manifest.rows} rows, {told['bytes']} bytes")


def _read(path: Path | None) -> bytes | None:
    """``sources.yaml``, if there is one."""
    try:
        return path.read_bytes() if path is not None else None
    except OSError as error:
        raise BackupError(f"{path}: cannot be read: {error.strerror or error}") from error


def _let_go(folder: Path, keep: int, new: Path) -> list[str]:
    """Delete all backups but the newest, of which ``new`` is one, whatever the clock says; answers which. Files of other names stay."""
    others = sorted((path for path in folder.iterdir() if DATED.fullmatch(path.name) and path != new), reverse=True)
    gone: list[str] = []
    for path in others[keep - 1 :][::-1]:
        try:
            path.unlink()
        except OSError as error:
            raise BackupError(f"{new} is written, but {path} cannot be deleted: {error.strerror or error}") from error
        gone.append(path.name)
    return gone
