"""``newsportal source import`` and ``export``: lists of feeds from and for other readers (OPML)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from newsportal.cli.context import sources_path
from newsportal.cli.options import SourcesFile, Yes, load
from newsportal.cli.output import console, print_json
from newsportal.errors import NewsportalError
from newsportal.services.discovery.opml import MAX_BYTES, Outline, OutlineList, read, write
from newsportal.services.trying.polite_fetch import visitor
from newsportal.services.trying.proposing import Import, planned
from newsportal.services.trying.proposing import write as write_entries
from newsportal.sources import Feed
from newsportal.text import clean

SHOWN = 20


def import_(
    source: Annotated[str, typer.Argument(metavar="FILE|URL", help="OPML; -: standard input.")],
    category: Annotated[str | None, typer.Option(help="Their category; default: their folder.")] = None,
    disabled: Annotated[bool, typer.Option("--disabled", help="Add them switched off.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    yes: Yes = False,
    sources: SourcesFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON for each feed of the list.")] = False,
) -> None:
    """Add the feeds of an OPML list; folders become categories."""
    path = sources_path(sources)
    known = load(path)
    if "://" in source:
        page = visitor(known)(source)
        if page.status >= 400:
            raise NewsportalError(f"{source}: the server answers {page.status}")
        listed = read(page.body, page.content_type, page.url)
    else:
        try:
            with nullcontext(sys.stdin.buffer) if source == "-" else Path(source).open("rb") as stream:
                listed = read(stream.read(MAX_BYTES + 1))
        except OSError as error:
            raise NewsportalError(f"{source}: {error.strerror}") from error
    plan = planned(listed.feeds, known, category, enabled=not disabled)
    if as_json:
        rows: list[dict[str, Any]] = [{**values, "added": not dry_run} for values in plan.new]
        rows += [{"url": url, "added": False, "there": key} for url, key in plan.there]
        print_json(*rows, *({"url": url, "added": False, "error": why} for url, why in plan.bad))
    else:
        _print_plan(listed, plan)
    if dry_run or not plan.new:
        return
    asks = sys.stdin.isatty() and not yes and not as_json
    if asks and not typer.confirm(f"Add {len(plan.new)} feeds to {path}?", default=True, err=True):
        return
    write_entries(path, [("feeds", dict(values)) for values in plan.new])
    if not as_json:
        typer.echo(f"{len(plan.new)} feeds added to {path}. Try one: newsportal source test '{plan.new[0]['name']}'")


def export(
    opml: Annotated[bool, typer.Option("--opml", help="As OPML (the only form).")] = True,
    out: Annotated[Path | None, typer.Option(help="The file to write; default: standard output.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also feeds that are switched off.")] = False,
    sources: SourcesFile = None,
) -> None:
    """Write the feeds as an OPML list; categories become folders."""
    known = load(sources)
    text = write(known.portal.title, outlines(known.feeds, everything=everything), datetime.now(UTC))
    if secret := sum(known.is_secret(feed.url) for feed in known.feeds if feed.enabled or everything):
        typer.echo(f"{secret} of the addresses hold passwords or tokens: mind whom you give the list", err=True)
    if out is None:
        typer.echo(text, nl=False)
    else:
        out.write_text(text, "utf-8")
        typer.echo(f"{out}: {text.count('xmlUrl=')} feeds")


def _print_plan(listed: OutlineList, plan: Import) -> None:
    out = console()
    for values in plan.new[:SHOWN]:
        folder = f"  [{values['category']}]" if "category" in values else ""
        out.print(f"  {values['name']}  {values['url']}{folder}", markup=False)
    if len(plan.new) > SHOWN:
        out.print(f"  … and {len(plan.new) - SHOWN} more", style="dim", markup=False)
    for url, key in plan.there[:SHOWN]:
        out.print(f"  {clean(url)} is there already, as {key}", style="dim", markup=False)
    for url, why in plan.bad[:SHOWN]:
        out.print(f"  {clean(url)}: {why}", style="red", markup=False)
    counts = [f"{len(plan.new)} new", f"{len(plan.there)} there already", f"{listed.repeated} repeated in the list"]
    counts += [f"{listed.skipped + len(plan.bad)} without a usable address", *listed.warnings]
    out.print(f"  {', '.join(counts)}", style="dim", markup=False)


def outlines(feeds: Sequence[Feed], *, everything: bool = False) -> list[Outline]:
    return [Outline(feed.url, feed.name, feed.category) for feed in feeds if feed.enabled or everything]
