"""``newsportal source suggest``: sites that could become sources, and what they would bring."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from newsportal.commands.hints import counted as words
from newsportal.commands.options import AsJson, SourcesFile
from newsportal.commands.output import console, print_json
from newsportal.discovery.proposal import Proposal
from newsportal.discovery.search import find
from newsportal.discovery.suggestions import Counting, Suggestion, plain
from newsportal.errors import NewsportalError
from newsportal.sources import Sources, load
from newsportal.store import open_store
from newsportal.store.store import Store
from newsportal.text import clean
from newsportal.trying.entries import Visited, visits
from newsportal.trying.looking import visitor

LOOKED = 5
"""Sites that --look looks at: each costs up to 24 requests."""


MOST_DAYS = 36_500
"""A hundred years: all that a store holds."""


def suggest(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Sites that are shown.")] = 20,
    days: Annotated[int, typer.Option(min=1, max=MOST_DAYS, help="Only articles of the last days.")] = 90,
    look: Annotated[bool, typer.Option("--look", help=f"Look at the first {LOOKED}, and rank by what they bring.")] = False,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Suggest new sources: sites that stored articles link to or repost, or that search engines found."""
    known = load(sources)
    with closing(open_store(known.store, create=False)) as store:
        counting = counted(store, known, datetime.now(UTC) - timedelta(days=days))
    found = counting.suggestions(limit)
    looked = _looked(found[:LOOKED], known) if look else {}
    found.sort(key=lambda one: -one.score * (1 + (looked[one.site].score if one.site in looked else 0.0)))
    if as_json:
        for one in found:
            best = looked.get(one.site)
            row = {**plain(one), "best": best and {"kind": best.family, **best.values, "entries": best.entries, "score": best.score}}
            print_json(row)
        return
    _show(found, looked, counting)


def counted(store: Store, known: Sources, since: datetime) -> Counting:
    """All articles since then, counted, with a bar on a terminal."""
    counting = Counting(address for place in _places(known) for address in visits(place))
    columns = (SpinnerColumn(), TextColumn("{task.completed} articles"), TimeElapsedColumn())
    with Progress(*columns, console=console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=None)
        for article in store.all_articles():
            bar.advance(task)
            if article.moment >= since:
                counting.take(article)
    return counting


def _places(known: Sources) -> Iterator[Visited]:
    for kind in (known.feeds, known.sitemaps, known.regions, known.forums, known.galleries):
        yield from kind


def _looked(found: list[Suggestion], known: Sources) -> dict[str, Proposal]:
    """What stands behind the first sites. One that cannot be read is passed over: its row says nothing of sources then."""
    looked: dict[str, Proposal] = {}
    with console(stderr=True).status("") as status:
        for one in found:
            visit = visitor(known, tell=lambda url: status.update(f"looking at {url[:100]}"))
            try:
                looked[one.site] = find(one.address, visit, visit.robots)[0][0]
            except NewsportalError as error:
                console(stderr=True).print(f"  {one.site}: {error}", style="dim", markup=False)
    return looked


def _show(found: list[Suggestion], looked: dict[str, Proposal], counting: Counting) -> None:
    out = console()
    if not found:
        none = "no article of these days is stored; newsportal crawl brings some" if not counting.articles else None
        out.print(none or f"{counting.articles} articles lead to no site that is not a source yet", markup=False)
        return
    for one in found:
        best = looked.get(one.site)
        called = f"{one.name}, {one.site}" if one.name and one.name != one.site else one.site
        topics = f"; topics: {', '.join(one.topics[:3])}" if one.topics else ""
        links = f"{words(one.linked, 'link')} from {words(one.sites, 'site')}"
        told = f"{links}, {words(one.reposted, 'repost')}, {one.found} found by search{topics}"
        out.print(f"{clean(called)}", style="bold", markup=False)
        out.print(f"  {clean(told)}", style="dim", markup=False)
        bringing = f"  ({best.family}, {best.entries} entries now)" if best else ""
        out.print(f"  newsportal source add {best.address if best else one.address}{bringing}", markup=False)
    if named := counting.origins(10):
        told = ", ".join(f"{name} ({number})" for name, number in named)
        out.print(f"\nnamed as origin, address not known: {told}", style="dim", markup=False)
