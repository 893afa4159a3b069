"""scrapyd's API (scrapyd 1.6, docs/api): one question, one answer, through the one way out with an opening for that server alone.

scrapyd answers errors with status 200 and ``{"status": "error"}``; whoever looks at the HTTP status alone takes them for successes.
"""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import Any
from urllib.parse import urlencode, urlsplit

from newsportal import egress
from newsportal.egress.client import Answer, exchanges
from newsportal.errors import EgressDenied, FetchFailed, RunnerRefused, RunnerUnavailable
from newsportal.services.jobs.targets import Target

MAX_ANSWER = 64 * 1024 * 1024
"""Bytes of an answer. A job's log is the largest."""

PATIENCE, LONG_PATIENCE = 30.0, 120.0
"""Seconds for an answer, and for one that lists spiders: scrapyd starts a process for that, and answers nobody else meanwhile."""

LISTING = ("/addversion", "/listspiders", "/schedule")

FORM = "application/x-www-form-urlencoded"
Fields = Sequence[tuple[str, str]]


class Server:
    """One scrapyd. Every method raises ``RunnerUnavailable`` if it is away, ``RunnerRefused`` for what it will not do."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._policy = egress.Policy(allow_private=(_opening(target.url),))

    def get(self, name: str, **fields: str) -> dict[str, Any]:
        query = f"?{urlencode(fields)}" if fields else ""
        return self._answered(self._ask("GET", f"/{name}.json{query}"))

    def post(self, name: str, fields: Fields) -> dict[str, Any]:
        return self._answered(self._ask("POST", f"/{name}.json", urlencode(fields).encode(), FORM))

    def send(self, project: str, version: str, egg: bytes) -> dict[str, Any]:
        """A new version; the answer's ``spiders`` says how many the server found in it."""
        boundary = token_hex(16)
        body = _multipart({"project": project, "version": version}, egg, boundary)
        return self._answered(self._ask("POST", "/addversion.json", body, f"multipart/form-data; boundary={boundary}"))

    def text(self, path: str) -> str | None:
        """A file that the server shows (a job's log); ``None`` if it has none there."""
        answer = self._ask("GET", path)
        if answer.status == 404:
            return None
        return self._checked(answer).body.decode("utf-8", "replace")

    def _ask(self, method: str, path: str, body: bytes = b"", content_type: str | None = None) -> Answer:
        headers = {"user-agent": "newsportal", "accept-encoding": "identity"}
        if content_type is not None:
            headers |= {"content-type": content_type, "content-length": str(len(body))}
        if self.target.username:
            pair = f"{self.target.username}:{self.target.password or ''}".encode()
            headers["authorization"] = f"Basic {b64encode(pair).decode()}"
        try:
            patience = LONG_PATIENCE if path.startswith(LISTING) else PATIENCE
            return asyncio.run(self._exchange(method, self.target.url + path, headers, body, patience))
        except FetchFailed as error:
            raise RunnerUnavailable(f"scrapyd at {self.target.url} does not answer ({error.reason}): is it running?") from error
        except EgressDenied as error:
            raise RunnerRefused(f"{self.target.url} is no address to speak to: {error.reason}") from error

    async def _exchange(self, method: str, url: str, headers: Mapping[str, str], body: bytes, patience: float) -> Answer:
        async with exchanges(self._policy, timeout=patience) as exchange:
            return await exchange(method, url, headers, body, MAX_ANSWER)

    def _answered(self, answer: Answer) -> dict[str, Any]:
        try:
            said = json.loads(self._checked(answer).body)
            status = said["status"]
        except (ValueError, KeyError, TypeError) as error:
            raise RunnerRefused(f"what answers at {self.target.url} is no scrapyd") from error
        if status != "ok":
            raise RunnerRefused(f"scrapyd at {self.target.url} says: {_short(str(said.get('message', status)))}")
        return dict(said)

    def _checked(self, answer: Answer) -> Answer:
        """Raises ``RunnerRefused`` for a status that carries no answer of scrapyd's."""
        if answer.status == 401:
            raise RunnerRefused(
                f"scrapyd at {self.target.url} wants another user or password: username and password in scrapy.cfg, "
                "or SCRAPYD_USERNAME and SCRAPYD_PASSWORD in the environment"
            )
        if answer.status >= 500:
            raise RunnerUnavailable(f"scrapyd at {self.target.url} answers with status {answer.status}")
        return answer


def _short(message: str) -> str:
    """What scrapyd says, without the way there through its process' modules."""
    told = message.strip()
    return f"{told.splitlines()[-1].strip()} (its own log says more)" if "Traceback (most recent call last)" in told else told


def _opening(url: str) -> str:
    """The one address that may be reached, for the policy: ``HOST:PORT``."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{host}:{parts.port or (443 if parts.scheme == 'https' else 80)}"


def _multipart(fields: Mapping[str, str], egg: bytes, boundary: str) -> bytes:
    parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode() for name, value in fields.items()]
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="egg"; filename="project.egg"\r\n'
    head += "Content-Type: application/octet-stream\r\n\r\n"
    return b"".join((*parts, head.encode(), egg, f"\r\n--{boundary}--\r\n".encode()))
