"""What the portal runs: what it promises whatever the log."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from newsportal.errors import ModelError
from newsportal.recommend import best
from newsportal.recommend.base import Item, Log, View
from newsportal.recommend.best import Best
from tests.recommend.made import at, log, view

NOW = at(24 * 9)


@cache
def model() -> Best:
    return best.fit(log(), NOW)


def history(reader: str) -> list[View]:
    return [one for one in log().views if one.reader == reader and one.at < NOW]


def test_readers_get_what_they_like() -> None:
    for reader, taste in (("r01", "sport"), ("r02", "culture")):
        shown = model().recommend(history(reader), NOW, 6)
        labels = [model().learnt.items[model().numbers[one.story]].labels[0] for one in shown]
        assert labels.count(taste) >= 4, (reader, labels)


def test_never_what_was_seen_or_left_out_or_is_not_there_yet() -> None:
    own = history("r01")
    first = model().recommend(own, NOW, 3)
    shown = model().recommend(own, NOW, 50, without={first[0].story}, reader="r01")
    names = [one.story for one in shown]
    assert len(names) == len(set(names))
    assert not {one.story for one in own} & set(names)
    assert first[0].story not in names
    assert all(model().learnt.items[model().numbers[name]].published <= NOW for name in names)


def test_because_names_a_story_of_the_readers_own() -> None:
    own = history("r01")
    shown = model().recommend(own, NOW, 20, reader="r01")
    assert {one.by for one in shown} <= {"neighbours", "content", "popular", "fresh", "explore"}
    assert any(one.because for one in shown)
    assert all(one.because in {seen.story for seen in own} for one in shown if one.because)


def test_new_readers_get_what_is_recent_of_several_topics() -> None:
    shown = model().recommend((), NOW, 10)
    assert len(shown) == 10
    labels = Counter(model().learnt.items[model().numbers[one.story]].labels[0] for one in shown)
    assert min(labels["sport"], labels["culture"]) >= 2
    assert all((NOW - model().learnt.items[model().numbers[one.story]].published).days < 4 for one in shown)


def test_the_history_may_come_in_any_order() -> None:
    own = history("r03")
    assert model().recommend(own, NOW, 10) == model().recommend(own[::-1], NOW, 10)


def test_exploration_holds_for_a_day_and_differs_between_readers() -> None:
    own = history("r01")
    explored = {reader: [one.story for one in model().recommend(own, NOW, 20, reader=reader) if one.by == "explore"] for reader in "abcd"}
    assert all(len(stories) == 2 for stories in explored.values())
    assert len({tuple(stories) for stories in explored.values()}) > 1
    assert model().recommend(own, NOW, 20, reader="a") == model().recommend(own, NOW, 20, reader="a")
    assert not any(one.by == "explore" for one in model().recommend(own, NOW, 20))


def test_a_story_in_other_words_is_shown_once() -> None:
    made = log()
    twins = [*made.items, Item("twin", at(24 * 8.9), tuple("甲乙丙"), ("sport",)), Item("twin2", at(24 * 8.9), tuple("甲乙丙"), ("sport",))]
    views = [*made.views, *(view(f"r{n:02}", name, 24 * 8.95) for n in range(20, 50) for name in ("twin", "twin2"))]
    shown = [one.story for one in best.fit(Log(views, twins), NOW).recommend((), NOW, 15)]
    assert len({"twin", "twin2"} & set(shown)) == 1


def test_packed_and_unpacked_it_answers_the_same() -> None:
    again = best.unpack(model().packed())
    for reader in ("r01", "r02"):
        assert [one.story for one in again.recommend(history(reader), NOW, 20, reader=reader)] == [
            one.story for one in model().recommend(history(reader), NOW, 20, reader=reader)
        ]
    assert again.facts == model().facts
    assert model().packed() == model().packed()


@pytest.mark.parametrize(
    "spoil", [lambda data: b"", lambda data: b"PK nonsense", lambda data: data[: len(data) // 2], lambda data: data[100:]]
)
def test_damaged_bytes_are_refused(spoil: object) -> None:
    with pytest.raises(ModelError):
        best.unpack(spoil(model().packed()))  # type: ignore[operator]


def test_what_is_new_can_be_shown_before_the_next_fit() -> None:
    new = Item("new", at(24 * 9.01), ("word71",), ("sport",))
    more = model().extended([view(f"r{n:02}", "new", 24 * 9.05) for n in range(1, 40, 2)], [new])
    later = at(24 * 9.06)
    assert "new" in [one.story for one in more.recommend(history("r01"), later, 5)]
    assert "new" not in model().numbers
    assert best.unpack(more.packed()).recommend((), later, 5) == more.recommend((), later, 5)


def test_without_a_log_it_still_answers() -> None:
    empty = best.fit(Log((), ()), NOW)
    assert empty.recommend((), NOW, 5) == ()
    one = empty.extended([], [Item("a", at(1))])
    assert [found.story for found in one.recommend((), NOW, 5)] == ["a"]


def test_what_nobody_looked_at_is_not_called_popular() -> None:
    items = [Item(f"s{age}", at(24 * 9 - age)) for age in (1, 2, 3, 50, 90)]
    assert {one.by for one in best.fit(Log((), items), NOW).recommend((), NOW, 5)} == {"fresh"}
    looked = best.fit(Log([View("r", "s50", 1, 1, at(24 * 9 - 40))], items), NOW).recommend((), NOW, 5)
    assert {one.story for one in looked if one.by == "popular"} <= {"s50"}


def test_the_same_log_in_another_order_teaches_the_same() -> None:
    made = log()
    other = best.fit(Log(list(made.views)[::-1], list(made.items)[::-1]), NOW)
    assert other.facts == model().facts
    assert other.recommend(history("r01"), NOW, 20) == model().recommend(history("r01"), NOW, 20)


def test_views_after_now_teach_nothing() -> None:
    """A leak: what comes later must not change what is learnt."""
    made = log()
    later = [replace(one, at=one.at) for one in made.views if one.at < NOW]
    assert best.fit(Log(later, made.items), NOW).facts == model().facts
