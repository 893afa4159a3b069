"""``newsportal category``: the categories of articles, and what sources.yaml says of them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from newsportal.cli.context import sources_path
from newsportal.cli.options import AsJson, SourcesFile, command_group, load
from newsportal.cli.output import print_rows
from newsportal.errors import NewsportalError
from newsportal.messages import did_you_mean
from newsportal.sources import edit
from newsportal.sources.categories import drop, list_categories, put, values_of

Name = Annotated[str, typer.Argument(metavar="NAME", help="A category.")]
Words = Annotated[list[str] | None, typer.Option("--word", help="A word that nearly decides alone; repeatable; '': none.")]
Hints = Annotated[list[str] | None, typer.Option("--hint", help="A word that hints at it; repeatable; '': none.")]


def list_(sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """List the categories, with your own words."""
    rows: list[dict[str, Any]] = []
    for one in list_categories(load(sources).categories):
        own = {name: list(getattr(one.configured, name, ())) for name in ("words", "hints")}
        shown = own if as_json else {name: " ".join(words) for name, words in own.items()}
        rows.append({"category": one.name, "packaged": one.packaged, **shown, "enabled": one.enabled})
    print_rows(rows, ("category", "packaged", "words", "hints", "enabled"), as_json)


def set_(
    name: Name,
    word: Words = None,
    hint: Hints = None,
    rename: Annotated[str | None, typer.Option(help="Its new name, in sources too.")] = None,
    enabled: Annotated[bool | None, typer.Option("--on/--off", help="Whether the lexicon uses it.")] = None,
    sources: SourcesFile = None,
) -> None:
    """Change or add a category in sources.yaml; what is not named stays."""
    path = sources_path(sources)
    found = next((one for one in list_categories(load(path).categories) if one.name == name), None)
    if rename and (found is None or found.packaged is not None):
        raise NewsportalError(f"{name} {'comes with newsportal' if found else 'is no category yet'}: it cannot be renamed")
    configured = found.configured if found else None
    words = configured.words if word is None and configured else tuple(filter(None, word or ()))
    hints = configured.hints if hint is None and configured else tuple(filter(None, hint or ()))
    on = enabled if enabled is not None else found.enabled if found else True
    edit(path, put(values_of(rename or name, words, hints, enabled=on), name if configured else None))
    typer.echo(f"{rename or name} was written into {path}; to take it back: newsportal source undo")


def remove(name: Name, sources: SourcesFile = None) -> None:
    """Take a category out of sources.yaml; stored articles keep it."""
    path = sources_path(sources)
    there = [one.name for one in load(path).categories]
    if name not in there:
        near = did_you_mean(name, there)
        raise NewsportalError(f"sources.yaml says nothing of a category {name!r}{f'; {near}' if near else ''}")
    edit(path, drop(name))
    typer.echo(f"{name} was removed from {path}; to have it back: newsportal source undo")


group = command_group(
    "The categories that come with newsportal, and those and the words of one's own in sources.yaml.", list_, set_, remove
)
