"""``newsportal serve``: serve the portal from the store. It needs no network; a crawl may run concurrently. ``newsportal mcp``: the
portal's tools for an assistant on this machine, over standard input and output."""

import asyncio
import threading
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import typer
from rich.console import Console

from newsportal import logs
from newsportal.cli.options import LogFile, LogFormat, SourcesFile, load, open_record
from newsportal.errors import NewsportalError
from newsportal.portal import access_log
from newsportal.portal.app import create_app
from newsportal.portal.background import Follower
from newsportal.portal.guard import hosts_of
from newsportal.portal.listen import DEFAULT_HOST, DEFAULT_PORT, address_of, listen, serve_forever
from newsportal.portal.monitor.queues import Ask, Queues, Settle, Way, longest
from newsportal.search import open_index
from newsportal.services.accounts import open_accounts
from newsportal.services.daily import DailySums, daily_uri
from newsportal.sources import Sources, use_custom_words
from newsportal.store import open_store

BROWSER_DELAY = 0.8  # seconds until the server responds: a browser opened earlier shows an error
MAX_HOSTS: Final = 10
MAX_SET_ASIDE: Final = 20  # rows on the page of queues; newsportal frontier lists all

AccessLog = Annotated[bool, typer.Option("--access-log", help="Log requests, without their queries.")]


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0: all.")] = DEFAULT_HOST,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port; default: the first free one from 8000 on.")] = None,
    sources: SourcesFile = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the portal in a browser.")] = False,
    allow_host: Annotated[list[str] | None, typer.Option(help="An additional host name of the portal, such as news.example.org.")] = None,
    log_file: LogFile = None,
    log_format: LogFormat = "text",
    access: AccessLog = False,
) -> None:
    """Serve the portal until Ctrl-C."""
    write_log(log_format, log_file, access=access)
    run(host, port, sources, open_browser=open_, allow_hosts=allow_host or ())


def run(
    host: str = DEFAULT_HOST,
    port: int | None = None,
    sources: Path | None = None,
    *,
    open_browser: bool = False,
    allow_hosts: Sequence[str] = (),
    once_open: Callable[[], None] = lambda: None,
    pushed: Callable[[], None] | None = None,
) -> None:
    """Open store, index and accounts, print the URL, call ``once_open``, serve until SIGTERM or Ctrl-C, and close them. ``pushed``: see the
    portal. Raises ``SourcesError`` and ``CannotListen`` before anything is opened, ``StoreError``."""
    console = Console(emoji=False, highlight=False, markup=False, soft_wrap=True)
    config = load(sources)
    use_custom_words(config)
    with (
        closing(listen(host, port)) as listener,
        closing(open_store(config.store)) as store,
        closing(open_index(config.index_uri)) as index,
        closing(open_accounts(config.accounts_uri)) as accounts,
        closing(DailySums(daily_uri(config.index_uri), ZoneInfo(config.portal.timezone))) as daily,
    ):
        name = urlsplit(config.portal.url).hostname if config.portal.url else None
        names = hosts_of(host, [*allow_hosts, *([name] if name else [])])
        app = create_app(
            store, index, config, accounts, hosts=names, pushed=pushed, queues=poller(config), settle=settler(config), daily=daily
        )
        address = address_of(listener, host)
        if port is None and listener.getsockname()[1] != DEFAULT_PORT:
            console.print(f"port {DEFAULT_PORT} is in use; taking the next free one")
        console.print(f"{config.portal.title}: {address}  (Ctrl-C to stop)")
        if (created := accounts.people.add_first_admin(now=datetime.now(UTC))) is not None:  # its password is printed once, and not stored
            person, password = created
            accounts.audit_log.add(None, "person.first", person.name, now=datetime.now(UTC))
            console.print(f"sign in at {address}/login as {person.name} with the password {password}")
            console.print(f"(shown only once; for a new one: newsportal user password {person.name})")
        console.file.flush()  # the output may be a service's log: print it now and not at the end
        once_open()
        if open_browser:
            threading.Timer(BROWSER_DELAY, webbrowser.open, [address]).start()
        serve_forever(app, listener)


def write_log(form: str, file: Path | None, *, access: bool) -> None:
    """Configure the log of this process; with ``access`` also a line per request. Raises ``LogUnavailable``."""
    handler = logs.install(form, file)
    if access:
        access_log.enable(handler)


def poller(sources: Sources) -> Ask:
    """Return a function that queries the queues of this ``sources.yaml``; imports are deferred to its first call."""

    def ask() -> Queues:
        from newsportal.cli.frontier import open_queues, rows_of

        with open_queues(sources, None) as (place, queues):
            states = [queue.state(MAX_HOSTS) for queue in queues.values()]
            aside = [(name, item) for name, queue in queues.items() for item in queue.aside(MAX_SET_ASIDE)]
            retries = [row for queue in queues.values() for row in queue.retries()]
        rows = rows_of(place, states, retries, aside)
        return replace(rows, hosts=longest(rows.hosts, MAX_HOSTS))

    return ask


def settler(sources: Sources) -> Settle:
    """Return a function that requeues (``again``) or deletes (``drop``) all requests that were set aside, and returns their number."""

    def settle(way: Way) -> int:
        from newsportal.cli.frontier import open_queues

        with open_queues(sources, None) as (_, queues):
            return sum(queue.requeue() if way == "again" else queue.drop() for queue in queues.values())

    return settle


Token = Annotated[str | None, typer.Option(envvar="NEWSPORTAL_TOKEN", help="A token of `token add`; default: read only.", show_envvar=True)]


def mcp(token: Token = None, sources: SourcesFile = None) -> None:
    """Serve an assistant over standard input and output (MCP), until its end. Needs newsportal[mcp]."""
    try:
        from newsportal.portal.mcp.calling import Caller
        from newsportal.portal.mcp.tools import serve_stdio
    except ImportError as error:
        raise NewsportalError("the MCP server needs a package that is not installed: pip install 'newsportal[mcp]'") from error
    with (
        open_record(sources, create=True) as (found, store),
        closing(open_index(found.index_uri)) as index,
        closing(open_accounts(found.accounts_uri)) as accounts,
    ):
        if token is not None and accounts.tokens.authenticate(token, now=datetime.now(UTC)) is None:
            raise NewsportalError("the token is invalid or was revoked: create one with `newsportal token add NAME assistant --right edit`")
        app = create_app(store, index, found, accounts)
        follower = Follower(index, store)
        follower.start()
        try:
            asyncio.run(serve_stdio(Caller(app, token, "", app.state.portal.site.url or "")))
        finally:
            follower.stop()
            app.state.jobs.runner.close()
            app.state.portal.stop()
