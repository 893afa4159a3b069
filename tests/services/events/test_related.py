"""Related stories: those of the same event and with the same names, not those that share a common word of the trade."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from event_texts import CATCH, FIRE, TRIAL, add
from factories import empty_index

from newsportal.search.base import Index
from newsportal.services.events.following import EventFollower
from newsportal.services.events.timeline import names_of, related
from newsportal.store.store import Store

LAUNCH = (
    "手机厂商“回声”今晚发布新机“回声七号”，最大的卖点是后盖上的四颗螺丝。用户拧开它们就能更换电池、屏幕和充电口，包装盒里附送一把螺丝刀。"
    "新机售价两千八百九十九元起，下周五开售。"
)
RECALL = "手机厂商“回声”今天宣布召回约二万只充电器，因外壳可能松脱，消费者可凭序列号到门店免费更换。"
COMPUTER = "北辰超算中心新一代计算机今日通过验收，新机持续算力为上代四倍，能耗下降三成，明年一月起向高校开放机时。"


@pytest.fixture
def index() -> Iterator[Index]:
    with closing(empty_index()) as opened:
        yield opened


def find_related(store: Store, index: Index | None, story: str, limit: int = 4) -> list[str]:
    if index is not None:
        index.follow(store)
    article = store.article(story)
    assert article is not None
    return related(store, index, article, limit)


def test_launch_and_recall_of_one_maker_are_related(store: Store, index: Index) -> None:
    launch = add(store, "launch", "手机厂商“回声”发布可换电池新机", LAUNCH)
    recall = add(store, "recall", "“回声”宣布召回一批充电器", RECALL, days=9)
    computer = add(store, "computer", "【快讯】北辰超算中心新机通过验收", COMPUTER)
    assert find_related(store, index, launch) == [recall]
    assert find_related(store, index, recall) == [launch]
    assert recall not in find_related(store, index, computer)


def test_stories_of_the_event_come_first(store: Store, index: Index) -> None:
    fire = add(store, "fire", "老城灯笼作坊起火", FIRE)
    trial = add(store, "trial", "作坊主当庭认错", TRIAL, days=184)
    song = add(store, "song", "赵远山的歌", "赵远山年轻时写过一首渔歌，今天在码头由孩子们唱给客人听，渔歌唱了三遍。", days=2)
    add(store, "catch", "海带丰收", CATCH)
    EventFollower().follow(store)
    assert find_related(store, index, fire) == [trial, song]
    assert find_related(store, None, fire) == [trial]


def test_keywords_are_used_without_names(store: Store, index: Index) -> None:
    first = add(store, "one", "海带丰收", CATCH)
    second = add(store, "two", "渔民晒海带", "渔民把海带铺在晒场上，等太阳晒干，收购商已经在码头等着装车。", days=1)
    assert find_related(store, index, first) == [second]


def test_quoted_names_are_distinguished_from_quoted_speech() -> None:
    speech = "“我们希望，大家自己修手机。”"
    names = names_of("“回声”发布新机", f"“回声”的总裁说：{speech}{speech}《第七号电池》随机附送，《第七号电池》")
    assert names[:2] == ["回声", "第七号电池"]
    assert not any("大家" in name for name in names)
