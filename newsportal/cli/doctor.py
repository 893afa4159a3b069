"""``newsportal doctor``: check this machine and the configuration, with a remedy for every problem. ``newsportal assistant``: test the
language model of ``sources.yaml``, and show its usage of today."""

import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Annotated, Final, NamedTuple

import typer
from rich.console import Console

from newsportal import text
from newsportal.cli import hints
from newsportal.cli.hints import counted, resolvable_hosts, source_hosts
from newsportal.cli.options import AsJsonLine, SourcesFile, command_group, load
from newsportal.cli.output import print_json
from newsportal.errors import NewsportalError, RenderFailed
from newsportal.items.visits import Visit
from newsportal.messages import Message, local, reason_message
from newsportal.net.rendering import Limits, find_chromium, missing_parts, standalone
from newsportal.net.rendering.chromium import Setup
from newsportal.search import open_index
from newsportal.search.docs import visible_articles
from newsportal.services.assistant import AssistantClient, AssistantError
from newsportal.sources import Sources
from newsportal.sources.places import PLACES, Place
from newsportal.sources.timing import monitored_sources, sources_health, summary
from newsportal.store import open_store
from newsportal.store.dialect_sqlite import sqlite_file
from newsportal.text import words

MIN_FREE = 200 * 1024 * 1024  # bytes: with less, a day's crawl may fill the disk

FILE_REMEDY: Final = "fix it; for an example to compare with: newsportal source init example/sources.yaml"


@dataclass(frozen=True, slots=True)
class Finding:
    """``ok`` None: optional, for information only."""

    check: str
    ok: bool | None
    message: str
    remedy: str | None = None


def doctor(
    sources: SourcesFile = None,
    network: Annotated[bool, typer.Option(help="Also resolve the names of some sources' hosts.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per check.")] = False,
) -> None:
    """Check this machine and sources.yaml; exit status 1 if a check fails."""
    console = Console(emoji=False, highlight=False, markup=True, soft_wrap=True)
    bad = False
    for finding in findings(sources, network=network):
        bad |= finding.ok is False
        if as_json:
            print_json(asdict(finding))
            continue
        console.print({True: "[green]✓[/]", False: "[red]✗[/]", None: "[dim]·[/]"}[finding.ok], end=" ")
        console.print(f"{finding.check}: {finding.message}", markup=False)
        if finding.remedy and finding.ok is not True:
            console.print(f"    → {finding.remedy}", markup=False)
    if bad:
        raise typer.Exit(1)


def findings(path: Path | None, *, network: bool) -> Iterator[Finding]:
    """Yield all findings in order; none raises."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("Python", (3, 11) <= sys.version_info[:2] <= (3, 13), version, "use Python 3.11, 3.12 or 3.13")
    tokens = text.segment("北京旅游")
    yield Finding("Chinese words", "旅游" in tokens, f"{' / '.join(tokens)} (by {words.signature()})", "reinstall jieba")
    with sqlite3.connect(":memory:") as connection:
        has_fts = ("ENABLE_FTS5",) in connection.execute("PRAGMA compile_options").fetchall()
    detail = f"{sqlite3.sqlite_version}, FTS5 {'built in' if has_fts else 'missing'}"
    yield Finding("SQLite", has_fts, detail, "use a Python with FTS5 in its SQLite")
    try:
        config = load(path)
    except (NewsportalError, OSError) as error:
        yield Finding("sources.yaml", False, str(error), FILE_REMEDY)
        return
    counts = ", ".join(f"{len(getattr(config, name))} {name}" for name in ("topics", *PLACES))
    hint = hints.packaged_file_hint(config)
    yield Finding("sources.yaml", None if hint else True, hint or f"{config.path}: {counts}")
    for name, (check, remedy) in CHECKS.items():
        try:
            result = check(config) if network or check is not _network else None
        except NewsportalError as error:
            result = Result(False, str(error), remedy)
        if result is not None:
            yield Finding(name, *result)


class Result(NamedTuple):
    """The result of a check; see :class:`Finding`."""

    ok: bool | None
    message: str
    remedy: str | None = None


def _store(sources: Sources) -> Result:
    with closing(open_store(sources.store)) as store:
        tally = store.tally()
        if abs(ahead := store.links.clock_ahead()) > timedelta(minutes=1):
            return Result(False, f"the clocks of this machine and of the store's server differ by {abs(ahead)}", "correct the wrong one")
        return Result(True, f"{tally.articles} articles, {tally.stories} stories")


def _index(sources: Sources) -> Result:
    with closing(open_index(sources.index_uri)) as index:
        found = index.status()
        detail = f"{found.says}; {counted(found.articles, 'article')}, follows the store up to change {found.position}"
    with suppress(NewsportalError), closing(open_store(sources.store)) as store:  # an unreachable store is reported in its own line
        if not found.articles and next(visible_articles(store.all_articles()), None) is not None:
            behind = found.position < store.last_seq()  # as after a first crawl: the portal fills it at its start
            return Result(None if behind else False, f"{detail}: search finds nothing", "fill it: newsportal index rebuild")
    return Result(True, detail)


def _health(sources: Sources) -> Result:
    try:
        with closing(open_store(sources.store)) as store:
            found = sources_health(store, monitored_sources(sources), local(datetime.now(UTC)))
    except NewsportalError as error:
        return Result(None, f"unknown, the store is not available: {error}")
    bad = any(item.health.bad for item in found)
    return Result(None if bad else True, summary(found) or "no sources", "see: newsportal source health --bad")


def _last_visits(sources: Sources, keys: Sequence[str]) -> list[tuple[str, Visit]]:
    """Return the last visit of each source that was visited."""
    with closing(open_store(sources.store)) as store:
        last = store.visits.recent(keys, each=1)
    return [(key, visit) for key in keys for visit in last.get(key, ())]


def _sign_ins(sources: Sources) -> Result | None:
    """Check the sources with credentials, by their last visits."""
    keys = [source.key for source in sources.all() if isinstance(source, Place) and source.enabled and source.signs_in]
    if not keys:
        return None
    last = _last_visits(sources, keys)
    if expired := [key for key, visit in last if "sign-in" in visit.list_failed or 2 * visit.failed.get("sign-in", 0) > visit.new]:
        return Result(False, f"{', '.join(expired)}: the sign-in has expired or was refused", str(Message("remedy.sign-in")))
    return Result(True, f"{counted(len(keys), 'source')} with a sign-in, none refused at the last visit")


def _mailboxes(sources: Sources) -> Result | None:
    """Check the mailboxes of newsletters, by their last visits."""
    keys = [source.key for source in sources.newsletters if source.enabled]
    if not keys:
        return None
    last = _last_visits(sources, keys)
    for reason in ("mail-login", "mail-folder"):
        if bad := [key for key, visit in last if reason in visit.list_failed]:
            return Result(False, f"{', '.join(bad)}: {reason_message(reason)}", str(Message(f"remedy.{reason}")))
    return Result(True, f"{counted(len(keys), 'newsletter')}, none refused at the last visit")


def _filter(sources: Sources) -> Result:
    """Check the filter of known URLs. A crawl creates a missing one, so only an unreachable Redis is a problem."""
    from newsportal.crawl.seen_filter import filter_status

    state = filter_status(sources)
    return Result(None if state.fill is None else True, state.says)


def _queue(sources: Sources) -> Result:
    """Check the queue of requests. A crawl creates a missing one; an unavailable one and requests set aside are problems."""
    from newsportal.cli.frontier import open_queues

    with open_queues(sources, None) as (place, queues):
        states = [queue.state(1) for queue in queues.values()]
    if not states:
        return Result(None, f"{place}: none yet; the first crawl creates it")
    waiting, aside = sum(state.waiting + state.later for state in states), sum(state.aside for state in states)
    requests = f"{counted(waiting, 'request')} wait{'s' if waiting == 1 else ''}"
    workers = counted(sum(len(state.workers) for state in states), "worker")
    remedy = "for the requests and reasons: newsportal frontier aside" if aside else None
    return Result(not aside, f"{place}: {requests}, {workers}, {aside} set aside", remedy)


def _browser(sources: Sources) -> Result:
    """Check Chromium for sources with ``render: true``, by starting it as the crawl would."""
    keys = [source.key for source in sources.all() if source.enabled and getattr(source, "render", False)]
    problem = missing_parts(sources.rendering.browser)
    if not keys and problem:
        return Result(None, "none; only needed by sources with render: true")
    if not keys:
        return Result(None, f"{find_chromium(sources.rendering.browser)}; no source has render: true")
    if problem:
        return Result(False, f"{', '.join(keys)}: pages cannot be rendered", problem)
    try:
        return Result(True, standalone.check_browser(Setup(Limits(), sources.rendering.browser)))
    except RenderFailed as error:
        return Result(False, error.detail or error.reason, "start it by hand as the crawl's user to see what is missing")


def _disk(sources: Sources) -> Result:
    path = (sqlite_file(sources.store) or Path()).absolute()
    free = shutil.disk_usage(next(folder for folder in (path, *path.parents) if folder.exists())).free
    return Result(free > MIN_FREE, f"{free / 1e9:.1f} GB free", "free space")


def _agent(sources: Sources) -> Result:
    """Check that site owners find a contact before they block the crawler."""
    if "+" in sources.user_agent or "@" in sources.user_agent:
        return Result(True, sources.user_agent)
    remedy = "set politeness.contact in sources.yaml to a URL or an e-mail address; some sites block crawlers without one"
    return Result(None, f"{sources.user_agent}: it names no contact for the owners of sites", remedy)


def _proxy(sources: Sources) -> Result | None:
    """The portal does not support TLS: a URL with https is that of a proxy, which must be configured as trusted."""
    url = sources.portal.url
    if url is None or not url.lower().startswith("https:"):
        return None
    if sources.portal.proxies:
        return Result(True, f"{url}, behind {', '.join(map(str, sources.portal.proxies))}")
    detail = f"{url} is behind a proxy that is not listed in portal.proxies: all readers seem to have its IP address and to use http"
    remedy = (
        "add its address to portal.proxies in sources.yaml; until then sign-in attempts are limited for all together, and cookies are"
        " not restricted to https"
    )
    return Result(None, detail, remedy)


def _network(sources: Sources) -> Result:
    names, reached = source_hosts(sources), resolvable_hosts(sources)
    if not names:
        return Result(None, "no feed, region, forum or gallery to check")
    detail = f"{len(reached)} of {len(names)} hosts were resolved" + ("" if reached else f" (asked for: {', '.join(names)})")
    return Result(bool(reached), detail, "check the network connection; without it the portal still serves stored articles")


CHECKS: Final[Mapping[str, tuple[Callable[[Sources], Result | None], str | None]]] = {
    "store": (_store, "set another URI as store: in sources.yaml"),
    "search index": (_index, "start the server set as index, or delete the index file, which is then rebuilt"),
    "sources' health": (_health, None),
    "sign-ins": (_sign_ins, "see the result for the store"),
    "mailboxes": (_mailboxes, "see the result for the store"),
    "known addresses": (_filter, "start Redis, or correct its URI in sources.yaml; until then the store is used instead"),
    "queue of requests": (_queue, "with frontier.redis: start Redis, or correct the URI; else see the store. No link is lost"),
    "browser": (_browser, None),
    "disk": (_disk, None),
    "user agent": (_agent, None),
    "portal's address": (_proxy, None),
    "network": (_network, None),
}  # name of the check: function, and the remedy if the check itself fails


def check_assistant(sources: SourcesFile = None, as_json: AsJsonLine = False) -> None:
    """Ask the model for one word, and show today's calls and tokens. Exit status 1 without an answer."""
    config = load(sources)
    settings = config.assistant
    with closing(open_store(config.store)) as store:
        client = AssistantClient(store, config)
        now, began = datetime.now(UTC), monotonic()
        answer, _ = client.converse("Answer with the word ready alone.", "Are you ready?")
        calls, tokens = store.assistant.used(client.day_start(now))
    if not answer.strip():
        raise AssistantError(Message("assistant.no-answer"))
    text = " ".join(answer.split())[:100]
    seconds = round(monotonic() - began, 1)
    if as_json:
        used = {"calls": calls, "calls_allowed": settings.calls, "tokens": tokens, "tokens_allowed": settings.tokens}
        print_json({"url": settings.url, "model": settings.model, "answer": text, "seconds": seconds, **used})
        return
    typer.echo(f"{settings.model} at {settings.url} answers in {seconds:g} s: {text!r}")
    allowed = f" of {settings.tokens}" if settings.tokens is not None else ""
    typer.echo(f"today: {calls} of {settings.calls} calls, {tokens}{allowed} tokens")


assistant_group = command_group("Check the configured language model.", check=check_assistant)
