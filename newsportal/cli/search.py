"""``newsportal search``: the portal's search, on a terminal or as JSON lines."""

import json
import re
from datetime import datetime, timedelta
from html import unescape
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

import typer
from rich.console import Console
from rich.text import Text

from newsportal.cli import hints
from newsportal.cli.options import AsJson, SourcesFile, moment, open_all
from newsportal.cli.output import pick, print_json
from newsportal.messages import format_time
from newsportal.search.base import Hit, Query, Results
from newsportal.text import clean

MARK = re.compile(r"<mark>(.*?)</mark>", re.DOTALL)

Topic = Annotated[str | None, typer.Option(help="Only this topic.")]
Site = Annotated[str | None, typer.Option(help="Only this site: its full name.")]
Category = Annotated[str | None, typer.Option(help="Only this category.")]
Since = Annotated[str | None, typer.Option(help="Only since this date or time: 2026-03-01, 2026-03-01T08:30+08:00.")]
Until = Annotated[str | None, typer.Option(help="Only to the end of this date, or before this time.")]
Sort = Annotated[Literal["relevance", "time"], typer.Option(help="relevance or time.")]


def search(
    query: Annotated[
        str,
        typer.Argument(help='Words, "phrases", -not, +must, title:word (site, author, topic, category), kind:thread, since:2026-03-01.'),
    ],
    limit: Annotated[int, typer.Option(min=1, help="How many to list.")] = 20,
    as_json: AsJson = False,
    topic: Topic = None,
    site: Site = None,
    category: Category = None,
    since: Since = None,
    until: Until = None,
    sort: Sort = "relevance",
    collapse: Annotated[bool, typer.Option(help="One hit per story, or every version.")] = True,
    facets: Annotated[bool, typer.Option("--facets", help="Count sites, categories, topics and days instead.")] = False,
    suggest: Annotated[bool, typer.Option("--suggest", help="Complete the query instead.")] = False,
    sources: SourcesFile = None,
) -> None:
    """Search what is stored."""
    with open_all(sources) as (config, store, index):
        first, last = moment(since), end(until)
        index.follow(store)
        if suggest:
            for text in index.suggest(query, limit):
                typer.echo(json.dumps(text, ensure_ascii=False) if as_json else clean(text))
            return
        zone = ZoneInfo(config.portal.timezone)
        request = Query(query, topic, site, category, first, last, sort, collapse, limit=0 if facets else limit, zone=zone)
        results = index.search(request)
    hints.warn_unknown_topic(config, topic)
    console = Console(emoji=False, highlight=False, soft_wrap=True)
    if facets and as_json:
        print_json({"total": results.total, "capped": results.capped, **results.facets})
    elif facets:
        for name, counts in results.facets.items():
            if counts:
                console.print(Text(name, style="bold"))
            for value, number in counts.items():
                console.print(Text(f"  {number:7} {clean(value)}"))
        console.print(Text(total(results), style="dim"))
    elif as_json:
        for hit in results.hits:
            print_json(plain(hit))
    else:
        show(results, console)


def end(text: str | None, option: str = "--until") -> datetime | None:
    """Parse ``--until``: a date includes the whole day."""
    found = moment(text, option)
    day = found is not None and text is not None and ":" not in text and "T" not in text.upper()
    try:
        return found + timedelta(days=1) if found and day else found
    except OverflowError:  # the last representable day
        return None


def plain(hit: Hit) -> dict[str, Any]:
    return {
        "id": hit.id, "story": hit.story_id, **pick(hit, "url", "title"), "snippet": unescape(MARK.sub(r"\1", hit.snippet_html)),
        **pick(hit, "site", "published"), "score": round(hit.score, 4), "folded": hit.folded,
    }  # fmt: skip


def show(results: Results, console: Console) -> None:
    """Print the results as a list. Text from sites is cleaned first: a title must not control the terminal."""
    if results.relaxed:
        console.print(Text('no article has all the words; these have some of them (use "quotes" for exact phrases)', style="yellow"), "")
    for hit in results.hits:
        console.print(highlight_marks(hit.title_html, "bold"))
        more = f" +{hit.folded}" if hit.folded else ""
        console.print(Text(f"  {clean(hit.site or '')}  {format_time(hit.moment)}{more}".rstrip(), style="dim"))
        console.print(Text("  ") + highlight_marks(hit.snippet_html, ""))
        console.print(Text(f"  {clean(hit.url)}", style="cyan"), "")
    console.print(Text(total(results), style="dim"))


def total(results: Results) -> str:
    return f"{results.total}{'+' if results.capped else ''} found" if results.total else "nothing found"


def highlight_marks(html: str, base: str) -> Text:
    text = Text(style=base)
    for position, part in enumerate(re.split("</?mark>", html)):
        text.append(CONTROLS.sub(" ", unescape(part)), style="black on yellow" if position % 2 else "")
    return text


CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that control a terminal: escapes, line ends, changes of direction."""
