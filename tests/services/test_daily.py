"""Daily counts equal a count of all articles after any change."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

import pytest

from newsportal.items import Article, Link
from newsportal.services.daily import KINDS, DailySums, daily_uri
from newsportal.store import open_store
from newsportal.store.store import Store

SHANGHAI = ZoneInfo("Asia/Shanghai")
START = datetime(2026, 5, 1, 15, 30, tzinfo=UTC)
"""23:30 in Shanghai."""

ALL = date(2026, 1, 1), date(2026, 12, 31)


def add(store: Store, number: int, *, days: int = 0, hours: int = 0, text: str = "", **changes: object) -> str:
    moment = START + timedelta(days=days, hours=hours)
    url = f"https://site{number % 3}.example/{number}.html"
    generator = Random(f"{number}{text}")
    words = "".join(chr(generator.randrange(0x4E00, 0x9000)) for _ in range(80))
    values = {"site": f"站点{number % 3}", "topics": ("旅游",) if number % 2 else (), "category": "社会", **changes}
    link = Link(url=url, source=f"feed:{number % 2}")
    article = Article(url=url, link=link, fetched=moment, identity=url, title=f"第{number}条", text=words, **values)  # type: ignore[arg-type]
    return store.add(article, [], now=moment).id


def test_days_follow_the_time_zone_and_include_empty_days(store: Store) -> None:
    with closing(DailySums("sqlite://", SHANGHAI)) as sums:
        add(store, 1)
        add(store, 2, hours=1)  # half past midnight
        add(store, 3, days=3)
        sums.follow(store)
        assert sums.series("all", "", date(2026, 5, 1), date(2026, 5, 4)) == [
            (date(2026, 5, 1), 1), (date(2026, 5, 2), 1), (date(2026, 5, 3), 0), (date(2026, 5, 4), 1),
        ]  # fmt: skip
        assert [(row.name, row.number) for row in sums.top("source", *ALL)] == [("feed:1", 2), ("feed:0", 1)]
        assert sums.before(date(2026, 5, 4)) == 2


def test_changes_are_counted_once(store: Store) -> None:
    with closing(DailySums("sqlite://", SHANGHAI)) as sums:
        ids = [add(store, number) for number in range(6)]
        sums.follow(store)
        add(store, 1, text="改过", days=5)
        store.set_category(ids[2], "体育", by="editor", now=START + timedelta(days=6))
        store.fold(ids[3], store.article(ids[4]).story_id, reason="editor", now=START)  # type: ignore[union-attr]
        sums.follow(store)
        sums.follow(store)
        assert sums.total(*ALL) == 6
        assert {row.name: row.number for row in sums.top("category", *ALL)} == {"社会": 5, "体育": 1}


def test_sums_over_any_period_equal_the_sum_of_days(store: Store) -> None:
    with closing(DailySums("sqlite://", SHANGHAI)) as sums:
        ids = [add(store, number, days=3 * number) for number in range(60)]
        sums.follow(store)
        for id in ids[::7]:
            store.set_category(id, "体育", by="editor", now=START + timedelta(days=200))
        sums.follow(store)
        first = START.date()
        for begin, length in ((0, 1), (0, 400), (5, 31), (5, 32), (13, 33), (13, 64), (2, 90), (40, 127), (150, 3), (300, 20)):
            since, until = first + timedelta(days=begin), first + timedelta(days=begin + length - 1)
            for kind in KINDS[1:4]:
                sums_by_name = {row.name: row.number for row in sums.top(kind, since, until, 100)}
                assert sum(sums_by_name.values()) == sums.total(since, until), (kind, begin, length)
                for name, number in sums_by_name.items():
                    assert sum(count for _, count in sums.series(kind, name, since, until)) == number


def test_restored_older_store_is_counted_again(store: Store, tmp_path: Path) -> None:
    with closing(DailySums("sqlite://", SHANGHAI)) as sums, closing(open_store(f"sqlite:///{tmp_path / 'older.db'}")) as older:
        for number in range(5):
            add(store, number)
        sums.follow(store)
        for number in range(3):
            add(older, number, days=1, category="体育")
        sums.follow(older)
        assert sums.total(*ALL) == 3
        assert [(row.name, row.number) for row in sums.top("category", *ALL)] == [("体育", 3)]
        assert sums.position() == older.last_seq()


def test_two_processes_count_everything_once(store: Store, tmp_path: Path) -> None:
    uri = daily_uri(f"sqlite:///{tmp_path / 'index.db'}")
    with closing(DailySums(uri, SHANGHAI)) as first, closing(DailySums(uri, SHANGHAI)) as second:
        for number in range(30):
            add(store, number, days=number % 4)
            (first if number % 2 else second).follow(store)
        first.follow(store)
        expected = Counter(article.publisher for article in store.all_articles())
        assert {found.name: found.number for found in second.top("site", *ALL)} == expected
        assert first.position() == second.position() == store.last_seq()


def test_changed_time_zone_restarts_the_count(store: Store, tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'd.daily'}"
    add(store, 1, hours=1)
    for zone, day in ((SHANGHAI, date(2026, 5, 2)), (UTC, date(2026, 5, 1))):
        with closing(DailySums(uri, zone)) as sums:
            sums.follow(store)
            assert sums.series("all", "", day, day) == [(day, 1)]
            assert sums.total(*ALL) == 1


@pytest.mark.parametrize(
    ("index", "file"),
    [("sqlite:////a/index.db", "sqlite:////a/index.db.daily"), ("sqlite://", "sqlite://"), ("elasticsearch://h:9200/x", "sqlite://")],
)
def test_daily_uri(index: str, file: str) -> None:
    assert daily_uri(index) == file
