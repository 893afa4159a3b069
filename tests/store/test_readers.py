"""What every store guarantees about readers: views are added up, refer to the current story, can be deleted, and expire."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from factories import article

from newsportal.recommend.base import Recommendation, View
from newsportal.store.reader_views import OFFERS_KEPT, OPENED_WITHIN, VIEWS_KEPT, ImportedViews, Month
from newsportal.store.readers import Fit
from newsportal.store.store import Store

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def ids(store: Store) -> list[str]:
    """Ids of five stories with one article each."""
    return [store.add(article(name), now=NOW).story_id for name in "abcde"]


def recommendations(*stories: str) -> tuple[Recommendation, ...]:
    return tuple(Recommendation(story, 1.0, "neighbours") for story in stories)


def view_shares(views: Sequence[View]) -> list[tuple[str, int, int]]:
    return [(view.story, view.seen, view.pictures) for view in views]


def test_views_are_added_up(store: Store, ids: list[str]) -> None:
    assert store.readers.record_view("林", ids[0], [1, 2, 2], pictures=8, now=NOW)
    assert store.readers.record_view("林", ids[0], [2, 3, 99, 0, -1], pictures=8, now=NOW + HOUR)
    assert store.readers.record_view("林", ids[1], [], pictures=0, now=NOW + MINUTE)
    assert store.readers.record_view("陈", ids[0], [], pictures=8, now=NOW)
    assert store.readers.history("林") == [View("林", ids[0], 3, 8, NOW + HOUR), View("林", ids[1], 1, 1, NOW + MINUTE)]
    assert view_shares(store.readers.history("陈")) == [(ids[0], 0, 8)]
    assert store.readers.history("nobody") == []
    assert store.readers.counts() == (3, 2)
    assert view_shares(store.readers.history("林", limit=1)) == [(ids[0], 3, 8)]


def test_number_of_pictures_is_the_current_one(store: Store, ids: list[str]) -> None:
    store.readers.record_view("林", ids[0], range(1, 9), pictures=8, now=NOW)
    store.readers.record_view("林", ids[0], [12], pictures=12, now=NOW + HOUR)
    assert view_shares(store.readers.history("林")) == [(ids[0], 9, 12)]
    store.readers.record_view("林", ids[0], [1], pictures=4, now=NOW + 2 * HOUR)
    assert view_shares(store.readers.history("林")) == [(ids[0], 4, 4)]


def test_seen_pictures_are_limited(store: Store, ids: list[str]) -> None:
    assert store.readers.record_view("林", ids[0], range(1, 9000), pictures=9000, now=NOW)
    assert view_shares(store.readers.history("林")) == [(ids[0], 2000, 9000)]


def test_unknown_articles_are_ignored_and_unusual_names_kept(store: Store, ids: list[str]) -> None:
    assert not store.readers.record_view("林", "nobody", [1], pictures=3, now=NOW)
    for name in ("x" * 500, "a\x00b", "\ud800", ""):
        assert store.readers.record_view(name, ids[0], [1], pictures=3, now=NOW)
        assert view_shares(store.readers.history(name)) == [(ids[0], 1, 3)]
    assert store.readers.counts() == (4, 4)


def test_views_refer_to_the_current_story(store: Store, ids: list[str]) -> None:
    store.readers.record_view("林", ids[0], [1], pictures=8, now=NOW)
    store.readers.record_view("林", ids[1], range(1, 7), pictures=6, now=NOW - HOUR)
    store.readers.record_view("林", ids[2], [1], pictures=1, now=NOW - DAY)
    store.fold(ids[1], ids[0], reason="by-hand", now=NOW)
    assert store.readers.history("林") == [View("林", ids[0], 6, 6, NOW), View("林", ids[2], 1, 1, NOW - DAY)]
    assert store.readers.recent(NOW - 2 * HOUR) == [View("林", ids[0], 6, 6, NOW)]
    assert sorted(view_shares(list(store.readers.views()))) == sorted([(ids[0], 6, 6), (ids[2], 1, 1)])


def test_reader_can_delete_profile_or_one_story(store: Store, ids: list[str]) -> None:
    for id in ids[:4]:
        store.readers.record_view("林", id, [1], pictures=1, now=NOW)
        store.readers.record_view("陈", id, [1], pictures=1, now=NOW)
    store.fold(ids[1], ids[0], reason="by-hand", now=NOW)
    store.readers.record_offer("林", recommendations(ids[0], ids[4]), now=NOW)
    store.readers.forget("林", ids[0])  # both articles of the story
    assert {view.story for view in store.readers.history("林")} == {ids[2], ids[3]}
    store.readers.forget("林", "nobody")
    assert len(store.readers.history("林")) == 2
    assert store.readers.months(alpha=0.5)[0].offered == 1
    store.readers.forget("林")
    assert store.readers.history("林") == []
    assert store.readers.months(alpha=0.5)[0].offered == 0
    assert store.readers.counts() == (4, 1), "other readers are not affected"


def test_nothing_is_stored_for_a_reader_who_opted_out(store: Store, ids: list[str]) -> None:
    store.readers.record_view("林", ids[0], [1], pictures=1, now=NOW)
    store.readers.record_offer("林", recommendations(ids[1]), now=NOW)
    store.readers.set_recording("林", False, now=NOW)
    store.readers.set_recording("林", False, now=NOW)
    assert not store.readers.record_view("林", ids[0], [1], pictures=1, now=NOW)
    store.readers.record_offer("林", recommendations(ids[1]), now=NOW)
    assert store.readers.import_views([View("林", ids[0], 1, 1, NOW)], now=NOW) == ImportedViews(0, off=1)
    assert (store.readers.history("林"), store.readers.counts(), store.readers.months(alpha=0.5)) == ([], (0, 0), [])
    store.readers.set_recording("林", True, now=NOW)
    assert store.readers.record_view("林", ids[0], [1], pictures=1, now=NOW)


def test_views_are_streamed_completely_and_in_parts(store: Store, ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newsportal.store.readers.VIEWS_AT_ONCE", 3)
    readers = [f"reader{number:02}" for number in range(12)]
    for place, reader in enumerate(readers):
        for id in ids[: 1 + place % 4]:
            store.readers.record_view(reader, id, [1], pictures=2, now=NOW + place * MINUTE)
    everything = list(store.readers.views())
    assert [(view.reader, view.story) for view in everything] == sorted((view.reader, view.story) for view in everything)
    assert len(everything) == 30
    assert {view.reader for view in store.readers.views(since=NOW + 10 * MINUTE)} == {"reader10", "reader11"}
    for number in (1, 2, 3, 40):
        cuts = store.readers.split_readers(number)
        assert len(cuts) < number
        bounds = list(zip(["", *cuts], [*cuts, None], strict=True))
        assert [view for after, until in bounds for view in store.readers.views(after=after, until=until)] == everything
    assert len(list(store.readers.views(until=store.readers.split_readers(2)[0]))) in range(12, 19)


def test_offers_count_once_a_day_with_opened_and_liked(store: Store, ids: list[str]) -> None:
    store.readers.record_offer("林", recommendations(*ids[:4]), now=NOW)
    store.readers.record_offer("林", recommendations(*ids[:4]), now=NOW + HOUR)
    store.readers.record_view("林", ids[0], [1, 2, 3], pictures=4, now=NOW + HOUR)  # opened and liked
    store.readers.record_view("林", ids[1], [1], pictures=4, now=NOW + HOUR)  # opened
    store.readers.record_view("林", ids[2], [1], pictures=1, now=NOW + OPENED_WITHIN + MINUTE)  # too late
    store.readers.record_view("陈", ids[3], [1], pictures=1, now=NOW)  # another reader
    assert store.readers.months(alpha=0.532) == [Month(datetime(2026, 3, 1, tzinfo=UTC), 4, 6, 2, 4, 2, 1)]
    store.readers.record_offer("林", recommendations(ids[3], ids[4]), now=NOW + DAY)
    store.readers.record_view("林", ids[3], [1], pictures=1, now=NOW + DAY + HOUR)
    assert store.readers.months(alpha=0.2)[0] == Month(datetime(2026, 3, 1, tzinfo=UTC), 5, 7, 2, 6, 3, 3)
    assert store.readers.months(alpha=1.0)[0].liked == 1  # the threshold where most stories are articles: one read completely is liked


def test_offer_is_opened_by_any_article_of_the_story(store: Store, ids: list[str]) -> None:
    store.fold(ids[1], ids[0], reason="by-hand", now=NOW)
    store.readers.record_offer("林", recommendations(ids[0]), now=NOW)
    store.readers.record_view("林", ids[1], [1], pictures=1, now=NOW + HOUR)
    month = store.readers.months(alpha=0.5)[0]
    assert (month.offered, month.opened, month.liked) == (1, 1, 1)


def test_imported_views_are_merged_once(store: Store, ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newsportal.store.reader_views.IMPORT_BATCH", 4)
    store.add_aliases(["m.news.example/b"], "news.example/b")
    log = [
        View("林", ids[0], 3, 8, NOW - HOUR),
        View("林", ids[0], 5, 8, NOW - DAY),  # the same story earlier: the larger share and the later time are kept
        View("林", "news.example/b", 1, 1, NOW),
        View("林", "m.news.example/b", 1, 1, NOW - HOUR),
        View("陈", ids[2], 99, 3, NOW),
        View("陈", "nobody", 1, 1, NOW),
        View("陈", ids[3], 1, 1, NOW - VIEWS_KEPT - DAY),
    ]
    for _ in range(2):
        assert store.readers.import_views(iter(log), now=NOW) == ImportedViews(5, unknown=1, old=1)
        assert store.readers.history("林") == [View("林", ids[1], 1, 1, NOW), View("林", ids[0], 5, 8, NOW - HOUR)]
        assert view_shares(store.readers.history("陈")) == [(ids[2], 3, 3)]
    store.readers.record_view("林", ids[0], [8], pictures=8, now=NOW + HOUR)
    assert store.readers.import_views(log, now=NOW + HOUR).taken == 5
    assert view_shares(store.readers.history("林"))[0] == (ids[0], 6, 8), "views here are kept"
    assert store.readers.import_views([], now=NOW) == ImportedViews(0)


def test_expired_views_are_deleted_and_monthly_figures_kept(store: Store, ids: list[str]) -> None:
    long_ago = NOW - VIEWS_KEPT - 20 * DAY
    store.readers.record_offer("林", recommendations(ids[0]), now=long_ago)
    store.readers.record_view("林", ids[0], [1, 2], pictures=2, now=long_ago + HOUR)
    store.readers.record_view("林", ids[1], [1], pictures=2, now=long_ago)
    store.readers.record_view("林", ids[1], [1], pictures=2, now=NOW)  # viewed again: kept
    store.readers.record_view("陈", ids[2], [1], pictures=1, now=NOW)
    before = store.readers.months(alpha=0.5)
    assert (before[0].views, before[0].offered, before[0].liked, before[-1].views) == (2, 1, 1, 1)
    assert len(before) == 14, "months without views are included"
    assert store.readers.prune_views(alpha=0.5, now=NOW) == 1
    assert store.readers.prune_views(alpha=0.5, now=NOW) == 0
    assert store.readers.months(alpha=0.5) == before
    assert view_shares(store.readers.history("林")) == [(ids[1], 1, 2)]
    assert store.readers.prune_views(alpha=0.9, now=NOW + OFFERS_KEPT) == 3
    assert store.readers.counts() == (0, 0)
    assert store.readers.months(alpha=0.9)[0] == before[0]


def test_new_fit_replaces_the_previous_one(store: Store) -> None:
    assert store.readers.fit() is None
    assert store.readers.fits() == []
    first, second = Fit(NOW, {"alpha": 0.5, "words": "甲"}, b"\x00\x01" * 1000), Fit(NOW + HOUR, {"alpha": 0.6}, b"")
    store.readers.save_fit(first)
    assert store.readers.fit() == first
    assert store.readers.fit(newer_than=NOW) is None
    store.readers.save_fit(second)
    assert store.readers.fit(newer_than=NOW) == second
    assert store.readers.fits() == [(second.created, second.facts), (first.created, first.facts)]


def test_number_of_fits_is_limited(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newsportal.store.readers.FITS_KEPT", 4)
    for number in range(7):
        store.readers.save_fit(Fit(NOW + number * MINUTE, {"number": number}, b"model"))
    numbers = [facts["number"] for _, facts in store.readers.fits()]
    assert numbers == [6, 5, 4, 3]


def test_concurrent_views_of_two_processes_are_kept(store: Store, another: Callable[[], Store], ids: list[str]) -> None:
    other = another()
    failed: list[BaseException] = []

    def look(which: Store, places: range) -> None:
        try:
            for place in places:
                which.readers.record_view("林", ids[0], [place], pictures=100, now=NOW)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=look, args=(which, places)) for which, places in ((store, range(1, 51)), (other, range(51, 101)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other.close()
    assert not failed
    assert view_shares(store.readers.history("林")) == [(ids[0], 100, 100)]


def test_stories_have_their_labels(store: Store, ids: list[str]) -> None:
    old = store.add(article("old", published=NOW - 60 * DAY, topic="桥", title="旧事", text="长" * 900), now=NOW).story_id
    older = store.add(article("older", published=NOW - 90 * DAY), now=NOW).story_id
    store.readers.record_view("林", old, [1], pictures=1, now=NOW)
    by_id = {story.story: story for story in store.readers.stories(NOW - 30 * DAY)}
    assert set(by_id) == {*ids, old}
    assert (by_id[old].title, by_id[old].text, by_id[old].published) == ("旧事", "长" * 300, NOW - 60 * DAY)
    assert by_id[old].labels == ("topic:桥", "source:feed:快讯")
    assert {story.story for story in store.readers.stories(NOW - 30 * DAY, looked_at=False)} == set(ids)
    assert {story.story for story in store.readers.stories(NOW - 100 * DAY, looked_at=False)} == {*ids, old, older}
    new = store.add(article("new"), now=NOW + HOUR).story_id
    assert [story.story for story in store.readers.stories(NOW - 30 * DAY, found=NOW + HOUR, looked_at=False)] == [new]


def test_stories_are_read_in_pages(store: Store, ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newsportal.store.readers.STORIES_AT_ONCE", 2)
    assert [story.story for story in store.readers.stories(NOW - 30 * DAY)] == sorted(ids)


def test_listed_resolves_folded_stories(store: Store, ids: list[str]) -> None:
    store.fold(ids[1], ids[0], reason="by-hand", now=NOW)
    stories = store.by_id([ids[2], ids[1], ids[0], "nobody"])
    assert [(id, story.id, story.count) for id, story in stories.items()] == [(ids[2], ids[2], 1), (ids[1], ids[0], 2), (ids[0], ids[0], 2)]
    full = store.story(ids[2])
    assert full is not None
    assert (stories[ids[2]].head.title, stories[ids[2]].heat, stories[ids[2]].first_seen) == (full.head.title, full.heat, full.first_seen)
    assert store.by_id([]) == {}


def test_views_are_counted_by_age_of_the_article(store: Store, ids: list[str]) -> None:
    published = NOW - 5 * HOUR
    id = store.add(article("aged", published=published), now=NOW).id
    for reader, at in (("甲", published), ("乙", published + 90 * MINUTE), ("丙", published + 100 * MINUTE), ("丁", published + 9 * HOUR)):
        store.readers.record_view(reader, id, [1], pictures=1, now=at)
    store.readers.record_view("戊", id, [1], pictures=1, now=published - HOUR)
    store.readers.record_view("甲", id, [1], pictures=1, now=published + 2 * HOUR)  # viewed again: the first time counts
    assert store.readers.ages(hours=4) == [1, 2, 0, 0]
