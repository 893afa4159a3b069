"""Connected components of an event's stories."""

from __future__ import annotations

from newsportal.events import EventClusters, Story, combined_state
from newsportal.events.revision import components


def story(id: str, *words: str, places: tuple[str, ...] = ()) -> Story:
    return Story(id, id, None, dict.fromkeys(words, 1.0), frozenset(places))


def test_components_need_more_than_one_shared_word() -> None:
    stories = [
        story("b", "桥", "钢筋", "快讯"),
        story("c", "钢筋", "桥", "逮捕", "公司"),
        story("d", "逮捕", "公司"),
        story("k", "海带", "快讯"),
    ]
    assert components(stories) == [["b", "c", "d"], ["k"]]
    assert components(stories, {"k"}) == [["k"], ["b", "c", "d"]]
    assert components(stories, {"k", "d"}) == [["b", "c", "d", "k"]]
    assert components([]) == []


def test_most_similar_event_has_the_same_places() -> None:
    clusters = EventClusters()
    for id, words, places in (
        ("a", "起火 化工厂 居民", "青河"),
        ("b", "起火 化工厂 居民", "海城"),
        ("c", "起火 化工厂 疏散", "青河"),
        ("d", "海带", ""),
    ):
        clusters.restore(combined_state(id, [story(id, *words.split(), places=(places,) if places else ())]))
    found = clusters.most_similar("a")
    assert found is not None
    assert (found[0], round(found[1], 2)) == ("c", 0.67)
    assert clusters.most_similar("d") is None
