"""Records of jobs are written atomically."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from newsportal.errors import RunnerRefused
from newsportal.services.jobs.base import Job
from newsportal.services.jobs.records import Records

SERVER = "http://127.0.0.1:6800"
NOW = datetime(2026, 3, 5, 8, 30, tzinfo=UTC)


def record(id: str, minutes: int = 0) -> Job:
    """Return a job of a server, whose state is not checked on this machine."""
    return Job(id, "rss", sources=("feed:一", "feed:b"), started=NOW + timedelta(minutes=minutes), runner=SERVER)


def test_record_round_trip(tmp_path: Path) -> None:
    records = Records(tmp_path / "jobs")
    records.save(record("a"))
    ended = records.end(record("b", 1), "done", 0, None, NOW)
    assert Records(tmp_path / "jobs").all(SERVER) == [ended, record("a")]
    assert records.all("local") == []
    assert records.get("a") == record("a")
    assert records.get("c") is None


def test_broken_record_is_ignored(tmp_path: Path) -> None:
    records = Records(tmp_path)
    records.save(record("a"))
    for name, content in (("b", "{"), ("c", "[]"), ("d", '{"id": 1}'), ("e", "")):
        (tmp_path / f"{name}.json").write_text(content, "utf-8")
    assert [job.id for job in records.all()] == ["a"]


def test_oldest_records_are_deleted_with_their_logs(tmp_path: Path) -> None:
    records = Records(tmp_path)
    for number in range(5):
        records.save(record(f"j{number}", number))
        records.log_file(f"j{number}").write_text("log", "utf-8")
    records.prune(keep=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["j3.json", "j3.log", "j4.json", "j4.log"]


def test_logs_are_limited_one_by_one_and_together(tmp_path: Path) -> None:
    records = Records(tmp_path)
    for number in range(3):
        records.save(record(f"j{number}", number))
    log = records.log_file("j0")
    with log.open("ab", buffering=0) as writer:  # the writer keeps its file open
        writer.write(b"".join(b"line %03d\n" % number for number in range(100)))
        records.truncate_log("j0", max_bytes=1000, keep=100)
        assert len(log.read_bytes()) == 900, "below the limit"
        records.truncate_log("j0", max_bytes=800, keep=100)
        writer.write(b"line 100\n")
    lines = log.read_text("utf-8").splitlines()
    assert "deleted" in lines[0]
    assert lines[1:] == [f"line {number:03}" for number in range(89, 101)]
    records.truncate_log("without a log")
    for number in (1, 2):
        records.log_file(f"j{number}").write_text("x" * 500, "utf-8")
    records.prune(max_bytes=700)
    assert log.exists(), "logs of jobs without a known end are kept"
    for number in range(3):
        records.end(record(f"j{number}", number), "done", 0, None, NOW)
    records.prune(max_bytes=700)
    assert [records.log_file(f"j{number}").exists() for number in range(3)] == [False, False, True]
    assert len(records.all()) == 3


def test_unwritable_folder_is_reported_and_record_kept_in_memory(tmp_path: Path) -> None:
    (tmp_path / "jobs").write_text("a file", "utf-8")
    with pytest.raises(RunnerRefused, match="job records are stored there"):
        (records := Records(tmp_path / "jobs")).save(record("a"))
    assert records.get("a") == record("a"), "this process keeps it in memory"
    assert records.all() == [record("a")]
