"""What every store guarantees about events: their stories and counts, edits, and two followers of one change log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from factories import HOUR, NOW, article

from newsportal.errors import StoreError
from newsportal.store.events import Assignment, Edit
from newsportal.store.pruning import REVISIONS_KEPT
from newsportal.store.store import Store


def place(store: Store, *pairs: tuple[str, str]) -> dict[str, str]:
    """Store articles under these names and put them into these events; return story ids by name."""
    stories = {}
    for number, (name, _) in enumerate(pairs):
        moment = NOW + number * HOUR
        base = article(name, text=f"{name} 的正文 " * 20, topic="旅游", published=moment)
        stories[name] = store.add(replace(base, site=f"site {name}"), now=moment).story_id
    placed = [Assignment(stories[name], event, 0.5, ("桥", "垮塌")) for name, event in pairs]
    assert store.events.assign(
        placed, dict.fromkeys({event for _, event in pairs}, "[]"), after=store.events.position(), up_to=store.last_seq()
    )
    return stories


def test_event_has_counts_and_title_of_most_reported_story(store: Store) -> None:
    stories = place(store, ("a", "e1"), ("b", "e1"), ("c", "e2"))
    found = store.events.event("e1")
    assert found is not None
    assert (found.title, found.stories, found.sites, found.first, found.last) == ("标题 a", 2, 2, NOW, NOW + HOUR)
    assert [event.id for event in store.events.list_events().events] == ["e1"]
    assert [event.id for event in store.events.list_events(min_stories=1, order="newest").events] == ["e2", "e1"]
    assert [story.story_id for story in store.events.members(["e1"])["e1"]] == [stories["a"], stories["b"]]
    assert store.events.of([stories["a"], "nobody"])[stories["a"]] == Assignment(stories["a"], "e1", 0.5, ("桥", "垮塌"))
    assert store.events.event("nobody") is None


def test_event_lists_are_paged_and_filtered_by_topic(store: Store) -> None:
    place(store, *((str(number), f"e{number}") for number in range(5)))
    for order in ("hottest", "newest"):
        ids, cursor = [], None
        while True:
            page = store.events.list_events(min_stories=1, order=order, before=cursor, limit=2)
            ids += [event.id for event in page.events]
            if (cursor := page.next) is None:
                break
        assert ids == ["e4", "e3", "e2", "e1", "e0"]
    assert len(store.events.list_events(min_stories=1, topic="旅游").events) == 5
    assert store.events.list_events(min_stories=1, topic="别的").events == ()
    assert [event.id for event in store.events.list_events(min_stories=1, since=NOW + 4 * HOUR).events] == ["e4"]


def test_slower_follower_writes_nothing(store: Store) -> None:
    stories = place(store, ("a", "e1"))
    after = store.events.position()
    assert not store.events.assign([Assignment(stories["a"], "e2", 1.0)], {"e2": "[]"}, after=after - 1, up_to=after)
    assert store.events.event("e2") is None


def test_placement_computed_before_an_edit_is_refused(store: Store) -> None:
    stories = place(store, ("a", "e1"), ("b", "e2"))
    edited, after = store.events.last_edit(), store.events.position()
    store.events.edit(Edit("join", "e1", NOW, "", {stories["b"]: ("e2", "e1")}), {"e1": "[1]"})
    late = store.add(article("late", text="后来的正文 " * 20), now=NOW).story_id
    for event in ("e1", "e2"):
        assert not store.events.assign([Assignment(late, event, 1.0)], {event: "[]"}, after=after, up_to=store.last_seq(), edited=edited)
    assert (store.events.event("e2"), dict(store.events.vectors(9))) == (None, {"e1": b"[1]"})
    assert store.events.assign([Assignment(late, "e3", 1.0)], {"e3": "[]"}, after=after, up_to=store.last_seq(), edited=edited)


def test_hidden_or_folded_story_leaves_its_event(store: Store) -> None:
    stories = place(store, ("a", "e1"), ("b", "e1"), ("c", "e2"))
    store.hide([stories["b"]], by="林", reason="误登", now=NOW)
    store.fold(stories["c"], stories["a"], reason="by-hand", now=NOW)
    assert store.events.assign([], {}, after=store.events.position(), up_to=store.last_seq(), again=True)
    left = store.events.event("e1")
    assert left is not None
    assert left.stories == 1
    assert store.events.event("e2") is None, "its only story was folded into another"


def test_changed_events_are_listed_in_order_and_once(store: Store) -> None:
    place(store, ("a", "e1"), ("b", "e2"))
    first = store.events.changed_since(0)
    assert [event.id for event in first] == ["e1", "e2"]
    place(store, ("c", "e1"))
    later = store.events.changed_since(first[-1].change_seq)
    assert [event.id for event in later] == ["e1"]


def test_edits_by_editors_are_kept(store: Store) -> None:
    stories = place(store, ("a", "e1"), ("b", "e1"))
    split = Edit("split", "e1", NOW, "林", {stories["b"]: ("e1", "e9")})
    number = store.events.edit(split, {"e1": "[1]", "e9": "[2]"})
    assert store.events.of([stories["b"]])[stories["b"]] == Assignment(stories["b"], "e9", 1.0, (), "林")
    assert dict(store.events.vectors(10))["e9"] == b"[2]"
    store.events.edit(Edit("rename", "e1", NOW, "林", title=(None, "桥的事")), {})
    store.events.edit(Edit("pin", "e1", NOW, "林", pinned=(False, True)), {})
    renamed = store.events.event("e1")
    assert renamed is not None
    assert (renamed.title, renamed.renamed, renamed.pinned) == ("桥的事", True, NOW)
    assert [edit.kind for edit in store.events.edits("e1")] == ["pin", "rename", "split"]
    assert store.events.edits(after=number)[0].title == (None, "桥的事")
    place(store, ("c", "e1"), ("d", "e2"))
    assert store.events.clear() == ["e1", "e9"], "events of editors remain, the others are placed again"
    assert {edit.by for edit in store.events.of(stories.values()).values()} == {"林"}, "the editor saw both parts of the split"


def test_conflicting_edit_is_refused(store: Store) -> None:
    stories = place(store, ("a", "e1"))
    with pytest.raises(StoreError, match="no event 'e7'"):
        store.events.edit(Edit("pin", "e7", NOW, "林", pinned=(False, True)), {})
    for late in (
        Edit("rename", "e1", NOW, "林", title=("旧", "新")),
        Edit("pin", "e1", NOW, "林", pinned=(True, False)),
        Edit("split", "e1", NOW, "林", {stories["a"]: ("e3", "e4")}),
    ):
        with pytest.raises(StoreError, match="changed meanwhile"):
            store.events.edit(late, {"e4": "[]"})
    assert store.events.edits("e1") == []


def test_joined_event_redirects_until_undone(store: Store) -> None:
    stories = place(store, ("a", "e1"), ("b", "e2"))
    join = Edit("join", "e1", NOW, "林", {stories["b"]: ("e2", "e1")})
    number = store.events.edit(join, {"e1": "[]"})
    assert store.events.event("e2") is None
    assert store.events.merged_into("e2") == "e1"
    place(store, ("c", "e3"))
    both = {stories["a"]: ("e1", "e3"), stories["b"]: ("e1", "e3")}
    again = store.events.edit(Edit("join", "e3", NOW, "林", both), {"e3": "[]"})
    assert (store.events.merged_into("e2"), store.events.merged_into("e1")) == ("e3", "e3")
    back = {story: (to, come) for story, (come, to) in both.items()}
    store.events.edit(Edit("undo", "e3", NOW, "林", back), {"e1": "[]", "e3": "[]"}, undoes=again)
    store.events.edit(Edit("undo", "e1", NOW, "林", {stories["b"]: ("e1", "e2")}), {"e1": "[]", "e2": "[]"}, undoes=number)
    assert store.events.merged_into("e2") is None
    assert store.events.event("e2") is not None


def test_redirect_survives_pruning_of_nightly_edits(store: Store) -> None:
    stories = place(store, ("a", "e1"), ("b", "e2"), ("c", "e1"))
    store.events.edit(Edit("join", "e1", NOW, "", {stories["b"]: ("e2", "e1")}), {"e1": "[]"})
    number = store.events.edit(Edit("split", "e1", NOW, "林", {stories["c"]: ("e1", "e9")}), {"e1": "[]", "e9": "[]"})
    assert store.events.merged_into("e1") is None, "it still has stories"
    store.pruning.leftovers(NOW + REVISIONS_KEPT + HOUR)
    assert [edit.number for edit in store.events.edits()] == [number]
    assert store.events.merged_into("e2") == "e1"
    store.events.edit(Edit("undo", "e1", NOW, "林", {stories["c"]: ("e9", "e1")}), {"e1": "[]", "e9": "[]"}, undoes=number)
    assert store.events.merged_into("e9") == "e1"


def test_redirects_between_hidden_events_do_not_loop(store: Store) -> None:
    stories = place(store, ("a", "e1"), ("b", "e2"))
    number = store.events.edit(Edit("join", "e1", NOW, "林", {stories["b"]: ("e2", "e1")}), {"e1": "[]"})
    store.hide(list(stories.values()), by="林", reason="误登", now=NOW)
    store.events.edit(Edit("undo", "e1", NOW, "林", {stories["b"]: ("e1", "e2")}), {"e1": "[]", "e2": "[]"}, undoes=number)
    assert (store.events.merged_into("e1"), store.events.merged_into("e2")) == ("e2", None)


def test_events_are_visible_to_another_process(store: Store, another: Callable[[], Store]) -> None:
    place(store, ("a", "e1"), ("b", "e1"))
    assert [event.stories for event in another().events.list_events().events] == [2]
