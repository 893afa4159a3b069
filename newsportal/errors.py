"""The exceptions, in one small tree. Every docstring says who raises it and how the caller handles it.

Errors of drivers and libraries are chained (``raise StoreUnavailable(...) from error``), so nothing is lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from newsportal.messages import Message, Value, as_text, reason_message
from newsportal.messages.reasons import UNREAD, cause_of


class NewsportalError(Exception):
    """Base class. The command line prints it without a traceback and exits with status 1. Raised with a :class:`Message` if it is shown in
    the portal; ``str`` of it is English."""

    def __reduce__(self) -> tuple[object, ...]:  # __init__ may take other arguments than ``args``
        return Exception.__new__, (type(self), *self.args), vars(self)

    @property
    def message(self) -> Message:
        return as_text(self.args[0] if self.args and isinstance(self.args[0], Message) else self)

    @property
    def remedy(self) -> Message | None:
        """What the user can do about it."""
        return None


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in ``sources.yaml``: its position, the value found, the allowed values. Lines count from 1."""

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

    ``reason`` is a short stable slug (``no-body``, ``too-short``), because it becomes a row in the run report; ``detail`` is for people.
    """

    def __init__(self, reason: str, detail: str | None = None) -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail

    @property
    def message(self) -> Message:
        return reason_message(self.reason)


class EngineBlocked(NewsportalError):
    """Raised by an engine's ``parse`` on a captcha, login or quota page. The spider pauses that engine for ``rest`` seconds."""

    def __init__(self, reason: str, rest: float = 3600.0) -> None:
        super().__init__(f"{reason}; resting {rest:.0f} s")
        self.reason = reason
        self.rest = rest


class Unfetched(NewsportalError):
    """Base class of reasons why a page was not fetched. ``reason`` is a stable slug of ``messages.reasons``, ``detail`` is for logs."""

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
    """Raised by ``egress`` for a forbidden URL or IP address. The caller counts it and does not retry."""


class FetchFailed(Unfetched):
    """Raised by ``egress.fetch`` without a usable response. ``reason`` is a stable slug (``dns``, ``timeout``, ``tls``, ``too-large``,
    ``redirects``, ``encoding``, ``connection``). The caller shows or counts it; a later try may succeed."""


class Redirected(FetchFailed):
    """Raised by ``egress.fetch`` with ``follow=False``: the response is at ``target``, a URL that was checked. The caller may fetch it."""

    def __init__(self, url: str, target: str) -> None:
        super().__init__(url, "redirects", f"to {target}")
        self.target = target


class RenderFailed(Unfetched):
    """Raised by ``rendering`` for an unrenderable page. ``reason`` is a stable slug (``render-timeout``, ``render-crashed``,
    ``render-memory``, ``render-too-large``, ``render-lost``, ``no-browser``). The caller counts it; ``transient``: may be tried again."""

    def __init__(self, url: str, reason: str, detail: str | None = None, *, transient: bool = True) -> None:
        super().__init__(url, reason, detail)
        self.transient = transient


class StoreError(NewsportalError):
    """Base class of errors raised by stores."""


class StoreUnavailable(StoreError):
    """The store is unreachable, locked or read-only. The caller keeps its item and tries again later."""


class ServerUnavailable(StoreUnavailable):
    """The server of a store is unreachable or does not respond in time. The caller makes no requests to it for some seconds."""


class FrontierUnavailable(NewsportalError):
    """The queue of requests is unreachable, locked or full. The crawl keeps its current requests and tries again; a command shows it."""


class FrontierRefused(NewsportalError):
    """The location of the queue holds foreign data, or that of a newer version. The caller stops; the message names the remedy."""


class RunnerUnavailable(NewsportalError):
    """The runner of spiders (a scrapyd) is unreachable. The schedule tries again: visits remain due. A command shows it."""


class RunnerRefused(NewsportalError):
    """The runner of spiders refused a request; the message includes its response. The caller shows it."""


class StoreTooNew(StoreError):
    """The database was written by a newer version. The caller stops; the message names the remedy."""


class StoreTooOld(StoreError):
    """The database was written by a version that is too old to migrate. The caller stops; the message names the way to transfer it."""


class StoreUnfinished(StoreError):
    """The store holds part of a backup, whose restore was interrupted. The caller stops; the message names the remedy."""


class AccountError(NewsportalError):
    """An account cannot be added, changed or given a token as requested; ``code`` of ``messages.labels``. Nothing was changed."""

    def __init__(self, code: str, **params: Value) -> None:
        super().__init__(Message(f"account.{code}", **params))
        self.code = code


class SearchError(NewsportalError):
    """The search index is unreachable or broken. The portal reports it and works without search."""


class SearchUnavailable(SearchError):
    """The server of the index is unreachable or does not respond in time. The caller makes no requests to it for some seconds."""


class ReplayError(NewsportalError):
    """A WARC file cannot be read. Raised before the crawl starts."""


class ArchiveError(NewsportalError):
    """A crawl's archive cannot be written: not a WARC file, locked by another process, or the disk is full. The crawl stops."""


class BackupError(NewsportalError):
    """A backup cannot be written, or a file is not a valid one: damaged, truncated, of a later version, malicious. Nothing was restored."""


class LibraryError(NewsportalError):
    """Raised for a file of learned extraction data that is invalid, damaged or of another version. The caller stops and reports it."""


class ModelError(NewsportalError):
    """A classifier cannot be trained from these examples, or a file is not a model, damaged or too new. The caller shows it."""


class CorpusError(NewsportalError):
    """A file has no labelled texts, or an invalid line; the message names both. The caller imports nothing and shows it."""


class ClicksError(NewsportalError):
    """A file has no log of reader views, or an invalid line; the message names both. The caller imports nothing."""


class SparkFailed(NewsportalError):
    """Apache Spark cannot be started, or failed; unfinished results are not saved. The caller shows it."""


class LogUnavailable(NewsportalError):
    """The log file cannot be written. Raised at startup; the message names the remedy."""


class DependencyMissing(NewsportalError):
    """A capability needs an extra that is not installed. The message is the command that installs it."""

    def __init__(self, feature: str, extra: str) -> None:
        self.command = (
            f".venv/bin/pip install -U pip && .venv/bin/pip install -e '.[{extra}]'"  # pip of Python 3.11 breaks off at lxml[html-clean]
        )
        super().__init__(f"{feature} needs an extra that is not installed; in the folder of newsportal, run: {self.command}")
