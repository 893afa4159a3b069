"""``newsportal source add`` and ``suggest``: find sources at a URL, and sites that could be sources; ``import`` and ``export``: lists of
feeds of other readers (OPML)."""

import sys
from collections.abc import Sequence
from contextlib import closing, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import TimeElapsedColumn

from newsportal.cli.hints import counted as words
from newsportal.cli.options import AsJson, Days, SourcesFile, Yes, load, sources_path
from newsportal.cli.output import console, count_items, print_json, writable
from newsportal.errors import NewsportalError
from newsportal.items import Link
from newsportal.messages import Message, format_time, local
from newsportal.services.discovery.finders import Proposal
from newsportal.services.discovery.opml import MAX_BYTES, Outline, OutlineList, read
from newsportal.services.discovery.opml import write as write_outlines
from newsportal.services.discovery.search import MAX_REQUESTS, find
from newsportal.services.discovery.suggestions import SiteCounter, Suggestion
from newsportal.services.discovery.suggestions import plain as suggestion_row
from newsportal.services.trying.polite_fetch import polite_fetcher
from newsportal.services.trying.proposing import MORE, Family, Plan, Proposals, Visited, figures, plain, plan_import, propose, visits, write
from newsportal.services.trying.proposing import write as write_entries
from newsportal.services.trying.trial import ArticleTrial, Trial
from newsportal.sources import Sources
from newsportal.store import open_store
from newsportal.store.store import Store
from newsportal.text import clean

LINKS_SHOWN = 5


def add(
    url: Annotated[str, typer.Argument(help="Any URL of a site: feed, sitemap, list page, article.")],
    name: Annotated[str | None, typer.Option(help="Its name; default: its title.")] = None,
    category: Annotated[str | None, typer.Option(help="Its articles' category.")] = None,
    forum: Annotated[bool, typer.Option("--forum", help="A forum's front page, or a board.")] = False,
    gallery: Annotated[bool, typer.Option("--gallery", help="An index page of photo stories.")] = False,
    kind: Annotated[Family | None, typer.Option(help="Only a feed, sitemap, region, forum or gallery.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Find and add all sources.")] = False,
    yes: Yes = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    sources: SourcesFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON for each source found.")] = False,
) -> None:
    """Find the sources of a site by its URL, show them, and add them to sources.yaml."""
    if forum and gallery:
        raise typer.BadParameter("--forum and --gallery exclude each other")
    kinds: list[Family] = [*(["forum"] if forum else []), *(["gallery"] if gallery else []), *([kind] if kind else [])]  # type: ignore[list-item]
    if len(set(kinds)) > 1:
        raise typer.BadParameter(f"--kind {kind} and --{kinds[0]} exclude each other")
    kind = kinds[0] if kinds else None
    path = sources_path(sources)
    config = load(path)
    with console(stderr=True).status("") as status:
        visit = polite_fetcher(config, max_requests=MAX_REQUESTS + MORE, report=lambda url: status.update(f"looking at {clean(url)[:100]}"))
        offer = propose(url, config, visit, kind=kind, everything=everything, name=name, category=category)
    previews, interactive = offer.previews, sys.stdin.isatty() and not (yes or as_json)
    if not as_json:
        _show(offer)
    added = [
        preview
        for preview in (() if dry_run else previews)
        if not interactive or typer.confirm(f"Add {preview.proposal.family}:{preview.values['name']}?", default=True, err=True)
    ]
    if added:
        write(path, [(preview.proposal.kind, preview.values) for preview in added])
    if as_json:
        print_json(*({**plain(preview), "added": preview in added} for preview in previews))
        return
    for preview in added:
        added_to = f"{preview.proposal.family}:{preview.values['name']} added to {path}: {preview.proposal.entries} entries now"
        typer.echo(f"{added_to}. Try it: newsportal source test '{preview.values['name']}'")


def _show(offer: Proposals) -> None:
    out = console()
    for preview in offer.previews:
        found = preview.proposal
        out.print(f"{found.family}:{preview.values['name']}  {clean(found.address)}", style="bold", markup=False)
        out.print(f"  {'; '.join(clean(str(reason)) for reason in (*found.reasons, *figures(found)))}", style="dim", markup=False)
        if preview.overlap is not None and preview.overlap.stored:
            out.print(f"  {preview.overlap.summary()}", style="dim", markup=False)
        show_links(out, found.links, LINKS_SHOWN)
        if preview.reading is not None:
            show_article(out, preview.reading, "article")
    others = (f"also there: {alt.family} {clean(alt.address)} ({', '.join(figures(alt))}); add it with --all" for alt in offer.others)
    for line in (*others, *(clean(str(note)) for note in offer.notes)):
        out.print(f"  {line}", style="dim", markup=False)


MAX_SHOWN = 10  # entries shown; --json has all
READ = {"gallery": "photo story", "forum": "thread"}
"""The name of an item by the kind of source; an article for all others."""

PREVIEW_CHARS = 160


def show(trial: Trial, reading: ArticleTrial | None) -> None:
    out = console()
    out.print(f"{trial.key}  {trial.url}", style="bold", markup=False)
    for note in trial.notes:
        out.print(f"  {clean(str(note))}", style="dim", markup=False)
    if trial.failure is not None:
        out.print(f"  ✗ {failure_text(trial.failure)}", style="red", markup=False)
    show_links(out, trial.links)
    if reading is not None:
        show_article(out, reading, READ.get(trial.key.partition(":")[0], "article"))


def failure_text(failure: Message | None) -> str:
    return f"{clean(str(failure))} ({failure.code.rpartition('.')[2]})" if failure else ""


def show_links(out: Console, links: Sequence[Link], limit: int = MAX_SHOWN) -> None:
    for link in links[:limit]:
        day = local(link.published).strftime("%m-%d %H:%M") if link.published else " " * 11
        out.print(f"  {day}  {clean(link.title or link.url)}", markup=False)
    if len(links) > limit:
        out.print(f"  … and {len(links) - limit} more", style="dim", markup=False)


def show_article(out: Console, reading: ArticleTrial, kind: str) -> None:
    out.print(f"\n  one {kind}: {clean(reading.url)}", style="bold", markup=False)
    found = reading.found
    if found is None:
        out.print(f"  ✗ {failure_text(reading.failure)}", style="red", markup=False)
        return
    text = clean(f"{reading.note or ''} {found.text or ''}".strip())
    day = format_time(found.published) if found.published else "none found"
    for label, value in (("title", found.title), ("date", day), ("author", found.author or found.origin)):
        out.print(f"  {label}: {clean(value or 'none found')}", markup=False)
    out.print(f"  text: {len(text)} characters, by {found.algorithm}: {text[:PREVIEW_CHARS]}…", markup=False)


MAX_VISITED_SITES = 5  # sites that --look visits: each costs up to 24 requests


def suggest(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many to list.")] = 20,
    days: Days = 90,
    look: Annotated[bool, typer.Option("--look", help=f"Try the first {MAX_VISITED_SITES}, and rank them by their results.")] = False,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Suggest sites that articles link to or repost, or engines found."""
    config = load(sources)
    with closing(open_store(config.store, create=False)) as store:
        counter = count_site_links(store, config, datetime.now(UTC) - timedelta(days=days))
    found = counter.suggestions(limit)
    proposals = visit_sites(found[:MAX_VISITED_SITES], config) if look else {}
    found.sort(key=lambda item: -item.score * (1 + (proposals[item.site].score if item.site in proposals else 0.0)))
    if as_json:
        for item in found:
            best = proposals.get(item.site)
            source = best and {"kind": best.family, **best.values, "entries": best.entries, "score": best.score}
            print_json({**suggestion_row(item), "best": source})
        return
    out = console()
    if not found:
        none = "no recent articles are stored; run newsportal crawl first" if not counter.articles else None
        out.print(none or f"{counter.articles} articles link to no site that is not yet a source", markup=False)
        return
    for item in found:
        best = proposals.get(item.site)
        label = f"{item.name}, {item.site}" if item.name and item.name != item.site else item.site
        topics = f"; topics: {', '.join(item.topics[:3])}" if item.topics else ""
        links = f"{words(item.linked, 'link')} from {words(item.sites, 'site')}"
        reasons = f"{links}, {words(item.reposted, 'repost')}, {item.found} found by search{topics}"
        out.print(f"{clean(label)}", style="bold", markup=False)
        out.print(f"  {clean(reasons)}", style="dim", markup=False)
        summary = f"  ({best.family}, {best.entries} entries now)" if best else ""
        out.print(f"  newsportal source add {best.address if best else item.address}{summary}", markup=False)
    if counts := counter.origins(10):
        origins = ", ".join(f"{name} ({number})" for name, number in counts)
        out.print(f"\nnamed as origin, URL unknown: {origins}", style="dim", markup=False)


def visit_sites(found: list[Suggestion], sources: Sources) -> dict[str, Proposal]:
    """Return the best source of each of these sites, without sites that could not be read."""
    best: dict[str, Proposal] = {}
    with console(stderr=True).status("") as status:
        for suggestion in found:
            visit = polite_fetcher(sources, report=lambda url: status.update(f"looking at {url[:100]}"))
            try:
                best[suggestion.site] = find(suggestion.address, visit, visit.robots)[0][0]
            except NewsportalError as error:
                console(stderr=True).print(f"  {suggestion.site}: {error}", style="dim", markup=False)
    return best


def count_site_links(store: Store, sources: Sources, since: datetime) -> SiteCounter:
    """Count all articles since then, with a progress bar on a terminal."""
    places: tuple[Visited, ...] = (*sources.feeds, *sources.sitemaps, *sources.regions, *sources.forums, *sources.galleries)
    counter = SiteCounter(address for source in places for address in visits(source))
    for article in count_items(store.all_articles(), "articles", TimeElapsedColumn()):
        if article.moment >= since:
            counter.add(article)
    return counter


SHOWN = 20


def import_(
    source: Annotated[str, typer.Argument(metavar="FILE|URL", help="OPML; -: standard input.")],
    category: Annotated[str | None, typer.Option(help="Category of the feeds; default: their folder.")] = None,
    disabled: Annotated[bool, typer.Option("--disabled", help="Add them disabled.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    yes: Yes = False,
    sources: SourcesFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON for each feed of the list.")] = False,
) -> None:
    """Add the feeds of an OPML list; folders become categories."""
    path = sources_path(sources)
    config = load(path)
    if "://" in source:
        page = polite_fetcher(config)(source)
        if page.status >= 400:
            raise NewsportalError(f"{source}: the server answers {page.status}")
        outlines = read(page.body, page.content_type, page.url)
    else:
        try:
            with nullcontext(sys.stdin.buffer) if source == "-" else Path(source).open("rb") as stream:
                outlines = read(stream.read(MAX_BYTES + 1))
        except OSError as error:
            raise NewsportalError(f"{source}: {error.strerror}") from error
    plan = plan_import(outlines.feeds, config, category, enabled=not disabled)
    if as_json:
        rows: list[dict[str, Any]] = [{**values, "added": not dry_run} for values in plan.new]
        rows += [{"url": url, "added": False, "existing": key} for url, key in plan.existing]
        print_json(*rows, *({"url": url, "added": False, "error": error} for url, error in plan.invalid))
    else:
        _print_plan(outlines, plan)
    if dry_run or not plan.new:
        return
    interactive = sys.stdin.isatty() and not yes and not as_json
    if interactive and not typer.confirm(f"Add {len(plan.new)} feeds to {path}?", default=True, err=True):
        return
    write_entries(path, [("feeds", dict(values)) for values in plan.new])
    if not as_json:
        typer.echo(f"{len(plan.new)} feeds added to {path}. Try one: newsportal source test '{plan.new[0]['name']}'")


def export(
    opml: Annotated[bool, typer.Option("--opml", help="As OPML (the only format).")] = True,
    out: Annotated[Path | None, typer.Option(help="The file to write; default: standard output.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Include disabled feeds.")] = False,
    sources: SourcesFile = None,
) -> None:
    """Write the feeds as an OPML list; categories become folders."""
    config = load(sources)
    feeds = (Outline(feed.url, feed.name, feed.category) for feed in config.feeds if feed.enabled or everything)
    text = write_outlines(config.portal.title, feeds, datetime.now(UTC))
    if secret := sum(config.is_secret(feed.url) for feed in config.feeds if feed.enabled or everything):
        typer.echo(f"{secret} of the URLs contain passwords or tokens: share the list with care", err=True)
    if out is None:
        typer.echo(text, nl=False)
    else:
        with writable(out) as part:
            part.write_text(text, "utf-8")
        typer.echo(f"{out}: {text.count('xmlUrl=')} feeds")


def _print_plan(outlines: OutlineList, plan: Plan) -> None:
    out = console()
    for values in plan.new[:SHOWN]:
        folder = f"  [{values['category']}]" if "category" in values else ""
        out.print(f"  {values['name']}  {values['url']}{folder}", markup=False)
    if len(plan.new) > SHOWN:
        out.print(f"  … and {len(plan.new) - SHOWN} more", style="dim", markup=False)
    for url, key in plan.existing[:SHOWN]:
        out.print(f"  {clean(url)} is already listed, as {key}", style="dim", markup=False)
    for url, error in plan.invalid[:SHOWN]:
        out.print(f"  {clean(url)}: {error}", style="red", markup=False)
    counts = [f"{len(plan.new)} new", f"{len(plan.existing)} there already", f"{outlines.repeated} repeated in the list"]
    counts += [f"{outlines.skipped + len(plan.invalid)} without a usable URL", *outlines.warnings]
    out.print(f"  {', '.join(counts)}", style="dim", markup=False)
