"""Editors rename, pin, split and join events; each edit can be undone, and followers respect it."""

from __future__ import annotations

import pytest
from event_texts import CATCH, FIRE, TRIAL, add
from factories import NOW

from newsportal.errors import StoreError
from newsportal.services.events import editing
from newsportal.services.events.following import EventFollower, rebuild
from newsportal.store.store import Store


def test_renamed_event_can_be_undone(store: Store) -> None:
    fire = add(store, "fire", "老城灯笼作坊起火", FIRE)
    EventFollower().follow(store)
    number = editing.rename(store, fire, " 灯笼作坊火灾 ", by="林", now=NOW)
    assert editing.get_event(store, fire).title == "灯笼作坊火灾"
    assert editing.undo(store, number, by="林", now=NOW).kind == "rename"
    assert editing.get_event(store, fire).title == "老城灯笼作坊起火"
    with pytest.raises(StoreError, match="no edit"):
        editing.undo(store, number, by="林", now=NOW)
    with pytest.raises(StoreError, match="may have 200"):
        editing.rename(store, fire, "长" * 201, by="林", now=NOW)


def test_undo_fails_after_later_edit(store: Store) -> None:
    fire = add(store, "fire", "老城灯笼作坊起火", FIRE)
    EventFollower().follow(store)
    first = editing.rename(store, fire, "一", by="林", now=NOW)
    editing.rename(store, fire, "二", by="陈", now=NOW)
    with pytest.raises(StoreError, match="changed meanwhile"):
        editing.undo(store, first, by="林", now=NOW)


def test_pin_and_undo(store: Store) -> None:
    fire, catch = add(store, "fire", "老城灯笼作坊起火", FIRE), add(store, "catch", "海带丰收", CATCH, 19)
    EventFollower().follow(store)
    number = editing.pin(store, fire, True, by="林", now=NOW)
    assert [event.id for event in store.events.pinned()] == [fire]
    editing.undo(store, number, by="林", now=NOW)
    assert store.events.pinned() == []
    assert {event.id for event in store.events.list_events(min_stories=1).events} == {fire, catch}


def test_split_is_kept_by_followers_and_rebuild_and_can_be_undone(store: Store) -> None:
    fire, trial = add(store, "fire", "老城灯笼作坊起火", FIRE), add(store, "trial", "作坊主当庭认错", TRIAL, 184)
    follower = EventFollower()
    follower.follow(store)
    new, number = editing.split(store, fire, [trial], by="林", now=NOW)
    assert (editing.get_event(store, fire).stories, editing.get_event(store, new).stories) == (1, 1)
    later = add(store, "later", "灯笼作坊案宣判", TRIAL.replace("今天", "昨天") + "作坊主赵远山当庭认错，被判缓刑。", 190)
    follower.follow(store)
    assert store.events.of([later])[later].event_id == new, "the words of the trial belong to the new event"
    rebuild(store, lambda done, total: None)
    assert store.events.of([trial])[trial].event_id == new
    editing.undo(store, number, by="林", now=NOW)
    assert store.events.of([trial])[trial].event_id == fire
    for ids in ([], [fire, trial], ["nobody"]):
        with pytest.raises(StoreError, match="not all of them"):
            editing.split(store, fire, ids, by="林", now=NOW)


def test_joined_event_attracts_stories_of_both(store: Store) -> None:
    fire, catch = add(store, "fire", "老城灯笼作坊起火", FIRE), add(store, "catch", "海带丰收", CATCH, 19)
    follower = EventFollower()
    follower.follow(store)
    number = editing.join(store, fire, catch, by="林", now=NOW)
    assert store.events.merged_into(catch) == fire
    again = add(store, "again", "海带又丰收", CATCH.replace("今年", "去年") + "海带晒干以后卖到各地。", 30)
    follower.follow(store)
    assert store.events.of([again])[again].event_id == fire
    editing.undo(store, number, by="林", now=NOW)
    assert editing.get_event(store, catch).stories == 1
    for other in (fire, "nobody"):
        with pytest.raises(StoreError, match="no other event"):
            editing.join(store, fire, other, by="林", now=NOW)
    with pytest.raises(StoreError, match="no event 'nobody'"):
        editing.pin(store, "nobody", True, by="林", now=NOW)
