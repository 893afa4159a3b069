"""A thread that repeats its work: a failure is logged once and does not end it."""

from __future__ import annotations

import logging

import pytest

from newsportal.errors import StoreError
from newsportal.services.periodic import MAX_PAUSE, PeriodicThread


class Task(PeriodicThread):
    """Raises ``failures`` one by one, then succeeds once and stops."""

    def __init__(self, *failures: Exception) -> None:
        super().__init__("task", 0, retry=0)
        self.failures = list(failures)

    def step(self) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.stopping.set()


def test_failure_is_logged_once_and_retried(caplog: pytest.LogCaptureFixture) -> None:
    task = Task(StoreError("away"), StoreError("away"), RuntimeError("bug"))
    with caplog.at_level(logging.INFO):
        task.start()
        task.join(600)
    assert not task.is_alive()
    assert task.error is None
    assert [record.getMessage() for record in caplog.records] == ["task failed: away", "task failed: RuntimeError: bug", "task works again"]
    assert [record.exc_info is not None for record in caplog.records] == [False, True, False], "traceback for unexpected errors only"


def test_pause_after_failure() -> None:
    task = PeriodicThread("task", 5.0)
    assert task.run_step() == MAX_PAUSE
    assert task.error == "NotImplementedError: "


def test_stop_before_start_and_while_waiting() -> None:
    PeriodicThread("task", 5.0).stop()
    waiting = PeriodicThread("task", 5.0, first=3600.0)
    waiting.start()
    waiting.stop()
    assert not waiting.is_alive()
