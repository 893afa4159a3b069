"""Matches, their order, and how the index follows the store."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from factories import empty_store, invented
from hypothesis import example, given, settings
from hypothesis import strategies as st

from newsportal.errors import SearchError
from newsportal.items import Article, FoldKey, Link
from newsportal.search import finding, layout, open_index, sqlite_fts
from newsportal.search.base import MAX_QUERY_CHARS, Index, Query
from newsportal.store.pruning import Ages
from newsportal.text import words

if TYPE_CHECKING:
    from conftest import Newsroom

NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_implements_index(newsroom: Newsroom) -> None:
    assert isinstance(newsroom.index, Index)


class TestWords:
    def test_found(self, newsroom: Newsroom) -> None:
        newsroom.write(
            "臺灣旅遊業復甦", "游客在公园游玩，市民在一旁。張偉峰说：COVID-19 降到 3.5%，ＡＢＣ 报道。",
            site="河湾新闻网", author="记者张", topic="出行", category="社会",
        )  # fmt: skip
        newsroom.write("其他", "完全无关的内容")
        for query in (
            "旅游", "旅遊", "旅游业", "臺灣", "台湾",  # simplified for traditional and vice versa
            "园", "复", "市民在",  # single characters; characters across word boundaries
            "张伟峰", "伟峰", "張偉",  # a name, however it is segmented
            "covid", "ＣＯＶＩＤ", "Covid-19", "19", "abc", "ABC", "3.5%",
            "台湾旅游业复苏", "旅游 公园", "title:旅游", "标题：台湾", "标题:旅", "TITLE:台湾", "site:河湾", "站点:河湾新闻网",
            "author:张", "作者:记者张", "topic:出行", "话题:出行", "分类:社会",
            '"公园游玩"', "“公园游玩”", "「游玩，市民」", "+旅游 公园", "公园 -火星", '公园 -"火星人"',
        ):  # fmt: skip
            assert newsroom.titles(query) == ["臺灣旅遊業復甦"], query

    def test_not_found(self, newsroom: Newsroom) -> None:
        newsroom.write("台湾旅游", "公园游玩 party", site="河湾新闻网")
        for query in (
            "火星", '"公园旅游"', "标题:公园", "旅游 -公园", '旅游 -"公园游玩"', "site:别的", "+火星 旅游", "art",
            "旅游 -标题:台湾", "公园 -标题:台", "旅游 -site:河湾", "", " ", "*", "-旅游", "🚀",
        ):  # fmt: skip
            assert newsroom.titles(query) == [], query

    def test_every_substring_finds_its_text(self, newsroom: Newsroom) -> None:
        text = "研究生命起源的華人社區成员李慕白在南京市长江大桥上表示欧阳锋已离开"
        newsroom.write("桥", text)
        missed = [
            text[at : at + size] for size in (1, 2, 3) for at in range(len(text) - size + 1) if not newsroom.titles(text[at : at + size])
        ]
        assert missed == []

    def test_title_match_ranks_above_body_match(self, newsroom: Newsroom) -> None:
        newsroom.write("市场", "黄金 黄金 黄金 价格")
        newsroom.write("黄金价格", "市场")
        for n in range(5):
            newsroom.write(f"其他 {n}", "别的")
        assert newsroom.titles("黄金") == ["黄金价格", "市场"]

    def test_word_match_ranks_above_character_match(self, newsroom: Newsroom) -> None:
        newsroom.write("甲", "大学生活动很多", published=NOW)
        newsroom.write("乙", "他们的生活很好", published=NOW - HOUR)
        assert newsroom.titles("生活") == ["乙", "甲"]

    def test_partial_matches_if_no_text_has_all_words(self, newsroom: Newsroom) -> None:
        newsroom.write("甲", "北京的天气")
        assert newsroom.titles("北京 火星 木星") == ["甲"]
        assert newsroom.find("北京 火星 木星").relaxed
        newsroom.write("乙", "北京和火星，还有木星")
        assert newsroom.titles("北京 火星 木星") == ["乙"]
        assert not newsroom.find("北京 火星 木星").relaxed

    def test_phrase_matches_whole_words_in_order(self, newsroom: Newsroom) -> None:
        newsroom.write("甲", "climate change is here")
        newsroom.write("乙", "change the climate")
        assert newsroom.titles('"climate change"') == ["甲"]
        assert newsroom.titles('"limate chang"') == []


class TestAnyQuery:
    @settings(max_examples=150)
    @given(st.one_of(st.text(), st.text(alphabet="\"*():^-+{}[]'\\ NEARORNOT标题旅游:：“”％_;", max_size=40)))
    @example('" OR 1=1 --')
    @example("NEAR(旅游 公园, 5)")
    @example("{title body}: 旅游")
    @example("旅游*")
    @example("title:")
    @example("-")
    @example('"')
    @example('"""')
    @example("^旅游")
    @example("旅游 AND")
    @example("\x00旅游")
    @example("\ud800旅游")
    def test_has_bounded_results(self, newsroom: Newsroom, query: str) -> None:
        if not newsroom.written:
            newsroom.write("旅游", "公园")
        results = newsroom.find(query)
        assert len(results.hits) == results.total <= 1

    @pytest.mark.parametrize("part", ["旅", "旅游", "a ", '"旅游" ', "-x ", "((((", "abc", "title:旅 ", "的 "])
    def test_with_ten_thousand_characters(self, newsroom: Newsroom, part: str) -> None:
        newsroom.write("旅游", "公园")
        results = newsroom.find((part * MAX_QUERY_CHARS)[: 2 * MAX_QUERY_CHARS])
        assert results.total <= 1

    def test_pasted_article_finds_itself(self, newsroom: Newsroom) -> None:
        text = "昨天下午河湾镇的新桥正式通车，附近居民前来观看，镇长在仪式上讲话。" * 100
        newsroom.write("桥", text)
        assert newsroom.titles(text) == ["桥"]

    @pytest.mark.parametrize("which", [{"offset": -1}, {"limit": 0}, {"limit": -5}, {"offset": 99}])
    def test_invalid_offset_and_limit(self, newsroom: Newsroom, which: dict[str, int]) -> None:
        newsroom.write("旅游", "公园")
        assert newsroom.find("旅游", **which).total == 1


class TestLists:
    def test_folded_versions_are_one_hit(self, newsroom: Newsroom) -> None:
        key = FoldKey("k", "same-title")
        newsroom.write("桥通车", keys=(key,), published=NOW - HOUR)
        newsroom.write("桥通车", keys=(key,), published=NOW)
        newsroom.write("桥塌了")
        results = newsroom.find("桥")
        assert (results.total, sorted(hit.folded for hit in results.hits)) == (2, [0, 1])
        assert newsroom.find("桥", collapse=False).total == 3

    def test_sort_and_bounds_by_time(self, newsroom: Newsroom) -> None:
        for n in range(5):
            newsroom.write(f"桥 {n}", "桥" * (n % 3), published=NOW - n * HOUR)
        assert newsroom.titles("桥", sort="time") == [f"桥 {n}" for n in range(5)]
        assert newsroom.titles("桥", sort="time", since=NOW - 2 * HOUR, until=NOW) == ["桥 1", "桥 2"]

    def test_many_articles_in_one_second(self, newsroom: Newsroom, monkeypatch: pytest.MonkeyPatch) -> None:
        """Many pages give only the day of publication."""
        monkeypatch.setattr(layout, "ROWIDS_PER_SECOND", 4)
        for n in range(20):
            newsroom.write(f"桥 {n}", published=NOW)
        assert newsroom.find("桥", since=NOW, until=NOW + timedelta(seconds=1)).total == 20

    def test_dates_before_1970(self, newsroom: Newsroom) -> None:
        newsroom.write("桥 古", published=datetime(1, 1, 1, tzinfo=UTC))
        newsroom.write("桥 六零", published=datetime(1960, 1, 1, tzinfo=UTC))
        results = newsroom.find("桥", sort="time", since=datetime(1, 1, 1, tzinfo=UTC))
        assert [hit.title for hit in results.hits] == ["桥 六零", "桥 古"]

    def test_pagination(self, newsroom: Newsroom) -> None:
        for n in range(25):
            newsroom.write(f"桥 {n}")
        pages = [newsroom.titles("桥", offset=offset, limit=10) for offset in (0, 10, 20)]
        assert [len(page) for page in pages] == [10, 10, 5]
        assert len({title for page in pages for title in page}) == 25

    def test_filters_match_exactly(self, newsroom: Newsroom) -> None:
        newsroom.write("桥 1", topic="交通", site="河湾新闻网", category="社会")
        newsroom.write("桥 2", topic="交通部", site="河湾新闻", category="社会新闻")
        for which in ({"topic": "交通"}, {"site": "河湾新闻网"}, {"category": "社会"}):
            assert newsroom.titles("桥", **which) == ["桥 1"]
            assert newsroom.titles("座桥 火车", **which) == []

    def test_facets_count_stories(self, newsroom: Newsroom) -> None:
        key = FoldKey("k", "same-title")
        newsroom.write("桥", keys=(key,), site="甲", topic="交通", category="社会", published=NOW)
        newsroom.write("桥", keys=(key,), site="乙", topic="交通", published=NOW)
        newsroom.write("桥", site="甲", topic="旅游", published=NOW - 48 * HOUR)
        facets = newsroom.find("桥").facets
        assert facets["site"] == {"甲": 2, "乙": 1}
        assert facets["topic"] == {"交通": 1, "旅游": 1}
        assert facets["category"] == {"社会": 1}
        days = [moment.astimezone().date().isoformat() for moment in (NOW, NOW - 48 * HOUR)]
        assert list(facets["day"].items()) == [(days[0], 1), (days[1], 1)]

    @pytest.mark.parametrize("newsroom", ["memory"], indirect=True)
    def test_candidates_are_limited_to_newest(self, newsroom: Newsroom, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(finding, "MAX_CANDIDATES", 5)
        for n in range(7):
            newsroom.write(f"桥 {n}", published=NOW - n * HOUR)
        results = newsroom.find("桥", sort="time")
        assert (results.total, results.capped) == (5, True)
        assert [hit.title for hit in results.hits] == [f"桥 {n}" for n in range(5)]  # the newest

    def test_hit_has_fields_of_list(self, newsroom: Newsroom) -> None:
        added = newsroom.write("桥<b>", "河上的<script>桥</script>", site="河湾", published=NOW - HOUR)
        (hit,) = newsroom.find("桥").hits
        assert (hit.id, hit.story_id, hit.site) == (added.id, added.story_id, "河湾")
        assert (hit.published, hit.moment) == (NOW - HOUR, NOW - HOUR)
        assert hit.title_html == "<mark>桥</mark>&lt;b&gt;"
        assert hit.snippet_html == "河上的&lt;script&gt;<mark>桥</mark>&lt;/script&gt;"
        assert newsroom.find("桥").words == ("桥",)


@pytest.mark.parametrize("newsroom", ["memory", "file", pytest.param("elasticsearch", marks=pytest.mark.slow)], indirect=True)
class TestFollowing:
    def test_each_change_is_read_once(self, newsroom: Newsroom) -> None:
        newsroom.write("桥")
        assert newsroom.index.follow(newsroom.store) == 1
        assert newsroom.index.position() == newsroom.store.last_seq()
        assert newsroom.index.follow(newsroom.store) == 0

    def test_newer_text_replaces_older(self, newsroom: Newsroom) -> None:
        for text in ("旧桥", "新路", "高塔"):
            newsroom.write("题", text, identity="x.example/1")
            assert newsroom.find(text).total == 1
        assert newsroom.titles("旧桥") == newsroom.titles("新路") == []

    def test_topics_added_later(self, newsroom: Newsroom) -> None:
        newsroom.write("桥", identity="x.example/1", topic="交通")
        newsroom.find("桥")
        newsroom.write("桥", identity="x.example/1", topic="旅游")
        assert newsroom.find("桥", topic="旅游").total == newsroom.find("桥", topic="交通").total == 1

    def test_manual_fold_and_unfold(self, newsroom: Newsroom) -> None:
        first, two = newsroom.write("桥 一"), newsroom.write("桥 二")
        assert newsroom.find("桥").total == 2
        newsroom.store.fold(two.id, first.story_id, reason="editor", now=NOW)
        assert newsroom.find("桥").total == 1
        newsroom.store.unfold(two.id, now=NOW)
        assert newsroom.find("桥").total == 2

    def test_rebuild_keeps_answering_with_same_results(self, newsroom: Newsroom) -> None:
        for n in range(5):
            newsroom.write(f"桥 {n}", published=NOW - n * HOUR)
        before = newsroom.find("桥")
        totals: list[int] = []

        def progress(done: int) -> None:
            totals.append(newsroom.index.search(Query("桥")).total)
            newsroom.write("桥 新")  # arrives during the rebuild

        assert newsroom.index.rebuild(newsroom.store, progress) == 5
        assert totals == [5]
        after = newsroom.find("桥")
        assert after.total == 6
        assert {hit.id for hit in before.hits} < {hit.id for hit in after.hits}
        assert newsroom.index.position() == newsroom.store.last_seq()


def test_lagging_index_is_filled_in_large_batches_with_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sqlite_fts, "REBUILD_BATCH", 20)
    monkeypatch.setattr(sqlite_fts, "BATCH", 2)
    index, written = sqlite_fts.SqliteIndex(f"sqlite:///{tmp_path}/i.db"), list[int]()
    take_in = index._index_batch
    monkeypatch.setattr(
        index, "_index_batch", lambda store, changes, *place: written.append(len(changes)) or take_in(store, changes, *place)
    )
    with closing(index), closing(empty_store()) as store:
        for n in range(45):  # the last five are newer versions of the first
            link = Link(f"https://a.example/{n % 40}", "feed:x")
            store.add(Article(link.url, link, NOW, identity=str(n % 40), title=f"桥 {n}", text="河"), now=NOW)
        assert index.follow(store) == store.last_seq() == 45
        assert written == [20, 20, 2, 2, 1]
        assert [record.getMessage().partition(": ")[2] for record in caplog.records] == ["20 of 45 changes", "40 of 45 changes"]
        assert index.search(Query("桥")).total == 40
        assert (index.search(Query("标题:44")).total, index.search(Query("标题:4")).total) == (1, 0)


def test_concurrent_followers_index_everything(tmp_path: Path) -> None:
    store = empty_store(tmp_path / "news.db")
    uri = f"sqlite:///{tmp_path}/index.db"
    for n in range(50):
        link = Link(f"https://a.example/{n}", "feed:x")
        store.add(Article(link.url, link, NOW, identity=str(n), title=f"桥 {n}", text="河"), now=NOW)
    indexes = [open_index(uri) for _ in range(3)]
    threads = [threading.Thread(target=index.follow, args=(store,)) for index in indexes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {index.search(Query("桥")).total for index in indexes} == {50}
    for index in indexes:
        index.close()
    store.close()


def test_changed_segmentation_rebuilds_index_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The text is found by characters first, then by the word; an earlier process with other words leaves the index unchanged."""
    uri, store = f"sqlite:///{tmp_path}/i.db", empty_store()
    link = Link("https://a.example/1", "feed:a")
    store.add(Article(link.url, link, NOW, identity="1", title="九树之声开演", text="九树之声今晚开演。"), [], now=NOW)
    before, early = open_index(uri), open_index(uri)
    try:
        before.follow(store)
        words.set_user_words(["九树之声"])
        after = open_index(uri)
        assert len(after.search(Query("九树之声")).hits) == 1
        assert after.follow(store) == 0
        assert "is rebuilt" in caplog.text
        found = after.search(Query("九树之声"))
        assert (found.words, len(found.hits)) == (("九树之声",), 1)
        assert found.hits[0].score > 2  # matched as a word
        caplog.clear()
        words.set_user_words([])
        before.follow(store)
        assert caplog.text == ""
        early.follow(store)  # checks on first use
        assert "is rebuilt" in caplog.text
        after.close()
    finally:
        words.set_user_words([])
        before.close()
        early.close()
        store.close()


def test_index_of_mostly_deleted_articles_is_rebuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words of deleted articles stay in SQLite's FTS tables, so the file would grow without bound under retention."""
    monkeypatch.setattr(sqlite_fts, "CHECK_EVERY", 3)
    store = empty_store()
    with closing(open_index(f"sqlite:///{tmp_path}/i.db")) as index, closing(sqlite3.connect(tmp_path / "i.db")) as raw:

        def places() -> int:
            generation = raw.execute("SELECT value FROM meta WHERE name = 'generation'").fetchone()[0]
            return int(raw.execute(f"SELECT count(*) FROM docs_{generation}").fetchone()[0])

        for day in range(4):
            now = NOW + timedelta(days=day)
            for number in range(3):
                url = f"https://a.example/{day}/{number}"
                store.add(
                    Article(url, Link(url, "feed:a"), now, identity=url, title=f"桥 {day} {number}", text=invented(3 * day + number)),
                    now=now,
                )
            index.follow(store)
            store.pruning.articles(Ages(1), lambda ids: (), now=now + timedelta(hours=30))
            index.follow(store)
        assert places() < 9
        assert index.search(Query("桥")).total == store.tally().articles
    store.close()


@pytest.mark.parametrize("newsroom", ["file", pytest.param("elasticsearch", marks=pytest.mark.slow)], indirect=True)
def test_index_ahead_of_a_restored_store_is_rebuilt(newsroom: Newsroom, index_uri: str) -> None:
    for title in ("旧的桥", "丢失的桥"):
        newsroom.write(title)
    assert len(newsroom.titles("桥")) == 2
    newsroom.index.close()
    newsroom.store.close()
    newsroom.store, newsroom.index = empty_store(), open_index(index_uri)
    newsroom.write("新的桥")
    assert newsroom.titles("桥") == ["新的桥"]


def test_index_of_other_version_is_rebuilt(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/index.db"
    open_index(uri).close()
    with sqlite3.connect(tmp_path / "index.db") as connection:
        connection.execute("UPDATE meta SET value = 99 WHERE name = 'version'")
        connection.execute("UPDATE meta SET value = 7 WHERE name = 'position'")
    connection.close()
    index = open_index(uri)
    assert index.position() == 0
    assert index.search(Query("桥")).total == 0
    index.close()


@pytest.mark.parametrize("uri", ["elastic://x", "data/index.db", "", "sqlite"])
def test_invalid_uri_is_reported(uri: str) -> None:
    with pytest.raises(SearchError, match=r"sqlite:///data/"):
        open_index(uri)


def test_broken_index_error_says_it_may_be_deleted(tmp_path: Path) -> None:
    (tmp_path / "index.db").write_text("坏" * 1000, encoding="utf-8")
    with pytest.raises(SearchError, match="may be deleted at any time"):
        open_index(f"sqlite:///{tmp_path}/index.db")
