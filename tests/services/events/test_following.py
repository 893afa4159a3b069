"""Stories are placed into events in the order of the change log, with the same result for any number of followers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from event_texts import CATCH, FIRE, TRIAL, add
from factories import NOW

from newsportal.events import EventClusters
from newsportal.items import Link
from newsportal.services.events import editing, following
from newsportal.services.events.following import EventFollower, rebuild, state_of, story_of, vector_of
from newsportal.store.events import Events
from newsportal.store.store import Store


def fill(store: Store) -> tuple[str, str, str]:
    fire = add(store, "fire", "老城灯笼作坊起火", FIRE)
    catch = add(store, "catch", "海带丰收", CATCH, days=19)
    return fire, catch, add(store, "trial", "作坊主当庭认错", TRIAL, days=184)


def test_stories_are_placed_with_deciding_words(store: Store) -> None:
    fire, catch, trial = fill(store)
    assert EventFollower().follow(store) == store.last_seq()
    found = store.events.of([fire, catch, trial])
    assert {member.story_id: member.event_id for member in found.values()} == {fire: fire, catch: catch, trial: fire}
    assert {"灯笼", "作坊"} & set(found[trial].words)
    event = store.events.event(fire)
    assert event is not None
    assert (event.stories, event.first, event.last) == (2, NOW, NOW + timedelta(days=184))


def test_new_follower_resumes_from_the_store(store: Store) -> None:
    fire = add(store, "fire", "老城灯笼作坊起火", FIRE)
    EventFollower().follow(store)
    trial = add(store, "trial", "作坊主当庭认错", TRIAL, days=184)
    assert EventFollower().follow(store) == 1
    assert store.events.of([trial])[trial].event_id == fire
    assert EventFollower().follow(store) == 0


CAPTIONS = ("手上的老茧清晰可见。", "汗水顺着脸颊往下淌。", "远处传来一阵笑声。", "他们已经等了整整一个上午。")


@pytest.mark.parametrize("anew", [False, True])
def test_boilerplate_sentences_do_not_join_stories(store: Store, anew: bool) -> None:
    follower = EventFollower()
    ids = []
    for day, (title, text) in enumerate(
        [("青瓷开窑", "匠人拆开窑门。"), ("渔港开海", "渔嫂解开缆绳。"), ("茶山开采", "师傅徒手炒茶。"), ("冰上赛马", "骑手冲过终点。")]
    ):
        ids.append(add(store, str(day), title, text + "".join(CAPTIONS), days=day))
        if day > 1:
            follower = EventFollower() if anew else follower
            follower.follow(store)
    assert len({member.event_id for member in store.events.of(ids).values()}) == len(ids)


def test_two_followers_do_not_interfere(store: Store) -> None:
    first, second = EventFollower(), EventFollower()
    fire = add(store, "fire", "老城灯笼作坊起火", FIRE)
    first.follow(store)
    add(store, "catch", "海带丰收", CATCH, days=19)
    second.follow(store)
    trial = add(store, "trial", "作坊主当庭认错", TRIAL, days=184)
    first.follow(store)
    assert store.events.of([trial])[trial].event_id == fire


def test_event_joined_during_placement_stays_joined(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    follower = EventFollower()
    fire, catch = add(store, "fire", "老城灯笼作坊起火", FIRE), add(store, "catch", "海带丰收", CATCH, days=19)
    follower.follow(store)
    trial = add(store, "trial", "作坊主当庭认错", TRIAL, days=184)
    place, edits = Events.assign, [lambda: editing.join(store, catch, fire, by="", now=NOW)]

    def late(self: Events, *args: Any, **options: Any) -> bool:
        if edits:
            edits.pop()()
        return place(self, *args, **options)

    monkeypatch.setattr(Events, "assign", late)
    follower.follow(store)
    assert {member.event_id for member in store.events.of([fire, catch, trial]).values()} == {catch}
    assert (store.events.event(fire), store.events.merged_into(fire)) == (None, catch)


def test_threads_and_hidden_articles_are_left_out(store: Store) -> None:
    thread = add(store, "thread", "老城灯笼作坊起火", FIRE, link=Link("https://bbs.example/1", "forum:某论坛"))
    hidden = add(store, "hidden", "海带丰收", CATCH)
    store.hide([hidden], by="林", reason="误登", now=NOW)
    EventFollower().follow(store)
    assert store.events.of([thread, hidden]) == {}
    store.show([hidden], now=NOW)
    EventFollower().follow(store)
    assert set(store.events.of([thread, hidden])) == {hidden}


def test_event_of_a_hidden_story_is_recounted(store: Store) -> None:
    fire, _, trial = fill(store)
    follower = EventFollower()
    follower.follow(store)
    assert [(event.id, event.stories) for event in store.events.list_events().events] == [(fire, 2)]
    store.hide([fire], by="林", reason="误登", now=NOW)
    left = store.events.event(fire)
    assert left is not None
    assert (left.head_id, left.stories) == (trial, 1)
    store.show([fire], now=NOW)
    assert [(event.id, event.stories) for event in store.events.list_events().events] == [(fire, 2)]


def test_position_beyond_the_change_log_restarts_from_its_begin(store: Store) -> None:
    fire, _, trial = fill(store)
    assert store.events.assign([], {}, after=0, up_to=1000)
    EventFollower().follow(store)
    assert store.events.of([trial])[trial].event_id == fire


def test_changes_are_read_in_batches(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "CHANGES", 1)
    monkeypatch.setattr(following, "AT_ONCE", 2)
    fill(store)
    follower = EventFollower()
    assert [follower.follow(store) for _ in range(3)] == [2, 1, 0]
    assert follower.follow(store, stopped=lambda: True) == 0


def test_remembered_events_are_limited(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "MAX_EVENTS", 1)
    fire = add(store, "fire", "老城灯笼作坊起火", FIRE)
    add(store, "catch", "海带丰收", CATCH, days=19)
    EventFollower().follow(store)
    trial = add(store, "trial", "作坊主当庭认错", TRIAL, days=184)
    EventFollower().follow(store)
    assert store.events.of([trial])[trial].event_id == trial != fire, "the fire is no longer in memory"


def test_rebuild_gives_the_same_events(store: Store) -> None:
    fill(store)
    EventFollower().follow(store)
    before = [(event.id, event.title, event.stories) for event in store.events.list_events(min_stories=1).events]
    progress: list[tuple[int, int]] = []
    assert rebuild(store, lambda done, total: progress.append((done, total))) == store.last_seq()
    assert [(event.id, event.title, event.stories) for event in store.events.list_events(min_stories=1).events] == before
    assert progress[-1] == (store.last_seq(), store.last_seq())


def test_event_state_round_trip() -> None:
    clusters = EventClusters()
    clusters.add(story_of("1", "老城灯笼作坊起火", FIRE, NOW))
    state = clusters.state("1")
    restored = state_of("1", vector_of(state).encode())
    assert (restored.stories, restored.places, restored.titles) == (state.stories, state.places, state.titles)
    assert restored.terms == pytest.approx(state.terms, abs=1e-4)
