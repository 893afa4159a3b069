"""What ``newsportal up`` does each night beside the crawls: when it is due, and what is told."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from newsportal.commands import nightly
from newsportal.commands.nightly import Nightly, last_due, told
from newsportal.items import Article, Link
from newsportal.storage import open_store
from newsportal.storage.reader_views import Fit

SHANGHAI = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)  # 20:00 in Shanghai
HOUR = timedelta(hours=1)


@pytest.fixture
def uri(tmp_path: Path) -> str:
    """A store in which somebody looked at something."""
    uri = f"sqlite:///{tmp_path}/news.db"
    store = open_store(uri)
    link = Link("https://news.example/a", "feed:甲")
    added = store.add(Article(link.url, link, NOW, identity="news.example/a", title="题", text="文"), now=NOW)
    store.readers.saw("林", added.id, [1], pictures=1, now=NOW)
    store.close()
    return uri


def at(uri: str, moment: datetime, say: Callable[[str], None] = print) -> Nightly:
    return Nightly(None, uri, 4, SHANGHAI, say, lambda: moment)


def test_a_fit_is_due_at_the_hour_of_the_portals_clock() -> None:
    four = datetime(2026, 3, 5, 4, tzinfo=SHANGHAI)
    assert last_due(NOW, 4, SHANGHAI) == four
    assert last_due(four.astimezone(UTC), 4, SHANGHAI) == four
    assert last_due(four - timedelta(seconds=1), 4, SHANGHAI) == four - timedelta(days=1)


def test_it_is_due_once_a_night_and_after_a_night_that_was_missed(uri: str, tmp_path: Path) -> None:
    assert at(uri, NOW).is_due(), "nothing was learnt yet"
    store = open_store(uri)
    store.readers.save_fit(Fit(NOW, {}, b""))
    assert not at(uri, NOW + HOUR).is_due()
    assert not at(uri, NOW + 7 * HOUR).is_due()
    assert at(uri, NOW + 8 * HOUR).is_due()
    assert at(uri, NOW + 100 * HOUR).is_due()
    store.close()
    empty = f"sqlite:///{tmp_path}/empty.db"
    assert not at(empty, NOW).is_due(), "no store"
    open_store(empty).close()
    assert not at(empty, NOW).is_due(), "nobody looked at anything"


def _runs(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    monkeypatch.setattr(Nightly, "_command", lambda _: [sys.executable, "-c", script])


def test_what_it_did_is_told_and_a_failure_is_not_tried_all_night(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    beside = at(uri, NOW, said.append)
    _runs(monkeypatch, 'print(\'{"views": 9, "readers": 2, "seconds": 3.2}\')')
    beside.fit()
    assert said == ["recommendations learnt from 9 views of 2 readers in 3 s"]
    _runs(monkeypatch, "raise SystemExit('the disk is full')")
    beside.fit()
    assert "failed: the disk is full; the one before stays in use" in said[1]
    assert not beside.is_due()
    _runs(monkeypatch, "import time; time.sleep(60)")
    monkeypatch.setattr(nightly, "MOST", 0.2)
    beside.fit()
    assert "was ended" in said[2]
    assert told("nonsense") == "the fit of recommendations said: nonsense"


def test_it_runs_by_itself_and_ends_when_told(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(nightly, "LOOK", 0.01)
    _runs(monkeypatch, 'print(\'{"views": 1, "readers": 1, "seconds": 0}\')')
    beside = at(uri, NOW, said.append)
    beside.start()
    beside.join(0.1)
    while not said:
        beside.join(0.05)
    beside.stop()
    beside.join(10)
    assert not beside.is_alive()
    assert len(said) == 1


def test_where_nothing_is_learnt_what_is_old_goes_all_the_same(uri: str) -> None:
    said: list[str] = []
    late = NOW + timedelta(days=800)
    nightly = Nightly(None, uri, 4, SHANGHAI, said.append, lambda: late, learn=False)
    assert nightly.is_due()
    nightly.let_go()
    assert "as promised" in said[0]
    store = open_store(uri)
    assert store.readers.counts()[0] == 0
    assert store.readers.fit() is None
    store.close()
    assert not nightly.is_due()


def test_the_command_is_the_one_that_people_type(tmp_path: Path) -> None:
    beside = Nightly(tmp_path / "s.yaml", "sqlite://", 4, UTC, print)
    assert beside._command()[2:] == ["newsportal", "recommend", "fit", "--gently", "--json", "--sources", str(tmp_path / "s.yaml")]
