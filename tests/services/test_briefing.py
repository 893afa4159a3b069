"""The briefing: events with new reports, in sentences of their articles, without what the previous day reported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from factories import empty_store

from newsportal.items import Article, Link
from newsportal.services.briefing import DAY, Quote, as_dict, compile_briefing, day_range, passages
from newsportal.services.events.editing import rename
from newsportal.services.events.following import vector_over
from newsportal.store.events import Assignment
from newsportal.store.store import Store

NOW = datetime(2026, 5, 20, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(empty_store(tmp_path / "store.db")) as opened:
        yield opened


def write(store: Store, title: str, text: str, *, ago: timedelta = HOUR, site: str = "晨光网", topics: tuple[str, ...] = ()) -> str:
    url = f"https://{site}.example/{title}"
    fields: dict[str, Any] = {"site": site, "topics": topics, "published": NOW - ago, "language": "zh"}
    article = Article(url=url, link=Link(url, f"feed:{site}"), fetched=NOW - ago, identity=url, title=title, text=text, **fields)
    return store.add(article, [], now=NOW - ago).story_id


FERRY = "远山船厂的新渡轮今天下水，渡轮载客三百人。船长李林说，首航定在五月一日。"
FERRY_TOO = "远山船厂的新渡轮今天下水，市民到船厂观看渡轮。渡轮票价十元，六十岁以上老人半价。"
BRIDGE = "云岭峡谷观景桥昨天因大风关闭，桥上游客全部撤离。景区表示，风力超过六级时观景桥都会关闭。"


def test_events_quote_sentences_of_their_articles(store: Store) -> None:
    ferry = write(store, "远山船厂渡轮下水", FERRY, ago=3 * HOUR, topics=("航运",))
    write(store, "渡轮在远山船厂下水", FERRY_TOO, site="海港晚报")
    write(store, "观景桥因大风关闭", BRIDGE, ago=2 * HOUR)
    briefing = compile_briefing(store, NOW - DAY, NOW)
    assert (briefing.stories, [len(event.stories) for event in briefing.events]) == (3, [2, 1])
    first, second = briefing.events
    assert (first.sites, first.continues, first.last) == (2, False, NOW - HOUR)
    assert 2 <= len(first.quotes) <= 4
    assert all(quote.text in FERRY + FERRY_TOO for quote in first.quotes)
    assert any("票价十元" in quote.text and quote.site == "海港晚报" for quote in first.quotes)
    assert [quote.site for quote in passages(second.quotes)] == ["晨光网"]
    assert [story["id"] for story in as_dict(briefing)["events"][0]["stories"]].count(ferry) == 1
    assert [event.title for event in compile_briefing(store, NOW - DAY, NOW, topic="航运").events] == ["远山船厂渡轮下水"]
    assert len(compile_briefing(store, NOW - DAY, NOW, count=1).events) == 1


def test_boilerplate_of_a_site_does_not_join_its_stories(store: Store) -> None:
    follow_us = "更多本地新闻，欢迎关注晨光网公众号，每天早上七点，我们准时把城里的大小事情送到您的手边。"
    shorts = {"渡轮下水": "新渡轮今天下水，载客三百人。", "景桥关闭": "峡谷观景桥因大风关闭。", "球队夺冠": "水手队今晚夺得联赛冠军。"}
    for title, text in shorts.items():
        write(store, title, f"{text}\n{follow_us}")
    assert [len(event.stories) for event in compile_briefing(store, NOW - DAY, NOW).events] == [1, 1, 1]


def test_consecutive_sentences_are_one_passage() -> None:
    def quotes(story: str, *texts: str) -> list[Quote]:
        return [Quote(text, story, story, "晨光网", f"https://example.org/{story}") for text in texts]

    sentences = [
        *quotes("a", "渡轮今天下水。", "“载客三百人。”", "首航定在五月。"),
        *quotes("b", "It sails.", "It is new."),
        *quotes("a", "票价十元。"),
    ]
    assert [(quote.story, quote.text) for quote in passages(sentences)] == [
        ("a", "渡轮今天下水。“载客三百人。”首航定在五月。"), ("b", "It sails. It is new."), ("a", "票价十元。"),
    ]  # fmt: skip


def test_sentences_of_the_previous_day_are_left_out(store: Store) -> None:
    write(store, "远山船厂渡轮下水", FERRY, ago=30 * HOUR)
    write(store, "渡轮在远山船厂下水", FERRY_TOO, site="海港晚报")
    write(store, "观景桥因大风关闭", BRIDGE, ago=30 * HOUR)
    briefing = compile_briefing(store, NOW - DAY, NOW)
    assert [(event.title, event.continues) for event in briefing.events] == [("渡轮在远山船厂下水", True)]
    assert "票价十元" in briefing.events[0].quotes[0].text or "票价十元" in briefing.events[0].quotes[-1].text


def test_stored_events_and_their_edits_are_used(store: Store) -> None:
    ferry, bridge = write(store, "远山船厂渡轮下水", FERRY, ago=3 * HOUR), write(store, "观景桥因大风关闭", BRIDGE, ago=2 * HOUR)
    assert [event.event for event in compile_briefing(store, NOW - DAY, NOW).events] == [None, None]
    assignments = [Assignment(ferry, "spring", 1.0), Assignment(bridge, "spring", 1.0)]
    states = {"spring": vector_over("spring", store.articles([ferry, bridge]))}
    assert store.events.assign(assignments, states, after=0, up_to=store.last_seq())
    rename(store, "spring", "春天的两件事", by="编辑", now=NOW)
    (event,) = compile_briefing(store, NOW - DAY, NOW).events
    assert (event.title, event.event, {story.id for story in event.stories}) == ("春天的两件事", "spring", {ferry, bridge})
    late = write(store, "渡轮在远山船厂下水", FERRY_TOO, site="海港晚报")  # not yet placed into an event
    (event,) = compile_briefing(store, NOW - DAY, NOW).events
    assert late in {story.id for story in event.stories}
    assert as_dict(compile_briefing(store, NOW - DAY, NOW))["events"][0]["event"] == "spring"


def test_empty_briefing(store: Store) -> None:
    write(store, "观景桥因大风关闭", BRIDGE, ago=30 * HOUR)
    assert (compile_briefing(store, NOW - DAY, NOW).events, compile_briefing(store, NOW - DAY, NOW).stories) == ((), 0)


def test_day_begins_in_the_time_zone() -> None:
    since, until = day_range(date(2026, 5, 20), ZoneInfo("Asia/Shanghai"))
    assert (since.astimezone(UTC), until - since) == (datetime(2026, 5, 19, 16, tzinfo=UTC), DAY)
