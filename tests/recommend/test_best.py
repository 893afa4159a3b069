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
from newsportal.recommend.clicks import hours, to_columns
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
    return [view for view in log().views if view.reader == reader and view.at < NOW]


def test_recommendations_match_readers_taste() -> None:
    for reader, taste in (("r01", "sport"), ("r02", "culture")):
        recommended = model().recommend(history(reader), NOW, 6)
        labels = [model().stats.items[model().numbers[item.story]].labels[0] for item in recommended]
        assert labels.count(taste) >= 4, (reader, labels)


@cache
def watched_log() -> Log:
    """Return a log in which readers first open a dozen stories of any kind, view those of their kind completely and of others one image;
    later they open only their kind."""
    draw, views = Random(4), []
    for reader in range(120):
        start = draw.randrange(120)
        for n in range(start, 160):
            liked = n % 2 == reader % 2
            if draw.random() < (0.4 if liked or n < start + 12 else 0.03):
                views.append(view(f"r{reader:03}", f"s{n:03}", 1.5 * n + 6 * draw.random(), 8 if liked else 1, 8))
    return Log(views, log(stories=160).items)


@cache
def fitted_to_watched() -> Best:
    return best.fit(watched_log(), NOW)


def test_share_of_seen_images_counts() -> None:
    """The paper's negative interest: of two readers who opened the same stories, each gets the kind viewed completely."""
    fitted = fitted_to_watched()
    sorts = {item.story: item.labels[0] for item in fitted.stats.items}
    for first in range(100, 130):
        stories = [f"s{n:03}" for n in range(first, first + 6)]
        recommended = []
        for liked in ("sport", "culture"):
            history = [view("x", story, 200 + place, 8 if sorts[story] == liked else 1, 8) for place, story in enumerate(stories)]
            recommended.append([sorts[item.story] for item in fitted.recommend(history, NOW, 20)])
        assert recommended[0].count("sport") > recommended[1].count("sport")


def test_one_image_differs_from_all_images() -> None:
    fitted = fitted_to_watched()
    for first in range(100, 130):
        little, much = ([view("x", f"s{n:03}", 200, seen, 8) for n in range(first, first + 8, 2)] for seen in (1, 8))
        assert fitted.rank(little, NOW, 20) != fitted.rank(much, NOW, 20)


def test_paper_method_is_served_from_the_same_fit() -> None:
    log = watched_log()
    fitted, ranker = fitted_to_watched(), METHODS["paper"](to_columns(log).before(hours(NOW)), hours(NOW))
    served = Paper(best.unpack(fitted.pack()), rate=RATE)
    for reader in ("r001", "r002", "r050"):
        history = [view for view in log.views if view.reader == reader and view.at < NOW]
        assert tuple(item.story for item in served.recommend(history, NOW, 10, reader=reader)) == ranker.rank(history, NOW, 10)
    assert served.recommend((), NOW, 5)[0].by == "fresh"
    assert served.facts["alpha"] == fitted.facts["alpha"]
    new = served.extend([], [Item("new", at(24 * 9 - 5))])
    assert "new" in [item.story for item in new.recommend((), NOW, 10, without={"s140"})]


def test_seen_excluded_and_future_stories_are_not_recommended() -> None:
    views = history("r01")
    first = model().recommend(views, NOW, 3)
    recommended = model().recommend(views, NOW, 50, without={first[0].story}, reader="r01")
    names = [item.story for item in recommended]
    assert len(names) == len(set(names))
    assert not {view.story for view in views} & set(names)
    assert first[0].story not in names
    assert all(model().stats.items[model().numbers[name]].published <= NOW for name in names)


def test_reason_is_a_story_of_the_readers_history() -> None:
    views = history("r01")
    recommended = model().recommend(views, NOW, 20, reader="r01")
    assert {item.by for item in recommended} <= {"neighbours", "content", "popular", "fresh", "explore"}
    assert any(item.reason_story for item in recommended)
    assert all(item.reason_story in {view.story for view in views} for item in recommended if item.reason_story)


def test_new_readers_get_recent_stories_of_several_topics() -> None:
    recommended = model().recommend((), NOW, 10)
    assert len(recommended) == 10
    labels = Counter(model().stats.items[model().numbers[item.story]].labels[0] for item in recommended)
    assert min(labels["sport"], labels["culture"]) >= 2
    assert all((NOW - model().stats.items[model().numbers[item.story]].published).days < 4 for item in recommended)


def test_order_of_history_does_not_matter() -> None:
    views = history("r03")
    assert model().recommend(views, NOW, 10) == model().recommend(views[::-1], NOW, 10)


def test_exploration_is_constant_for_a_day_and_differs_by_reader() -> None:
    views = history("r01")
    explored = {
        reader: [item.story for item in model().recommend(views, NOW, 20, reader=reader) if item.by == "explore"] for reader in "abcd"
    }
    assert all(len(stories) == 2 for stories in explored.values())
    assert len({tuple(stories) for stories in explored.values()}) > 1
    assert model().recommend(views, NOW, 20, reader="a") == model().recommend(views, NOW, 20, reader="a")
    assert not any(item.by == "explore" for item in model().recommend(views, NOW, 20))


def test_similar_stories_are_recommended_once() -> None:
    base = log()
    items = [*base.items, Item("twin", at(24 * 8.9), tuple("甲乙丙"), ("sport",)), Item("twin2", at(24 * 8.9), tuple("甲乙丙"), ("sport",))]
    views = [*base.views, *(view(f"r{n:02}", name, 24 * 8.95) for n in range(20, 50) for name in ("twin", "twin2"))]
    recommended = [item.story for item in best.fit(Log(views, items), NOW).recommend((), NOW, 15)]
    assert len({"twin", "twin2"} & set(recommended)) == 1


def test_model_round_trip() -> None:
    restored = best.unpack(model().pack())
    for reader in ("r01", "r02"):
        assert [item.story for item in restored.recommend(history(reader), NOW, 20, reader=reader)] == [
            item.story for item in model().recommend(history(reader), NOW, 20, reader=reader)
        ]
    assert restored.facts == model().facts
    assert model().pack() == model().pack()


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
        best.unpack(spoil(model().pack()))  # type: ignore[operator]


def test_model_is_extended_with_new_stories() -> None:
    new = Item("new", at(24 * 9.01), ("word71",), ("sport",))
    more = model().extend([view(f"r{n:02}", "new", 24 * 9.05) for n in range(1, 40, 2)], [new])
    later = at(24 * 9.06)
    assert "new" in [item.story for item in more.recommend(history("r01"), later, 5)]
    assert "new" not in model().numbers
    assert best.unpack(more.pack()).recommend((), later, 5) == more.recommend((), later, 5)


def test_empty_log_gives_a_working_model() -> None:
    empty = best.fit(Log((), ()), NOW)
    assert empty.recommend((), NOW, 5) == ()
    extended = empty.extend([], [Item("a", at(1))])
    assert [found.story for found in extended.recommend((), NOW, 5)] == ["a"]


def test_unviewed_stories_are_fresh_not_popular() -> None:
    items = [Item(f"s{age}", at(24 * 9 - age)) for age in (1, 2, 3, 50, 90)]
    assert {item.by for item in best.fit(Log((), items), NOW).recommend((), NOW, 5)} == {"fresh"}
    viewed = best.fit(Log([View("r", "s50", 1, 1, at(24 * 9 - 40))], items), NOW).recommend((), NOW, 5)
    assert {item.story for item in viewed if item.by == "popular"} <= {"s50"}


def test_training_ignores_order_of_log() -> None:
    base = log()
    other = best.fit(Log(list(base.views)[::-1], list(base.items)[::-1]), NOW)
    assert other.facts == model().facts
    assert other.recommend(history("r01"), NOW, 20) == model().recommend(history("r01"), NOW, 20)


def test_later_views_do_not_affect_training() -> None:
    """Training must not use the future."""
    base = log()
    later = [replace(view, at=view.at) for view in base.views if view.at < NOW]
    assert best.fit(Log(later, base.items), NOW).facts == model().facts
