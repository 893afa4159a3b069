"""A worker that receives a signal while it starts."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from newsportal.cli import worker
from newsportal.sources import load
from newsportal.store import open_store


@pytest.mark.parametrize("signalled", [True, False])
def test_signal_while_opening_the_store(signalled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text('feeds: [{name: 甲, url: "https://a.example/rss"}]\n', "utf-8")

    def opened(store: str) -> Any:
        if signalled:
            os.kill(os.getpid(), signal.SIGTERM)
        return open_store(store)

    monkeypatch.setattr(worker, "open_store", opened)
    assert worker.await_store(load(path), Console(quiet=True)) is not signalled
