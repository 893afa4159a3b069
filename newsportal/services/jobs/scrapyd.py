"""Jobs that a scrapyd runs. They go on when whoever scheduled them is gone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from urllib.parse import quote

from newsportal.errors import RunnerRefused
from newsportal.services.jobs.base import Job, State, Wanted, settings_of
from newsportal.services.jobs.records import Records
from newsportal.services.jobs.server import Server

STATES: Mapping[str, State] = {"pending": "waiting", "running": "running", "finished": "done"}


class ScrapydRunner:
    """The jobs of one project of one server. ``settings`` go with every job; ``project`` says which one it is, once the server answers."""

    def __init__(self, server: Server, records: Records, settings: Mapping[str, str], project: Callable[[], str]) -> None:
        self._server = server
        self._records = records
        self._settings = dict(settings)
        self._named = project

    @cached_property
    def project(self) -> str:
        return self._named()

    @property
    def where(self) -> str:
        return self._server.target.url

    def start(self, id: str, wanted: Wanted) -> None:
        if self._records.get(id) is None:
            job = Job(id, wanted.subject, "waiting", sources=wanted.sources, started=datetime.now(UTC), runner=self.where)
            self._records.save(replace(job, origin="schedule"))
        elif self._server.get("status", job=id, project=self.project).get("currstate"):
            return  # the answer to an earlier try was lost, the job was not
        fields = [("project", self.project), ("spider", wanted.subject), ("jobid", id), *wanted.arguments().items()]
        fields += [("setting", f"{name}={value}") for name, value in settings_of(id, self._settings).items()]
        self._server.post("schedule", fields)

    def jobs(self) -> list[Job]:
        """What the server lists, and what was started from here and is not listed any more: it keeps the last hundred, and none over its
        own restart."""
        listed = self._server.get("listjobs", project=self.project)
        ours = {job.id: job for job in self._records.all(self.where)}
        found = {row["id"]: _job(row, state, ours.get(row["id"])) for name, state in STATES.items() for row in listed[name]}
        for job in ours.values():
            found.setdefault(job.id, replace(job, state="lost" if job.active else job.state))
        return sorted(found.values(), key=lambda job: job.started or datetime.max.replace(tzinfo=UTC), reverse=True)

    def log(self, id: str) -> str | None:
        job = self._records.get(id)
        spider = job.subject if job else next((job.subject for job in self.jobs() if job.id == id), None)
        return self._server.text(quote(f"/logs/{self.project}/{spider}/{id}.log")) if spider else None

    def cancel(self, id: str) -> bool:
        return bool(self._server.post("cancel", [("project", self.project), ("job", id)])["prevstate"])

    def hasten(self) -> None:
        """Nothing: they go on."""

    def close(self) -> None:
        """Nothing: they are the server's."""


def project_of(server: Server, wanted: str | None) -> str:
    """The project whose spiders are ours: the one that is asked for, that of the target, or the only one. Raises ``RunnerRefused``."""
    there = server.get("listprojects")["projects"]
    for name in (wanted, server.target.project) if wanted is None else (wanted,):
        if name in there:
            return str(name)
    if wanted is None and len(there) == 1:
        return str(there[0])
    asked = wanted or server.target.project
    raise RunnerRefused(
        f"scrapyd at {server.target.url} has no project {asked!r}; it has: {', '.join(there) or 'none'}. "
        "Send it one with `newsportal deploy`, or name one with --project"
    )


def _job(row: Mapping[str, Any], state: State, known: Job | None) -> Job:
    """A job as the server has it, with what is recorded of it here; of one that others started nobody knows the sources."""
    known = known or Job(row["id"], row["spider"])
    ended = _moment(row.get("end_time")) if state == "done" else None
    return replace(known, state=state, started=_moment(row.get("start_time")) or known.started, ended=ended or known.ended)


def _moment(text: str | None) -> datetime | None:
    """scrapyd tells times without a zone, by the clock of its machine; they are taken for this one's."""
    return datetime.fromisoformat(text).astimezone() if text else None
