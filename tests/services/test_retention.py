"""Applying ``retention`` of sources.yaml to a store and its accounts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from factories import NOW, article, empty_accounts, empty_store, invented

from newsportal.items.report import Run
from newsportal.services.accounts import Accounts
from newsportal.services.accounts.alerts import Alert, Message
from newsportal.services.retention import ages, prune
from newsportal.sources.parts import Retention
from newsportal.store.boards import Place
from newsportal.store.pruning import Ages
from newsportal.store.store import Store

DAY = timedelta(days=1)
LATE = NOW + 100 * DAY


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(empty_store(tmp_path / "news.db")) as opened:
        yield opened


@pytest.fixture
def accounts(tmp_path: Path) -> Iterator[Accounts]:
    with closing(empty_accounts(tmp_path / "accounts.db")) as opened:
        yield opened


def test_forever_means_no_limit() -> None:
    assert ages(Retention(articles=9, sources={"甲": "forever"}, topics={"乙": 3})) == Ages(9, {"甲": None}, {"乙": 3})


def test_defaults_keep_articles_and_delete_old_records(store: Store, accounts: Accounts) -> None:
    added = store.add(article("a"), now=NOW)
    store.save_run(Run("r", NOW, NOW, "finished", ("rss",), ()))
    store.readers.record_view("林", added.id, [1], pictures=1, now=NOW)
    accounts.audit_log.add(None, "source.add", now=NOW)
    store.boards.add("list:热", NOW + 364 * DAY, [Place("a" * 20, "题", "https://a.example/", 1)])
    accounts.alerts.add(Alert("alert", "p", "快讯", "topic", "旅游", "webhook", {}, NOW))
    sent, waiting = (Message("alert", state, "a", "题", NOW, NOW, NOW, state=state) for state in ("sent", "waiting"))  # type: ignore[arg-type]
    accounts.alerts.insert([sent, waiting])
    found = prune(store, accounts, Retention(), alpha=0.5, now=NOW + 364 * DAY)
    assert sum(found.deleted.values()) == 0
    later = NOW + 1096 * DAY
    for dry_run in (True, False):
        found = prune(store, accounts, Retention(), alpha=0.5, now=later, dry_run=dry_run)
        assert found.deleted == {"views": 1, "revisions": 0, "reports": 1, "assistant": 0, "log": 1, "messages": 1, "boards": 1}
    assert store.article(added.id) is not None
    assert [message.state for message in accounts.alerts.messages("alert")] == ["waiting"]
    assert (store.runs(), accounts.audit_log.entries()) == ([], [])
    assert sum(prune(store, accounts, Retention(), alpha=0.5, now=later).deleted.values()) == 0


def test_starred_stories_and_monthly_figures_are_kept(store: Store, accounts: Accounts) -> None:
    starred, unstarred = (store.add(article(name, text=invented(n)), now=NOW) for n, name in enumerate("ab"))
    accounts.marks.star("林", starred.story_id, True, now=NOW)
    store.readers.record_view("林", unstarred.id, [1], pictures=1, now=NOW)
    before = store.readers.months(alpha=0.5)
    found = prune(store, accounts, Retention(articles=90), alpha=0.5, now=LATE)
    assert (found.deleted["articles"], found.retained) == (1, {"marked": 1})
    assert store.readers.counts() == (0, 0), "the view was deleted with its article"
    assert store.readers.months(alpha=0.5) == before
    assert store.article(starred.id) is not None
