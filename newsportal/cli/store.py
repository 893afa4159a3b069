"""``newsportal store``, ``index``, ``backup`` and ``restore``: inspect, check and copy a store and its index, also during a crawl;
``newsportal prune``: delete data according to ``retention`` of sources.yaml."""

import json
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from newsportal.cli.hints import counted
from newsportal.cli.options import AsJsonLine, SourcesFile, command_group, load, open_all, open_record
from newsportal.cli.output import count_bar, make_table, print_json, print_table
from newsportal.errors import BackupError, StoreError, StoreUnavailable
from newsportal.messages import local
from newsportal.search.base import Index
from newsportal.services import retention
from newsportal.services.accounts import open_accounts
from newsportal.sources import find
from newsportal.sources.uris import mask
from newsportal.store import open_store
from newsportal.store.backup import SOURCES, back_up, verify
from newsportal.store.backup import restore as restore_backup
from newsportal.store.container import DATED, locked_folder
from newsportal.store.copying import MAX_LISTED, find_faults
from newsportal.store.copying import copy as copy_store
from newsportal.store.dialect_sqlite import sqlite_file, sqlite_uri
from newsportal.store.records import FORMS
from newsportal.store.store import Store
from newsportal.text import clean

DIGITS = 12  # of a digest in the table; --json has all
Uri = Annotated[str | None, typer.Argument(metavar="[URI]", help="A store; default: that of sources.yaml.")]


def info(uri: Uri = None, as_json: AsJsonLine = False, sources: SourcesFile = None) -> None:
    """Show what a store holds: rows of every table, its last change."""
    address = uri or load(sources).store
    with closing(open_store(address, create=False)) as store:
        with store.records.reading() as reader:
            rows = {form.name: reader.count(form) for form in FORMS}
        row = {"store": mask_password(address), "last_change": store.last_seq(), "rows": rows}
    if as_json:
        print_json(row)
        return
    typer.echo(f"{row['store']}: {rows['articles']} articles in {rows['stories']} stories, last change {row['last_change']}")
    print_table(make_table(("table", "rows"), sorted(rows.items()), right=("rows",)))


def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A store's URI: sqlite:///data/newsportal.db.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="An empty store, or a new one.")],
    again: Annotated[bool, typer.Option("--again", help="Update an earlier copy.")] = False,
    as_json: AsJsonLine = False,
) -> None:
    """Copy a store, which may be in use, into another of any kind, and compare both."""
    if source == target:
        raise StoreError("both are the same store; name another target")
    with closing(open_store(source, create=False)) as old, closing(open_store(target, unfinished=True)) as new:
        try:
            with count_bar(quiet=as_json) as report:
                done = copy_store(old, new, again=again, progress=report)
        except StoreUnavailable as error:
            raise StoreError(f"the copy is incomplete: {error}; then run the same command again, which continues it") from error
    if as_json:
        print_json({"from": mask_password(source), "to": mask_password(target), "equal": done.equal, **asdict(done)})
    else:
        columns = ("table", "rows", "rows there", "digest", "digest there", "")
        rows = (
            (row.table, row.rows, row.rows_there, row.digest[-DIGITS:], row.digest_there[-DIGITS:], "equal" if row.equal else "NOT EQUAL")
            for row in done.tables
        )
        print_table(make_table(columns, rows, right=columns[1:]))
        equal = "" if done.equal else "NOT "
        typer.echo(f"{done.written} rows written, {done.deleted} deleted; {equal}equal up to change {done.until}")
        if equal:
            typer.echo("the two stores differ; if nothing else writes to them, run the command again with --again", err=True)
        if done.behind:
            typer.echo(f"{done.behind} changes arrived meanwhile; to copy them, run the command again with --again", err=True)
    if not done.equal:
        raise typer.Exit(1)


def check(uri: Uri = None, as_json: AsJsonLine = False, sources: SourcesFile = None) -> None:
    """Check that the rows of a store fit together. Exit status 1 if not."""
    address = uri or load(sources).store
    with closing(open_store(address, create=False)) as store, count_bar(quiet=as_json) as report:
        found = find_faults(store.records, report)
    if as_json:
        print_json({"store": mask_password(address), "sound": not found, "faults": [asdict(fault) for fault in found]})
    else:
        for fault in found[:MAX_LISTED]:
            typer.echo(clean(f"{fault.table} {fault.row}: {fault.reason}"))
        if len(found) > MAX_LISTED:
            typer.echo(f"… and {len(found) - MAX_LISTED} more")
        typer.echo(f"{mask_password(address)}: " + (f"{len(found)} errors; restore a backup, or copy the store" if found else "sound"))
    if found:
        raise typer.Exit(1)


def mask_password(uri: str) -> str:
    return clean(mask(uri))


RETENTION_REASONS = {
    "marked": "readers marked their stories",
    "published": "they are published (retention.withdraw would withdraw them)",
    "edited": "editors changed them or their stories",
    "younger": "a version of their story is not old",
}


def prune(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    vacuum: Annotated[bool, typer.Option("--vacuum", help="Rewrite SQLite files to release space; crawls wait meanwhile.")] = False,
    as_json: AsJsonLine = False,
    sources: SourcesFile = None,
) -> None:
    """Delete data older than `retention` allows, and count it by reason. May be stopped at any time."""
    from newsportal.services.recommending.parts import alpha_of  # not imported by the other commands

    with open_record(sources) as (config, store), closing(open_accounts(config.accounts_uri)) as accounts:
        done = retention.prune(
            *(store, accounts, config.retention), alpha=alpha_of(store), now=datetime.now(UTC), dry_run=dry_run, vacuum=vacuum
        )
    if as_json:
        print_json({"dry_run": dry_run, **asdict(done)})
        return
    heading = "would go" if dry_run else "deleted"
    print_table(make_table(("retention", heading), sorted(done.deleted.items()), right=(heading,)))
    for reason, number in sorted(done.retained.items()):
        typer.echo(f"{number} old articles stay: {RETENTION_REASONS[reason]}")
    if done.freed:
        typer.echo(f"{done.freed / 2**20:.1f} MiB of disk space released")


group = command_group("Show, check and copy a store.", info, copy, check)

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object.")]


def index(context: typer.Context, sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """Tell how the search index stands."""
    if context.invoked_subcommand is None:
        status(sources, as_json)


def status(sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """Show the index: articles, size, how far it is behind the store."""
    with open_all(sources) as (_, store, opened):
        print_status(opened, store, as_json=as_json)


def rebuild(sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """Rebuild the search index from the store. Searches continue."""
    with open_all(sources) as (_, store, opened):
        total = store.tally().articles
        with count_bar(quiet=as_json) as update:
            opened.rebuild(store, lambda done: update("articles", done, max(done, total)))
        print_status(opened, store, as_json=as_json)


def print_status(index: Index, store: Store, *, as_json: bool) -> None:
    found = index.status()
    behind = max(0, store.last_seq() - found.position)
    if as_json:
        print_json({**asdict(found), "behind": behind})
        return
    size = "" if found.bytes is None else f", {found.bytes / 2**20:.1f} MiB"
    state = f"{counted(behind, 'change')} behind the store" if behind else "up to date"
    Console(emoji=False, highlight=False, soft_wrap=True).print(Text(f"{found.says}: {counted(found.articles, 'article')}{size}, {state}"))


index_group = command_group("Show or rebuild the search index.", status, rebuild, default=index)

FORM = "newsportal-%Y%m%d-%H%M%S.tar.zst"  # name of a backup in a folder, by this machine's clock; matched by DATED


def backup(
    place: Annotated[Path, typer.Argument(metavar="FILE", help="A .tar.zst or .zip file, or a folder (named by time).")],
    keep: Annotated[int | None, typer.Option(min=1, help="Number of backups to keep in the folder.")] = None,
    store: Annotated[str | None, typer.Option(help="The store to use; default: that of sources.yaml.")] = None,
    sources: SourcesFile = None,
    as_json: AsJsonLine = False,
) -> None:
    """Save a store and sources.yaml in one file, while others read and write."""
    file = sources or find()
    config = None if store else load(sources)
    uri = config.store if config else store or ""
    folder = place.is_dir()
    if not folder and (keep is not None or not place.suffix):
        raise typer.BadParameter(f"{place} is not a folder: create it, or name a .tar.zst or .zip file without --keep", param_hint="FILE")
    path = place / local(datetime.now(UTC)).strftime(FORM) if folder else place
    try:
        saved = file.read_bytes() if file is not None else None
    except OSError as error:
        raise BackupError(f"{file}: cannot be read: {error.strerror or error}") from error
    with closing(open_store(uri, create=False)) as opened, count_bar(quiet=as_json) as report:
        manifest = back_up(opened, path, sources=saved, now=datetime.now(UTC), progress=report)
    if config is not None:
        mark = config.backup_mark
        try:
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()
        except OSError as error:
            typer.echo(f"{mark} cannot be touched ({error.strerror or error}): the portal's metrics do not include this backup", err=True)
    deleted: list[str] = []
    if keep is not None:  # the new one is kept, whatever the clock says, and so are files with other names
        others = sorted((other for other in place.iterdir() if DATED.fullmatch(other.name) and other != path), reverse=True)
        for other in others[keep - 1 :][::-1]:
            try:
                other.unlink()
            except OSError as error:
                raise BackupError(f"{path} is written, but {other} cannot be deleted: {error.strerror or error}") from error
            deleted.append(other.name)
    row = {"file": str(path), "bytes": path.stat().st_size, "rows": manifest.rows, "last_change": manifest.last_change, "let_go": deleted}
    typer.echo(json.dumps(row, ensure_ascii=False) if as_json else f"{path}: {manifest.rows} rows, {row['bytes']} bytes")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup.")],
    to: Annotated[str | None, typer.Option(help="An empty store; default: that of sources.yaml.")] = None,
    sources: Annotated[Path | None, typer.Option(help="The sources file; default: the nearest, else the backup's, written here.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Only check the backup.")] = False,
    as_json: AsJsonLine = False,
) -> None:
    """Read a backup, checked first, into an empty store of any kind."""
    with count_bar(quiet=as_json) as report:
        manifest = verify(file, report)
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
            with _open_new_store(uri) as store:
                done = restore_backup(file, store, manifest=manifest, progress=report)
            row |= {"store": mask_password(uri), "left_out": done.left_out}
    if as_json:
        print_json(row)
        return
    typer.echo(f"{file}: {manifest.rows} rows, made {manifest.made} by newsportal {manifest.newsportal}: sound")
    if not check:
        without = f" without {row['left_out']} rows added while it was written" if row["left_out"] else ""
        typer.echo(f"restored to {row['store']}{without}")


@contextmanager
def _open_new_store(uri: str) -> Iterator[Store]:
    """Open the store at ``uri``. A new SQLite file is renamed when it is complete, so a killed restore leaves none."""
    path = sqlite_file(uri)
    if path is None or path.exists():
        with closing(open_store(uri, unfinished=True)) as store:
            yield store
        return
    if logs := [log for ending in ("-wal", "-journal") if (log := path.with_name(path.name + ending)).exists()]:
        raise BackupError(f"{logs[0]} belongs to another database, and would damage this one: move it to that file, or delete it")
    part = path.with_name(f".{path.name}.restoring") / path.name
    with locked_folder(path.parent):
        shutil.rmtree(part.parent, ignore_errors=True)  # of a killed restore
        try:
            with closing(open_store(sqlite_uri(part))) as store:
                yield store
            if part.with_name(f"{part.name}-wal").exists():  # SQLite merges it into the file when closing, if possible
                raise BackupError(f"{path}: not restored: could not write everything; check the disk, and that no process reads {part}")
            if path.exists():
                raise BackupError(f"{path}: not restored: another process has created it meanwhile; stop that, and move the file away")
            part.replace(path)
        finally:
            shutil.rmtree(part.parent, ignore_errors=True)
