"""``newsportal search``: what the portal's search finds, on a terminal or as JSON lines."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from newsportal.commands import hints
from newsportal.commands.context import moment, open_all
from newsportal.search.base import Hit, Query, Results
from newsportal.text import clean

MARK = re.compile(r"<mark>(.*?)</mark>", re.DOTALL)


def register(app: typer.Typer) -> None:
    app.command("search")(search)


def search(
    query: Annotated[str, typer.Argument(help='Words, "phrases", -not, +must, title:word (site, author, topic, category), kind:thread.')],
    limit: Annotated[int, typer.Option(min=1, help="Stories to show.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    topic: Annotated[str | None, typer.Option(help="Only this topic.")] = None,
    since: Annotated[str | None, typer.Option(help="Only from this date or time on (2026-03-01, 2026-03-01T08:30+08:00).")] = None,
    sources: Annotated[Path | None, typer.Option(help="The sources file; default: the nearest sources.yaml.")] = None,
) -> None:
    """Search what is stored."""
    asked = Query(query, topic=topic, since=moment(since), limit=limit)
    with open_all(sources) as (known, store, index):
        index.follow(store)
        results = index.search(asked)
    if word := hints.unknown_topic(known, topic):
        typer.echo(word, err=True)
    if as_json:
        for hit in results.hits:
            typer.echo(json.dumps(plain(hit), ensure_ascii=False))
    else:
        show(results, Console(emoji=False, highlight=False, soft_wrap=True))


def plain(hit: Hit) -> dict[str, Any]:
    """A hit as JSON values, without markup."""
    return {
        "id": hit.id,
        "story": hit.story_id,
        "url": hit.url,
        "title": hit.title,
        "snippet": unescape(MARK.sub(r"\1", hit.snippet_html)),
        "site": hit.site,
        "published": hit.published.isoformat() if hit.published else None,
        "score": round(hit.score, 4),
        "folded": hit.folded,
    }


def show(results: Results, console: Console) -> None:
    """A list for people. What sites wrote is cleaned first: a title must not steer the terminal."""
    if results.loose:
        console.print(Text('no article holds all the words; these hold some of them ("in quotes" for exactly these)', style="yellow"), "")
    for hit in results.hits:
        console.print(styled(hit.title_html, "bold"))
        more = f" +{hit.folded}" if hit.folded else ""
        console.print(Text(f"  {clean(hit.site or '')}  {hit.moment.astimezone():%Y-%m-%d %H:%M}{more}".rstrip(), style="dim"))
        console.print(Text("  ") + styled(hit.snippet_html, ""))
        console.print(Text(f"  {clean(hit.url)}", style="cyan"), "")
    count = f"{results.total}+" if results.capped else str(results.total)
    console.print(Text(f"{count} found" if results.hits else "nothing found", style="dim"))


def styled(html: str, base: str) -> Text:
    """Marked HTML as terminal text: the marks in colour."""
    text = Text(style=base)
    for position, piece in enumerate(re.split("</?mark>", html)):
        text.append(CONTROLS.sub(" ", unescape(piece)), style="black on yellow" if position % 2 else "")
    return text


CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What steers a terminal: escapes, line ends, changes of direction."""
