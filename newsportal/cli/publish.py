"""``newsportal publish`` and ``unpublish``: publish articles to the targets under ``publish`` in sources.yaml; also after ``newsportal
crawl``, and continuously by workers and the schedule."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Final

import typer
from rich.progress import TimeElapsedColumn

from newsportal.cli.hints import counted
from newsportal.cli.options import AsJson, SourcesFile, command_group, load, open_record
from newsportal.cli.output import print_json, print_rows, progress
from newsportal.errors import NewsportalError, StoreError
from newsportal.services.periodic import PeriodicThread
from newsportal.services.publishing.base import BadTarget, Step, Target, TargetDown
from newsportal.services.publishing.dry_run import dry_run, preview_waiting
from newsportal.services.publishing.run import Tally, Work
from newsportal.services.publishing.run import publish as published
from newsportal.services.publishing.targets import open_target
from newsportal.sources import Sources
from newsportal.sources.publishing import Target as Settings
from newsportal.store import open_store
from newsportal.store.columns import storable
from newsportal.store.outbox import OPEN, STATES, State
from newsportal.store.store import Store
from newsportal.text import clean

Named = Annotated[list[str] | None, typer.Option("--target", "-t", help="Only this target; repeatable; default: all enabled ones.")]


def publish(
    context: typer.Context,
    target: Named = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, help="Maximum number of articles per target.")] = None,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Publish what is new or has changed since the last time."""
    if context.invoked_subcommand is not None:
        return
    with open_named_targets(sources, target) as (store, targets):
        if not dry_run:
            finish(store, targets, limit, as_json)
            return
        problems = []
        for settings, destination in targets:
            number, name = 0, settings.name
            try:
                for number, trial in enumerate(preview_waiting(Work(store, settings, destination, store.outbox.now), limit=limit), 1):  # noqa: B007  used below
                    for step in (Step(f"rejected: {trial.refused}", {}),) if trial.refused else trial.steps:  # values stand apart, as sent
                        row = {"target": name, "article": trial.entry.article_id, "step": step.operation, "values": step.values}
                        if as_json:
                            typer.echo(json.dumps(row, ensure_ascii=False, default=str))
                            continue
                        typer.echo(f"{name}  {trial.entry.article_id}\n  {step.operation}")
                        for column, value in step.values.items():
                            typer.echo(f"    {column}: {clean(str(value))[:200]}")
            except (TargetDown, BadTarget) as error:
                problems.append(f"{name}: {error}")
                continue
            if not as_json:
                typer.echo(f"{name}: {counted(number, 'article')} would be written (dry run)")
        if problems:
            raise NewsportalError("\n".join(problems))


def status(
    target: Named = None,
    state: Annotated[str | None, typer.Option(help=f"Only articles in this state: {', '.join(STATES)}. Default: failed.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100_000, help="How many to list.")] = 20,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Count the articles that wait, are done or failed at each target, with reasons; behind: unread changes."""
    if state is not None and state not in STATES:
        raise typer.BadParameter(f"{state!r} is not a state; allowed: {', '.join(STATES)}", param_hint="--state")
    with open_record(sources) as (config, store):
        names = [settings.name for settings in select_targets(config, target, everything=True)]
        counts = store.outbox.counts()
        names += [] if target else [name for name in counts if name not in names]
        behind = store.outbox.behind(names)
        rows = [{"target": name, **{key: counts.get(name, {}).get(key, 0) for key in STATES}, "behind": behind[name]} for name in names]
        states: tuple[State, ...] = tuple(key for key in STATES if key == (state or "failed"))
        entries = [entry for name in target or (None,) for entry in store.outbox.entries(name, states=states, limit=limit)][:limit]
        titles = {article.id: article.title for article in store.articles([entry.article_id for entry in entries])}
    print_rows(rows, ("target", *STATES, "behind"), as_json)
    if as_json:
        for entry in entries:
            values = {name: value for name, value in asdict(entry).items() if value is not None}
            print_json({"article": values.pop("article_id"), **values})
        return
    if entries:
        typer.echo()
        failed = [
            {"target": row.target, "article": row.article_id, "title": clean(titles.get(row.article_id) or "")[:40], "since": row.changed,
             "reason": clean(row.reason or "")}
            for row in entries
        ]  # fmt: skip
        print_rows(failed, ("target", "article", "title", "since", "reason"), False)
        typer.echo("to retry them: newsportal publish again" if "failed" in states else "")


def again(
    article: Annotated[list[str] | None, typer.Argument(metavar="[ARTICLE]...", help="Ids or URLs; default: all that failed.")] = None,
    target: Named = None,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Publish failed articles again; named articles also if they were withdrawn."""
    with open_named_targets(sources, target) as (store, targets):
        now = store.outbox.now()
        ids = [article_named(store, name) for name in article or ()]
        names = [settings.name for settings, _ in targets]
        if ids:
            number = sum(store.outbox.request(name, list(store.outbox.of(name, ids)), "publish", now=now) for name in names)
        else:
            number = sum(store.outbox.retry(name, now=now) for name in names)
        finish(store, targets, None, as_json, f"{counted(number, 'delivery')} tried again")


def check(target: Named = None, sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """Show what each target would write for a sample article. Nothing is written or sent, and no store is needed."""
    wrong = 0
    config = load(sources)
    with open_targets(config, select_targets(config, target, everything=True)) as targets:
        for settings, destination in targets:
            found = dry_run(destination, settings.name, datetime.now(UTC))
            wrong += bool(found.problems)
            if as_json:
                typer.echo(json.dumps({"target": settings.name, **asdict(found)}, ensure_ascii=False, default=str))
                continue
            typer.echo(f"{settings.name}: {'nothing can be published there' if found.problems else 'all is well'}")
            for line in (*found.problems, *found.notes, *(f"an article would be: {clean(step.operation)}" for step in found.steps)):
                typer.echo(f"  {line}")
    if wrong:
        raise NewsportalError(f"{counted(wrong, 'target')} cannot be published to; see above")


@contextmanager
def open_named_targets(file: Path | None, names: Sequence[str] | None) -> Iterator[tuple[Store, list[Any]]]:
    """Open the store, and the targets of these names (default: all enabled) with their settings. Raises ``NewsportalError``."""
    with open_record(file) as (sources, store), open_targets(sources, select_targets(sources, names)) as targets:
        yield store, targets


def select_targets(sources: Sources, names: Sequence[str] | None, *, everything: bool = False) -> list[Settings]:
    """Return the targets of these names; without names all enabled ones (``everything``: also disabled)."""
    valid = [target.name for target in sources.publish]
    if not valid and not everything:
        raise NewsportalError("sources.yaml has no publishing target; see publish in docs/sources.md")
    if unknown := [name for name in names or () if name not in valid]:
        raise typer.BadParameter(f"sources.yaml has no target {unknown[0]!r}; it has: {', '.join(valid) or 'none'}", param_hint="--target")
    return [target for target in sources.publish if (target.name in names if names else target.enabled or everything)]


def article_named(store: Store, name: str) -> str:
    """Return the id of the article with this id or URL. Raises ``NewsportalError``."""
    from newsportal.dedup.canonical import identity

    name = storable(name)
    if store.article(name) is not None or store.outbox.entries(article_id=name, limit=1):
        return name
    found = store.declared_by(identity(name)) if "." in name else []
    if not found:
        raise NewsportalError(f"no article {name!r} is stored or was published; give its id or its URL")
    return found[0].id


def finish(store: Store, targets: Sequence[tuple[Settings, Target]], limit: int | None, as_json: bool, sentence: str | None = None) -> None:
    """Publish what waits, and print the results after ``sentence``. Raises ``NewsportalError`` for targets that accept nothing."""
    tallies = [publish_to_target(store, settings, target, limit, quiet=as_json) for settings, target in targets]
    if as_json:
        print_json(*map(asdict, tallies))
    else:
        if sentence:
            typer.echo(sentence)
        counts = ("published", "revised", "unchanged", "withdrawn", "failed", "postponed")
        rows = [{"target": tally.target} | {name.replace("_", " "): getattr(tally, name) for name in counts} for tally in tallies]
        print_rows(rows, ("target", *(name.replace("_", " ") for name in counts)), False)
        for tally in tallies:
            for reason in tally.reasons[:10]:
                typer.echo(clean(f"{tally.target}: {reason}"), err=True)
    if problems := [f"{tally.target}: {tally.unfit or tally.unavailable}" for tally in tallies if tally.unfit or tally.unavailable]:
        raise NewsportalError("\n".join([*problems, "new articles wait; nothing is lost"]))


def publish_to_target(store: Store, settings: Settings, target: Target, limit: int | None, *, quiet: bool) -> Tally:
    with progress(TimeElapsedColumn(), quiet=quiet) as bar:
        task = bar.add_task(f"{settings.name}: looking for new articles", total=None)

        def report(tally: Tally) -> None:
            if bar.tasks[task].total is None:
                counts = store.outbox.counts().get(settings.name, {})
                bar.update(task, total=min(tally.done + sum(counts.get(state, 0) for state in OPEN), limit or sys.maxsize))
            description = f"{settings.name}: {counted(tally.done, 'article')}, {tally.failed} failed"
            bar.update(task, completed=tally.done, description=description)

        return published(Work(store, settings, target, store.outbox.now, on_progress=report), limit=limit)


def unpublish(
    article: Annotated[list[str], typer.Argument(metavar="ARTICLE...", help="Ids or addresses.")],
    target: Named = None,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """Withdraw articles, until `publish again ARTICLE`."""
    with open_named_targets(sources, target) as (store, targets):
        now, ids = store.outbox.now(), [article_named(store, name) for name in article]
        names = [settings.name for settings, _ in targets]
        number = sum(store.outbox.request(name, list(store.outbox.of(name, ids)), "withdraw", now=now) for name in names)
        if not number:
            raise NewsportalError("none of them was published; see: newsportal publish status --state done")
        finish(store, targets, None, as_json, f"{counted(number, 'withdrawal')} requested")


POLL_SECONDS: Final = 10.0  # seconds between two polls of a worker. A poll without new articles takes two small queries.
MAX_SECONDS: Final = 300.0  # seconds that a crawl spends on publishing; the rest waits for the next one
Report = Callable[[str], None]


def enabled_targets(sources: Sources) -> tuple[Settings, ...]:
    return tuple(target for target in sources.publish if target.enabled)


@contextmanager
def open_targets(sources: Sources, selected: Sequence[Settings]) -> Iterator[list[tuple[Settings, Target]]]:
    with ExitStack() as stack:
        yield [(settings, stack.enter_context(closing(open_target(settings, sources)))) for settings in selected]


def publish_after_crawl(sources: Sources, say: Report) -> None:
    """Publish what is new, and report it. Errors of targets and the store are reported; the articles wait for the next time."""
    if not (active := enabled_targets(sources)):
        return
    until = monotonic() + MAX_SECONDS
    try:
        with closing(open_store(sources.store, create=False)) as store, open_targets(sources, active) as targets:
            for settings, target in targets:
                if line := summarise(published(Work(store, settings, target, store.outbox.now, stopped=lambda: monotonic() > until))):
                    say(line)
    except StoreError as error:
        say(f"nothing was published: {error}; it waits")


def summarise(tally: Tally) -> str | None:
    """Return the results of a target in a line; ``None`` if there are none."""
    counts = {
        "published": tally.published, "revised": tally.revised, "withdrawn": tally.withdrawn, "failed": tally.failed,
        "postponed": tally.postponed,
    }  # fmt: skip
    parts = [f"{number} {label}" for label, number in counts.items() if number]
    parts += [f"unavailable: {tally.unavailable}; new articles wait"] if tally.unavailable else []
    parts += [f"nothing can be published there: {tally.unfit}"] if tally.unfit else []
    parts += ["why: newsportal publish status"] if tally.failed else []
    return f"{tally.target}: {', '.join(parts)}" if parts else None


class Publisher(PeriodicThread):
    """Publishes new articles periodically. It may be killed at any time."""

    def __init__(self, sources: Sources, say: Report, every: float = POLL_SECONDS) -> None:
        super().__init__("publisher", every, retry=every)
        self._known, self._say = sources, say
        self._reported: dict[str, str | None] = {}

    def step(self) -> None:
        """Publish until stopped, or until the store is unavailable."""
        if not (active := enabled_targets(self._known)):
            self.stopping.set()
            return
        try:
            with closing(open_store(self._known.store, create=False)) as store, open_targets(self._known, active) as targets:
                self._reported.pop("store", None)
                while not self.stopping.is_set():
                    for settings, target in targets:
                        tally = published(Work(store, settings, target, store.outbox.now, stopped=self.stopping.is_set))
                        self._report(settings.name, summarise(tally), every=tally.done > 0)
                    self.stopping.wait(self.every)
        except StoreError as error:
            self._report("store", f"publishing waits for its store: {error}")

    def _report(self, key: str, line: str | None, *, every: bool = False) -> None:
        """Report a persistent error once."""
        if line is not None and (every or line != self._reported.get(key)):
            self._say(line)
        self._reported[key] = line


group = command_group("Publish new articles to the targets of sources.yaml.", status, again, check, default=publish)
