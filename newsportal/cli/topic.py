"""``newsportal topic``: list the topics of sources.yaml, preview their matches among stored articles, and reassign these; ``newsportal
category``: list and configure the categories of articles."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from newsportal.classify.topics import make_rule
from newsportal.cli.options import AsJson, Days, SourcesFile, command_group, load, open_all, open_record, sources_path
from newsportal.cli.output import pick, print_json, print_rows, report_progress
from newsportal.errors import NewsportalError
from newsportal.messages import did_you_mean
from newsportal.services.topics import DAYS, counts, preview
from newsportal.services.topics import assign as assign_to
from newsportal.sources import edit
from newsportal.sources.categories import drop_category, list_categories, put_category, values_of
from newsportal.store.results import StoryFilter
from newsportal.text import clean


def list_(sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """List the topics with their keywords and their stories of 7 and 30 days."""
    with open_record(sources) as (config, store):
        totals = counts(store, [topic.name for topic in config.topics], datetime.now(UTC))
    rows: list[dict[str, Any]] = []
    for topic in config.topics:
        words, found = topic.keywords, totals[topic.name]
        row = {"topic": topic.name, "enabled": topic.enabled, **pick(words, "must", "any"), "not": words.not_}
        rows.append({**row, "engines": topic.engines, "days_7": found.week, "days_30": found.month})
    if as_json:
        print_json(*rows)
        return
    for row in rows:
        row |= {"keywords": " ".join(row["any"]), "engines": " ".join(row["engines"]), "": "" if row["enabled"] else "off"}
    print_rows(rows, ("topic", "", "days_7", "days_30", "keywords", "engines"), False, "sources.yaml has no topics yet")


def preview_(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A topic, or a new name.")],
    any_: Annotated[list[str] | None, typer.Option("--any", help="One of these must occur; default: the topic's words.")] = None,
    must: Annotated[list[str] | None, typer.Option("--must", help="All of these must occur.")] = None,
    never: Annotated[list[str] | None, typer.Option("--not", help="None of these may occur.")] = None,
    days: Days = DAYS,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Show which stories a topic's words find, which are new to it, and which would be removed."""
    with open_all(sources) as (config, store, index):
        topic = config.topic(name)
        if must or any_ or never:
            criteria = make_rule(name, must or (), any_ or (() if must else (name,)), never or ())
        else:
            criteria = topic.rule if topic else make_rule(name, any=(name,))
        exists = topic is not None or bool(store.stories(StoryFilter(name, limit=1)).stories)
        index.follow(store)
        found = preview(store, index, criteria, topic=name if exists else None, now=datetime.now(UTC), days=days)
    rows = [pick(hit.article, "id", "moment", "title") | {"words": " ".join(hit.words), "new": not hit.in_topic} for hit in found.newest]
    if as_json:
        removed = [pick(article, "id", "title") for article in found.removed]
        print_json({"topic": name, **pick(found, "stories", "added", "capped"), "newest": rows, "removed": removed})
        return
    stories = f"{'at least ' if found.capped else ''}{found.stories} stories"
    typer.echo(f"{name}: {stories}, {found.added} of them new to the topic, {len(found.removed)} would be removed")
    print_rows([{**row, "": "+" if row["new"] else ""} for row in rows], ("moment", "", "words", "title"), False)
    for article in found.removed:
        typer.echo(clean(f"- {article.title}"))


def assign(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME...]", help="Default: all enabled ones.")] = None,
    days: Days = 30,
    gone: Annotated[
        list[str] | None, typer.Option("--gone", help="A deleted topic: remove the articles that its keywords assigned to it.")
    ] = None,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Update the topics of stored articles by keywords. Topics from a source, a search or a model stay."""
    with open_record(sources) as (config, store), report_progress() as report:
        rules = [] if names or gone else [topic.rule for topic in config.topics if topic.enabled]
        for name in names or ():
            if (topic := config.topic(name)) is None:
                hint = did_you_mean(name, [topic.name for topic in config.topics])
                raise NewsportalError(f"sources.yaml has no topic {name!r}; {hint or 'see: newsportal topic list'}")
            rules.append(topic.rule)
        now, removed = datetime.now(UTC), [name for name in gone or () if config.topic(name) is None]
        done = assign_to(store, rules, deleted=removed, since=now - timedelta(days=days), now=now, progress=report)
    if as_json:
        print_json({"checked": done.checked, "changed": done.changed, "added": dict(done.added), "removed": dict(done.removed)})
        return
    typer.echo(f"{done.checked} articles of the last {days} days, {done.changed} changed")
    for sign, totals in (("+", done.added), ("-", done.removed)):
        for name, number in sorted(totals.items()):
            typer.echo(clean(f"  {name}: {sign}{number}"))


group = command_group(
    "Topics of sources.yaml: preview their keywords on stored articles, and update the topics of stored articles.", list_, preview_, assign
)

CategoryName = Annotated[str, typer.Argument(metavar="NAME", help="A category.")]
Words = Annotated[list[str] | None, typer.Option("--word", help="A nearly decisive word; repeatable; '': none.")]
Hints = Annotated[list[str] | None, typer.Option("--hint", help="A word that suggests it; repeatable; '': none.")]


def list_all(sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """List the categories, with your own words."""
    rows: list[dict[str, Any]] = []
    for category in list_categories(load(sources).categories):
        custom = {name: list(getattr(category.configured, name, ())) for name in ("words", "hints")}
        values = custom if as_json else {name: " ".join(words) for name, words in custom.items()}
        rows.append({"category": category.name, "packaged": category.packaged, **values, "enabled": category.enabled})
    print_rows(rows, ("category", "packaged", "words", "hints", "enabled"), as_json)


def set_(
    name: CategoryName,
    word: Words = None,
    hint: Hints = None,
    rename: Annotated[str | None, typer.Option(help="New name, also in sources.")] = None,
    enabled: Annotated[bool | None, typer.Option("--on/--off", help="Whether the lexicon uses it.")] = None,
    sources: SourcesFile = None,
) -> None:
    """Change or add a category in sources.yaml; options that are not given stay unchanged."""
    path = sources_path(sources)
    found = next((row for row in list_categories(load(path).categories) if row.name == name), None)
    if rename and (found is None or found.packaged is not None):
        raise NewsportalError(f"{name} {'comes with newsportal' if found else 'is no category yet'}: it cannot be renamed")
    configured = found.configured if found else None
    words = configured.words if word is None and configured else tuple(filter(None, word or ()))
    hints = configured.hints if hint is None and configured else tuple(filter(None, hint or ()))
    is_enabled = enabled if enabled is not None else found.enabled if found else True
    edit(path, put_category(values_of(rename or name, words, hints, enabled=is_enabled), name if configured else None))
    typer.echo(f"{rename or name} was written into {path}; to undo it: newsportal source undo")


def remove(name: CategoryName, sources: SourcesFile = None) -> None:
    """Take a category out of sources.yaml; stored articles keep it."""
    path = sources_path(sources)
    names = [category.name for category in load(path).categories]
    if name not in names:
        near = did_you_mean(name, names)
        raise NewsportalError(f"sources.yaml has no category {name!r}{f'; {near}' if near else ''}")
    edit(path, drop_category(name))
    typer.echo(f"{name} was removed from {path}; to undo it: newsportal source undo")


category_group = command_group("Built-in categories, and the categories and words of sources.yaml.", list=list_all, set=set_, remove=remove)
