"""``newsportal frontier``: how the queue of requests stands, and what becomes of requests that were set aside."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from scrapy.settings import Settings

from newsportal.cli.hints import counted
from newsportal.cli.options import AsJson, SourcesFile, Yes, command_group, load
from newsportal.cli.output import WIDEST, make_table, pick, print_json
from newsportal.crawl.queues.base import Aside, Queue, QueueState, WaitingLinks
from newsportal.errors import NewsportalError
from newsportal.messages import local
from newsportal.sources import Sources

ASIDE = 1000  # requests set aside that are looked through for one that is named; more are no accident but a fault of ours
Spider = Annotated[str | None, typer.Option(help="Only this queue: its spider's name.")]
Ids = Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="An id, how it begins, or an address; default: all.")]
Hosts = Annotated[int, typer.Option(min=1, max=10_000, help="Hosts that are listed, those with most waiting.")]


@dataclass(frozen=True, slots=True)
class Opened:
    """The queues that were asked for. ``place``: where they lie, for people."""

    place: str
    queues: tuple[tuple[str, Queue], ...]


def frontier(
    context: typer.Context, spider: Spider = None, hosts: Hosts = 10, sources: SourcesFile = None, as_json: AsJson = False
) -> None:
    """Tell how the queue of requests stands: what waits, who works, which hosts are busy, what was set aside."""
    if context.invoked_subcommand is None:
        status(spider, hosts, sources, as_json)


def status(spider: Spider = None, hosts: Hosts = 10, sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """Tell how the queue of requests stands: what waits, who works, which hosts are busy, what was set aside."""
    with opened(sources, spider) as found:
        states = [queue.state(hosts) for _, queue in found.queues]
        retries = [row for _, queue in found.queues for row in queue.retries()]
        if as_json:
            print_json(*(facts(state, retries) for state in states))
            return
        _show(found.place, states, retries)


def aside(
    spider: Spider = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100_000, help="Requests that are listed, of each queue.")] = 100,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """List the requests that were set aside, since worker after worker died while it had them."""
    with opened(sources, spider) as found:
        rows = [
            {"queue": name, "id": one.task.id, "url": url_of(one.task.body), **pick(one.task, "host", "source")}
            | {"reason": one.reason, "tries": one.tries, "since": _iso(one.since)}
            for name, queue in found.queues
            for one in queue.aside(limit)
        ]
    if as_json:
        print_json(*rows)
        return
    console = Console(emoji=False, highlight=False, width=WIDEST)
    if not rows:
        console.print("nothing is set aside")
        return
    cells = ((row["queue"], row["id"], row["since"], row["reason"], row["url"] or row["host"]) for row in rows)
    console.print(make_table(("queue", "id", "since", "reason", "address"), cells))
    console.print("to try them again: newsportal frontier again; to forget them: newsportal frontier drop", markup=False)


def again(ids: Ids = None, spider: Spider = None, sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """Let requests that were set aside wait anew, as if nobody had died of them."""
    with opened(sources, spider) as found:
        _print_count("again", sum(queue.again(which) for queue, which in _meant(found, ids)), "{} will be asked for again", as_json)


def drop(ids: Ids = None, spider: Spider = None, sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """Forget requests that were set aside. Articles among them are asked for again when a list page names them."""
    with opened(sources, spider) as found:
        _print_count("dropped", sum(queue.drop(which) for queue, which in _meant(found, ids)), "{} forgotten", as_json)


def clear(spider: Spider = None, yes: Yes = False, sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """Forget everything that waits. What workers have in hand is finished; articles are asked for again when a list page names them."""
    with opened(sources, spider) as found:
        states = [queue.state(1) for _, queue in found.queues]
        waiting = sum(state.waiting + state.later for state in states)
        if waiting and not yes and not typer.confirm(f"Forget {counted(waiting, 'request')} in {found.place}?", err=True):
            raise typer.Exit(1)
        _print_count("cleared", sum(queue.clear() for _, queue in found.queues), "{} forgotten", as_json)


def facts(state: QueueState, retries: Collection[WaitingLinks] = ()) -> dict[str, Any]:
    """A queue's state as plain values; times in ISO 8601. ``retries``: links that failed in passing."""
    workers = [asdict(one) | {"since": _iso(one.since), "beat": _iso(one.beat), "hosts": list(one.hosts)} for one in state.workers]
    return {
        "queue": state.name,
        **pick(state, "waiting", "later", "leased", "aside"),
        "workers": workers,
        "hosts": [asdict(one) for one in state.hosts],
        "retries": [
            {"source": row.source, "reason": row.reason, "links": row.number, "next": None if row.next is None else _iso(row.next)}
            for row in retries
            if row.queue == state.name
        ],
    }


@contextmanager
def opened(file: Path | Sources | None, spider: str | None) -> Iterator[Opened]:
    """The queues of ``sources.yaml`` : all, or one spider's. Raises ``NewsportalError``, also for a queue that is not."""
    from newsportal.crawl.addon import scrapy_settings
    from newsportal.crawl.queues.opening import open_queue, place, queue_names

    known = file if isinstance(file, Sources) else load(file)
    settings = Settings(scrapy_settings(known))
    where, names = place(known, settings), queue_names(known, settings)
    if spider is not None and spider not in names:
        raise NewsportalError(f"{where}: there is no queue of a spider {spider!r}; there is: {', '.join(names) or 'none yet'}")
    queues = tuple((name, open_queue(known, settings, name)) for name in ([spider] if spider else names))
    try:
        yield Opened(where, queues)
    finally:
        for _, queue in queues:
            queue.close()


def _meant(found: Opened, named: Collection[str] | None) -> list[tuple[Queue, list[str] | None]]:
    """Which requests of which queue: all that were set aside, or those that are named. Raises ``NewsportalError`` for an unknown one."""
    if not named:
        return [(queue, None) for _, queue in found.queues]
    rest, chosen = set(named), []
    for _, queue in found.queues:
        here = [one for one in queue.aside(ASIDE) if any(_is(one, name) for name in named)]
        rest -= {name for name in named for one in here if _is(one, name)}
        chosen.append((queue, [one.task.id for one in here]))
    if rest:
        raise NewsportalError(f"not set aside: {', '.join(sorted(rest))}; see: newsportal frontier aside")
    return [(queue, ids) for queue, ids in chosen if ids]


def _is(one: Aside, name: str) -> bool:
    return one.task.id.startswith(name) or url_of(one.task.body) == name


def _print_count(what: str, number: int, words: str, as_json: bool) -> None:
    typer.echo(json.dumps({what: number}) if as_json else words.format(counted(number, "request")))


def url_of(body: str) -> str | None:
    """The address in a request's JSON; ``None`` if it is no such JSON."""
    try:
        found = json.loads(body)
    except ValueError:
        return None
    url = found.get("url") if isinstance(found, dict) else None
    return url if isinstance(url, str) else None


def _show(place: str, states: list[QueueState], retries: list[WaitingLinks]) -> None:
    def show(heads: Sequence[str], rows: Sequence[Sequence[Any]], right: Collection[str], before: str = "\n") -> None:
        if rows:
            console.print(before, end="")
            console.print(make_table(heads, rows, right=right))

    console = Console(emoji=False, highlight=False, width=WIDEST)
    console.print(f"queue of requests: {place}", markup=False)
    if not states:
        console.print("nothing waits, and nobody works; the first crawl begins it")
        return
    counts = ("waiting", "later", "leased", "set aside", "workers")
    queues = [(one.name, one.waiting, one.later, one.leased, one.aside, len(one.workers)) for one in states]
    show(("queue", *counts), queues, counts, before="")
    now = datetime.now(UTC).timestamp()
    workers = [
        (
            *(one.name, state.name, _iso(one.since), f"{max(0.0, now - one.beat):.0f} s ago", one.leased, len(one.hosts)),
            ", ".join(f"{name}: {value}" for name, value in one.doing.items()),
        )
        for state in states
        for one in state.workers
    ]
    if not workers:
        console.print("\nnobody works now")
    show(("worker", "queue", "since", "last sign of life", "in hand", "hosts", "doing"), workers, ("in hand", "hosts"))
    hosts = [(one.host, state.name, one.waiting, one.holder or "", f"{one.free_in:.1f} s") for state in states for one in state.hosts]
    show(("host", "queue", "waiting", "held by", "may be asked in"), hosts, ("waiting", "may be asked in"))
    failed = [(row.reason, row.source or "", row.number, "" if row.next is None else _iso(row.next)) for row in retries]
    show(("links that failed in passing", "source", "links", "next try"), failed, ("links",))
    if sum(state.aside for state in states):
        console.print("\nwhat was set aside, and why: newsportal frontier aside", markup=False)


def _iso(moment: float) -> str:
    return local(datetime.fromtimestamp(moment, UTC)).isoformat(timespec="seconds")


group = command_group("Look at the queue of requests, and mend it.", status, aside, again, drop, clear, default=frontier)
