"""Revision of events: unrelated stories are split off, duplicate events are joined, and decisions of editors are kept."""

from __future__ import annotations

from typing import Any

import pytest
from event_texts import CATCH, FIRE, TRIAL, add
from factories import NOW

from newsportal.events import EventClusters
from newsportal.events.revision import components
from newsportal.services.events import editing
from newsportal.services.events.editing import Revision, revise
from newsportal.services.events.following import EventFollower, state_of, vector_over
from newsportal.store.events import Assignment
from newsportal.store.store import Store

AGAIN = "灯笼作坊昨夜起火以后，青河市老城的消防员今天清理了灯笼作坊的火场，作坊主赵远山的轻伤已经包扎，大火扑灭用了三个小时。"

MORE = "烧毁的灯笼作坊已经封门，老城的消防员说，青河市三年没有这样的大火。作坊主赵远山受了轻伤，邻居帮他搬走剩下的灯笼。"


def place(store: Store, **events: list[str]) -> None:
    """Put stories into these events, as an unlucky order of arrival would."""
    vectors = {
        id: vector_over(id, store.articles([story.head.id for story in store.by_id(stories).values()])) for id, stories in events.items()
    }
    assignments = [Assignment(story, id, 1.0) for id, stories in events.items() for story in stories]
    assert store.events.assign(assignments, vectors, after=store.events.position(), up_to=store.last_seq())


def run_revision(store: Store, **options: int) -> Revision:
    return revise(store, NOW, lambda done, total: None, **options)


@pytest.fixture
def mixed(store: Store) -> tuple[str, str, str]:
    """An event of a fire and its trial that wrongly includes a harvest."""
    ids = (
        add(store, "fire", "老城灯笼作坊起火", FIRE),
        add(store, "trial", "作坊主当庭认错", TRIAL, 184),
        add(store, "catch", "海带丰收", CATCH, 19),
    )
    place(store, fire=list(ids))
    return ids


def test_unrelated_story_is_split_off_in_one_pass(store: Store, mixed: tuple[str, str, str]) -> None:
    fire, trial, catch = mixed
    assert run_revision(store) == Revision(events=1, split=1)
    found = store.events.of(mixed)
    assert found[fire].event_id == found[trial].event_id == "fire"
    assert found[catch].event_id != "fire"
    assert {member.by for member in found.values()} == {None}
    repeated = run_revision(store)
    assert (repeated.split, repeated.joined) == (0, 0)
    assert run_revision(store) == Revision()


def test_duplicate_events_are_joined(store: Store) -> None:
    fire, again = add(store, "fire", "老城灯笼作坊起火", FIRE), add(store, "again", "灯笼作坊火灾", AGAIN, 1)
    place(store, first=[fire], second=[again])
    follower = EventFollower()
    follower.follow(store)
    assert run_revision(store).joined == 1
    assert store.events.merged_into("second") == "first"
    assert store.events.members(["first"])["first"][1].story_id == again
    later = add(store, "later", "灯笼作坊火灾", AGAIN, 2)
    follower.follow(store)
    assert store.events.of([later])[later].event_id == "first"


def test_edits_by_editors_are_kept(store: Store, mixed: tuple[str, str, str]) -> None:
    _, trial, _ = mixed
    number = editing.rename(store, "fire", "灯笼与海带", by="林", now=NOW)
    assert run_revision(store) == Revision(events=1)
    editing.undo(store, number, by="林", now=NOW)
    new, _ = editing.split(store, "fire", [trial], by="林", now=NOW)  # the stories left together were seen by the editor, too
    run_revision(store)
    assert {id: member.event_id for id, member in store.events.of(mixed).items()} == dict.fromkeys(mixed, "fire") | {trial: new}
    assert (editing.join(store, "fire", new, by="林", now=NOW), run_revision(store).split)[1] == 0


def test_undone_split_is_not_repeated(store: Store, mixed: tuple[str, str, str]) -> None:
    run_revision(store)
    (edit,) = store.events.edits("fire")
    assert (edit.kind, edit.by) == ("split", "")
    editing.undo(store, edit.number, by="林", now=NOW)
    assert run_revision(store).split == 0
    assert {member.event_id for member in store.events.of(mixed).values()} == {"fire"}


def test_event_changed_during_the_pass_is_left_for_the_next(
    store: Store, mixed: tuple[str, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fire, trial, catch = mixed
    edits = [lambda: editing.split(store, "fire", [catch], by="林", now=NOW)]

    def late(*args: Any) -> list[list[str]]:
        if edits:
            edits.pop()()
        return components(*args)

    monkeypatch.setattr("newsportal.services.events.editing.components", late)
    assert run_revision(store) == Revision(events=1, conflicts=1)
    assert {store.events.of([id])[id].event_id for id in (fire, trial)} == {"fire"}
    assert run_revision(store).conflicts == 0


def test_event_joined_during_the_pass_does_not_hide_a_duplicate(store: Store) -> None:
    texts = {
        "catch": ("海带丰收", CATCH),
        "fire": ("老城灯笼作坊起火", FIRE),
        "second": ("灯笼作坊火灾", AGAIN),
        "third": ("灯笼作坊大火", MORE),
    }
    ids = {name: add(store, name, title, text, day) for day, (name, (title, text)) in enumerate(texts.items())}
    place(store, **{name: [id] for name, id in ids.items()})
    clusters = EventClusters()
    for id, vector in store.events.vectors(9):
        clusters.restore(state_of(id, vector))
    most_similar = clusters.most_similar("fire")
    assert most_similar is not None
    edits = [lambda: editing.join(store, "catch", most_similar[0], by="林", now=NOW)]
    revise(store, NOW, lambda done, total: edits.pop()() if edits else None, budget=2)  # the harvest and the fire
    (other,) = {"second", "third"} - {most_similar[0]}
    assert store.events.of([ids["fire"]])[ids["fire"]].event_id == store.events.of([ids[other]])[ids[other]].event_id


def test_pass_is_limited_and_next_one_continues(store: Store) -> None:
    fire, catch = add(store, "fire", "老城灯笼作坊起火", FIRE), add(store, "catch", "海带丰收", CATCH, 19)
    place(store, first=[fire], second=[catch])
    assert run_revision(store, budget=1) == Revision(events=1, more=True)
    assert run_revision(store) == Revision(events=1)
