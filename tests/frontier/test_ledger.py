"""The ledger: every entry has one fate, what is new waits in the store until it is done, and the store's failures cost nothing."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from scrapy.crawler import Crawler

from newsportal.dedup.canonical import identity
from newsportal.extractors.forum.kinds import Listed
from newsportal.frontier import galleries, threads
from newsportal.frontier.ledger import PUT_OFF, Ledger, ledger_of
from newsportal.frontier.links import name_of
from newsportal.items import Article, Link
from newsportal.report import SourceReport
from newsportal.store.results import SourceState
from newsportal.visits import Visit

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
A, B = "feed:甲", "feed:乙"


def link(path: str, source: str = A, **more: Any) -> Link:
    return Link(f"https://a.example/{path}", source, title=f"题 {path}", **more)


def keep(ledger: Ledger, found: Link) -> None:
    """Its article is stored."""
    article = Article(url=found.url, link=found, fetched=NOW, identity=name_of(found), title=found.title or "", text="正文")
    ledger.store.add(article, now=NOW)
    ledger.known.enter([name_of(found)])


def row(ledger: Ledger, source: str = A) -> SourceReport:
    return next(one for one in ledger.report() if one.source == source)


def test_every_entry_has_one_fate(ledger: Ledger) -> None:
    keep(ledger, link("1"))
    sifted = asyncio.run(ledger.sift([link("1"), link("2"), link("3"), link("2?utm_source=x")]))
    assert sifted.fresh == (link("2"), link("3"))
    assert not sifted.stale
    found = row(ledger)
    assert (found.entries, found.known, found.new, found.repeated) == (4, 1, 2, 1)


def test_what_is_new_waits_before_it_is_fetched_and_is_claimed_once(ledger: Ledger) -> None:
    asyncio.run(ledger.sift([link("1")]))
    assert ledger.store.deferred(A) == [link("1")]
    assert asyncio.run(ledger.sift([link("1", B)])).fresh == ()
    assert row(ledger, B).repeated == 1
    assert ledger.store.deferred(B) == []


def test_a_page_is_stale_when_all_of_it_was_stored_before_this_run(ledger: Ledger) -> None:
    ledger.store.add(Article(url="https://a.example/1", link=link("1"), fetched=NOW, identity="old", title="题", text="正文"), now=NOW)
    ledger.store.add_alias(identity("https://a.example/1"), "old")
    ledger.known._sieve.enter([identity("https://a.example/1")])  # as if read from the store at the start
    assert asyncio.run(ledger.sift([link("1")])).stale
    keep(ledger, link("2"))
    assert not asyncio.run(ledger.sift([link("1"), link("2")])).stale, "this run brought the second itself"
    assert asyncio.run(ledger.sift([])).stale


@pytest.mark.parametrize("column", ["stored", "folded", "same"])
def test_what_is_settled_waits_no_longer(ledger: Ledger, column: str) -> None:
    asyncio.run(ledger.sift([link("1")]))
    asyncio.run(ledger.settle(link("1"), column))
    assert ledger.store.deferred(A) == []
    found = row(ledger)
    assert (found.parsed, getattr(found, column), found.left) == (1, 1, 0)


def test_what_may_pass_waits_and_what_may_not_is_done(ledger: Ledger) -> None:
    asyncio.run(ledger.sift([link("1"), link("2")]))
    asyncio.run(ledger.fail(link("1"), "http-503", later=True))
    asyncio.run(ledger.fail(link("2"), "http-404"))
    assert ledger.store.deferred(A) == [link("1")]
    assert row(ledger).failed == {"http-503": 1, "http-404": 1}
    assert row(ledger).left == 0


def test_the_next_run_takes_up_what_waits_and_says_so(ledger: Ledger) -> None:
    waiting = [link("1"), link("2"), link("", identity="a.example/rss#x", content="<p>正文</p>")]
    ledger.store.defer(waiting, now=NOW)
    found = asyncio.run(ledger.resume(A))
    assert found == tuple(waiting)
    assert row(ledger).new == 3
    assert "asks again" in str(row(ledger).notes[0])
    assert asyncio.run(ledger.resume(B)) == ()


def test_what_waits_but_is_stored_by_now_is_done(ledger: Ledger) -> None:
    ledger.store.defer([link("1?utm_source=x"), link("2")], now=NOW)
    keep(ledger, link("1", B))
    assert asyncio.run(ledger.resume(A)) == (link("2"),)
    assert ledger.store.deferred(A) == [link("2")]
    assert (row(ledger).known, row(ledger).new) == (1, 1)


def test_entries_that_share_one_url_wait_and_are_done_each_by_itself(ledger: Ledger) -> None:
    entries = [link("", identity=f"a.example/rss#{number}", content="<p>正文</p>") for number in (1, 2)]
    assert asyncio.run(ledger.sift(entries)).fresh == tuple(entries)
    asyncio.run(ledger.settle(entries[0], "stored"))
    assert ledger.store.deferred(A) == entries[1:]


def test_a_redirect_leads_to_what_is_fetched_under_its_own_address(ledger: Ledger) -> None:
    asyncio.run(ledger.sift([link("go?1"), link("go?2"), link("go?3")]))
    target = "https://b.example/story"
    assert asyncio.run(ledger.lead(link("go?1"), target)) == replace(link("go?1"), url=target)
    assert asyncio.run(ledger.lead(link("go?2"), target)) is None, "another link led there first"
    assert [one.url for one in ledger.store.deferred(A)] == ["https://a.example/go?3", target]
    keep(ledger, link("known"))
    assert asyncio.run(ledger.lead(link("go?3"), link("known").url)) is None
    found = row(ledger)
    assert (found.new, found.repeated, found.known, found.entries) == (1, 1, 1, 3)


def test_close_remembers_validators_rests_and_errors(ledger: Ledger) -> None:
    for source in (A, B):
        asyncio.run(ledger.begin(SourceState(source)))
    ledger.validate(A, "https://a.example/rss", ('"e"', None))
    ledger.list_failed(B, "http-503", "https://b.example/rss: HTTP 503")
    ledger.rest(B, NOW + timedelta(hours=1))
    asyncio.run(ledger.close([A, B], NOW))
    assert ledger.store.source_state(A) == SourceState(A, {"https://a.example/rss": ('"e"', None)}, last_run=NOW, last_success=NOW)
    failed = ledger.store.source_state(B)
    assert (failed.rest_until, failed.failures_in_row, failed.last_success) == (NOW + timedelta(hours=1), 1, None)
    assert failed.last_error == "http-503: https://b.example/rss: HTTP 503"
    assert failed.unfinished is not None


def test_a_visit_is_thorough_until_one_came_to_its_end(ledger: Ledger) -> None:
    def begun() -> bool:
        return asyncio.run(ledger.begin(ledger.store.source_state(A)))

    assert begun(), "the first"
    assert begun(), "after a kill: nobody closed"
    asyncio.run(ledger.close([A], NOW, finished=False))
    assert begun(), "after a stop"
    asyncio.run(ledger.close([A], NOW))
    assert not begun()
    ledger.list_failed(A, "timeout")
    asyncio.run(ledger.close([A], NOW))
    assert begun(), "after a list page that failed"


def test_an_engine_that_blocks_is_not_asked_for_more_the_next_time(ledger: Ledger) -> None:
    ledger.store.save_source_state(SourceState("engine:x", last_success=NOW))
    asyncio.run(ledger.begin(ledger.store.source_state("engine:x")))
    ledger.list_failed("engine:x", "blocked: captcha")
    asyncio.run(ledger.close(["engine:x"], NOW))
    assert not asyncio.run(ledger.begin(ledger.store.source_state("engine:x")))


def test_only_sources_that_answered_are_due_no_more(ledger: Ledger) -> None:
    asyncio.run(ledger.close([A], NOW))
    assert ledger.store.source_state(B).last_run is None


def test_a_missing_network_is_no_fault_of_the_sources(ledger: Ledger) -> None:
    for source in (A, B):
        ledger.list_failed(source, "dns", "no address")
    asyncio.run(ledger.close([A, B], NOW))
    state = ledger.store.source_state(A)
    assert (state.failures_in_row, state.last_run, state.last_error) == (0, None, "dns: no address")


def test_ledgers_of_one_process_share_what_is_known(ledger: Ledger, crawler_for: Callable[..., Crawler]) -> None:
    other = ledger_of(crawler_for())
    assert other is not ledger
    assert (other.known, other.sites) == (ledger.known, ledger.sites)
    keep(ledger, link("1"))
    assert asyncio.run(other.sift([link("1")])).fresh == ()
    assert row(other).known == 1


def test_a_store_is_opened_anew_once_nobody_uses_it(crawler_for: Callable[..., Crawler]) -> None:
    first = ledger_of(crawler_for())
    first.store.close()
    del first
    gc.collect()
    fresh = ledger_of(crawler_for())
    assert fresh.store.known(["x"]) == set()
    fresh.store.close()


def test_a_ledger_needs_the_add_on(crawler_for: Callable[..., Crawler]) -> None:
    with pytest.raises(RuntimeError, match="SourcesAddon"):
        ledger_of(crawler_for(ADDONS={}))


def test_what_fails_for_a_week_is_given_up_and_without_a_network_for_a_month(ledger: Ledger) -> None:
    now = datetime.now(UTC)
    asyncio.run(ledger.sift([link("young")]))
    ledger.store.defer([link("old"), link("offline")], now=now - timedelta(days=8))
    ledger.store.defer([link("gone")], now=now - timedelta(days=29))
    for path, reason in (("young", "http-503"), ("old", "http-503"), ("offline", "dns"), ("gone", "dns")):
        asyncio.run(ledger.fail(link(path), reason, later=True))
    assert sorted(one.url for one in ledger.store.deferred(A)) == [link("offline").url, link("young").url]
    assert row(ledger).failed == {"http-503": 1, "given-up": 2, "dns": 1}


def test_what_another_process_left_in_the_queue_has_one_fate_here(ledger: Ledger) -> None:
    keep(ledger, link("stored"))
    ledger.store.defer([link("stored"), link("left")], now=NOW)
    asyncio.run(ledger.sift([link("ours")]))
    left = [link("stored"), link("left"), link("ours")]
    assert asyncio.run(ledger.restored(left)) == [False, True, None], "who has claimed it is about to ask for it"
    assert link("stored") not in ledger.store.deferred(A), "what is stored by now waits no longer"
    found = row(ledger)
    assert (found.entries, found.known, found.new, found.repeated) == (3, 1, 2, 0)
    assert asyncio.run(ledger.resume(A)) == (), "it is asked for once, whoever finds it first"
    asyncio.run(ledger.fail(link("ours"), "http-503", later=True))
    assert asyncio.run(ledger.restored([link("ours")])) == [False], "once a visit"


def test_a_list_page_that_is_not_for_us_is_no_failure_of_the_visit(ledger: Ledger) -> None:
    ledger.store.visits.add(Visit(A, NOW))
    ledger.count(A, "list_pages")
    ledger.list_left(A, "login")
    ledger.store.visits.join(ledger.told.taken(NOW))
    asyncio.run(ledger.close([A], NOW))
    assert row(ledger).list_failed == {"login": 1}
    state = asyncio.run(ledger.state(A))
    assert (state.failures_in_row, state.last_error, state.last_success) == (0, None, NOW)


def test_what_was_claimed_and_never_asked_for_is_asked_for_in_the_end(ledger: Ledger) -> None:
    asyncio.run(ledger.sift([link("ours")]))
    told = [asyncio.run(ledger.restored([link("ours")])) for _ in range(PUT_OFF + 1)]
    assert told == [[None]] * PUT_OFF + [[True]]


def test_claims_of_threads_stories_and_further_pages_go_with_the_visit_too(ledger: Ledger) -> None:
    """Another process may have had their outcome: then this one never hears of it."""
    thread = Link("https://a.example/t-1", A, identity="a.example/t/1")

    async def sifted() -> int:
        threads_found = await threads.sift(ledger, [(thread, Listed(thread.url, "a.example/t/1", "题"))])
        stories = await galleries.sift(ledger, [link("story")])
        return len(threads_found.wanted) + len(stories.wanted)

    assert [asyncio.run(sifted()), asyncio.run(sifted())] == [2, 0]
    ledger.over(A)
    assert asyncio.run(sifted()) == 2


def test_threads_and_photo_stories_that_another_process_left_may_grow(ledger: Ledger) -> None:
    keep(ledger, link("stored"))
    ledger.store.defer([link("stored")], now=NOW)  # as whoever pushed it did: it has grown
    assert asyncio.run(ledger.restored([link("stored")], settled=False)) == [True]


def test_threads_and_photo_stories_that_were_read_to_their_end_meanwhile_are_not_read_again(ledger: Ledger) -> None:
    keep(ledger, link("stored"))  # and its link waits no more
    assert asyncio.run(ledger.restored([link("stored")], settled=False)) == [False]
    assert row(ledger).known == 1


def test_a_photo_story_that_is_being_read_is_not_begun_once_more(ledger: Ledger) -> None:
    """The next visit took its link up, from the pages that were kept, and the request of the visit before comes out of the queue."""
    ledger.store.defer([link("story")], now=NOW)
    assert asyncio.run(galleries.sift(ledger, [link("story")])).wanted
    assert asyncio.run(ledger.restored([link("story")], settled=False)) == [False]


def test_what_another_process_failed_at_is_asked_for_again_once_the_visit_is_over(ledger: Ledger) -> None:
    asyncio.run(ledger.sift([link("1"), link("2")]))
    asyncio.run(ledger.settle(link("2"), "stored"))
    assert ledger.claimed == {A}
    ledger.forget(A)
    assert asyncio.run(ledger.resume(A)) == (), "somebody else may be at it"
    ledger.over(A)
    assert asyncio.run(ledger.resume(A)) == (link("1"),)
    assert ledger.claimed == {A}


def test_what_was_seen_of_another_processs_visit_is_handed_over(ledger: Ledger) -> None:
    ledger.validate(A, "https://a.example/rss", ("e1", None))
    ledger.layout_changed(A)
    asyncio.run(ledger.hand_over(A))
    asyncio.run(ledger.hand_over(B))
    found = ledger.store.source_state(A)
    assert (found.validators, found.last_run, found.layout_changed is not None) == ({"https://a.example/rss": ("e1", None)}, None, True)


def test_a_visit_whose_list_another_process_could_not_read_is_no_success(ledger: Ledger) -> None:
    ledger.store.visits.add(Visit(A, NOW))
    ledger.store.visits.join([Visit(A, NOW + timedelta(seconds=1), list_failed={"http-503": 1})])
    asyncio.run(ledger.close([A], NOW + timedelta(seconds=2)))
    found = ledger.store.source_state(A)
    assert (found.last_success, found.last_error, found.failures_in_row) == (None, "http-503", 1)


def test_a_report_begins_anew_with_what_has_no_outcome_anywhere(ledger: Ledger) -> None:
    asyncio.run(ledger.sift([link("1"), link("2"), link("3", B)]))
    asyncio.run(ledger.settle(link("2"), "stored"))
    ledger.over(B)  # another process did it
    ledger.begin_anew()
    assert [(one.source, one.entries, one.new, one.left) for one in ledger.report()] == [(A, 1, 1, 1)]
    asyncio.run(ledger.settle(link("1"), "stored"))
    assert row(ledger).left == 0
