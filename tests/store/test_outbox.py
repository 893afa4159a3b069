"""The outbox: entries to publish, leased to one publisher at a time, and never lost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from newsportal.store.outbox import MAX_REASON, OutboxEntry, Result
from newsportal.store.store import Store

NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
DONE = Result("done", revision=1, digest="d1", location="7")


def take(store: Store, *, now: datetime = NOW, owner: str = "w1", target: str = "cms", limit: int = 10) -> list[OutboxEntry]:
    return store.outbox.lease_due(target, owner, now=now, seconds=60, limit=limit)


def ids(entries: list[OutboxEntry]) -> list[str]:
    return [entry.article_id for entry in entries]


def test_followed_articles_wait_and_position_moves(store: Store) -> None:
    outbox = store.outbox
    assert outbox.position("cms") == 0
    assert outbox.follow("cms", ["a", "b", "a"], ["never"], after=0, up_to=7, now=NOW)
    assert outbox.position("cms") == 7
    assert not outbox.follow("cms", ["c"], [], after=0, up_to=3, now=NOW), "another process was faster"
    assert outbox.counts() == {"cms": {"waiting": 2}}, "unpublished articles need no withdrawal"
    assert outbox.position("other") == 0
    assert outbox.follow("empty", [], [], after=0, up_to=7, now=NOW)
    assert outbox.counts() == {"cms": {"waiting": 2}, "empty": {}}


def test_taken_entries_are_leased(store: Store) -> None:
    store.outbox.request("cms", ["a", "b", "c"], "publish", now=NOW)
    first = take(store, limit=2)
    assert ids(first) == ["a", "b"]
    assert ids(take(store, owner="w2")) == ["c"]
    assert take(store, owner="w3", now=NOW + 59 * SECOND) == []
    late = take(store, owner="w3", now=NOW + 60 * SECOND)
    assert ids(late) == ["a", "b", "c"]
    assert all(entry.fence > old.fence for entry, old in zip(late, first, strict=False)), "the fence increases"
    assert [entry.tries for entry in late] == [2, 2, 2]
    assert not store.outbox.settle(first[0], DONE, now=NOW + 61 * SECOND), "a lost lease has no effect"
    assert store.outbox.settle(late[0], DONE, now=NOW + 61 * SECOND)
    assert store.outbox.of("cms", ["a", "x"])["a"].state == "done"


def test_published_entry_waits_again_after_a_change(store: Store) -> None:
    outbox = store.outbox
    outbox.request("cms", ["a"], "publish", now=NOW)
    outbox.settle(take(store)[0], DONE, now=NOW)
    entry = outbox.of("cms", ["a"])["a"]
    assert (entry.state, entry.revision, entry.digest, entry.location, entry.tries, entry.published) == ("done", 1, "d1", "7", 0, True)
    assert take(store, now=NOW + timedelta(days=1)) == []
    outbox.follow("cms", ["a"], [], after=0, up_to=9, now=NOW + SECOND)
    again = take(store, now=NOW + SECOND)[0]
    assert (again.state, again.digest, again.location) == ("under-way", "d1", "7"), "the published state is kept"


def test_change_during_a_lease_is_kept(store: Store) -> None:
    outbox = store.outbox
    outbox.request("cms", ["a"], "publish", now=NOW)
    leased = take(store)[0]
    outbox.follow("cms", ["a"], [], after=0, up_to=9, now=NOW + SECOND)
    assert take(store, owner="w2", now=NOW + SECOND) == [], "it is still leased"
    outbox.settle(leased, DONE, now=NOW + 2 * SECOND)
    entry = outbox.of("cms", ["a"])["a"]
    assert (entry.state, entry.digest) == ("waiting", "d1")
    assert ids(take(store, now=NOW + 2 * SECOND)) == ["a"]


def test_failed_entry_waits_for_request_or_change(store: Store) -> None:
    outbox = store.outbox
    outbox.request("cms", ["a", "b"], "publish", now=NOW)
    for entry in take(store):
        outbox.settle(entry, Result("failed", reason="too long " * 1000), now=NOW)
    assert take(store, now=NOW + timedelta(days=9)) == []
    failed = outbox.entries(states=["failed"])
    assert sorted(ids(failed)) == ["a", "b"]
    assert len(failed[0].reason or "") == MAX_REASON
    assert outbox.retry("other", now=NOW) == 0
    assert outbox.retry("cms", ["a"], now=NOW) == 1
    assert ids(take(store)) == ["a"]
    outbox.follow("cms", ["b"], [], after=0, up_to=9, now=NOW)
    assert ids(take(store)) == ["b"]


def test_postponed_entry_waits_for_its_time(store: Store) -> None:
    store.outbox.request("cms", ["a"], "publish", now=NOW)
    store.outbox.settle(take(store)[0], Result("waiting", reason="503", due=NOW + 30 * SECOND), now=NOW)
    assert take(store, now=NOW + 29 * SECOND) == []
    leased = take(store, now=NOW + 30 * SECOND)[0]
    assert (leased.tries, leased.reason) == (2, "503")
    store.outbox.give_back([leased], now=NOW + 31 * SECOND, reason="the server is away")
    entry = store.outbox.of("cms", ["a"])["a"]
    assert (entry.state, entry.tries, entry.reason) == ("waiting", 1, "the server is away")


def test_withdrawn_entry_stays_until_requested(store: Store) -> None:
    outbox = store.outbox
    outbox.request("cms", ["a"], "publish", now=NOW)
    outbox.settle(take(store)[0], DONE, now=NOW)
    outbox.request("cms", ["a"], "withdraw", now=NOW)
    leased = take(store)[0]
    assert (leased.action, leased.location) == ("withdraw", "7")
    outbox.settle(leased, Result("withdrawn"), now=NOW)
    outbox.follow("cms", ["a"], [], after=0, up_to=9, now=NOW)
    entry = outbox.of("cms", ["a"])["a"]
    assert (entry.state, entry.published, entry.location) == ("withdrawn", False, None)
    outbox.request("cms", ["a"], "publish", now=NOW)
    assert take(store)[0].action == "publish"


def test_listing_and_forgetting(store: Store) -> None:
    outbox = store.outbox
    outbox.follow("cms", ["a", "b"], [], after=0, up_to=3, now=NOW)
    outbox.follow("hook", ["a"], [], after=0, up_to=3, now=NOW + SECOND)
    assert [(entry.target, entry.article_id) for entry in outbox.entries()] == [("hook", "a"), ("cms", "a"), ("cms", "b")]
    assert [entry.target for entry in outbox.entries(article_id="a")] == ["hook", "cms"]
    assert len(outbox.entries("cms", limit=1)) == 1
    assert outbox.entries("cms", states=["failed"]) == []
    assert outbox.forget("cms") == 2
    assert outbox.counts() == {"hook": {"waiting": 1}}
    assert outbox.position("cms") == 0


def test_target_and_reason_in_any_script(store: Store) -> None:
    store.outbox.request("站点 甲", ["a"], "publish", now=NOW)
    store.outbox.settle(take(store, target="站点 甲")[0], Result("failed", reason="太长\x00 \ud800😀"), now=NOW)
    assert store.outbox.entries()[0].reason == "太长 ?😀"


def test_eight_publishers_take_each_entry_once(store: Store, another: Callable[[], Store]) -> None:
    names = [f"{number:03}" for number in range(40)]
    store.outbox.request("cms", names, "publish", now=NOW)

    def work(number: int) -> list[str]:
        opened, found = another(), []
        while entries := opened.outbox.lease_due("cms", f"w{number}", now=NOW, seconds=60, limit=3):
            found += [entry.article_id for entry in entries]
            for entry in entries:
                assert opened.outbox.settle(entry, DONE, now=NOW)
        opened.close()
        return found

    with ThreadPoolExecutor(8) as pool:
        shares = list(pool.map(work, range(8)))
    assert sorted(name for share in shares for name in share) == names
    assert store.outbox.counts() == {"cms": {"done": 40}}


def test_many_entries_at_once(store: Store) -> None:
    names = [f"{number:05}" for number in range(520)]  # more than fit one query
    assert store.outbox.follow("cms", names, [], after=0, up_to=9, now=NOW)
    assert len(store.outbox.of("cms", names)) == 520
    assert store.outbox.request("cms", names[:510], "withdraw", now=NOW) == 510
