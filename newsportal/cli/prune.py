"""``newsportal prune``: delete what ``retention`` of sources.yaml lets go."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

import typer

from newsportal.cli.context import open_record
from newsportal.cli.options import AsJsonLine, SourcesFile
from newsportal.cli.output import make_table, print_json, print_table
from newsportal.services import retention
from newsportal.services.accounts import open_accounts
from newsportal.services.recommending.parts import alpha_of


def prune(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would go.")] = False,
    vacuum: Annotated[
        bool, typer.Option("--vacuum", help="Write SQLite files of earlier versions anew, so that they shrink; crawls wait meanwhile.")
    ] = False,
    as_json: AsJsonLine = False,
    sources: SourcesFile = None,
) -> None:
    """Delete what is older than retention in sources.yaml allows, and count it by the reason. Articles go only if ages are given for them.

    May be stopped at any time; the next run goes on.
    """
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


WHY = {
    "marked": "readers marked their stories",
    "published": "they are published; retention.withdraw lets them go",
    "edited": "editors changed them or their stories",
    "younger": "a version of their story is not old",
}
