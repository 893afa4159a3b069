"""``newsportal schedule``: visit due sources in jobs, on this machine or in a scrapyd; list the jobs, and show their logs."""

import logging
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from newsportal import logs
from newsportal.cli.hints import counted
from newsportal.cli.options import AsJson, LogFile, LogFormat, SourcesFile, command_group, load
from newsportal.cli.output import pick, print_json, print_rows
from newsportal.cli.publish import Publisher, publish_after_crawl
from newsportal.errors import NewsportalError, StoreError
from newsportal.items.report import Run
from newsportal.messages import local
from newsportal.services.jobs.base import CRAWL, Job, Row, Runner
from newsportal.services.jobs.duties import DueSources, Limits
from newsportal.services.jobs.local import LocalRunner
from newsportal.services.jobs.records import Records, reports, with_outcome
from newsportal.services.jobs.scrapyd import ScrapydRunner, Server, exposure_warning, find_target, project_of
from newsportal.services.jobs.supervisor import Claims, SourcesReloader, Supervisor
from newsportal.sources import Sources
from newsportal.store import open_store

logger = logging.getLogger(__name__)

START_SENTENCES: Final = {
    "retrain": "training the models in the background ...",
    "fit": "fitting recommendations in the background ...",
    "prune": "deleting expired data ...",
    "revise": "revising the events ...",
}
FAILURE_SENTENCES: Final = {
    "retrain": "the training failed: {}; the current models stay in use",
    "fit": "the fit of recommendations failed: {}; the previous one stays in use",
    "prune": "expired data could not be deleted: {}; tried again next night",
    "revise": "the events could not be revised: {}; tried again next night",
}


def event_printer(as_json: bool, log_format: str = "text") -> Callable[[str, Mapping[str, Any]], None]:
    """Return a function that prints the events of a supervisor; with ``log_format`` ``json`` it logs them instead."""

    def emit(event: str, facts: Mapping[str, Any]) -> None:
        now = local(datetime.now(UTC))
        if log_format == "json" and not as_json:
            logger.setLevel(logging.INFO)
            extra = {"code": f"job.{event.replace(' ', '-')}", "source": ", ".join(facts.get("sources") or ()) or None}
            level = logging.WARNING if event == "hindered" or facts.get("result") == "failed" else logging.INFO
            logger.log(level, "\n".join(lines(event, facts)) or event, extra=extra | {name: facts.get(name) for name in ("job", "run")})
        elif as_json:
            plain = {**facts, "brought": format_crawl(facts)} if event == "ended" else facts
            print_json({"at": now.isoformat(timespec="seconds"), "event": event, **plain})
        else:
            for line in lines(event, facts):
                typer.echo(f"{now:%H:%M:%S%z} {line}")

    return emit


def lines(event: str, facts: Mapping[str, Any]) -> Sequence[str]:
    """Format an event of the supervisor: a job ``started`` or ``ended``, or a message."""
    if event == "started":
        if facts["kind"] != CRAWL:
            return [START_SENTENCES[facts["kind"]]]
        names = facts["sources"]
        visited = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        return [f"job {facts['job']}: {facts['spider']} visits {visited}" if facts["spider"] else "crawling due sources ..."]
    if event != "ended":
        return [str(facts["message"])]
    if facts["kind"] == CRAWL:
        return _ended_crawl(facts)
    done = [line for row in facts["outcome"] if (line := format_row(facts["kind"], row))]
    failed = facts["result"] not in ("done", "cancelled")
    return [*done, *([FAILURE_SENTENCES[facts["kind"]].format((facts["error"] or {}).get("text", facts["result"]))] if failed else [])]


def _ended_crawl(facts: Mapping[str, Any]) -> Sequence[str]:
    if facts["spider"]:
        return [f"job {facts['job']}: {facts['spider']} ended; {format_crawl(facts)}"]
    error = facts["error"]["text"] if facts["error"] else "it left no report"
    failed = f"the crawl failed: {error}; the next one resumes it; for the reason see its log: newsportal schedule log {facts['job']}"
    outcome = next(iter(facts["outcome"]), None)
    if outcome is None:
        return [failed]
    sentences = [format_crawl(facts), *(f"  {line}" for line in outcome["reasons"])] if outcome["sources"] else ["nothing is due"]
    return [*sentences, *([failed] if facts["result"] == "failed" else [])]


def format_crawl(job: Mapping[str, Any]) -> str:
    """Format the results of a crawl in one line; ``job`` has its outcome, as rows of JSON."""
    outcome = next(iter(job["outcome"]), None)
    if outcome is None or "stored" not in outcome:
        return "no report; see its log"
    if not outcome["finished"]:
        return f"it failed: {summary(outcome)}"
    return summary(outcome) if outcome["reason"] == "finished" else f"{outcome['reason']}: {summary(outcome)}"


def summary(outcome: Row) -> str:
    failures = {"page": outcome["failures"], "list page": outcome["list_failures"]}
    failed = " and ".join(counted(number, noun) for noun, number in failures.items() if number)
    text = f"{counted(outcome['stored'], 'new story')}, {outcome['folded']} folded, {outcome['known']} known"
    return f"{text}, failed: {failed}" if failed else text


def format_row(kind: str, row: Row) -> str | None:
    """Format a row of a job's outcome if it is worth reporting: of corpora, those that were trained."""
    if kind == "retrain" and row.get("version") is not None:
        used = "in use now" if row["active"] else f"not in use ({row['reason']})"
        return f"trained version {row['version']} of the model of {row['corpus']} on {row['documents']} articles: {used}"
    if kind == "fit" and "views" in row:
        return f"recommendations learnt from {row['views']} views of {row['readers']} readers in {row['seconds']:.0f} s"
    if kind == "revise" and (row.get("split") or row.get("joined")):
        return f"{counted(row['events'], 'event')} checked: {row['split']} split, {row['joined']} joined"
    if kind == "prune" and (deleted := {name: number for name, number in row.get("deleted", {}).items() if number}):
        return "deleted as expired: " + ", ".join(f"{number} {name}" for name, number in deleted.items())
    return None


JOBS, BATCH, EVERY = 2, 50, 10.0
"""Concurrent jobs: the process of a crawl uses one core at most. Sources per job: a feed takes some seconds, mostly concurrent with others.
Seconds between two polls: a store of 5,000 sources is read within one."""

Where = Annotated[str | None, typer.Option("--scrapyd", metavar="TARGET", help="A scrapyd: its target in scrapy.cfg, or its URL.")]
Local = Annotated[bool, typer.Option("--local", help="Processes on this machine (default).")]
Project = Annotated[str | None, typer.Option(help="Its project; default: scrapy.cfg's, or the only one.")]
Id = Annotated[str, typer.Argument(metavar="JOB", help="Id of a job, or its beginning.")]


def runner_of(
    sources: Sources, scrapyd: str | None, local: bool, project: str | None, settings: Mapping[str, str] | None = None
) -> tuple[Runner, Records]:  # fmt: skip
    """Return where jobs run according to the options. Raises ``NewsportalError``."""
    if scrapyd is not None and local:
        raise typer.BadParameter("--scrapyd and --local exclude each other")
    records = Records(sources.jobs_folder)
    if scrapyd is not None:
        server = Server(find_target(scrapyd, Path.cwd(), os.environ))
        if word := exposure_warning(server.target):
            typer.echo(word, err=True)
        return ScrapydRunner(server, records, settings or {}, lambda: project_of(server, project)), records
    return LocalRunner(records, sources.folder, settings or {}, origin="schedule"), records


Settings = Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="A Scrapy setting for every job; repeatable.")]


def schedule(
    context: typer.Context,
    scrapyd: Where = None,
    local: Local = False,
    project: Project = None,
    setting: Settings = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=1000, help="Maximum number of concurrent jobs.")] = JOBS,
    batch: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of sources per job.")] = BATCH,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between checks for due sources.")] = EVERY,
    once: Annotated[bool, typer.Option("--once", help="Visit the sources that are due now, and exit.")] = False,
    sources: SourcesFile = None,
    as_json: AsJson = False,
    log_file: LogFile = None,
    log_format: LogFormat = "text",
) -> None:
    """Start jobs for what is due, again and again: never two for one source, not all at once, and what was missed is caught up once."""
    if context.invoked_subcommand is not None:
        return
    config = load(sources)
    if bad := next((text for text in setting or () if text.find("=") < 1), None):
        raise typer.BadParameter(f"{bad.partition('=')[0]!r} is no NAME=VALUE", param_hint="--setting")
    runner, records = runner_of(config, scrapyd, local, project, dict(text.split("=", 1) for text in setting or ()))
    logs.install(log_format, log_file)
    emit = event_printer(as_json, log_format)
    file = SourcesReloader(sources, config, lambda text: emit("hindered", {"message": text}))
    work = Supervisor(
        file,
        runner,
        records,
        [DueSources(file, Limits(jobs, batch), once=once)],
        emit,
        every=every,
        once=once,
        claims=_claims(config),
        use_sources=runner.use_sources if isinstance(runner, LocalRunner) else lambda file: None,  # a scrapyd has its own file
    )
    publisher = Publisher(config, lambda line: emit("published", {"message": line}))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: work.stop())
    try:
        if not once:
            publisher.start()
        work.run()
        if once:
            publish_after_crawl(config, lambda line: emit("published", {"message": line}))
    finally:
        publisher.stop()
        work.close()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)  # all is done: a second signal now must not count as a failure


def _claims(sources: Sources) -> Claims:
    from scrapy.settings import Settings

    from newsportal.crawl.addon import scrapy_settings
    from newsportal.crawl.queues import open_queue

    return open_queue(sources, Settings(scrapy_settings(sources)), "schedule")


def jobs(
    scrapyd: Where = None, local: Local = False, project: Project = None, sources: SourcesFile = None, as_json: AsJson = False
) -> None:
    """List the jobs, newest first, with their results."""
    config = load(sources)
    runner, _ = runner_of(config, scrapyd, local, project)
    runs: dict[str, Run] = {}
    with suppress(StoreError), closing(open_store(config.store, create=False)) as store:  # without a store: without the results of the jobs
        runs = reports(store)
    rows = [as_row(with_outcome(job, runs.get(job.id))) for job in runner.jobs()]
    none = "no job was started there yet" if scrapyd else "no job was started on this machine yet; of a scrapyd: --scrapyd TARGET"
    print_rows(rows, ("job", "kind", "spider", "state", "sources", "started", "ended", "brought"), as_json, none)


def log(id: Id, scrapyd: Where = None, local: Local = False, project: Project = None, sources: SourcesFile = None) -> None:
    """Print the log of a job so far."""
    runner, job = _job(id, scrapyd, local, project, sources)
    text = runner.log(job.id)
    if text is None:
        raise NewsportalError(f"job {job.id} has no log{' yet' if job.active else ' any more'}")
    typer.echo("".join(character if character.isprintable() or character in "\n\t" else "\ufffd" for character in text), nl=False)


def cancel(id: Id, scrapyd: Where = None, local: Local = False, project: Project = None, sources: SourcesFile = None) -> None:
    """Stop a job gracefully; a second call kills it."""
    runner, job = _job(id, scrapyd, local, project, sources)
    if not runner.cancel(job.id):
        raise NewsportalError(f"job {job.id} is no longer running")
    typer.echo(f"job {job.id} was told to stop")


def _job(id: str, scrapyd: str | None, local: bool, project: str | None, sources: Path | None) -> tuple[Runner, Job]:
    """Return a job by its id or a prefix of it, and its runner. Raises ``NewsportalError``."""
    runner, _ = runner_of(load(sources), scrapyd, local, project)
    jobs = [job for job in runner.jobs() if job.id.startswith(id)]
    if len(jobs) != 1:
        raise NewsportalError(f"{runner.where} knows {'no job' if not jobs else 'several jobs'} {id!r}; see: newsportal schedule jobs")
    return runner, jobs[0]


def as_row(job: Job) -> dict[str, Any]:
    row: dict[str, Any] = {"job": job.id, "kind": job.kind, "spider": job.subject, "state": job.state if job.active else "ended"}
    row |= {"result": None if job.active else job.state, "sources": len(job.sources or ()) or None}
    row |= pick(job, "started", "ended", "status") | {"run": next((row["run"] for row in job.outcome if "run" in row), None)}
    row |= {"by": job.by or None, "origin": job.origin or None, "outcome": list(job.outcome), "error": job.error, "brought": None}
    if job.kind != CRAWL:
        row["brought"] = str(job.error["text"]) if job.error else None
    elif not job.active:
        row["brought"] = format_crawl(row)
    elif job.outcome:
        row["brought"] = "so far: " + format_crawl(row).removeprefix("it failed: ")
    return row


group = command_group("Visit due sources, by jobs on this machine or in a scrapyd.", jobs, log, cancel, default=schedule)
