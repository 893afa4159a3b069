"""scrapyd: resolving a target (of ``scrapy.cfg``, as scrapyd-client reads it, or a URL), its API, and its jobs.

The API is that of scrapyd 1.6 (docs/api), called through the egress guard. Jobs continue without their scheduler.
"""

import json
import netrc
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from configparser import ConfigParser, Error
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from string import Template
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from newsportal.errors import EgressDenied, FetchFailed, NewsportalError, RunnerRefused, RunnerUnavailable
from newsportal.net import egress
from newsportal.net.egress import HttpResponse
from newsportal.services.jobs.base import Job, JobRequest, State
from newsportal.services.jobs.records import Records

CONFIGURATION = "scrapy.cfg"
DEFAULT = "default"
PROJECT = "newsportal"


class TargetError(NewsportalError):
    """Raised for a missing or unusable target. The caller shows it."""


@dataclass(frozen=True, slots=True)
class Target:
    """A scrapyd server. ``url``: without trailing slash. ``project``: the name for eggs. The password is never shown."""

    url: str
    project: str = PROJECT
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    version: str | None = None


LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def exposure_warning(found: Target) -> str | None:
    """Return a warning if the server is accessible to others, else ``None``: its API starts processes."""
    parts = urlsplit(found.url)
    if parts.hostname in LOOPBACK:
        return None
    if not found.username:
        return (
            f"{found.url} is used without a password: if it accepts that, anyone who can reach it can run code there (docs/operations.md)"
        )
    return f"{found.url}: the password is sent unencrypted; use https or a tunnel" if parts.scheme == "http" else None


def find_target(name: str, start: Path, environ: Mapping[str, str]) -> Target:
    """Return the target with this name or URL. Raises ``TargetError``."""
    if "://" in name:
        return _with_credentials(Target(_checked(name)), environ)
    folder = start.absolute()
    file = next((place / CONFIGURATION for place in (folder, *folder.parents) if (place / CONFIGURATION).is_file()), None)
    targets = _read_targets(file) if file else {}
    if file is None or name not in targets:
        problem = f"there is no {CONFIGURATION} here"
        if file:
            problem = f"{file} has no target {name!r}; it has: {', '.join(sorted(targets)) or 'none'}"
        section = "[deploy]" if name == DEFAULT else f"[deploy:{name}]"
        raise TargetError(f"{problem}. Write one ({section} with url = http://127.0.0.1:6800/), or give the server's URL")
    options = {key: Template(value).safe_substitute(environ) for key, value in targets[name].items()}
    if not options.get("url"):
        raise TargetError(f"{file}: the target {name!r} has no url; write: url = http://127.0.0.1:6800/")
    credentials = options.get("username") or None, options.get("password") or None
    found = Target(_checked(options["url"]), options.get("project") or PROJECT, *credentials, options.get("version") or None)
    return _with_credentials(found, environ)


def _read_targets(file: Path) -> dict[str, dict[str, str]]:
    parser = ConfigParser(interpolation=None)
    try:
        parser.read(file, "utf-8")
    except (Error, UnicodeDecodeError) as error:
        raise TargetError(f"{file} cannot be read: {error}") from error
    base = dict(parser.items("deploy")) if parser.has_section("deploy") else {}
    rows = {DEFAULT: base} if "url" in base else {}
    for section in parser.sections():
        if section.startswith("deploy:"):
            rows[section.removeprefix("deploy:")] = base | dict(parser.items(section))
    return rows


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise TargetError(f"{_without_credentials(url)!r} is not a valid URL of a scrapyd; allowed: http://HOST:PORT or https://HOST:PORT")
    if parts.username is not None or parts.password is not None:
        raise TargetError(
            f"{_without_credentials(url)!r}: a password in a URL appears in process lists and logs; "
            f"write it into {CONFIGURATION} (username, password), or set SCRAPYD_USERNAME and SCRAPYD_PASSWORD"
        )
    return url.rstrip("/")


def _without_credentials(url: str) -> str:
    before, _, after = url.rpartition("@")
    return f"{before.partition('//')[0]}//{after}" if before else url


def _with_credentials(found: Target, environ: Mapping[str, str]) -> Target:
    if found.username:
        return Target(found.url, found.project, found.username, found.password or environ.get("SCRAPYD_PASSWORD"), found.version)
    if environ.get("SCRAPYD_USERNAME"):
        return Target(found.url, found.project, environ["SCRAPYD_USERNAME"], environ.get("SCRAPYD_PASSWORD"), found.version)
    try:
        login = netrc.netrc().authenticators(urlsplit(found.url).hostname or "")
    except (OSError, netrc.NetrcParseError):
        login = None  # missing or unreadable: no authentication
    return Target(found.url, found.project, login[0], login[2], found.version) if login else found


MAX_ANSWER = 64 * 1024 * 1024  # maximum bytes of an answer. The largest is a job's log
PATIENCE, LONG_PATIENCE = 30.0, 120.0
"""Seconds for an answer, and for one that lists spiders: scrapyd starts a process for that, and blocks meanwhile."""

LISTING = ("/addversion", "/listspiders", "/schedule")

FORM = "application/x-www-form-urlencoded"
Fields = Sequence[tuple[str, str]]


class Server:
    """Client of one scrapyd. Every method raises ``RunnerUnavailable`` if it is down, ``RunnerRefused`` if it rejects a call."""

    def __init__(self, target: Target) -> None:
        self.target = target
        parts = urlsplit(target.url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        place = f"{host}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
        self._policy = egress.Policy(allow_private=(place,))  # the only address that may be reached

    def get(self, name: str, **fields: str) -> dict[str, Any]:
        query = f"?{urlencode(fields)}" if fields else ""
        return self._answered(self._ask("GET", f"/{name}.json{query}"))

    def post(self, name: str, fields: Fields) -> dict[str, Any]:
        return self._answered(self._ask("POST", f"/{name}.json", urlencode(fields).encode(), FORM))

    def send(self, project: str, version: str, egg: bytes) -> dict[str, Any]:
        """Upload a version; ``spiders`` in the answer is the number that the server found in it."""
        boundary = token_hex(16)
        fields = {"project": project, "version": version}
        parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()]
        parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="egg"; filename="project.egg"\r\n')
        parts.append("Content-Type: application/octet-stream\r\n\r\n")
        body = b"".join(("".join(parts).encode(), egg, f"\r\n--{boundary}--\r\n".encode()))
        return self._answered(self._ask("POST", "/addversion.json", body, f"multipart/form-data; boundary={boundary}"))

    def text(self, path: str) -> str | None:
        """Return a file served by the server (a job's log); ``None`` if it does not exist."""
        answer = self._ask("GET", path)
        return None if answer.status == 404 else self._checked(answer).body.decode("utf-8", "replace")

    def _ask(self, method: str, path: str, body: bytes = b"", content_type: str | None = None) -> HttpResponse:
        headers = {"user-agent": "newsportal", "accept-encoding": "identity"}
        if content_type is not None:
            headers |= {"content-type": content_type, "content-length": str(len(body))}
        if self.target.username:
            pair = f"{self.target.username}:{self.target.password or ''}".encode()
            headers["authorization"] = f"Basic {b64encode(pair).decode()}"
        try:
            patience = LONG_PATIENCE if path.startswith(LISTING) else PATIENCE
            return egress.request(method, self.target.url + path, self._policy, headers, body, max_bytes=MAX_ANSWER, timeout=patience)
        except FetchFailed as error:
            raise RunnerUnavailable(f"scrapyd at {self.target.url} does not answer ({error.reason}): is it running?") from error
        except EgressDenied as error:
            raise RunnerRefused(str(error.message)) from error

    def _answered(self, answer: HttpResponse) -> dict[str, Any]:
        try:
            reply = json.loads(self._checked(answer).body)
            status = reply["status"]
        except (ValueError, KeyError, TypeError) as error:
            raise RunnerRefused(f"the server at {self.target.url} is not a scrapyd") from error
        if status != "ok":
            message = str(reply.get("message", status)).strip()
            if "Traceback (most recent call last)" in message:  # without its traceback
                message = f"{message.splitlines()[-1].strip()} (see its own log)"
            raise RunnerRefused(f"scrapyd at {self.target.url} reports: {message}")
        return dict(reply)

    def _checked(self, answer: HttpResponse) -> HttpResponse:
        """Raise ``RunnerRefused`` or ``RunnerUnavailable`` for a status without an answer of scrapyd."""
        if answer.status == 401:
            raise RunnerRefused(
                f"scrapyd at {self.target.url} rejects the user or password: set username and password in scrapy.cfg, "
                "or SCRAPYD_USERNAME and SCRAPYD_PASSWORD in the environment"
            )
        if answer.status >= 500:
            raise RunnerUnavailable(f"scrapyd at {self.target.url} answers with status {answer.status}")
        return answer


STATES: Mapping[str, State] = {"pending": "waiting", "running": "running", "finished": "done"}


class ScrapydRunner:
    """The jobs of one project on one server. ``settings`` are passed to every job; ``project`` is called once the server answers."""

    def __init__(self, server: Server, records: Records, settings: Mapping[str, str], project: Callable[[], str]) -> None:
        self._server = server
        self._records = records
        self._settings = dict(settings)
        self._named = project
        self.where = server.target.url

    @cached_property
    def project(self) -> str:
        return self._named()

    def start(self, id: str, request: JobRequest) -> None:
        if self._records.get(id) is None:
            job = Job(id, request.subject, "waiting", sources=request.sources, started=datetime.now(UTC), runner=self.where)
            self._records.save(replace(job, origin="schedule"))
        elif self._server.get("status", job=id, project=self.project).get("currstate"):
            return  # started by an earlier attempt whose answer was lost
        fields = [("project", self.project), ("spider", request.subject), ("jobid", id), *request.arguments().items()]
        fields += [("setting", f"{name}={value}") for name, value in (self._settings | {"NEWSPORTAL_RUN_ID": id}).items()]
        self._server.post("schedule", fields)

    def jobs(self) -> list[Job]:
        """Return the server's jobs and those started here that it no longer lists: it keeps the last hundred, and none after a restart."""
        listing = self._server.get("listjobs", project=self.project)
        recorded = {job.id: job for job in self._records.all(self.where)}
        found = {row["id"]: _job(row, state, recorded.get(row["id"])) for name, state in STATES.items() for row in listing[name]}
        for job in recorded.values():
            found.setdefault(job.id, replace(job, state="lost" if job.active else job.state))
        return sorted(found.values(), key=lambda job: job.started or datetime.max.replace(tzinfo=UTC), reverse=True)

    def log(self, id: str) -> str | None:
        job = self._records.get(id)
        spider = job.subject if job else next((job.subject for job in self.jobs() if job.id == id), None)
        return self._server.text(quote(f"/logs/{self.project}/{spider}/{id}.log")) if spider else None

    def cancel(self, id: str) -> bool:
        return bool(self._server.post("cancel", [("project", self.project), ("job", id)])["prevstate"])

    def force_stop(self) -> None:
        """Do nothing: jobs continue."""

    def close(self) -> None:
        """Do nothing: jobs belong to the server."""


def project_of(server: Server, project: str | None) -> str:
    """Return the project with our spiders: ``project``, that of the target, or the only one. Raises ``RunnerRefused``."""
    projects = server.get("listprojects")["projects"]
    for name in (project, server.target.project) if project is None else (project,):
        if name in projects:
            return str(name)
    if project is None and len(projects) == 1:
        return str(projects[0])
    missing = project or server.target.project
    raise RunnerRefused(
        f"scrapyd at {server.target.url} has no project {missing!r}; it has: {', '.join(projects) or 'none'}. "
        "Deploy it with `newsportal deploy`, or name another one with --project"
    )


def _job(row: Mapping[str, Any], state: State, record: Job | None) -> Job:
    """Combine the server's data on a job with its record here; the sources of jobs started by others are unknown."""
    record = record or Job(row["id"], row["spider"])
    ended = _moment(row.get("end_time")) if state == "done" else None
    return replace(record, state=state, started=_moment(row.get("start_time")) or record.started, ended=ended or record.ended)


def _moment(text: str | None) -> datetime | None:
    """Parse a time of scrapyd: without a zone, by the clock of its machine; taken as local here."""
    return datetime.fromisoformat(text).astimezone() if text else None
