"""One small error tree. Every docstring says who raises it and what the caller does.

Errors of drivers and libraries are chained (``raise StoreUnavailable(...) from error``), so nothing is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from newsportal.messages import Message, Value, as_text, reason_message
from newsportal.messages.reasons import UNREAD, cause_of


class NewsportalError(Exception):
    """The root. The command line prints it without a traceback and exits with status 1. Raised with a :class:`Message` where people read
    it in the portal; ``str`` of it is English."""

    @property
    def message(self) -> Message:
        return as_text(self.args[0] if self.args and isinstance(self.args[0], Message) else self)

    @property
    def remedy(self) -> Message | None:
        """What whoever meets it can do."""
        return None


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in ``sources.yaml``: where it is, what was found, what is allowed. Lines count from 1."""

    file: str
    line: int
    key: str
    message: Message
    hint: Message | None = None

    def __str__(self) -> str:
        text = f"{self.file}:{self.line}: {self.key}: {self.message}"
        return f"{text} ({self.hint})" if self.hint else text


class SourcesError(NewsportalError):
    """Raised by ``sources.load`` with *all* mistakes at once. The caller shows them and stops before any crawling."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class NotApplicable(NewsportalError):
    """Raised by an algorithm that cannot work on this input. The stage counts ``reason`` and tries the next or gives up.

    ``reason`` is a short stable slug (``no-body``, ``too-short``), because it becomes a row in the run report;
    ``detail`` is for people.
    """

    def __init__(self, reason: str, detail: str | None = None) -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail

    @property
    def message(self) -> Message:
        return reason_message(self.reason)


class EngineBlocked(NewsportalError):
    """Raised by an engine's ``parse`` on a captcha, login or quota page. The spider rests that engine ``rest`` seconds."""

    def __init__(self, reason: str, rest: float = 3600.0) -> None:
        super().__init__(f"{reason}; resting {rest:.0f} s")
        self.reason = reason
        self.rest = rest


class Unfetched(NewsportalError):
    """The root of what keeps a page from being fetched. ``reason`` is a stable slug of ``messages.reasons``, ``detail`` is for logs."""

    def __init__(self, url: str, reason: str, detail: str | None = None) -> None:
        super().__init__(f"{reason}: {url!r}" + (f" ({detail})" if detail else ""))
        self.url = url
        self.reason = reason
        self.detail = detail

    @property
    def message(self) -> Message:
        return Message("fetch.failed", url=self.url, why=reason_message(self.reason))

    @property
    def remedy(self) -> Message | None:
        cause = "enough" if self.reason == "enough" else cause_of(self.reason)
        return None if cause == UNREAD else Message(f"remedy.{cause}")


class EgressDenied(Unfetched):
    """Raised by ``egress`` for an address nobody may fetch. The caller counts it and does not retry."""


class FetchFailed(Unfetched):
    """Raised by ``egress.fetch`` when no usable answer came. ``reason`` is a stable slug (``dns``, ``timeout``, ``tls``,
    ``too-large``, ``redirects``, ``encoding``, ``connection``). The caller shows or counts it; a later try may work."""


class Redirected(FetchFailed):
    """Raised by ``egress.fetch`` that was told not to follow: the answer is at ``target``, an address that was checked. The caller
    decides whether to ask there."""

    def __init__(self, url: str, target: str) -> None:
        super().__init__(url, "redirects", f"to {target}")
        self.target = target


class RenderFailed(Unfetched):
    """Raised by ``rendering`` for a page that a browser cannot show. ``reason`` is a stable slug (``render-timeout``, ``render-crashed``,
    ``render-memory``, ``render-too-large``, ``render-lost``, ``no-browser``). The caller counts it; ``passing``: another run may ask again.
    """

    def __init__(self, url: str, reason: str, detail: str | None = None, *, passing: bool = True) -> None:
        super().__init__(url, reason, detail)
        self.passing = passing


class StoreError(NewsportalError):
    """The root of what stores raise."""


class StoreUnavailable(StoreError):
    """The store is away, locked or read-only. The caller keeps its item and tries again later."""


class ServerUnavailable(StoreUnavailable):
    """The server of a store is away or does not answer in time. The caller asks nothing more of it for some seconds."""


class FrontierUnavailable(NewsportalError):
    """The queue of requests is away, locked or full. The crawl keeps what it has in hand and tries again; a command shows it."""


class FrontierRefused(NewsportalError):
    """What lies where the queue of requests should is not ours, or of a newer version. The caller stops; the message names the remedy."""


class RunnerUnavailable(NewsportalError):
    """Who runs the spiders (a scrapyd) is away. The schedule waits and tries again: what is due stays due. A command shows it."""


class RunnerRefused(NewsportalError):
    """Who runs the spiders answered, and will not do it; the message holds what it said. The caller shows it."""


class StoreTooNew(StoreError):
    """The database was written by a newer version. The caller stops; the message names the remedy."""


class StoreTooOld(StoreError):
    """The database was written by a version that no migration leads on from. The caller stops; the message names the way over."""


class StoreUnfinished(StoreError):
    """The store holds a part of a backup, whose restore was broken off. The caller stops; the message names the remedy."""


class AccountError(NewsportalError):
    """Somebody cannot be added, changed or given a token as asked; ``code`` of ``messages.labels``. Nothing was changed."""

    def __init__(self, code: str, **params: Value) -> None:
        super().__init__(Message(f"account.{code}", **params))
        self.code = code


class SearchError(NewsportalError):
    """The search index is away or broken. The portal says so and goes on without search."""


class SearchUnavailable(SearchError):
    """The server of the index is away or does not answer in time. The caller asks nothing more of it for some seconds."""


class ReplayError(NewsportalError):
    """A WARC file cannot be read. Raised before the crawl starts."""


class ArchiveError(NewsportalError):
    """A crawl's archive cannot be written: it is no WARC file, another process writes it, the disk is full. The crawl stops."""


class BackupError(NewsportalError):
    """A backup cannot be written, or a file is none: damaged, cut off, of a later version, or made to do harm. Nothing was restored."""


class LibraryError(NewsportalError):
    """Raised for a file that should hold what extractors learnt and is none, broken or of another version. The caller stops and says so."""


class ModelError(NewsportalError):
    """A classifier cannot be trained from these examples, or a file is no model, damaged or too new. The caller shows it."""


class CorpusError(NewsportalError):
    """A file holds no labelled texts, or a line of it is wrong; the message names both. The caller takes nothing of it and shows it."""


class ClicksError(NewsportalError):
    """A file holds no log of what readers looked at, or a line of it is wrong; the message names both. The caller takes nothing of it."""


class SparkFailed(NewsportalError):
    """Apache Spark cannot be started, or gave up; what it had not answered is not saved. The caller shows it."""


class LogUnavailable(NewsportalError):
    """The log file cannot be written. Raised before anything starts; the message names the remedy."""


class DependencyMissing(NewsportalError):
    """A capability needs an extra that is not installed. The message is the command that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        self.command = (
            f".venv/bin/pip install -U pip && .venv/bin/pip install -e '.[{extra}]'"  # pip of Python 3.11 breaks off at lxml[html-clean]
        )
        super().__init__(f"{what} needs an extra that is not installed; in the folder of newsportal, say: {self.command}")
        self.extra = extra
