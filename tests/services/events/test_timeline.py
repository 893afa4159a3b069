"""The timeline of an event takes its dates from the texts."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from factories import NOW, article, empty_store

from newsportal.services.events.timeline import dated_sentence, milestones, neighbourhood, view
from newsportal.store.events import Assignment

PUBLISHED = datetime(2026, 3, 6, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "day", "sentence"),
    [
        ("青河大桥3月5日晚垮塌。救援正在进行。", date(2026, 3, 5), "青河大桥3月5日晚垮塌。"),
        ("记者从青河获悉，5日凌晨一桥垮塌。", date(2026, 3, 5), "记者从青河获悉，5日凌晨一桥垮塌。"),
        ("昨天，法院宣判。", date(2026, 3, 5), "昨天，法院宣判。"),
        ("2025年12月31日，桥通车。昨晚它垮塌了。", date(2026, 3, 5), "昨晚它垮塌了。"),
        ("去年12月31日，桥通车。", None, None),
        ("28日，桥通车。", date(2026, 2, 28), "28日，桥通车。"),
        ("2月30日，什么也没有发生。", None, None),
        ("会议持续3日内结束，预计9月12日验收。", None, None),
        ("没有日期的一句话。", None, None),
        ("", None, None),
    ],
)
def test_last_date_in_the_opening_is_taken(text: str, day: date | None, sentence: str | None) -> None:
    assert dated_sentence(text, PUBLISHED) == (day, sentence)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("新华社青河3月5日电 昨天，法院宣判了大桥垮塌案。被告上诉。", "昨天，法院宣判了大桥垮塌案。"),
        ("大桥垮塌之后，青河市要求九座桥停工。其中三座已经通车的桥今天起限行。", "大桥垮塌之后，青河市要求九座桥停工。"),
        ("记者今天从青河市获悉", "标题"),
    ],
)
def test_milestone_is_a_complete_independent_sentence(text: str, quoted: str) -> None:
    store = empty_store(None)
    id = store.add(article("a", title="标题", text=text, published=PUBLISHED), now=PUBLISHED).story_id
    story = store.story(id)
    assert story is not None
    (point,) = milestones([story], store.articles([story.head.id]), UTC)
    assert point.sentence == quoted


def test_view_lists_days_sites_and_stories() -> None:
    store = empty_store(None)
    texts = ("青河大桥2月27日晚垮塌，两人受伤。", "青河大桥28日开始清理。", "这里没有日期，但有一句足够长的话。")
    stories = []
    for number, text in enumerate(texts):
        moment = NOW + timedelta(days=number)
        item = article(f"a{number}", title=f"标题{number}", text=text * 3, published=moment, site=f"site{number}")
        stories.append(store.add(item, now=moment).story_id)
    store.events.assign([Assignment(id, "e", 1.0) for id in stories], {"e": "[]"}, after=0, up_to=store.last_seq())
    event = store.events.event("e")
    assert event is not None
    timeline = view(store, event, UTC)
    assert [(point.day, point.dated) for point in timeline.points] == [
        (date(2026, 2, 27), True), (date(2026, 2, 28), True), ((NOW + timedelta(days=2)).date(), False),
    ]  # fmt: skip
    assert [(teller.site, teller.articles) for teller in timeline.publishers] == [("site0", 1), ("site1", 1), ("site2", 1)]
    assert [story.id for story in timeline.stories] == stories
    neighbours = neighbourhood(store, stories[1])
    assert neighbours is not None
    assert neighbours.before is not None
    assert neighbours.after is not None
    assert (neighbours.before.id, neighbours.after.id) == (stories[0], stories[2])
    single = store.add(article("z", text="别的事" * 30), now=NOW).story_id
    assert neighbourhood(store, single) is None
