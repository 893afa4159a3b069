"""Logging: text or one JSON object per line, on standard error or in a file of bounded size."""

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, Final, cast

from newsportal.errors import LogUnavailable, NewsportalError, StoreError
from newsportal.messages import Message, local

try:
    import fcntl
except ImportError:  # Windows, where a log file of several processes is not rotated
    fcntl = None  # type: ignore[assignment]

FORMATS: Final = ("text", "json")
TEXT: Final = "%(asctime)s [%(name)s] %(levelname)s: %(message)s"  # Scrapy's format; the monitor parses it in the logs of jobs
TEXT_DATE: Final = "%Y-%m-%d %H:%M:%S"
MAX_BYTES: Final = 16 * 1024 * 1024  # maximum size of a log file; a month of a quiet portal, some hours of a crawl at level DEBUG
OLD_FILES: Final = 5  # kept beside it, as FILE.1 (the latest) to FILE.5
NAME: Final = "newsportal"  # name of our handler, which a second `install` replaces
EXTRA: Final = ("source", "url", "run", "request", "job", "client", "method", "status", "bytes", "seconds")
"""Attributes of records (``extra=``) that are included in JSON lines."""

CONTEXT: Final[ContextVar[Callable[[], Mapping[str, str]]]] = ContextVar("log_context", default=dict)
"""Fields of every line logged in this context: ``run`` in a crawl, ``request`` in the portal. A task inherits its creator's."""


class JsonFormatter(logging.Formatter):
    """``time`` (portal.timezone), ``level``, ``logger``, ``text``; if present ``code``, :data:`EXTRA`, an error's ``trace``."""

    def format(self, record: logging.LogRecord) -> str:
        time = local(datetime.fromtimestamp(record.created, UTC)).isoformat(timespec="milliseconds")
        row: dict[str, Any] = {"time": time, "level": record.levelname, "logger": record.name, "code": code_of(record)}
        row |= {"text": record.getMessage(), **CONTEXT.get()()}
        row |= {name: value for name in EXTRA if (value := getattr(record, name, None)) is not None}
        if isinstance(record.args, Mapping):  # Scrapy's log records of requests
            row.setdefault("url", getattr(record.args.get("request"), "url", None))
        if record.exc_info:
            row["trace"] = self.formatException(record.exc_info)
        return json.dumps({name: value for name, value in row.items() if value is not None}, ensure_ascii=False, default=str)


class TextFormatter(logging.Formatter):
    """Scrapy's format; followed by the id of the request, if any."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        request = CONTEXT.get()().get("request")
        return super().formatMessage(record) + (f" (request {request})" if request else "")


def code_of(record: logging.LogRecord) -> str | None:
    """Return the code of the message or error that ``record`` is about."""
    code = getattr(record, "code", None)
    if code is not None:
        return str(code)
    values = record.args.values() if isinstance(record.args, Mapping) else record.args or ()
    for value in (record.msg, *values, record.exc_info[1] if record.exc_info else None):
        message = value.message if isinstance(value, NewsportalError) else value
        if isinstance(message, Message) and message.code != "text":
            return message.code
    return None


@contextmanager
def warned(logger: logging.Logger, text: str, *words: object, **extra: str) -> Iterator[None]:
    """Log store errors raised within as warnings, and suppress them."""
    try:
        yield
    except StoreError as error:
        logger.warning(f"{text}: %s", *words, error, extra=extra)


class LogFile(RotatingFileHandler):
    """A log file that several processes may share, and that may be full or not writable, which is reported once."""

    failed = False

    def shouldRollover(self, record: logging.LogRecord) -> int:  # noqa: N802 - logging's name
        self._reopen_if_renamed()
        return super().shouldRollover(record)

    def doRollover(self) -> None:  # noqa: N802 - logging's name
        with suppress(FileNotFoundError), open(self.baseFilename, "rb") as lock:  # missing: another process is renaming it
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._reopen_if_renamed():
                super().doRollover()

    def _reopen_if_renamed(self) -> bool:
        """Return whether another process had renamed the file."""
        self.stream = stream = self.stream or self._open()
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(stream.fileno()), os.stat(self.baseFilename)):
                return False
        stream.close()
        self.stream = self._open()
        return True

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self.failed:
            self.failed = True
            print(f"{self.baseFilename}: lines are missing in this log: {error.strerror}", file=sys.stderr)


def install(form: str = "text", file: Path | None = None) -> logging.Handler:
    """Install a handler for the root logger, replacing that of an earlier call. Raises ``LogUnavailable``."""
    root, handler = logging.getLogger(), cast(logging.Handler, logging.StreamHandler())
    if file is not None:
        try:
            handler = LogFile(file, maxBytes=MAX_BYTES, backupCount=OLD_FILES, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise LogUnavailable(f"cannot write a log to {file}: {error.strerror or error}; name another file with --log-file") from error
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter(TEXT, TEXT_DATE))
    handler.set_name(NAME)
    for old in [h for h in root.handlers if h.get_name() == NAME]:
        root.removeHandler(old)
        old.close()
    root.addHandler(handler)
    return handler
