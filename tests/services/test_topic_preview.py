"""A preview finds the same articles as a crawl, with and without an index; stored articles can be reassigned."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from factories import empty_index, empty_store

from newsportal.classify.topics import TopicRule, make_rule
from newsportal.items import Article, Link, TopicMark
from newsportal.search.base import Index
from newsportal.services.topics import assign, counts, preview
from newsportal.store.store import Store

NOW = datetime(2026, 3, 8, 12, tzinfo=UTC)


def article(title: str, text: str = "海港的消息。", *, days: float = 1, marks: tuple[TopicMark, ...] = ()) -> Article:
    url, moment = f"https://port.example/{title}", NOW - timedelta(days=days)
    topics = tuple(mark.topic for mark in marks)
    return Article(url, Link(url, "feed:海港"), moment, url, title=title, text=text, published=moment, topics=topics, topic_marks=marks)


@pytest.fixture
def store() -> Iterator[Store]:
    opened = empty_store()
    by_words, by_source = TopicMark("船", "keywords"), TopicMark("船", "source")
    for item in (
        article("渡轮今晨开航", marks=(by_words,)),
        article("新渡輪下水", "船厂的消息。" * 20),
        article("货轮靠岸", "港口繁忙。", marks=(by_words,)),
        article("港务局的通知", "照常。", marks=(by_source,)),
        article("渡轮游戏上线", "玩家的消息。"),
        article("灯塔维修", "很远的地方有渡轮。" + "海风吹过。" * 200),
        article("潮汐表", "海风吹过。" * 200 + "渡轮停航。"),
        article("去年的渡轮", "旧闻。", days=20),
    ):
        opened.add(item, now=NOW)
    yield opened
    opened.close()


@pytest.fixture
def index(store: Store) -> Iterator[Index]:
    opened = empty_index()
    opened.follow(store)
    yield opened
    opened.close()


FERRY = make_rule("船", any=("渡轮",), never=("游戏",))


@pytest.mark.parametrize("indexed", [True, False])
def test_preview_finds_articles_matching_the_rule(store: Store, index: Index, indexed: bool) -> None:
    found = preview(store, index if indexed else None, FERRY, topic="船", now=NOW)
    assert {hit.article.title for hit in found.newest} == {"渡轮今晨开航", "新渡輪下水", "灯塔维修"}, "the end of the text is not searched"
    assert (found.stories, found.added, found.capped) == (3, 2, False)
    assert {hit.article.title: hit.in_topic for hit in found.newest}["渡轮今晨开航"]
    assert {hit.words for hit in found.newest} == {("渡轮",)}
    assert [story.title for story in found.removed] == ["货轮靠岸"], "topics set by a source are kept"


@pytest.mark.parametrize("indexed", [True, False])
def test_required_words_and_days_limit_the_preview(store: Store, index: Index, indexed: bool) -> None:
    narrow = make_rule("新", must=("渡轮", "海风"))
    assert [hit.article.title for hit in preview(store, index if indexed else None, narrow, topic=None, now=NOW).newest] == ["灯塔维修"]
    older = preview(store, index if indexed else None, make_rule("新", any=("去年",)), topic=None, now=NOW, days=30)
    assert [hit.article.title for hit in older.newest] == ["去年的渡轮"]


def test_empty_rule_and_quotes(store: Store, index: Index) -> None:
    assert preview(store, index, TopicRule("空"), topic=None, now=NOW).empty
    assert preview(store, index, make_rule("怪", any=('"', '渡轮" OR "', "\\", "title:渡轮")), topic=None, now=NOW).stories == 0


@pytest.mark.parametrize("indexed", [True, False])
def test_very_long_word_list_is_tried_in_part(store: Store, index: Index, indexed: bool) -> None:
    many = ("渡轮", *(f"词语{number}" for number in range(20_000)), "海风")
    found = preview(store, index if indexed else None, make_rule("新", any=many), topic="船", now=NOW)
    few = preview(store, index if indexed else None, make_rule("新", any=("渡轮",)), topic="船", now=NOW)
    assert (found.newest, found.stories, found.capped, found.removed) == (few.newest, few.stories, True, ())
    assert not few.capped


def test_stored_articles_are_reassigned(store: Store) -> None:
    steps: list[float] = []
    result = assign(store, [FERRY], since=NOW - timedelta(days=7), now=NOW, progress=lambda share, step: steps.append(share))
    assert (result.checked, result.changed, dict(result.added), dict(result.removed)) == (7, 3, {"船": 2}, {"船": 1})
    titles = {article.title: article.topics for article in store.all_articles()}
    assert titles["新渡輪下水"] == titles["灯塔维修"] == titles["港务局的通知"] == ("船",)
    assert titles["货轮靠岸"] == titles["去年的渡轮"] == ()
    assert assign(store, [FERRY], since=None, now=NOW, progress=lambda share, step: None).added == {"船": 1}
    assert steps[-1] == 1.0


def test_articles_leave_a_deleted_topic(store: Store) -> None:
    result = assign(store, [], deleted=["船"], since=None, now=NOW, progress=lambda share, step: None)
    assert dict(result.removed) == {"船": 2}
    assert counts(store, ["船"], NOW)["船"].week == 1
