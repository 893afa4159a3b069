"""Similar stories and topic statistics, which are the same for every index."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from newsportal.items import FoldKey
from newsportal.search.overview import overview, similar

NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
SHANGHAI = ZoneInfo("Asia/Shanghai")


def test_similar_stories_share_words_and_days(newsroom: Any) -> None:
    first = newsroom.write("台风海葵登陆东海岸", "台风海葵今晨登陆东海岸，" + "沿海各县停航停课，渔船回港。" * 12, published=NOW)
    newsroom.write("台风海葵登陆东海岸", "台风海葵登陆，" + "全文见后续报道。" * 20, keys=(FoldKey("k", "同题"),), published=NOW)
    other = newsroom.write("台风过后渔船出海", "台风海葵过后，" + "渔民整理渔具，码头恢复秩序。" * 12, published=NOW - timedelta(days=2))
    newsroom.write("台风海葵的名字", "台风海葵得名于，" + "命名表由各成员提供，轮流使用。" * 12, published=NOW - timedelta(days=90))
    newsroom.write("博物馆夜场开放", "博物馆夜场，" + "观众凭预约码入馆参观，每周五晚。" * 12, published=NOW)
    newsroom.index.follow(newsroom.store)
    article = newsroom.store.article(first.id)
    found = [hit.id for hit in similar(newsroom.index, article, limit=4)]
    assert other.id in found
    assert first.story_id not in {hit.story_id for hit in similar(newsroom.index, article, limit=4)}
    titles = [hit.title for hit in similar(newsroom.index, article, limit=4)]
    assert "台风海葵的名字" not in titles
    assert "博物馆夜场开放" not in titles
    assert len(similar(newsroom.index, article, limit=1)) == 1


def test_topic_overview_counts(newsroom: Any) -> None:
    for number, (site, days) in enumerate((("甲", 0), ("甲", 0), ("乙", 0), ("甲", 3), ("丙", 400))):
        at = NOW - timedelta(days=days)
        text = f"第{number}篇，" + chr(0x4E00 + number * 500) * 60
        newsroom.write(f"标题{number}", text, topic="旅游", topics=("旅游",), site=site, category="社会", published=at, now=at)
    newsroom.write("别的", "别的话题" * 20, topics=("科技",), site="甲", published=NOW)
    newsroom.index.follow(newsroom.store)
    found = overview(newsroom.index, "旅游", now=NOW, zone=SHANGHAI, days=7)
    assert dict(found.sites) == {"甲": 3, "乙": 1}
    assert list(found.sites) == ["甲", "乙"]
    assert dict(found.categories) == {"社会": 4}
    assert [count for _, count in found.days] == [0, 0, 0, 1, 0, 0, 3]
    assert found.days[-1][0] == date(2026, 3, 1)
    assert (found.reports, found.max_count, found.capped) == (4, 3, False)
    assert overview(newsroom.index, "没有", now=NOW, zone=SHANGHAI).reports == 0
