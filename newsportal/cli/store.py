"""``newsportal store``: what a store holds, whether it is sound, and everything of it in another store; ``newsportal prune``: delete what
``retention`` of sources.yaml lets go.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

import typer

from newsportal.cli.context import open_record
from newsportal.cli.options import AsJsonLine, SourcesFile, command_group, load
from newsportal.cli.output import count_bar, make_table, print_json, print_table
from newsportal.errors import StoreError
from newsportal.services import retention
from newsportal.services.accounts import open_accounts
from newsportal.services.recommending.parts import alpha_of
from newsportal.sources.uris import mask
from newsportal.store import open_store
from newsportal.store.copying import MOST_TOLD, faults
from newsportal.store.copying import copy as copied
from newsportal.store.records import FORMS
from newsportal.text import clean

DIGITS = 12  # of a digest, as the table shows it; --json has all
Uri = Annotated[str | None, typer.Argument(metavar="[URI]", help="A store; default: that of sources.yaml.")]


def info(uri: Uri = None, as_json: AsJsonLine = False, sources: SourcesFile = None) -> None:
    """Show what a store holds: rows of every table, its last change."""
    place = uri or load(sources).store
    with closing(open_store(place, create=False)) as store:
        with store.records.reading() as look:
            rows = {form.name: look.count(form) for form in FORMS}
        row = {"store": masked(place), "last_change": store.last_seq(), "rows": rows}
    if as_json:
        print_json(row)
        return
    typer.echo(f"{row['store']}: {rows['articles']} articles in {rows['stories']} stories, last change {row['last_change']}")
    print_table(make_table(("table", "rows"), sorted(rows.items()), right=("rows",)))


def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A store's URI: sqlite:///data/newsportal.db.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="An empty store, or a new one.")],
    again: Annotated[bool, typer.Option("--again", help="Continue an earlier copy.")] = False,
    as_json: AsJsonLine = False,
) -> None:
    """Copy a store, which may be in use, into another of any kind, and compare both."""
    if source == target:
        raise StoreError("both are the same store; name another one to copy to")
    with closing(open_store(source, create=False)) as one, closing(open_store(target)) as other, count_bar(quiet=as_json) as tell:
        done = copied(one, other, again=again, tell=tell)
    if as_json:
        print_json({"from": masked(source), "to": masked(target), "equal": done.equal, **asdict(done)})
    else:
        columns = ("table", "rows", "rows there", "digest", "digest there", "")
        rows = (
            (one.table, one.rows, one.rows_there, one.digest[-DIGITS:], one.digest_there[-DIGITS:], "equal" if one.equal else "NOT EQUAL")
            for one in done.tables
        )
        print_table(make_table(columns, rows, right=columns[1:]))
        equal = "equal" if done.equal else "NOT equal"
        typer.echo(f"{done.written} rows written, {done.deleted} deleted; {equal} up to change {done.until}")
        if not done.equal:
            typer.echo("the two stores differ; if nothing else writes to either of them, say it once more with --again", err=True)
        if done.behind:
            typer.echo(f"{done.behind} changes came meanwhile; to bring them over, say it once more with --again", err=True)
    if not done.equal:
        raise typer.Exit(1)


def check(uri: Uri = None, as_json: AsJsonLine = False, sources: SourcesFile = None) -> None:
    """Check that the rows of a store fit together. Exit status 1 if not."""
    place = uri or load(sources).store
    with closing(open_store(place, create=False)) as store, count_bar(quiet=as_json) as tell:
        found = faults(store.records, tell)
    if as_json:
        print_json({"store": masked(place), "sound": not found, "faults": [asdict(one) for one in found]})
    else:
        for one in found[:MOST_TOLD]:
            typer.echo(clean(f"{one.table} {one.row}: {one.why}"))
        if len(found) > MOST_TOLD:
            typer.echo(f"… and {len(found) - MOST_TOLD} more")
        typer.echo(f"{masked(place)}: " + (f"{len(found)} faults; restore a backup, or copy it into a new store" if found else "sound"))
    if found:
        raise typer.Exit(1)


def masked(uri: str) -> str:
    return clean(mask(uri))


WHY = {
    "marked": "readers marked their stories",
    "published": "they are published; retention.withdraw lets them go",
    "edited": "editors changed them or their stories",
    "younger": "a version of their story is not old",
}


def prune(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    vacuum: Annotated[bool, typer.Option("--vacuum", help="Rewrite SQLite files of earlier versions; crawls wait meanwhile.")] = False,
    as_json: AsJsonLine = False,
    sources: SourcesFile = None,
) -> None:
    """Delete what is older than `retention` allows, and count it by reason. May be stopped at any time."""
    with open_record(sources) as (known, store), closing(open_accounts(known.accounts_uri)) as accounts:
        done = retention.prune(
            *(store, accounts, known.retention), alpha=alpha_of(store), now=datetime.now(UTC), dry_run=dry_run, vacuum=vacuum
        )
    if as_json:
        print_json({"dry_run": dry_run, **asdict(done)})
        return
    print_table(make_table(("retention", "would go" if dry_run else "deleted"), sorted(done.gone.items()), right=("would go", "deleted")))
    for why, number in sorted(done.retained.items()):
        typer.echo(f"{number} old articles stay: {WHY[why]}")
    if done.freed:
        typer.echo(f"{done.freed / 2**20:.1f} MiB given back to the disk")


group = command_group("Look at a store, check it, copy it into another.", info, copy, check)
