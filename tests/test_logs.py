"""The log as JSON lines, and rotation of its files."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest

from newsportal import logs
from newsportal.errors import FetchFailed, LogUnavailable
from newsportal.messages import Message

log = logging.getLogger("newsportal.tests.logs")


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    """A log of JSON lines, removed at the end."""
    path = tmp_path / "portal.log"
    handler = logs.install("json", path)
    yield path
    logging.getLogger().removeHandler(handler)
    handler.close()


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_log_line_is_one_json_object(file: Path) -> None:
    log.warning("两行\n%s", {"a": 1}, extra={"source": "feed:甲", "url": "https://a.example/1"})
    (row,) = rows(file)
    assert row["text"].startswith("两行\n{'a': 1}")
    assert (row["level"], row["logger"]) == ("WARNING", log.name)
    assert (row["source"], row["url"]) == ("feed:甲", "https://a.example/1")
    assert row["time"][10] == "T"
    assert "code" not in row


def test_lone_surrogate_is_logged(file: Path) -> None:
    handler = next(handler for handler in logging.getLogger().handlers if handler.get_name() == logs.NAME)
    handler.handle(logging.makeLogRecord({"name": log.name, "msg": "a\ud800b"}))  # not by the logger: what pytest captures must be UTF-8
    assert rows(file)[0]["text"] == "a\ud800b"


def test_messages_and_errors_have_codes(file: Path) -> None:
    log.warning("%s %s", "feed:甲", Message("note.wait", number=7))
    log.error("it fails: %s", FetchFailed("https://a.example/", "timeout"))
    log.error("broken", exc_info=FetchFailed("https://a.example/", "timeout"))
    log.error("%s", Message("text", text="words of others"))
    first, second, third, last = rows(file)
    assert [row.get("code") for row in (first, second, third, last)] == ["note.wait", "fetch.failed", "fetch.failed", None]
    assert "FetchFailed" in third["trace"]


def test_scrapy_requests_are_logged_with_url(file: Path) -> None:
    from scrapy import Request

    log.warning("Crawled %(request)s", {"request": Request("https://a.example/2")})
    assert rows(file)[0]["url"] == "https://a.example/2"


def test_context_is_in_its_own_lines_only(file: Path) -> None:
    def task() -> None:
        logs.CONTEXT.set(lambda: {"run": "20260305-1"})
        log.warning("within")

    copy_context().run(task)
    log.warning("outside")
    assert [row.get("run") for row in rows(file)] == ["20260305-1", None]


def test_log_files_are_rotated_and_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "MAX_BYTES", 1000)
    path = tmp_path / "portal.log"
    handler = logs.install("json", path)
    for number in range(200):
        log.warning("line %d", number)
    logging.getLogger().removeHandler(handler)
    handler.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["portal.log", *(f"portal.log.{n}" for n in range(1, logs.OLD_FILES + 1))]
    assert all(path.stat().st_size <= 1000 for path in tmp_path.iterdir())
    assert rows(path)[-1]["text"] == "line 199"


def test_processes_share_a_rotated_file(tmp_path: Path) -> None:
    """Each rename of a file by one process is noticed by the others, which neither rename again nor write to an old file."""
    path = tmp_path / "portal.log"
    handlers = [logs.LogFile(path, maxBytes=1000, backupCount=100, encoding="utf-8") for _ in range(3)]  # each with its own open file
    for number in range(200):
        handlers[number % 3 and number % 7 % 3].handle(logging.makeLogRecord({"msg": f"line {number}"}))
    for handler in handlers:
        handler.close()
    files = [*reversed([tmp_path / f"portal.log.{n}" for n in range(1, len(list(tmp_path.iterdir())))]), path]
    assert [line for file in files for line in file.read_text().splitlines()] == [f"line {number}" for number in range(200)]
    assert all(900 < file.stat().st_size <= 1000 for file in files[:-1])


def test_second_install_replaces_first_handler(file: Path, tmp_path: Path) -> None:
    handler = logs.install("json", tmp_path / "other.log")
    log.warning("once")
    logging.getLogger().removeHandler(handler)
    handler.close()
    assert rows(file) == []
    assert len(rows(tmp_path / "other.log")) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
def test_full_disk_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    handler = logs.install("text", Path("/dev/full"))
    for _ in range(3):
        log.warning("一行")
    logging.getLogger().removeHandler(handler)
    with suppress(OSError):  # what could not be written
        handler.close()
    assert capsys.readouterr().err == "/dev/full: lines are missing in this log: No space left on device\n"


def test_unwritable_log_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(LogUnavailable, match=r"missing.*--log-file"):
        logs.install("text", tmp_path / "missing" / "portal.log")
