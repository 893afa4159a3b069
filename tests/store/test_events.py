"""What every store promises of events: stories in them, figures, editors' changes, and two followers of one log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from factories import HOUR, NOW, article

from newsportal.errors import StoreError
from newsportal.store.events import Edit, Placed
from newsportal.store.pruning import REVISIONS_KEPT
from newsportal.store.store import Store


def place(store: Store, *pairs: tuple[str, str]) -> dict[str, str]:
    """Store articles under these names and put them into these events; answers name -> story."""
    stories = {}
    for number, (name, _) in enumerate(pairs):
        moment = NOW + number * HOUR
        made = article(name, text=f"{name} 的正文 " * 20, topic="旅游", published=moment)
        stories[name] = store.add(replace(made, site=f"site {name}"), now=moment).story_id
    placed = [Placed(stories[name], event, 0.5, ("桥", "垮塌")) for name, event in pairs]
    assert store.events.place(
        placed, dict.fromkeys({event for _, event in pairs}, "[]"), after=store.events.position(), upto=store.last_seq()
    )
    return stories


def test_an_event_counts_its_stories_and_is_named_by_the_one_that_most_sites_told(store: Store) -> None:
    stories = place(store, ("a", "e1"), ("b", "e1"), ("c", "e2"))
    found = store.events.event("e1")
    assert found is not None
    assert (found.title, found.stories, found.sites, found.first, found.last) == ("标题 a", 2, 2, NOW, NOW + HOUR)
    assert [event.id for event in store.events.listed().events] == ["e1"]
    assert [event.id for event in store.events.listed(least=1, order="newest").events] == ["e2", "e1"]
    assert [one.story_id for one in store.events.members(["e1"])["e1"]] == [stories["a"], stories["b"]]
    assert store.events.of([stories["a"], "nobody"])[stories["a"]] == Placed(stories["a"], "e1", 0.5, ("桥", "垮塌"))
    assert store.events.event("nobody") is None


def test_lists_go_on_behind_a_cursor_and_narrow_to_a_topic(store: Store) -> None:
    place(store, *((str(number), f"e{number}") for number in range(5)))
    for order in ("hottest", "newest"):
        seen, cursor = [], None
        while True:
            page = store.events.listed(least=1, order=order, before=cursor, limit=2)
            seen += [event.id for event in page.events]
            if (cursor := page.next) is None:
                break
        assert seen == ["e4", "e3", "e2", "e1", "e0"]
    assert len(store.events.listed(least=1, topic="旅游").events) == 5
    assert store.events.listed(least=1, topic="别的").events == ()
    assert [event.id for event in store.events.listed(least=1, since=NOW + 4 * HOUR).events] == ["e4"]


def test_who_was_slower_writes_nothing(store: Store) -> None:
    stories = place(store, ("a", "e1"))
    after = store.events.position()
    assert not store.events.place([Placed(stories["a"], "e2", 1.0)], {"e2": "[]"}, after=after - 1, upto=after)
    assert store.events.event("e2") is None


def test_what_was_worked_out_before_an_edit_of_the_same_event_is_not_written(store: Store) -> None:
    stories = place(store, ("a", "e1"), ("b", "e2"))
    edited, after = store.events.last_edit(), store.events.position()
    store.events.edit(Edit("join", "e1", NOW, "", {stories["b"]: ("e2", "e1")}), {"e1": "[1]"})
    late = store.add(article("late", text="后来的正文 " * 20), now=NOW).story_id
    for event in ("e1", "e2"):
        assert not store.events.place([Placed(late, event, 1.0)], {event: "[]"}, after=after, upto=store.last_seq(), edited=edited)
    assert (store.events.event("e2"), dict(store.events.vectors(9))) == (None, {"e1": b"[1]"})
    assert store.events.place([Placed(late, "e3", 1.0)], {"e3": "[]"}, after=after, upto=store.last_seq(), edited=edited)


def test_a_story_that_is_hidden_or_folded_away_leaves_the_figures(store: Store) -> None:
    stories = place(store, ("a", "e1"), ("b", "e1"), ("c", "e2"))
    store.hide([stories["b"]], by="林", reason="误登", now=NOW)
    store.fold(stories["c"], stories["a"], reason="by-hand", now=NOW)
    assert store.events.place([], {}, after=store.events.position(), upto=store.last_seq(), again=True)
    left = store.events.event("e1")
    assert left is not None
    assert left.stories == 1
    assert store.events.event("e2") is None, "its only story is a version of another now"


def test_changes_are_told_in_order_and_none_twice(store: Store) -> None:
    place(store, ("a", "e1"), ("b", "e2"))
    first = store.events.changed_since(0)
    assert [event.id for event in first] == ["e1", "e2"]
    place(store, ("c", "e1"))
    later = store.events.changed_since(first[-1].changed)
    assert [event.id for event in later] == ["e1"]


def test_editors_move_rename_and_pin_and_it_stays(store: Store) -> None:
    stories = place(store, ("a", "e1"), ("b", "e1"))
    split = Edit("split", "e1", NOW, "林", {stories["b"]: ("e1", "e9")})
    number = store.events.edit(split, {"e1": "[1]", "e9": "[2]"})
    assert store.events.of([stories["b"]])[stories["b"]] == Placed(stories["b"], "e9", 1.0, (), "林")
    assert dict(store.events.vectors(10))["e9"] == b"[2]"
    store.events.edit(Edit("rename", "e1", NOW, "林", title=(None, "桥的事")), {})
    store.events.edit(Edit("pin", "e1", NOW, "林", pinned=(False, True)), {})
    named = store.events.event("e1")
    assert named is not None
    assert (named.title, named.renamed, named.pinned) == ("桥的事", True, NOW)
    assert [edit.kind for edit in store.events.edits("e1")] == ["pin", "rename", "split"]
    assert store.events.edits(after=number)[0].title == (None, "桥的事")
    place(store, ("c", "e1"), ("d", "e2"))
    assert store.events.clear() == ["e1", "e9"], "what editors made is left, the rest is placed anew"
    assert {one.by for one in store.events.of(stories.values()).values()} == {"林"}, "he saw both sides of what he took apart"


def test_an_edit_is_refused_where_something_else_stands_by_now(store: Store) -> None:
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


def test_an_event_that_was_joined_with_another_is_found_there_until_it_is_undone(store: Store) -> None:
    stories = place(store, ("a", "e1"), ("b", "e2"))
    join = Edit("join", "e1", NOW, "林", {stories["b"]: ("e2", "e1")})
    number = store.events.edit(join, {"e1": "[]"})
    assert store.events.event("e2") is None
    assert store.events.joined("e2") == "e1"
    place(store, ("c", "e3"))
    both = {stories["a"]: ("e1", "e3"), stories["b"]: ("e1", "e3")}
    again = store.events.edit(Edit("join", "e3", NOW, "林", both), {"e3": "[]"})
    assert (store.events.joined("e2"), store.events.joined("e1")) == ("e3", "e3")
    back = {story: (to, come) for story, (come, to) in both.items()}
    store.events.edit(Edit("undo", "e3", NOW, "林", back), {"e1": "[]", "e3": "[]"}, undoes=again)
    store.events.edit(Edit("undo", "e1", NOW, "林", {stories["b"]: ("e1", "e2")}), {"e1": "[]", "e2": "[]"}, undoes=number)
    assert store.events.joined("e2") is None
    assert store.events.event("e2") is not None


def test_an_address_leads_on_after_the_edits_of_the_nightly_pass_were_deleted(store: Store) -> None:
    stories = place(store, ("a", "e1"), ("b", "e2"), ("c", "e1"))
    store.events.edit(Edit("join", "e1", NOW, "", {stories["b"]: ("e2", "e1")}), {"e1": "[]"})
    number = store.events.edit(Edit("split", "e1", NOW, "林", {stories["c"]: ("e1", "e9")}), {"e1": "[]", "e9": "[]"})
    assert store.events.joined("e1") is None, "it still has stories"
    store.pruning.leftovers(NOW + REVISIONS_KEPT + HOUR)
    assert [edit.number for edit in store.events.edits()] == [number]
    assert store.events.joined("e2") == "e1"
    store.events.edit(Edit("undo", "e1", NOW, "林", {stories["c"]: ("e9", "e1")}), {"e1": "[]", "e9": "[]"}, undoes=number)
    assert store.events.joined("e9") == "e1"


def test_events_whose_stories_are_hidden_never_lead_to_each_other(store: Store) -> None:
    stories = place(store, ("a", "e1"), ("b", "e2"))
    number = store.events.edit(Edit("join", "e1", NOW, "林", {stories["b"]: ("e2", "e1")}), {"e1": "[]"})
    store.hide(list(stories.values()), by="林", reason="误登", now=NOW)
    store.events.edit(Edit("undo", "e1", NOW, "林", {stories["b"]: ("e1", "e2")}), {"e1": "[]", "e2": "[]"}, undoes=number)
    assert (store.events.joined("e1"), store.events.joined("e2")) == ("e2", None)


def test_another_process_sees_them(store: Store, another: Callable[[], Store]) -> None:
    place(store, ("a", "e1"), ("b", "e1"))
    assert [event.stories for event in another().events.listed().events] == [2]
