"""Every guarantee of ``newsportal.store.store``, over every store of ``conftest.STORES_UNDER_TEST``.

A new method of the protocol is tested here first.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from factories import HOUR, LONG, NOW, OTHER, SAME_TEXT, SAME_TITLE, WEATHER, article
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from newsportal.errors import StoreError
from newsportal.items import FoldKey, Image, Link, TopicMark, content_id
from newsportal.items.report import Run, SourceReport
from newsportal.messages import Message, as_text
from newsportal.store import reading
from newsportal.store.link_tables import Task
from newsportal.store.lists import cursor_of
from newsportal.store.results import SourceState, StoredArticle, StoryFilter, TopicChange
from newsportal.store.store import Store

BEIJING = timezone(timedelta(hours=8))


def ids(store: Store, **which: Any) -> list[str]:
    """Return the last words of the titles of the stories that a filter selects."""
    return [story.head.title.removeprefix("标题 ") for story in store.stories(StoryFilter(**which)).stories]


def test_is_a_store(store: Store) -> None:
    assert isinstance(store, Store)


class TestAdd:
    def test_new_article_founds_a_story(self, store: Store) -> None:
        added = store.add(article(), now=NOW)
        assert added.outcome == "stored"
        story = store.story(added.story_id)
        assert story is not None
        assert (story.count, story.sites, story.head.id) == (1, 1, added.id)

    def test_every_field_is_kept(self, store: Store) -> None:
        images = (
            Image("https://news.example/1.jpg", caption="桥", width=640, height=480),
            Image("https://news.example/2.jpg", dropped="small"),
        )
        full = article(
            topic="旅游", topics=("交通",), html="<p>第一段</p>", author="记者甲", origin="河湾日报", site="河湾新闻网", images=images,
            language="zh-Hant", category="社会", category_by="model 3", category_score=0.9, category_reason="法院 · 警方", algorithm="best",
            keywords=("桥", "New York"),
            topic_marks=(TopicMark("交通", "keywords", 0.25), TopicMark("旅游", "search")), fetched=NOW + HOUR,
            published=datetime(2026, 3, 1, 9, 30, tzinfo=BEIJING),
        )  # fmt: skip
        found = store.article(store.add(full, now=NOW).id)
        assert found is not None
        plain = {item.name: getattr(full, item.name) for item in fields(full)}
        shared = {item.name for item in fields(StoredArticle)} & set(plain) - {"topics", "published"}
        assert {name: getattr(found, name) for name in shared} == {name: plain[name] for name in shared}
        assert set(found.topics) == {"旅游", "交通"}
        assert found.published == full.published
        assert (found.source, found.summary, found.first_seen, found.revision) == ("feed:快讯", "a 的摘要", NOW, 1)
        assert (found.fold_of, found.fold_reason, found.fold_score) == (None, None, None)

    def test_missing_values_are_none(self, store: Store) -> None:
        bare = article(published=None, link=Link(url="https://news.example/a.html", source="hub:x"))
        found = store.article(store.add(bare, now=NOW).id)
        assert found is not None
        names = ("html", "summary", "published", "author", "origin", "site", "language", "category", "algorithm")
        assert {getattr(found, name) for name in names} == {None}
        assert (found.topics, found.images, found.moment) == ((), (), NOW)

    def test_datetimes_are_returned_in_utc(self, store: Store) -> None:
        found = store.article(store.add(article(published=datetime(2026, 3, 1, 7, 30, 0, 123456, tzinfo=BEIJING)), now=NOW).id)
        assert found is not None
        assert found.published == datetime(2026, 2, 28, 23, 30, 0, 123456, tzinfo=UTC)
        assert {value.utcoffset() for value in (found.published, found.fetched, found.first_seen)} == {timedelta(0)}

    def test_repeated_article_is_stored_once(self, store: Store) -> None:
        first = store.add(article(), now=NOW)
        again = store.add(article(), now=NOW + HOUR)
        assert (again.outcome, again.id, again.story_id) == ("same", first.id, first.story_id)
        assert store.tally().articles == 1
        assert len(store.changes()) == 1

    def test_repeated_article_adds_its_topic(self, store: Store) -> None:
        id = store.add(article(topic="旅游"), now=NOW).id
        assert store.add(article(topic="交通"), now=NOW).outcome == "same"
        found = store.article(id)
        assert found is not None
        assert set(found.topics) == {"旅游", "交通"}
        assert ids(store, topic="交通") == ["a"]
        assert [change.id for change in store.changes()] == [id, id]

    @pytest.mark.parametrize("changes", [{"title": "标题 改"}, {"text": "改过的正文"}])
    def test_newer_text_keeps_the_earlier_revision(self, store: Store, changes: dict[str, str]) -> None:
        id = store.add(article(html="<p>旧</p>"), now=NOW).id
        newer = article(html="<p>新</p>", fetched=NOW + HOUR, **changes)
        assert store.add(newer, now=NOW + HOUR).outcome == "revised"
        found = store.article(id)
        assert found is not None
        assert (found.title, found.text, found.html, found.revision) == (newer.title, newer.text, "<p>新</p>", 2)
        (earlier,) = store.revisions(id)
        assert (earlier.title, earlier.text, earlier.html, earlier.revision) == ("标题 a", "第一段 a\n第二段", "<p>旧</p>", 1)
        assert (earlier.fetched, earlier.id) == (NOW, id)

    def test_revised_text_replaces_keywords(self, store: Store) -> None:
        id = store.add(replace(article(), keywords=("桥",)), now=NOW).id
        store.add(replace(article(text="改了。"), keywords=("路", "桥")), now=NOW)
        found = store.article(id)
        assert found is not None
        assert found.keywords == ("路", "桥")

    def test_revisions_are_oldest_first(self, store: Store) -> None:
        id = store.add(article(text="一"), now=NOW).id
        for text in ("二", "三"):
            store.add(article(text=text), now=NOW)
        assert [earlier.text for earlier in store.revisions(id)] == ["一", "二"]
        assert store.revisions("unknown") == ()

    @pytest.mark.parametrize("missing", ["identity", "title", "text"])
    def test_incomplete_article_is_refused(self, store: Store, missing: str) -> None:
        with pytest.raises(StoreError, match=missing):
            store.add(article(**{missing: None}), now=NOW)
        assert store.tally().articles == 0

    @settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(text=st.text(), title=st.text(), url=st.text(max_size=50))
    def test_any_text_round_trips(self, store: Store, text: str, title: str, url: str) -> None:
        """Except NUL and lone surrogates, which no database or file can store."""
        added = store.add(article(identity=f"id {url}", url=url, title=title, text=text), now=NOW)
        found = store.article(added.id)
        assert found is not None

        def kept(value: str) -> str:
            return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in value if character != "\0")

        assert (found.title, found.text) == (kept(title), kept(text))
        assert store.find_stored([f"id {url}"]) == {f"id {url}"}


class TestFolding:
    def test_shared_key_makes_one_story(self, store: Store) -> None:
        first = store.add(article("a", host="a.example"), [SAME_TITLE], now=NOW)
        second = store.add(article("b", host="b.example"), [SAME_TITLE], now=NOW + HOUR)
        assert (second.outcome, second.story_id, second.reason) == ("folded", first.story_id, "same-title")
        story = store.story(first.story_id)
        assert story is not None
        assert (story.count, story.sites, story.first_seen, story.last_seen) == (2, 2, NOW, NOW + HOUR)
        assert [version.id for version in story.versions] == [first.id, second.id]
        folded = store.article(second.id)
        assert folded is not None
        assert (folded.fold_of, folded.fold_reason, folded.fold_score) == (first.id, "same-title", 0.9)

    def test_different_keys_make_different_stories(self, store: Store) -> None:
        store.add(article("a", host="a.example"), [SAME_TITLE], now=NOW)
        assert store.add(article("b", host="b.example"), [SAME_TEXT], now=NOW).outcome == "stored"

    def test_best_score_decides(self, store: Store) -> None:
        store.add(article("a", host="a.example"), [SAME_TITLE], now=NOW)
        by_text = store.add(article("b", host="b.example"), [SAME_TEXT], now=NOW)
        assert store.add(article("c", host="c.example"), [SAME_TITLE, SAME_TEXT], now=NOW).story_id == by_text.story_id

    @pytest.mark.parametrize(("apart", "outcome"), [(timedelta(days=3), "folded"), (timedelta(days=3, seconds=1), "stored")])
    def test_window_of_a_key(self, store: Store, apart: timedelta, outcome: str) -> None:
        store.add(article("a", host="a.example", published=NOW - apart), [SAME_TITLE], now=NOW)
        assert store.add(article("b", host="b.example", published=NOW), [SAME_TITLE], now=NOW).outcome == outcome

    def test_window_extends_backwards(self, store: Store) -> None:
        store.add(article("a", host="a.example", published=NOW), [SAME_TITLE], now=NOW)
        assert store.add(article("b", host="b.example", published=NOW - HOUR), [SAME_TITLE], now=NOW).outcome == "folded"

    def test_regular_column_of_one_site_does_not_fold(self, store: Store) -> None:
        store.add(article("monday", host="a.example"), [SAME_TITLE], now=NOW)
        store.add(article("monday", host="b.example"), [SAME_TITLE], now=NOW)
        # the edition of b lies between, but a has an article in that story
        assert store.add(article("tuesday", host="a.example"), [SAME_TITLE], now=NOW).outcome == "stored"

    def test_one_site_folds_by_a_key_that_allows_it(self, store: Store) -> None:
        store.add(article("a"), [SAME_TEXT], now=NOW)
        assert store.add(article("b"), [SAME_TEXT], now=NOW).outcome == "folded"
        assert store.stories(StoryFilter()).stories[0].sites == 1

    def test_original_is_the_earliest_and_story_keeps_its_id(self, store: Store) -> None:
        later = store.add(article("later", host="a.example", published=NOW), [SAME_TITLE], now=NOW)
        earlier = store.add(article("earlier", host="b.example", published=NOW - HOUR), [SAME_TITLE], now=NOW)
        story = store.story(later.story_id)
        assert story is not None
        assert (story.id, story.head.id) == (later.story_id, earlier.id)

    def test_longer_text_is_the_original_at_equal_times(self, store: Store) -> None:
        store.add(article("short", host="a.example", text="短"), [SAME_TITLE], now=NOW)
        full = store.add(article("full", host="b.example", text="长得多的正文"), [SAME_TITLE], now=NOW)
        story = store.story(full.story_id)
        assert story is not None
        assert story.head.id == full.id

    def test_revised_page_may_become_a_repost(self, store: Store) -> None:
        first = store.add(article("a", host="a.example"), [SAME_TITLE], now=NOW)
        late = store.add(article("b", host="b.example", title="快讯"), now=NOW)
        revised = store.add(article("b", host="b.example"), [SAME_TITLE], now=NOW)
        assert (revised.outcome, revised.story_id) == ("revised", first.story_id)
        story = store.story(late.story_id)
        assert story is not None
        assert (story.id, story.count, store.tally().stories) == (first.story_id, 2, 1)

    def test_revision_does_not_split_a_story(self, store: Store) -> None:
        store.add(article("a", host="a.example"), [SAME_TITLE], now=NOW)
        founder = store.add(article("b", host="b.example"), [SAME_TEXT], now=NOW)
        store.add(article("c", host="c.example"), [SAME_TEXT], now=NOW)
        assert store.add(article("b", host="b.example", title="改"), [SAME_TITLE], now=NOW).story_id == founder.story_id

    def test_future_date_does_not_lead_the_list(self, store: Store) -> None:
        store.add(article("2099", published=NOW + timedelta(days=20000)), now=NOW)
        store.add(article("news", published=NOW + HOUR), now=NOW + 2 * HOUR)
        assert ids(store) == ["news", "2099"]

    def test_any_year_is_a_valid_date(self, store: Store) -> None:
        ancient, far = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=BEIJING)
        for name, published in (("ancient", ancient), ("far", far)):
            store.add(article(name, host=f"{name}.example", published=published), [SAME_TITLE], now=NOW)
        assert ids(store) == ["far", "ancient"]


class TestReposts:
    """Articles whose texts repeat others, without a common key."""

    def test_repost_joins_the_story_with_its_reason(self, store: Store) -> None:
        first = store.add(article("a", host="a.example", text=LONG), now=NOW)
        lead = store.add(article("b", host="b.example", title="青河来信", text="本报讯（记者 周明）" + LONG), now=NOW + HOUR)
        cut = store.add(article("c", host="c.example", text=LONG[: len(LONG) // 2]), now=NOW + HOUR)
        assert (lead.outcome, lead.story_id, lead.reason) == ("folded", first.story_id, "edited-text")
        assert (cut.outcome, cut.story_id, cut.reason) == ("folded", first.story_id, "part-of-text")
        stored = store.article(cut.id)
        assert stored is not None
        assert stored.fold_of in {first.id, lead.id}
        assert 0.9 <= (stored.fold_score or 0) <= 1

    def test_different_text_is_another_story(self, store: Store) -> None:
        store.add(article("a", host="a.example", text=LONG), now=NOW)
        assert store.add(article("b", host="b.example", text=OTHER), now=NOW).outcome == "stored"

    def test_template_with_other_numbers_is_another_story(self, store: Store) -> None:
        added = [
            store.add(article(str(day), title="青河天气预报", text=WEATHER.format(day, 11 + 2 * day, 40 + 7 * day, 63 - 5 * day)), now=NOW)
            for day in range(1, 6)
        ]
        assert [result.outcome for result in added] == ["stored"] * 5

    def test_same_text_folds_within_weeks_but_not_years(self, store: Store) -> None:
        first = store.add(article("a", host="a.example", text=LONG, published=NOW), now=NOW)
        weeks, years = NOW + timedelta(days=60), NOW + timedelta(days=800)
        assert store.add(article("b", host="b.example", text=LONG, published=weeks), now=weeks).story_id == first.story_id
        assert store.add(article("c", host="c.example", text=LONG, published=years), now=years).outcome == "stored"

    def test_unfolded_article_stays_apart(self, store: Store) -> None:
        first = store.add(article("a", host="a.example", text=LONG), now=NOW)
        second = store.add(article("b", host="b.example", text=LONG), now=NOW)
        own_story = store.unfold(second.id, now=NOW)
        again = store.add(article("b", host="b.example", text=LONG + "（完）"), now=NOW)
        assert (again.outcome, again.story_id) == ("revised", own_story)
        assert first.story_id != own_story

    def test_manually_folded_stories_stay_together(self, store: Store) -> None:
        first = store.add(article("a", host="a.example", text=LONG), now=NOW)
        other = store.add(article("b", host="b.example", text=OTHER), now=NOW)
        store.fold(other.id, first.story_id, reason="by-hand", now=NOW)
        assert store.add(article("c", host="c.example", text=OTHER), now=NOW).story_id == first.story_id

    def test_revised_text_is_compared_again(self, store: Store) -> None:
        first = store.add(article("a", host="a.example", text=LONG), now=NOW)
        late = store.add(article("b", host="b.example", text=OTHER), now=NOW)
        revised = store.add(article("b", host="b.example", text=LONG), now=NOW)
        assert (late.outcome, revised.outcome, revised.story_id) == ("stored", "revised", first.story_id)
        assert store.add(article("c", host="c.example", text=OTHER), now=NOW).outcome == "stored"

    def test_two_parts_of_a_round_up_are_two_stories(self, store: Store) -> None:
        first = store.add(article("a", host="a.example", text=LONG), now=NOW)
        both = store.add(article("b", host="b.example", text=LONG + "\n" + OTHER), now=NOW)
        assert (both.story_id, both.reason) == (first.story_id, "contains-text")
        part = store.add(article("c", host="c.example", text=OTHER), now=NOW)
        assert part.outcome == "stored"

    def test_round_ups_do_not_chain_stories(self, store: Store) -> None:
        first = store.add(article("a", host="a.example", text=LONG), now=NOW)
        store.add(article("b", host="b.example", text=LONG + "\n" + OTHER), now=NOW)
        again = store.add(article("c", host="c.example", text="（记者 周明）" + LONG + "\n" + OTHER), now=NOW)
        other = store.add(article("d", host="d.example", text=OTHER), now=NOW)
        assert (again.story_id, again.reason) == (first.story_id, "contains-text")
        assert other.outcome == "stored"
        assert store.add(article("e", host="e.example", text="本报讯：" + OTHER), now=NOW).story_id == other.story_id

    def test_news_flash_is_not_the_original_of_the_article(self, store: Store) -> None:
        flash = store.add(article("a", host="a.example", title="青河图书馆新馆开放", text=LONG[:60], published=NOW - HOUR), now=NOW)
        full = store.add(article("b", host="b.example", title="青河市图书馆新馆开放", text=LONG, published=NOW), now=NOW)
        store.add(article("c", host="c.example", text=LONG, published=NOW + HOUR), now=NOW + HOUR)
        story = store.story(flash.story_id)
        assert story is not None
        assert (story.count, story.head.id, story.versions[0].id, story.versions[1].id) == (3, full.id, full.id, flash.id)
        assert ids(store) == ["青河市图书馆新馆开放"]

    def test_promotion_does_not_make_a_repost_the_original(self, store: Store) -> None:
        flash, promotion = LONG[:60], "\n更多本地新闻，欢迎关注“海棠都市网”公众号，每天早上七点，我们准时把城里的大小事情送到您的手边。"
        title = "青河市图书馆新馆开放"
        late = store.add(article("a", host="a.example", title=title, text=flash + promotion, published=NOW), now=NOW)
        first = store.add(article("b", host="b.example", title=title, text=flash, published=NOW - HOUR), now=NOW)
        story = store.story(late.story_id)
        assert story is not None
        assert (first.reason, story.count, story.head.id) == ("part-of-text", 2, first.id)

    def test_round_up_is_not_the_original_of_its_part(self, store: Store) -> None:
        first = store.add(article("a", host="a.example", title="图书馆新馆开放", text=LONG, published=NOW), now=NOW)
        store.add(article("b", host="b.example", title="今日要闻一览", text=LONG + OTHER, published=NOW - HOUR), now=NOW)
        story = store.story(first.story_id)
        assert story is not None
        assert story.head.id == first.id

    def test_spread_of_a_story(self, store: Store) -> None:
        for hours, host in ((0, "a"), (1, "b"), (2, "b"), (10, "c")):
            at = NOW + hours * HOUR
            added = store.add(article(f"{hours}", host=f"{host}.example", text=LONG, published=at), now=at)
        story = store.story(added.story_id)
        assert story is not None
        assert story.spread.steps == (NOW, NOW + HOUR, NOW + 10 * HOUR)
        assert (story.spread.sites, story.spread.at_first, story.spread.hours, story.spread.per_hour) == (3, 2, 10.0, 0.2)
        row = store.stories(StoryFilter()).stories[0]
        assert row.heat == story.heat > 0
        assert (row.spread.sites, row.spread.per_hour) == (0, None)

    def test_two_connections_see_each_others_articles(self, store: Store, another: Callable[[], Store]) -> None:
        store.add(article("0", text=OTHER), now=NOW)
        other = another()
        other.add(article("1", host="a.example", text=OTHER), now=NOW)
        first = store.add(article("a", host="a.example", text=LONG), now=NOW)
        assert other.add(article("b", host="b.example", text=LONG), now=NOW).story_id == first.story_id
        other.close()


class TestByHand:
    def test_fold_moves_the_article_and_is_logged(self, store: Store) -> None:
        first, second = store.add(article("a"), now=NOW), store.add(article("b"), now=NOW + HOUR)
        store.fold(second.id, first.story_id, reason="editor", now=NOW)
        story = store.story(first.story_id)
        assert story is not None
        assert (story.count, story.versions[1].fold_of, story.versions[1].fold_reason) == (2, first.id, "editor")
        assert store.changes()[-1].kind == "fold"
        assert store.changes()[-1].id == second.id
        assert store.tally().stories == 1

    def test_id_of_emptied_story_resolves_to_the_new_one(self, store: Store) -> None:
        first, second = store.add(article("a"), now=NOW), store.add(article("b"), now=NOW + HOUR)
        store.fold(second.id, first.story_id, reason="editor", now=NOW)
        story = store.story(second.story_id)
        assert story is not None
        assert story.id == first.story_id

    def test_fold_of_unknown_ids_is_an_error(self, store: Store) -> None:
        added = store.add(article("a"), now=NOW)
        with pytest.raises(StoreError):
            store.fold(added.id, "nowhere", reason="editor", now=NOW)
        with pytest.raises(StoreError):
            store.fold("nobody", added.story_id, reason="editor", now=NOW)
        with pytest.raises(StoreError):
            store.unfold("nobody", now=NOW)

    @pytest.mark.parametrize("which", [0, 1])
    def test_unfold_is_permanent(self, store: Store, which: int) -> None:
        added = [store.add(article(host, host=f"{host}.example"), [SAME_TITLE], now=NOW) for host in ("a", "b", "c")]
        unfolded = added[which]
        story_id = store.unfold(unfolded.id, now=NOW)
        assert story_id != unfolded.story_id
        separate, remaining = store.story(story_id), store.story(unfolded.story_id)
        assert separate is not None
        assert remaining is not None
        assert ([version.id for version in separate.versions], remaining.count) == ([unfolded.id], 2)
        assert unfolded.id not in [version.id for version in remaining.versions]
        assert (separate.head.fold_of, separate.head.fold_reason) == (None, None)
        assert store.changes()[-1].kind == "fold"
        name = "ab"[which]
        store.add(article(name, host=f"{name}.example", text="改过"), [SAME_TITLE], now=NOW)
        again = store.article(unfolded.id)
        assert again is not None
        assert again.story_id == story_id

    @pytest.mark.parametrize("which", [0, 1])
    def test_new_head_of_a_story_is_logged(self, store: Store, which: int) -> None:
        added = [store.add(article(host, host=f"{host}.example"), [SAME_TITLE], now=NOW) for host in ("a", "b", "c")]
        seq = store.last_seq()
        store.unfold(added[which].id, now=NOW)
        remaining = store.story(added[0].story_id)
        assert remaining is not None
        leads = [remaining.head.id] if which == 0 else []
        assert [(change.kind, change.id) for change in store.changes(seq)] == [
            *(("article", id) for id in leads),
            ("fold", added[which].id),
        ]

    def test_unfold_of_a_single_article_changes_nothing(self, store: Store) -> None:
        added = store.add(article("a"), now=NOW)
        assert store.unfold(added.id, now=NOW) == added.story_id
        assert len(store.changes()) == 1


class TestKnown:
    def test_find_stored_and_identities(self, store: Store) -> None:
        store.add(article("a"), now=NOW)
        store.add_aliases(["m.news.example/a"], "news.example/a")
        assert store.find_stored(["news.example/a", "m.news.example/a", "news.example/b"]) == {"news.example/a", "m.news.example/a"}
        assert sorted(store.identities()) == ["m.news.example/a", "news.example/a"]
        assert store.find_stored([]) == set()

    def test_identities_since_a_change(self, store: Store) -> None:
        store.add(article("a"), now=NOW)
        store.add_aliases(["m.news.example/a"], "news.example/a")
        before = store.last_seq()
        assert set(store.identities(after=before)) <= {"m.news.example/a"}, "an alias of the same time may be repeated"
        store.add(article("b"), now=NOW)
        store.add_aliases(["m.news.example/b"], "news.example/b")
        store.add_aliases(["wap.news.example/a"], "news.example/a")
        since = set(store.identities(after=before))
        assert {"news.example/b", "m.news.example/b", "wap.news.example/a"} <= since
        assert "news.example/a" not in since
        assert set(store.identities(after=store.last_seq())) <= {"m.news.example/b", "wap.news.example/a"}

    def test_identities_since_a_change_are_paged(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reading, "PAGE", 40)
        store.add(article("a"), now=NOW)
        for n in range(100):
            store.add_aliases([f"m.news.example/{n}"], "news.example/a")
        assert len(set(store.identities(after=1))) == 100

    def test_declared_identity_is_found_but_not_stored(self, store: Store) -> None:
        id = store.add(article("a"), now=NOW).id
        for _ in range(2):
            store.declare_url("www.example/1", "news.example/a")
        assert store.find_stored(["www.example/1"]) == set()
        assert [found.id for found in store.declared_by("www.example/1")] == [id]
        assert store.declared_by("www.example/2") == []
        with pytest.raises(StoreError):
            store.declare_url("www.example/1", "unknown")

    def test_stored_identity_precedes_declared_ones(self, store: Store) -> None:
        ids = [store.add(article(name), now=NOW).id for name in "abcdef"]
        for name in "bcdef":
            store.declare_url("news.example/a", f"news.example/{name}")
        found = [row.id for row in store.declared_by("news.example/a")]
        assert found[0] == ids[0]
        assert len(found) == 4, "an identity declared by more articles is an error of a template"

    def test_thousands_of_identities_at_once(self, store: Store) -> None:
        store.add(article("a"), now=NOW)
        assert store.find_stored([f"news.example/{n}" for n in range(3000)] + ["news.example/a"]) == {"news.example/a"}

    def test_alias_identifies_the_article(self, store: Store) -> None:
        id = store.add(article("a"), now=NOW).id
        for _ in range(2):
            store.add_aliases(["m.news.example/a"], "news.example/a")
        store.add_aliases(["wap.news.example/a"], "m.news.example/a")
        assert store.add(article(identity="wap.news.example/a", title="标题 a", text="第一段 a\n第二段"), now=NOW).id == id
        assert store.tally().articles == 1

    def test_alias_of_unknown_identity_is_an_error(self, store: Store) -> None:
        with pytest.raises(StoreError):
            store.add_aliases(["x"], "unknown")

    def test_article_does_not_become_an_alias(self, store: Store) -> None:
        a, b = store.add(article("a"), now=NOW), store.add(article("b"), now=NOW)
        store.add_aliases(["news.example/b"], "news.example/a")
        assert store.add(article("b"), now=NOW).id == b.id != a.id


class TestReading:
    def test_articles_are_returned_in_requested_order(self, store: Store) -> None:
        a, b = store.add(article("a"), now=NOW).id, store.add(article("b"), now=NOW).id
        assert [found.id for found in store.articles([b, "unknown", a])] == [b, a]
        assert store.article("unknown") is None
        assert store.story("unknown") is None

    def test_all_articles_are_streamed_and_resumable(self, store: Store) -> None:
        added = sorted(store.add(article(str(n)), now=NOW).id for n in range(7))
        assert [found.id for found in store.all_articles()] == added
        assert [found.id for found in store.all_articles(after=added[3])] == added[4:]

    def test_writing_while_streaming(self, store: Store) -> None:
        for n in range(3):
            store.add(article(str(n)), now=NOW)
        for found in store.all_articles():
            store.add(article(f"copy of {found.id}"), now=NOW)
            break
        assert store.tally().articles == 4

    def test_changes_are_complete(self, store: Store) -> None:
        added = [store.add(article(str(n)), now=NOW).id for n in range(5)]
        first = store.changes(limit=2)
        later = store.changes(after=first[-1].seq)
        assert [change.id for change in first + later] == added
        assert {(change.kind, change.at) for change in first} == {("article", NOW)}
        assert store.last_seq() == later[-1].seq
        assert store.changes(after=store.last_seq()) == []

    def test_empty_store(self, store: Store) -> None:
        assert store.last_seq() == 0
        assert store.stories(StoryFilter()).stories == ()
        assert store.stories(StoryFilter()).next is None
        assert store.tally().newest is None

    def test_tally(self, store: Store) -> None:
        store.add(article("a", host="a.example", topic="旅游", category="社会"), [SAME_TITLE], now=NOW)
        store.add(article("b", host="b.example", topic="旅游", source="feed:二"), [SAME_TITLE], now=NOW)
        store.add(article("c", topic="交通", published=NOW), now=NOW)
        tally = store.tally()
        assert (tally.articles, tally.stories, tally.newest) == (3, 2, NOW)
        assert tally.by_topic == {"旅游": 1, "交通": 1}
        assert tally.by_category == {"社会": 1}
        assert tally.by_source == {"feed:快讯": 2, "feed:二": 1}


class TestStories:
    def test_newest_first_in_pages(self, store: Store) -> None:
        for n in range(10):  # pairs have the same time, so the id decides
            store.add(article(str(n), published=NOW - HOUR * (n // 2)), now=NOW)
        pages, cursor = [], None
        while True:
            page = store.stories(StoryFilter(limit=3, before=cursor))
            pages.append([story.id for story in page.stories])
            cursor = page.next
            if cursor is None:
                break
        assert [len(page) for page in pages] == [3, 3, 3, 1]
        every = [story.id for story in store.stories(StoryFilter(limit=100)).stories]
        assert [id for page in pages for id in page] == every
        assert len(set(every)) == 10

    @pytest.mark.parametrize("narrowed", [{}, {"topic": "旅游"}, {"since": NOW - 100 * HOUR}])
    def test_stories_before_a_cursor(self, store: Store, narrowed: dict[str, object]) -> None:
        for n in range(9):  # three have the same time, so the id decides
            store.add(article(str(n), published=NOW - HOUR * (n // 3), topics=("旅游",)), now=NOW)
        every = store.stories(StoryFilter(limit=100, **narrowed)).stories  # type: ignore[arg-type]
        for place, story in enumerate(every):
            for limit in (1, 3):
                page = store.stories(StoryFilter(limit=limit, after=cursor_of(story), **narrowed))  # type: ignore[arg-type]
                assert page.stories == every[max(0, place - limit) : place]
                assert page.next is None
                assert store.stories(StoryFilter(limit=limit, before=cursor_of(story), **narrowed)).stories == every[place + 1 :][:limit]  # type: ignore[arg-type]

    def test_hottest_since_includes_stories_with_newer_versions(self, store: Store) -> None:
        store.add(article("old", published=NOW - 50 * HOUR, host="s0.example"), [SAME_TEXT], now=NOW)
        store.add(article("old", published=NOW - 2 * HOUR, host="s0.example", identity="again"), [SAME_TEXT], now=NOW)
        store.add(article("alone", published=NOW - 2 * HOUR), now=NOW)
        store.add(article("long ago", published=NOW - 60 * HOUR), now=NOW)
        assert set(ids(store, order="hottest", since=NOW - 2 * HOUR)) == {"old", "alone"}
        assert ids(store, order="hottest", since=NOW - HOUR) == []

    def test_full_last_page_has_no_next(self, store: Store) -> None:
        for n in range(2):
            store.add(article(str(n)), now=NOW)
        assert store.stories(StoryFilter(limit=2)).next is None

    @pytest.mark.parametrize("cursor", ["", "garbage", "~", "1e999~x", "' OR 1=1", "99999999999999999999999999~a", "nan~a"])
    @pytest.mark.parametrize("order", ["newest", "hottest"])
    def test_invalid_cursor_is_not_an_error(self, store: Store, cursor: str, order: str) -> None:
        store.add(article("a"), now=NOW)
        assert len(store.stories(StoryFilter(before=cursor, order=order)).stories) <= 1  # type: ignore[arg-type]

    def test_hottest_first_in_pages(self, store: Store) -> None:
        for n, sites in enumerate((1, 4, 2)):
            key = FoldKey(f"story {n}", "same-title")
            for site in range(sites):
                store.add(article(f"{n}", host=f"s{site}.example", published=NOW - HOUR), [key], now=NOW)
        first = store.stories(StoryFilter(order="hottest", limit=1))
        second = store.stories(StoryFilter(order="hottest", limit=1, before=first.next))
        assert [first.stories[0].sites, second.stories[0].sites] == [4, 2]
        assert ids(store, order="hottest") == ["1", "2", "0"]

    def test_heat_decays(self, store: Store) -> None:
        for site in range(2):
            store.add(article("old", host=f"s{site}.example", published=NOW - 26 * HOUR), [SAME_TEXT], now=NOW)
        store.add(article("new", published=NOW - HOUR), now=NOW)
        assert ids(store, order="hottest") == ["new", "old"]

    def test_repetition_by_one_site_adds_no_heat(self, store: Store) -> None:
        for n in range(4):
            store.add(article(f"loud{n}"), [SAME_TEXT], now=NOW)
        for site in range(2):
            store.add(article("shared", host=f"s{site}.example"), [FoldKey("b", "same-text")], now=NOW)
        assert ids(store, order="hottest")[0] == "shared"

    def test_every_filter_narrows(self, store: Store) -> None:
        store.add(article("a", topic="旅游", category="社会", site="甲网", published=NOW - 3 * HOUR), now=NOW)
        store.add(article("b", topic="交通", source="hub:乙", published=NOW - HOUR), now=NOW)
        for which in ({"topic": "旅游"}, {"category": "社会"}, {"site": "甲网"}, {"source": "feed:快讯"}, {"until": NOW - HOUR}):
            assert ids(store, **which) == ["a"], which
        for which in ({"topic": "交通"}, {"source": "hub:乙"}, {"since": NOW - HOUR}):
            assert ids(store, **which) == ["b"], which
        assert ids(store, topic="旅游", source="hub:乙") == []
        assert ids(store, topic="没有") == []

    def test_story_matches_by_any_version(self, store: Store) -> None:
        store.add(article("a", host="a.example", topic="旅游"), [SAME_TITLE], now=NOW)
        store.add(article("b", host="b.example", topic="交通", site="乙网", published=NOW), [SAME_TITLE], now=NOW)
        assert ids(store, topic="交通") == ids(store, topic="旅游") == ids(store, site="乙网") == ["a"]
        assert ids(store, topic="交通", site="乙网", since=NOW) == ["a"]
        assert ids(store, topic="旅游", site="乙网") == []  # no single version has both

    def test_lists_have_shortened_texts(self, store: Store) -> None:
        store.add(article("a", text="字" * 1000, html="<p>长</p>"), now=NOW)
        (story,) = store.stories(StoryFilter()).stories
        assert (len(story.head.text), story.versions) == (300, ())
        full = store.story(story.id)
        assert full is not None
        assert len(full.head.text) == 1000

    def test_labels_follow_the_versions(self, store: Store) -> None:
        store.add(article("a", host="a.example", topic="旅游"), [SAME_TITLE], now=NOW)
        b = store.add(article("b", host="b.example", topic="交通"), [SAME_TITLE], now=NOW)
        store.unfold(b.id, now=NOW)
        assert ids(store, topic="旅游") == ["a"]
        assert ids(store, topic="交通") == ["b"]


class TestFounders:
    def test_last_hidden_changes_with_each_hidden_or_shown_article(self, store: Store) -> None:
        first, second = (store.add(article(name), now=NOW).id for name in "ab")
        states = [store.last_hidden()]
        store.hide([first], by="编辑", reason="x", now=NOW)
        states.append(store.last_hidden())
        store.show([first], now=NOW)
        store.hide([second], by="编辑", reason="x", now=NOW + HOUR)
        assert [*states, store.last_hidden()] == [(0, None), (1, NOW), (1, NOW + HOUR)]

    def test_renamed_topic_keeps_its_stories_whoever_assigned_them(self, store: Store) -> None:
        found = store.add(article("found", topic="旅游"), now=NOW).id
        both = store.add(article("both", topic="旅游"), now=NOW).id
        store.mark_topics([TopicChange(both, (TopicMark("出行", "editor"),))], now=NOW)
        after = store.last_seq()
        store.rename_topic("旅游", "出行", now=NOW)
        assert {row.id: row.topic_marks for row in store.articles([found, both])} == {
            found: (TopicMark("出行", "search"),), both: (TopicMark("出行", "editor"),)
        }  # fmt: skip
        assert store.tally().by_topic == {"出行": 2}
        assert len(store.stories(StoryFilter("出行")).stories) == 2
        assert {change.id for change in store.changes(after)} == {found, both}

    def test_founders_are_unique_and_exclude_threads_and_hidden(self, store: Store) -> None:
        late = store.add(article("late", keywords=("桥", "New York"), published=NOW - HOUR), now=NOW)
        early = store.add(article("early", topic="旅游", published=NOW - 2 * HOUR), now=NOW + HOUR)
        store.add(article("repost", host="other.example", text=LONG), [SAME_TEXT], now=NOW)
        folded = store.add(article("again", text=LONG), [SAME_TEXT], now=NOW)
        store.add(article("thread", source="forum:茶馆"), now=NOW)
        hidden = store.add(article("hidden"), now=NOW)
        store.hide([hidden.id], by="编辑", reason="x", now=NOW)
        assert folded.outcome == "folded"
        rows = list(store.founders(NOW - 3 * HOUR, NOW))
        assert rows[0].story_id == early.story_id
        assert {row.story_id for row in rows} == {early.story_id, late.story_id, folded.story_id}
        assert len(rows) == 3
        found = next(row for row in rows if row.story_id == late.story_id)
        assert (found.publisher, found.moment, found.title, found.event_id) == ("news.example", NOW - HOUR, "标题 late", None)
        assert found.keywords == ["桥", "New York"]

    def test_founders_by_time_topic_and_fetch_time(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("newsportal.store.lists.PAGE", 2)
        for number in range(5):
            options = {"topics": ("旅游",)} if number == 3 else {}
            store.add(article(f"n{number}", published=NOW - number * HOUR, **options), now=NOW + number * HOUR)
        assert [row.title[-2:] for row in store.founders(NOW - 3 * HOUR, NOW)] == ["n3", "n2", "n1"]
        assert [row.title[-2:] for row in store.founders(NOW - 9 * HOUR, NOW + HOUR, topic="旅游")] == ["n3"]
        assert [row.title[-2:] for row in store.founders(NOW - 9 * HOUR, NOW + HOUR, fetched=NOW + 2 * HOUR)] == ["n1", "n0"]


class TestMemory:
    def test_runs(self, store: Store) -> None:
        row = SourceReport(
            "feed:快讯", entries=3, new=2, failed={"http-503": 1}, notes=(Message("note.deep-threads", pages=3), as_text("慢"))
        )
        runs = [Run(str(n), started=NOW + n * HOUR, sources=(row,)) for n in range(3)]
        for run in runs:
            store.save_run(run)
        ended = replace(runs[2], ended=NOW + 5 * HOUR, reason="finished")
        store.save_run(ended)
        assert store.runs(limit=2) == [ended, runs[1]]
        assert store.runs(limit=2, ended=True) == [ended]
        assert store.run("0") == runs[0]
        assert store.run("unknown") is None

    def test_source_states(self, store: Store) -> None:
        assert store.source_state("feed:新") == SourceState("feed:新")
        state = SourceState(
            "feed:快讯", {"https://news.example/rss": ('"e1"', None)}, rest_until=NOW, next_visit=NOW, last_run=NOW, last_success=NOW,
            last_error="http-503", failures_in_row=2, layout_changed=NOW, unfinished=NOW,
        )  # fmt: skip
        store.save_source_state(state)
        store.save_source_state(replace(state, failures_in_row=3))
        store.save_source_state(SourceState("engine:a"))
        assert store.source_state("feed:快讯") == replace(state, failures_in_row=3)
        assert [state.source for state in store.source_states()] == ["engine:a", "feed:快讯"]

    def test_site_lines(self, store: Store) -> None:
        first = {"https://a.example/2": b"\x00\xff" * 8, "https://a.example/1": b""}
        store.save_site_lines({"a.example": first, "b.example": {"https://b.example/1": b"12345678"}}, now=NOW, max_sites=9)
        assert list(store.site_lines("a.example").items()) == list(first.items())  # in the given order
        assert store.site_lines("unknown.example") == {}
        store.save_site_lines({"a.example": {"https://a.example/3": b"8" * 8}}, now=NOW + HOUR, max_sites=9)
        assert store.site_lines("a.example") == {"https://a.example/3": b"8" * 8}
        store.save_site_lines({}, now=NOW + HOUR, max_sites=9)
        assert store.site_lines("b.example") == {"https://b.example/1": b"12345678"}
        store.save_site_lines({"c.example": {}}, now=NOW + 2 * HOUR, max_sites=2)
        assert store.site_lines("b.example") == {}  # the one saved first
        assert store.site_lines("a.example") != {}

    def test_learnt_state_is_changed_atomically(self, store: Store) -> None:
        assert store.learned_state("url_tree") is None
        store.change_learned_state("url_tree", lambda text: f"{text}甲", now=NOW)
        store.change_learned_state("url_tree", lambda text: f"{text}乙", now=NOW)
        assert (store.learned_state("url_tree"), store.learned_state("summary_anchor")) == ("None甲乙", None)

    def test_links_are_queued_once_until_finished(self, store: Store) -> None:
        tasks = [Task(f"{n}", "news.example", f'{{"url": "{n}"}}', source="feed:快讯", link=True) for n in range(3)]
        assert store.links.open("rss", tasks[:2], since=0.0) == {"0", "1"}
        assert store.links.open("hub", tasks, since=0.0) == {"2"}, "another spider finds them, too"
        store.links.finish(["0"])
        store.links.finish(["1"], "failed", "http-404")
        states = store.links.states(["0", "1", "2", "3"])
        assert {id: (row.state, row.reason) for id, row in states.items()} == {
            "0": ("stored", None),
            "1": ("failed", "http-404"),
            "2": ("ready", None),
        }
        assert store.links.open("rss", tasks, since=0.0) == set()
        assert store.links.open("hub", tasks, since=states["0"].changed + 1e6) == {"0", "1"}, "a later visit finds them"

    def test_postponed_links_wait_for_their_time(self, store: Store) -> None:
        store.links.open("rss", [Task("1", "news.example", "{}", source="feed:快讯", lane="x", link=True)], since=0.0)
        at = time.time() + 900
        store.links.postpone("1", "http-503", at)
        (row,) = store.links.waiting()
        assert (row.queue, row.source, row.reason, row.number, row.next) == ("rss", "feed:快讯", "http-503", 1, pytest.approx(at))
        assert store.links.states(["1"])["1"].failures == 1
        assert store.links.release("feed:二", at) == store.links.release("feed:快讯", at - 1) == []
        assert store.links.release("feed:快讯", at) == ["1"]
        assert store.links.waiting() == []
        row = store.links.states(["1"])["1"]
        assert (row.state, row.reason, row.not_before) == ("ready", "http-503", None)

    def test_feed_entries_are_held_back_from_the_queue(self, store: Store) -> None:
        store.links.open("rss", [Task("1", "", "entry", source="feed:快讯", link=True)], since=0.0, held=["1"])
        assert store.links.held("feed:快讯") == ["entry"]
        store.links.finish(["1"])
        assert store.links.held("feed:快讯") == []

    def test_article_and_its_link_are_stored_together(self, store: Store) -> None:
        found = article()
        task = Task(content_id(str(found.identity)), "news.example", "{}", source=found.source, link=True)
        assert store.links.open("rss", [task], since=0.0) == {task.id}
        store.add(found, now=NOW)
        assert store.links.states([task.id])[task.id].state == "stored"
        assert store.links.open("rss", [replace(task, id="other")], since=0.0, names={"other": str(found.identity)}) == set()


def test_threads_share_a_store(store: Store) -> None:
    """Many threads add the same stories: each is stored once, with one story per key."""
    failures: list[BaseException] = []

    def write(host: str) -> None:
        try:
            for n in range(5):
                store.add(article(str(n), host=host), [FoldKey(f"story {n}", "same-title", same_site=False)], now=NOW)
                store.stories(StoryFilter())
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(f"h{n % 3}.example",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert (store.tally().articles, store.tally().stories) == (15, 5)
    assert [change.seq for change in store.changes()] == list(range(1, 16))


@pytest.mark.parametrize("id", ["a\0b", "", "\0", "长" * 5000])
def test_untrusted_ids_are_harmless(store: Store, id: str) -> None:
    store.add(article("a"), now=NOW)
    assert store.article(id) is None
    assert store.story(id) is None
    assert store.revisions(id) == ()
    assert store.by_id([id]) == {}
    assert store.run(id) is None
    assert store.find_stored([id]) == set()
    for order in ("newest", "hottest"):
        assert store.stories(StoryFilter(order=order, before=f"-1~{id}")).stories == ()
