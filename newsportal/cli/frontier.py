"""``newsportal frontier``: the state of the queue of requests, and requests that were set aside."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, astuple
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from scrapy.settings import Settings

from newsportal.cli.hints import counted
from newsportal.cli.options import AsJson, SourcesFile, Yes, command_group, load
from newsportal.cli.output import WIDEST, make_table, pick, print_json, print_rows
from newsportal.crawl.queues.base import Queue, QueueState, SetAside, WaitingLinks
from newsportal.errors import NewsportalError
from newsportal.messages import local
from newsportal.portal.monitor.queues import AsideRow, BusyHost, QueueRow, Queues, RetryRow, WorkerRow, moment
from newsportal.sources import Sources
from newsportal.sources.uris import mask

MAX_SET_ASIDE = 1000  # requests set aside that are searched for a given one; more are a bug rather than an accident
Spider = Annotated[str | None, typer.Option(help="Only this spider's queue.")]
Ids = Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Ids or their beginnings, or URLs; default: all.")]
Hosts = Annotated[int, typer.Option(min=1, max=10_000, help="Hosts to list.")]


def frontier(ctx: typer.Context, spider: Spider = None, hosts: Hosts = 10, sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """Show waiting requests, workers, busy hosts and requests that were set aside."""
    if ctx.invoked_subcommand is None:
        status(spider, hosts, sources, as_json)


def status(spider: Spider = None, hosts: Hosts = 10, sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """Show waiting requests, workers, busy hosts and requests that were set aside."""
    with open_queues(sources, spider) as (place, queues):
        states = [queue.state(hosts) for queue in queues.values()]
        retries = [row for queue in queues.values() for row in queue.retries()]
    if as_json:
        print_json(*(queue_state(state, retries) for state in states))
    else:
        _show(rows_of(place, states, retries))


def aside(
    spider: Spider = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100_000, help="Maximum number of requests to list per queue.")] = 100,
    sources: SourcesFile = None,
    as_json: AsJson = False,
) -> None:
    """List the requests during which several workers died."""
    with open_queues(sources, spider) as (_, queues):
        rows = [
            {"queue": name, "id": entry.task.id, "url": url_of(entry.task.body), **pick(entry.task, "host", "source")}
            | {"reason": entry.reason, "tries": entry.tries, "since": _iso(moment(entry.since))}
            for name, queue in queues.items()
            for entry in queue.aside(limit)
        ]
    if as_json or not rows:
        print_rows(rows, (), as_json, "nothing is set aside")
        return
    console = Console(emoji=False, highlight=False, width=WIDEST)
    cells = ((row["queue"], row["id"], row["since"], row["reason"], row["url"] or row["host"]) for row in rows)
    console.print(make_table(("queue", "id", "since", "reason", "address"), cells))
    console.print("to retry them: newsportal frontier again; to drop them: newsportal frontier drop", markup=False)


def again(ids: Ids = None, spider: Spider = None, sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """Put requests that were set aside back into the queue."""
    with open_queues(sources, spider) as (_, queues):
        _print_count("again", sum(queue.requeue(names) for queue, names in _select(queues, ids)), "{} will be requested again", as_json)


def drop(ids: Ids = None, spider: Spider = None, sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """Drop requests that were set aside, until a list page links to them again."""
    with open_queues(sources, spider) as (_, queues):
        _print_count("dropped", sum(queue.drop(names) for queue, names in _select(queues, ids)), "{} forgotten", as_json)


def clear(spider: Spider = None, yes: Yes = False, sources: SourcesFile = None, as_json: AsJson = False) -> None:
    """Drop all waiting requests, until a list page links to them again."""
    with open_queues(sources, spider) as (place, queues):
        waiting = sum(state.waiting + state.later for state in (queue.state(1) for queue in queues.values()))
        if waiting and not yes and not typer.confirm(f"Forget {counted(waiting, 'request')} in {place}?", err=True):
            raise typer.Exit(1)
        _print_count("cleared", sum(queue.clear() for queue in queues.values()), "{} forgotten", as_json)


def queue_state(state: QueueState, retries: Collection[WaitingLinks] = ()) -> dict[str, Any]:
    """Return a queue's state as plain values; times in ISO 8601. ``retries``: links with transient failures."""
    return {
        "queue": state.name,
        **pick(state, "waiting", "later", "leased", "aside"),
        "workers": [asdict(row) | {name: _iso(moment(getattr(row, name))) for name in ("since", "heartbeat")} for row in state.workers],
        "hosts": [asdict(host) for host in state.hosts],
        "retries": [
            {**pick(row, "source", "reason"), "links": row.number, "next": None if row.next is None else _iso(moment(row.next))}
            for row in retries
            if row.queue == state.name
        ],
    }


@contextmanager
def open_queues(file: Path | Sources | None, spider: str | None) -> Iterator[tuple[str, Mapping[str, Queue]]]:
    """Open the queues of ``sources.yaml``: all, or one spider's. Yield their location and name → queue. Raises ``NewsportalError``."""
    from newsportal.crawl.addon import scrapy_settings
    from newsportal.crawl.queues import open_queue, place, queue_names

    config = file if isinstance(file, Sources) else load(file)
    settings = Settings(scrapy_settings(config))
    location, names = place(config, settings), queue_names(config, settings)
    if spider is not None and spider not in names:
        raise NewsportalError(f"{location}: there is no queue for the spider {spider!r}; there is: {', '.join(names) or 'none yet'}")
    with ExitStack() as stack:
        selected = [spider] if spider else names
        yield location, {name: stack.enter_context(closing(open_queue(config, settings, name))) for name in selected}


def _select(queues: Mapping[str, Queue], names: Collection[str] | None) -> list[tuple[Queue, list[str] | None]]:
    """Return the selected requests per queue: all that were set aside, or those named. Raises ``NewsportalError`` for an unknown one."""
    if not names:
        return [(queue, None) for queue in queues.values()]
    unknown, result = set(names), []
    for queue in queues.values():
        ids = []
        for entry in queue.aside(MAX_SET_ASIDE):
            if matching := {name for name in names if entry.task.id.startswith(name) or url_of(entry.task.body) == name}:
                unknown -= matching
                ids.append(entry.task.id)
        result.append((queue, ids))
    if unknown:
        raise NewsportalError(f"not set aside: {', '.join(sorted(unknown))}; see: newsportal frontier aside")
    return [(queue, ids) for queue, ids in result if ids]


def _print_count(key: str, number: int, words: str, as_json: bool) -> None:
    typer.echo(json.dumps({key: number}) if as_json else words.format(counted(number, "request")))


def url_of(body: str) -> str | None:
    """Return the URL in a request's JSON; ``None`` if it is invalid."""
    try:
        found = json.loads(body)
    except ValueError:
        return None
    url = found.get("url") if isinstance(found, dict) else None
    return url if isinstance(url, str) else None


def rows_of(
    place: str, states: Sequence[QueueState], retries: Sequence[WaitingLinks], aside: Sequence[tuple[str, SetAside]] = ()
) -> Queues:  # fmt: skip
    """Return the rows to display. ``aside``: requests that were set aside, each with the name of its queue."""
    return Queues(
        place,
        tuple(QueueRow(state.name, state.waiting, state.later, state.leased, state.aside, len(state.workers)) for state in states),
        tuple(
            WorkerRow(
                *(worker.name, state.name, moment(worker.since), moment(worker.heartbeat), worker.leased, len(worker.hosts)),
                activity=", ".join(f"{name}: {value}" for name, value in worker.activity.items()),
            )
            for state in states
            for worker in state.workers
        ),
        tuple(BusyHost(host.host, state.name, host.waiting, host.holder, host.next_request_in) for state in states for host in state.hosts),
        tuple(
            AsideRow(name, row.task.id, mask(url_of(row.task.body) or row.task.host), row.reason, moment(row.since)) for name, row in aside
        ),
        tuple(
            RetryRow(row.queue, row.source or "", row.reason, row.number, None if row.next is None else moment(row.next)) for row in retries
        ),
    )


def _show(found: Queues) -> None:
    def show(headings: Sequence[str], rows: Iterable[Sequence[Any]], right: Collection[str], before: str = "\n") -> None:
        table = make_table(headings, rows, right=right)
        if table.row_count:
            console.print(before, end="")
            console.print(table)

    console = Console(emoji=False, highlight=False, width=WIDEST)
    console.print(f"queue of requests: {found.place}", markup=False)
    if not found.queues:
        console.print("no requests and no workers; the first crawl creates the queue")
        return
    counts = ("waiting", "later", "leased", "set aside", "workers")
    show(("queue", *counts), map(astuple, found.queues), counts, before="")
    if not found.workers:
        console.print("\nno workers are running")
    now = datetime.now(UTC)
    workers = (
        (row.name, row.queue, _iso(row.since), f"{max(0.0, ago.total_seconds()):.0f} s ago", row.leased, row.hosts, row.activity)
        for row, ago in ((row, now - row.heartbeat) for row in found.workers)
    )
    show(("worker", "queue", "since", "last heartbeat", "leased", "hosts", "activity"), workers, ("leased", "hosts"))
    hosts = ((row.host, row.queue, row.waiting, row.holder or "", f"{row.next_request_in:.1f} s") for row in found.hosts)
    show(("host", "queue", "waiting", "held by", "next request in"), hosts, ("waiting", "next request in"))
    retries = ((row.reason, row.source, row.links, "" if row.next is None else _iso(row.next)) for row in found.retries)
    show(("links that failed temporarily", "source", "links", "next try"), retries, ("links",))
    if any(row.aside for row in found.queues):
        console.print("\nfor requests set aside: newsportal frontier aside", markup=False)


def _iso(moment: datetime) -> str:
    return local(moment).isoformat(timespec="seconds")


group = command_group("Show and repair the queue of requests.", status, aside, again, drop, clear, default=frontier)
