"""The default recommender: invariants on any log."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from newsportal.errors import ModelError
from newsportal.packing import pack
from newsportal.recommend import best
from newsportal.recommend.base import Item, Log, View
from newsportal.recommend.best import Best
from newsportal.recommend.clicks import columns, hours
from newsportal.recommend.formulas import RATE
from newsportal.recommend.packing import FORM
from newsportal.recommend.paper import Paper
from newsportal_lab.evaluate.rankers import METHODS
from tests.recommend.made_up_log import at, log, view

NOW = at(24 * 9)


@cache
def model() -> Best:
    return best.fit(log(), NOW)


def history(reader: str) -> list[View]:
    return [one for one in log().views if one.reader == reader and one.at < NOW]


def test_recommendations_match_readers_taste() -> None:
    for reader, taste in (("r01", "sport"), ("r02", "culture")):
        recommended = model().recommend(history(reader), NOW, 6)
        labels = [model().learnt.items[model().numbers[one.story]].labels[0] for one in recommended]
        assert labels.count(taste) >= 4, (reader, labels)


def watched_log() -> Log:
    """Return a log in which readers first open a dozen stories of any kind, view those of their kind completely and of others one image;
    later they open only their kind."""
    draw, views = Random(4), []
    for reader in range(120):
        begin = draw.randrange(120)
        for n in range(begin, 160):
            own = n % 2 == reader % 2
            if draw.random() < (0.4 if own or n < begin + 12 else 0.03):
                views.append(view(f"r{reader:03}", f"s{n:03}", 1.5 * n + 6 * draw.random(), 8 if own else 1, 8))
    return Log(views, log(stories=160).items)


def test_share_of_seen_images_counts() -> None:
    """The paper's negative interest: of two readers who opened the same stories, each gets the kind viewed completely."""
    fitted = best.fit(watched_log(), NOW)
    sorts = {item.story: item.labels[0] for item in fitted.learnt.items}
    for first in range(100, 130):
        stories = [f"s{n:03}" for n in range(first, first + 6)]
        recommended = []
        for liked in ("sport", "culture"):
            history = [view("x", story, 200 + place, 8 if sorts[story] == liked else 1, 8) for place, story in enumerate(stories)]
            recommended.append([sorts[one.story] for one in fitted.recommend(history, NOW, 20)])
        assert recommended[0].count("sport") > recommended[1].count("sport")


def test_one_image_differs_from_all_images() -> None:
    fitted = best.fit(watched_log(), NOW)
    for first in range(100, 130):
        little, much = ([view("x", f"s{n:03}", 200, seen, 8) for n in range(first, first + 8, 2)] for seen in (1, 8))
        assert fitted.ranked(little, NOW, 20) != fitted.ranked(much, NOW, 20)


def test_paper_method_is_served_from_the_same_fit() -> None:
    made = watched_log()
    fitted, ranker = best.fit(made, NOW), METHODS["paper"](columns(made).before(hours(NOW)), hours(NOW))
    served = Paper(best.unpack(fitted.packed()), rate=RATE)
    for reader in ("r001", "r002", "r050"):
        own = [one for one in made.views if one.reader == reader and one.at < NOW]
        assert tuple(one.story for one in served.recommend(own, NOW, 10, reader=reader)) == ranker.ranked(own, NOW, 10)
    assert served.recommend((), NOW, 5)[0].by == "fresh"
    assert served.facts["alpha"] == fitted.facts["alpha"]
    new = served.extended([], [Item("new", at(24 * 9 - 5))])
    assert "new" in [one.story for one in new.recommend((), NOW, 10, without={"s140"})]


def test_seen_excluded_and_future_stories_are_not_recommended() -> None:
    own = history("r01")
    first = model().recommend(own, NOW, 3)
    recommended = model().recommend(own, NOW, 50, without={first[0].story}, reader="r01")
    names = [one.story for one in recommended]
    assert len(names) == len(set(names))
    assert not {one.story for one in own} & set(names)
    assert first[0].story not in names
    assert all(model().learnt.items[model().numbers[name]].published <= NOW for name in names)


def test_because_is_a_story_of_the_readers_history() -> None:
    own = history("r01")
    recommended = model().recommend(own, NOW, 20, reader="r01")
    assert {one.by for one in recommended} <= {"neighbours", "content", "popular", "fresh", "explore"}
    assert any(one.because for one in recommended)
    assert all(one.because in {seen.story for seen in own} for one in recommended if one.because)


def test_new_readers_get_recent_stories_of_several_topics() -> None:
    recommended = model().recommend((), NOW, 10)
    assert len(recommended) == 10
    labels = Counter(model().learnt.items[model().numbers[one.story]].labels[0] for one in recommended)
    assert min(labels["sport"], labels["culture"]) >= 2
    assert all((NOW - model().learnt.items[model().numbers[one.story]].published).days < 4 for one in recommended)


def test_order_of_history_does_not_matter() -> None:
    own = history("r03")
    assert model().recommend(own, NOW, 10) == model().recommend(own[::-1], NOW, 10)


def test_exploration_is_constant_for_a_day_and_differs_by_reader() -> None:
    own = history("r01")
    explored = {reader: [one.story for one in model().recommend(own, NOW, 20, reader=reader) if one.by == "explore"] for reader in "abcd"}
    assert all(len(stories) == 2 for stories in explored.values())
    assert len({tuple(stories) for stories in explored.values()}) > 1
    assert model().recommend(own, NOW, 20, reader="a") == model().recommend(own, NOW, 20, reader="a")
    assert not any(one.by == "explore" for one in model().recommend(own, NOW, 20))


def test_similar_stories_are_recommended_once() -> None:
    made = log()
    twins = [*made.items, Item("twin", at(24 * 8.9), tuple("甲乙丙"), ("sport",)), Item("twin2", at(24 * 8.9), tuple("甲乙丙"), ("sport",))]
    views = [*made.views, *(view(f"r{n:02}", name, 24 * 8.95) for n in range(20, 50) for name in ("twin", "twin2"))]
    recommended = [one.story for one in best.fit(Log(views, twins), NOW).recommend((), NOW, 15)]
    assert len({"twin", "twin2"} & set(recommended)) == 1


def test_model_round_trip() -> None:
    again = best.unpack(model().packed())
    for reader in ("r01", "r02"):
        assert [one.story for one in again.recommend(history(reader), NOW, 20, reader=reader)] == [
            one.story for one in model().recommend(history(reader), NOW, 20, reader=reader)
        ]
    assert again.facts == model().facts
    assert model().packed() == model().packed()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: b"PK nonsense",
        lambda data: data[: len(data) // 2],
        lambda data: data[100:],
        lambda data: pack({}, {}),
        lambda data: pack({"items": [["a", 1e300, [], []]]}, {}, FORM),
    ],
)
def test_damaged_model_is_refused(spoil: object) -> None:
    with pytest.raises(ModelError):
        best.unpack(spoil(model().packed()))  # type: ignore[operator]


def test_model_is_extended_with_new_stories() -> None:
    new = Item("new", at(24 * 9.01), ("word71",), ("sport",))
    more = model().extended([view(f"r{n:02}", "new", 24 * 9.05) for n in range(1, 40, 2)], [new])
    later = at(24 * 9.06)
    assert "new" in [one.story for one in more.recommend(history("r01"), later, 5)]
    assert "new" not in model().numbers
    assert best.unpack(more.packed()).recommend((), later, 5) == more.recommend((), later, 5)


def test_empty_log_gives_a_working_model() -> None:
    empty = best.fit(Log((), ()), NOW)
    assert empty.recommend((), NOW, 5) == ()
    one = empty.extended([], [Item("a", at(1))])
    assert [found.story for found in one.recommend((), NOW, 5)] == ["a"]


def test_unviewed_stories_are_fresh_not_popular() -> None:
    items = [Item(f"s{age}", at(24 * 9 - age)) for age in (1, 2, 3, 50, 90)]
    assert {one.by for one in best.fit(Log((), items), NOW).recommend((), NOW, 5)} == {"fresh"}
    looked = best.fit(Log([View("r", "s50", 1, 1, at(24 * 9 - 40))], items), NOW).recommend((), NOW, 5)
    assert {one.story for one in looked if one.by == "popular"} <= {"s50"}


def test_training_ignores_order_of_log() -> None:
    made = log()
    other = best.fit(Log(list(made.views)[::-1], list(made.items)[::-1]), NOW)
    assert other.facts == model().facts
    assert other.recommend(history("r01"), NOW, 20) == model().recommend(history("r01"), NOW, 20)


def test_later_views_do_not_affect_training() -> None:
    """Training must not use the future."""
    made = log()
    later = [replace(one, at=one.at) for one in made.views if one.at < NOW]
    assert best.fit(Log(later, made.items), NOW).facts == model().facts
