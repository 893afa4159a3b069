"""The link tracker: every entry has exactly one outcome, new links are kept in the store until done, and store failures lose nothing."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from link_rows import SPIDER, age, ask, filtered, waiting
from scrapy import Request
from scrapy.crawler import Crawler

from newsportal.crawl.link_tracker import LinkTracker, tracker_of
from newsportal.crawl.list_filters import filter_galleries, filter_threads
from newsportal.crawl.requests import link_of, name_of
from newsportal.dedup.canonical import identity
from newsportal.extractors.forum.kinds import Listed
from newsportal.items import Article, Link
from newsportal.items.report import SourceReport
from newsportal.items.visits import Visit
from newsportal.store.results import SourceState

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
A, B = "feed:甲", "feed:乙"


def link(path: str, source: str = A, **more: Any) -> Link:
    return Link(f"https://a.example/{path}", source, title=f"题 {path}", **more)


def store_article(tracker: LinkTracker, found: Link) -> None:
    """Store the article of a link."""
    article = Article(url=found.url, link=found, fetched=NOW, identity=name_of(found), title=found.title or "", text="正文")
    tracker.store.add(article, now=NOW)
    tracker.stored_urls.add([name_of(found)])


def row(tracker: LinkTracker, source: str = A) -> SourceReport:
    return next(row for row in tracker.report() if row.source == source)


def test_every_entry_has_one_outcome(tracker: LinkTracker) -> None:
    store_article(tracker, link("1"))
    found = filtered(tracker, [link("1"), link("2"), link("3"), link("2?utm_source=x")])
    assert found.fresh == (link("2"), link("3"))
    assert not found.stale
    counts = row(tracker)
    assert (counts.entries, counts.known, counts.new, counts.repeated) == (4, 1, 2, 1)


def test_results_of_engines_are_counted_by_topic(tracker: LinkTracker) -> None:
    travel, cars = ("旅游", "车/船")
    found = filtered(tracker, [link("1", topic=travel), link("2", topic=travel), link("1", topic=cars), link("3", topic=cars), link("4")])
    assert len(found.fresh) == 4
    asyncio.run(tracker.settle(link("2", topic=travel), "folded"))
    asyncio.run(tracker.fail(link("3", topic=cars), "no-body"))
    counts = row(tracker)
    assert counts.topics == {
        travel: {"entries": 2, "new": 2, "parsed": 1, "folded": 1},
        cars: {"entries": 2, "repeated": 1, "new": 1},
    }
    assert (counts.entries, counts.new, counts.failed) == (5, 4, {"no-body": 1})


def test_new_link_is_queued_once_before_it_is_fetched(tracker: LinkTracker) -> None:
    filtered(tracker, [link("1")])
    assert waiting(tracker.store, A) == [link("1").url]
    assert filtered(tracker, [link("1", B)]).fresh == ()
    assert row(tracker, B).repeated == 1
    assert waiting(tracker.store, B) == []


def test_list_page_is_stale_if_all_links_were_stored_before(tracker: LinkTracker) -> None:
    tracker.store.add(Article(url="https://a.example/1", link=link("1"), fetched=NOW, identity="old", title="题", text="正文"), now=NOW)
    tracker.store.add_aliases([identity("https://a.example/1")], "old")
    tracker.stored_urls.add([identity("https://a.example/1")])  # as if read from the store at the start
    assert filtered(tracker, [link("1")]).stale
    filtered(tracker, [link("2")])
    store_article(tracker, link("2"))
    assert not filtered(tracker, [link("1"), link("2")]).stale, "this visit stored the second link itself"
    assert filtered(tracker, []).stale


@pytest.mark.parametrize("column", ["stored", "folded", "same"])
def test_settled_link_is_no_longer_queued(tracker: LinkTracker, column: str) -> None:
    filtered(tracker, [link("1")])
    asyncio.run(tracker.settle(link("1"), column))
    assert waiting(tracker.store, A) == []
    found = row(tracker)
    assert (found.parsed, getattr(found, column), found.left) == (1, 1, 0)


def test_temporary_failure_is_queued_and_permanent_one_is_not(tracker: LinkTracker) -> None:
    filtered(tracker, [link("1"), link("2")])
    asyncio.run(tracker.fail(link("1"), "http-503", later=True))
    asyncio.run(tracker.fail(link("2"), "http-404"))
    assert waiting(tracker.store, A) == [link("1").url]
    assert row(tracker).failed == {"http-503": 1, "http-404": 1}
    assert row(tracker).left == 0


def test_entries_with_the_same_url_are_settled_separately(tracker: LinkTracker) -> None:
    entries = [link("", identity=f"a.example/rss#{number}", content="<p>正文</p>") for number in (1, 2)]
    assert filtered(tracker, entries).fresh == tuple(entries)
    asyncio.run(tracker.settle(entries[0], "stored"))
    assert len(waiting(tracker.store, A)) == 1


def test_redirect_target_is_queued_under_its_own_url(tracker: LinkTracker) -> None:
    filtered(tracker, [link("go?1"), link("go?2"), link("go?3")])
    target = "https://b.example/story"

    def redirect_to(path: str, to: str) -> Request | None:
        return asyncio.run(tracker.follow_redirect(link(path), to, SPIDER, ask))

    request = redirect_to("go?1", target)
    assert request is not None
    assert request.cb_kwargs["link"] == replace(link("go?1"), url=target)
    assert redirect_to("go?2", target) is None, "another link redirected there first"
    assert waiting(tracker.store, A) == ["https://a.example/go?3", target]
    store_article(tracker, link("known"))
    assert redirect_to("go?3", link("known").url) is None
    found = row(tracker)
    assert (found.new, found.repeated, found.known, found.entries) == (1, 1, 1, 3)


def test_close_stores_validators_pauses_and_errors(tracker: LinkTracker) -> None:
    for source in (A, B):
        asyncio.run(tracker.begin(SourceState(source)))
    tracker.validate(A, "https://a.example/rss", ('"e"', None))
    tracker.list_failed(B, "http-503", "https://b.example/rss: HTTP 503")
    tracker.pause(B, NOW + timedelta(hours=1))
    asyncio.run(tracker.close([A, B], NOW))
    assert tracker.store.source_state(A) == SourceState(A, {"https://a.example/rss": ('"e"', None)}, last_run=NOW, last_success=NOW)
    failed = tracker.store.source_state(B)
    assert (failed.rest_until, failed.failures_in_row, failed.last_success) == (NOW + timedelta(hours=1), 1, None)
    assert failed.last_error == "http-503: https://b.example/rss: HTTP 503"
    assert failed.unfinished is not None


def test_visits_are_thorough_until_one_finishes(tracker: LinkTracker) -> None:
    def begun() -> bool:
        return asyncio.run(tracker.begin(tracker.store.source_state(A)))

    assert begun(), "the first visit"
    assert begun(), "after a kill"
    asyncio.run(tracker.close([A], NOW, finished=False))
    assert begun(), "after an unfinished visit"
    asyncio.run(tracker.close([A], NOW))
    assert not begun()
    tracker.list_failed(A, "timeout")
    asyncio.run(tracker.close([A], NOW))
    assert begun(), "after a failed list page"


def test_blocking_engine_is_not_visited_thoroughly(tracker: LinkTracker) -> None:
    tracker.store.save_source_state(SourceState("engine:x", last_success=NOW))
    asyncio.run(tracker.begin(tracker.store.source_state("engine:x")))
    tracker.list_failed("engine:x", "blocked: captcha")
    asyncio.run(tracker.close(["engine:x"], NOW))
    assert not asyncio.run(tracker.begin(tracker.store.source_state("engine:x")))


def test_only_visited_sources_are_no_longer_due(tracker: LinkTracker) -> None:
    asyncio.run(tracker.close([A], NOW))
    assert tracker.store.source_state(B).last_run is None


def test_missing_network_is_not_a_failure_of_the_sources(tracker: LinkTracker) -> None:
    for source in (A, B):
        tracker.list_failed(source, "dns", "no address")
    asyncio.run(tracker.close([A, B], NOW))
    state = tracker.store.source_state(A)
    assert (state.failures_in_row, state.last_run, state.last_error) == (0, None, "dns: no address")


def test_trackers_of_one_process_share_their_filters(tracker: LinkTracker, crawler_for: Callable[..., Crawler]) -> None:
    other = tracker_of(crawler_for())
    assert other is not tracker
    assert (other.stored_urls, other.sites) == (tracker.stored_urls, tracker.sites)
    store_article(tracker, link("1"))
    assert filtered(other, [link("1")]).fresh == ()
    assert row(other).known == 1


def test_closed_store_is_opened_again(crawler_for: Callable[..., Crawler]) -> None:
    first = tracker_of(crawler_for())
    first.store.close()
    del first
    gc.collect()
    fresh = tracker_of(crawler_for())
    assert fresh.store.find_stored(["x"]) == set()
    fresh.store.close()


def test_tracker_needs_the_add_on(crawler_for: Callable[..., Crawler]) -> None:
    with pytest.raises(RuntimeError, match="SourcesAddon"):
        tracker_of(crawler_for(ADDONS={}))


def test_skipped_list_page_is_not_a_failed_visit(tracker: LinkTracker) -> None:
    tracker.store.visits.add(Visit(A, NOW))
    tracker.count(A, "list_pages")
    tracker.count_skipped_list(A, "login")
    tracker.store.visits.merge(tracker.visit_counts.take_visits(NOW))
    asyncio.run(tracker.close([A], NOW))
    assert row(tracker).list_failed == {"login": 1}
    state = asyncio.run(tracker.state(A))
    assert (state.failures_in_row, state.last_error, state.last_success) == (0, None, NOW)


def test_state_of_a_visit_by_another_process_is_saved(tracker: LinkTracker) -> None:
    tracker.validate(A, "https://a.example/rss", ("e1", None))
    tracker.layout_changed(A)
    asyncio.run(tracker.transfer_visit(A))
    asyncio.run(tracker.transfer_visit(B))
    found = tracker.store.source_state(A)
    assert (found.validators, found.last_run, found.layout_changed is not None) == ({"https://a.example/rss": ("e1", None)}, None, True)


def test_list_failure_in_another_process_fails_the_visit(tracker: LinkTracker) -> None:
    tracker.store.visits.add(Visit(A, NOW))
    tracker.store.visits.merge([Visit(A, NOW + timedelta(seconds=1), list_failed={"http-503": 1})])
    asyncio.run(tracker.close([A], NOW + timedelta(seconds=2)))
    found = tracker.store.source_state(A)
    assert (found.last_success, found.last_error, found.failures_in_row) == (None, "http-503", 1)


def test_new_report_starts_with_unfinished_links(tracker: LinkTracker) -> None:
    filtered(tracker, [link("1"), link("2"), link("3", B)])
    asyncio.run(tracker.settle(link("2"), "stored"))
    tracker.forget_visit(B)  # done by another process
    tracker.reset_report()
    assert [(row.source, row.entries, row.new, row.left) for row in tracker.report()] == [(A, 1, 1, 1)]
    asyncio.run(tracker.settle(link("1"), "stored"))
    assert row(tracker).left == 0


def begin(tracker: LinkTracker, source: str = A) -> None:
    asyncio.run(tracker.begin(tracker.store.source_state(source)))


def test_temporarily_failed_link_is_retried_at_the_next_visit(tracker: LinkTracker) -> None:
    filtered(tracker, [link("1")])
    asyncio.run(tracker.fail(link("1"), "http-503", later=True))
    (row_,) = tracker.store.links.waiting()
    assert (row_.source, row_.reason, row_.number, row_.next is not None) == (A, "http-503", 1, True)
    assert filtered(tracker, [link("1")]).fresh == (), "it is queued for later"
    assert len(asyncio.run(tracker.resume(A))[0]) == 1
    assert tracker.store.links.waiting() == []
    assert "retries articles" in str(row(tracker).notes[0])
    assert asyncio.run(tracker.resume(B)) == ([], [])


def test_retry_delay_doubles_up_to_six_hours(tracker: LinkTracker) -> None:
    filtered(tracker, [link("1")])
    waits = []
    for _ in range(7):
        before = datetime.now(UTC).timestamp()
        asyncio.run(tracker.fail(link("1"), "http-503", later=True))
        (found,) = tracker.store.links.waiting()
        waits.append(round((found.next or 0.0) - before) // 60)
    assert waits == [15, 30, 60, 120, 240, 360, 360]


def test_permanently_failed_link_is_reopened_by_a_later_visit(tracker: LinkTracker) -> None:
    begin(tracker)
    filtered(tracker, [link("1")])
    asyncio.run(tracker.fail(link("1"), "http-404"))
    assert filtered(tracker, [link("1")]).fresh == ()
    begin(tracker)
    assert filtered(tracker, [link("1")]).fresh == (link("1"),)


def test_feed_entries_of_a_killed_visit_are_resumed(tracker: LinkTracker) -> None:
    entry = link("", identity="a.example/rss#x", content="<p>正文</p>")
    filtered(tracker, [entry])
    bodies = asyncio.run(tracker.resume(A))[1]
    assert [link_of(body, SPIDER) for body in bodies] == [entry]
    asyncio.run(tracker.settle(entry, "stored"))
    assert asyncio.run(tracker.resume(A)) == ([], [])


def test_leased_links_are_counted_once(tracker: LinkTracker, crawler_for: Callable[..., Crawler]) -> None:
    """Whether they were written by another process, an earlier run, or this one."""
    other = tracker_of(crawler_for())
    filtered(other, [link("stored"), link("left")])
    store_article(tracker, link("stored"))
    filtered(tracker, [link("ours")])
    links = [link("stored"), link("left"), link("ours")]
    assert asyncio.run(tracker.count_taken(links)) == [False, True, True]
    found = row(tracker)
    assert (found.entries, found.known, found.new, found.repeated) == (3, 1, 2, 0)
    entries = {visit.source: visit.entries for visit in tracker.visit_counts.take_visits(NOW)}
    assert entries[A] == 1, "the others were counted when they were found"


def test_stored_threads_and_galleries_are_visited_again(tracker: LinkTracker) -> None:
    store_article(tracker, link("stored"))
    assert asyncio.run(tracker.count_taken([link("stored")], settled=False)) == [True]


def test_threads_and_galleries_are_queued_once_per_visit(tracker: LinkTracker) -> None:
    thread = Link("https://a.example/t-1", A, identity="a.example/t/1")

    async def new() -> int:
        entries = [(thread, Listed(thread.url, "a.example/t/1", "题"))]
        found = await filter_threads(tracker, entries, SPIDER, lambda thread: ask(thread.link))
        stories = await filter_galleries(tracker, [link("story")], SPIDER, ask)
        return len(found.requests) + len(stories.requests)

    begin(tracker)
    assert [asyncio.run(new()), asyncio.run(new())] == [2, 0]
    for each in (thread, link("story")):
        asyncio.run(tracker.settle(each, "stored"))
    assert asyncio.run(new()) == 0
    begin(tracker)
    assert asyncio.run(new()) == 2


def test_failing_link_is_given_up_after_a_week_or_a_month_offline(tracker: LinkTracker) -> None:
    filtered(tracker, [link("young"), link("old"), link("offline"), link("gone")])
    for path, days in (("old", 8), ("offline", 8), ("gone", 29)):
        age(tracker.store, link(path), days * 86400.0)
    for path, reason in (("young", "http-503"), ("old", "http-503"), ("offline", "dns"), ("gone", "dns")):
        asyncio.run(tracker.fail(link(path), reason, later=True))
    assert sorted(waiting(tracker.store, A)) == [link("offline").url, link("young").url]
    assert row(tracker).failed == {"http-503": 1, "given-up": 2, "dns": 1}
