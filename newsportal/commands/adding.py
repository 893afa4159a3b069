"""``newsportal source add``: what stands behind an address, what it would bring, and its entry in sources.yaml."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from ruamel.yaml.comments import CommentedMap

from newsportal.commands.discovery import Proposal, entry, holder
from newsportal.commands.forum_trial import propose_forum
from newsportal.commands.gallery_trial import propose_gallery
from newsportal.commands.looking import Visitor, visitor
from newsportal.commands.stored import Overlap, overlap
from newsportal.commands.trial import Reading, Trial, article
from newsportal.commands.trial_shown import console, show_article, show_links
from newsportal.discovery.proposal import Kind
from newsportal.discovery.search import MAX_REQUESTS, NoSource, find
from newsportal.errors import NewsportalError
from newsportal.sources import Sources, append, edit, load
from newsportal.sources import find as find_file
from newsportal.text import clean

KINDS: dict[str, Kind] = {"feed": "feeds", "sitemap": "sitemaps", "region": "regions", "forum": "forums", "gallery": "galleries"}
SHOWN = 5
MORE = 4
"""Requests beyond :data:`MAX_REQUESTS` for one article of what is shown."""

Family = Literal["feed", "sitemap", "region", "forum", "gallery"]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a proposal would bring: an article as it would be read, and what of it is stored already. ``name``: under which it is added."""

    proposal: Proposal
    values: dict[str, str]
    reading: Reading | None
    overlap: Overlap | None


def add(
    url: Annotated[str, typer.Argument(help="Any address of a site: a feed, a sitemap, a page that has a feed, a list page, an article.")],
    name: Annotated[str | None, typer.Option(help="Its name; default: the title it gives itself.")] = None,
    category: Annotated[str | None, typer.Option(help="The category of its articles.")] = None,
    forum: Annotated[bool, typer.Option("--forum", help="It is a forum: its front page, or one of its boards.")] = False,
    gallery: Annotated[bool, typer.Option("--gallery", help="It is an index page of photo stories.")] = False,
    kind: Annotated[Family | None, typer.Option(help="Only a source of this kind: feed, sitemap, region, forum or gallery.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Look for all that there is, and add each of them.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be added, and add nothing.")] = False,
    sources: Annotated[Path | None, typer.Option(help="The sources file; default: the nearest sources.yaml.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON for each source found.")] = False,
) -> None:
    """Look at an address, show what would be collected, and add the source behind it to sources.yaml."""
    kind = _one_kind(forum, gallery, kind)
    path = sources or find_file()
    if path is None:
        raise NewsportalError("there is no sources.yaml here or above; write one with: newsportal source init")
    known = load(path)
    with console(stderr=True).status("") as status:
        visit = visitor(known, most=MAX_REQUESTS + MORE, tell=lambda address: status.update(f"looking at {clean(address)[:100]}"))
        found, notes = _found(url if "://" in url else f"https://{url}", kind, everything, visit)
        chosen = found if everything else found[:1]
        taken: set[str] = set()
        previews = [_preview(one, entry(one, name, category, known, taken), taken, known, visit) for one in _new(chosen, known)]
    if not as_json:
        _show(previews, found[len(chosen) :], [*notes, f"{visit.requests} requests"])
    added = [] if dry_run else [one for one in previews if _wanted(one, ask=not (yes or as_json))]
    if added:
        _write(path, added)
    for preview in previews if as_json else ():
        typer.echo(json.dumps(_plain(preview, preview in added), ensure_ascii=False))
    if not as_json:
        for one in added:
            told = f"{one.proposal.family}:{one.values['name']} added to {path}: {one.proposal.entries} entries now"
            typer.echo(f"{told}. Try it: newsportal source test '{one.values['name']}'")


def _one_kind(forum: bool, gallery: bool, kind: Family | None) -> Family | None:
    if forum and gallery:
        raise typer.BadParameter("--forum and --gallery are two kinds of sources: give one of them")
    given: list[Family] = [*(["forum"] if forum else []), *(["gallery"] if gallery else []), *([kind] if kind else [])]  # type: ignore[list-item]
    if len(set(given)) > 1:
        raise typer.BadParameter(f"--kind {kind} and --{given[0]} are two kinds of sources: give one of them")
    return given[0] if given else None


def _found(url: str, kind: Family | None, everything: bool, visit: Visitor) -> tuple[list[Proposal], list[str]]:
    """The proposals, best first, and notes. Raises ``NoSource``, ``EgressDenied``, ``FetchFailed``."""
    if kind == "forum":
        return [propose_forum(url, visit)], []
    if kind == "gallery":
        return [propose_gallery(url, visit)], []
    only = KINDS[kind] if kind is not None else None
    found, notes = find(url, visit, visit.robots, everything=everything or only is not None, only=only)
    found = [one for one in found if only in (None, one.kind)]
    if not found:
        raise NoSource(f"no {kind} is found at {url}")
    return found, notes


def _new(chosen: Sequence[Proposal], known: Sources) -> list[Proposal]:
    """Without those that are there already, unless all are: that is told as a mistake later."""
    return [one for one in chosen if holder(one, known) is None] or list(chosen[:1])


def _preview(found: Proposal, values: dict[str, str], taken: set[str], known: Sources, visit: Visitor) -> Preview:
    taken.add(values["name"])
    trial = Trial(f"{found.family}:{values['name']}", found.address, found.links)
    reading = article(trial, None, visit) if found.kind in ("feeds", "sitemaps", "regions") else None
    return Preview(found, values, reading, overlap(known, found.links))


def _wanted(preview: Preview, *, ask: bool) -> bool:
    if not ask or not sys.stdin.isatty():
        return True
    return typer.confirm(f"Add {preview.proposal.family}:{preview.values['name']}?", default=True, err=True)


def _write(path: Path, added: Sequence[Preview]) -> None:
    def change(document: CommentedMap) -> None:
        for one in added:
            append(document, one.proposal.kind, one.values)

    edit(path, change)


def _show(previews: Sequence[Preview], others: Sequence[Proposal], notes: Sequence[str]) -> None:
    out = console()
    for preview in previews:
        found = preview.proposal
        out.print(f"{found.family}:{preview.values['name']}  {clean(found.address)}", style="bold", markup=False)
        out.print(f"  {'; '.join(clean(why) for why in (*found.why, *_figures(found)))}", style="dim", markup=False)
        if preview.overlap is not None and preview.overlap.stored:
            out.print(f"  {preview.overlap.told()}", style="dim", markup=False)
        show_links(out, found.links, SHOWN)
        if preview.reading is not None:
            show_article(out, preview.reading, "article")
    _show_others(out, others)
    for note in notes:
        out.print(f"  {clean(note)}", style="dim", markup=False)


def _show_others(out: Console, others: Sequence[Proposal]) -> None:
    for one in others:
        out.print(
            f"  also there: {one.family} {clean(one.address)} ({', '.join(_figures(one))}); --all adds it, too", style="dim", markup=False
        )


def _figures(found: Proposal) -> list[str]:
    said = [f"{found.entries} entries"]
    if found.newest is not None:
        said.append(f"newest {found.newest.astimezone():%Y-%m-%d %H:%M}")
    if found.per_day is not None:
        said.append(f"about {found.per_day:g} a day")
    return [*said, f"score {found.score:g}"]


def _plain(preview: Preview, added: bool) -> dict[str, Any]:
    found, reading = preview.proposal, preview.reading
    read = reading.found if reading else None
    told = {"title": read.title, "published": read.published and read.published.isoformat(), "text": read.text} if read else {}
    return {
        "key": f"{found.family}:{preview.values['name']}",
        "kind": found.family,
        "values": preview.values,
        "added": added,
        "score": found.score,
        "entries": found.entries,
        "newest": found.newest and found.newest.isoformat(),
        "per_day": found.per_day,
        "why": list(found.why),
        "stored": preview.overlap.plain() if preview.overlap else None,
        "links": [{"url": one.url, "title": one.title, "published": one.published and one.published.isoformat()} for one in found.links],
        "article": {"url": reading.url, "failure": reading.failure, **told} if reading else None,
    }
