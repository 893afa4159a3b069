"""Names and texts are compared and stored exactly in every store: trailing blanks, case, width, accents, and large sizes."""

from __future__ import annotations

from factories import NOW, article

from newsportal.store.results import SourceState, StoryFilter
from newsportal.store.store import Store

NAMES = ("abc", "Abc", "abc ", "ábc", "ａｂｃ", "abç", "新闻", "新聞", "ß", "ss", "😀", "😁")


def test_similar_names_are_different_topics(store: Store) -> None:
    for number, name in enumerate(NAMES):
        store.add(article(str(number), topic=name), now=NOW)
    assert store.tally().by_topic == dict.fromkeys(NAMES, 1)
    for number, name in enumerate(NAMES):
        page = store.stories(StoryFilter(topic=name))
        assert [story.head.title for story in page.stories] == [f"标题 {number}"]


def test_article_may_have_similar_topics(store: Store) -> None:
    id = store.add(article("a", topics=NAMES), now=NOW).id
    found = store.article(id)
    assert found is not None
    assert found.topics == tuple(sorted(NAMES))


def test_names_sort_by_code_points(store: Store) -> None:
    for name in NAMES:
        store.save_source_state(SourceState(f"feed:{name}"))
    assert [state.source for state in store.source_states()] == [f"feed:{name}" for name in sorted(NAMES)]


def test_long_texts_round_trip(store: Store) -> None:
    title, text = "题" * 30_000, "字" * 1_000_000  # 90 kB and 3 MB
    found = store.article(store.add(article("a", title=title, text=text, html=f"<p>{text}</p>"), now=NOW).id)
    assert found is not None
    assert (found.title, found.text, found.html) == (title, text, f"<p>{text}</p>")
