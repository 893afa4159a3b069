"""How trials of sources and what they bring are shown to people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from newsportal.commands.context import local
from newsportal.items import Link
from newsportal.messages import Message
from newsportal.text import clean
from newsportal.trying.trial import Reading, Trial

MAX_SHOWN = 10
"""Entries that are shown; ``--json`` has all."""

READ = {"gallery": "photo story", "forum": "thread"}
"""What one entry of a source is called, by the source's kind; of all others it is an article."""

PREVIEW_CHARS = 160


def show(trial: Trial, reading: Reading | None) -> None:
    out = console()
    out.print(f"{trial.key}  {trial.url}", style="bold", markup=False)
    for note in trial.notes:
        out.print(f"  {clean(str(note))}", style="dim", markup=False)
    if trial.failure is not None:
        out.print(f"  ✗ {failed(trial.failure)}", style="red", markup=False)
    show_links(out, trial.links)
    if reading is not None:
        show_article(out, reading, READ.get(trial.key.partition(":")[0], "article"))


def failed(failure: Message | None) -> str:
    """Why it failed, with the code to look for."""
    return f"{clean(str(failure))} ({failure.code.rpartition('.')[2]})" if failure else ""


def show_links(out: Console, links: Sequence[Link], most: int = MAX_SHOWN) -> None:
    """The first entries, a line each."""
    for link in links[:most]:
        day = local(link.published).strftime("%m-%d %H:%M") if link.published else " " * 11
        out.print(f"  {day}  {clean(link.title or link.url)}", markup=False)
    if len(links) > most:
        out.print(f"  … and {len(links) - most} more", style="dim", markup=False)


def show_article(out: Console, reading: Reading, kind: str) -> None:
    out.print(f"\n  one {kind}: {clean(reading.url)}", style="bold", markup=False)
    found = reading.found
    if found is None:
        out.print(f"  ✗ {failed(reading.failure)}", style="red", markup=False)
        return
    text = clean(f"{reading.note or ''} {found.text or ''}".strip())
    day = local(found.published).strftime("%Y-%m-%d %H:%M") if found.published else "none found"
    for what, said in (("title", found.title), ("date", day), ("author", found.author or found.origin)):
        out.print(f"  {what}: {clean(said or 'none found')}", markup=False)
    out.print(f"  text: {len(text)} characters, by {found.algorithm}: {text[:PREVIEW_CHARS]}…", markup=False)


def console(*, stderr: bool = False) -> Console:
    return Console(emoji=False, highlight=False, soft_wrap=True, stderr=stderr)
