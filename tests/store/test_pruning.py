"""Articles are deleted with their stories when they expire, completely or not at all, in every store; a killed run can be continued."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from factories import NOW, SAME_TEXT, article, invented
from filled_store import fill

from newsportal.errors import StoreError
from newsportal.items import Image, content_id
from newsportal.search.base import Index
from newsportal.store import open_store, pruning
from newsportal.store.copying import find_faults
from newsportal.store.link_tables import Task
from newsportal.store.outbox import Result
from newsportal.store.pictures import Picture, StoryPictures
from newsportal.store.pruning import Ages
from newsportal.store.records import FORMS
from newsportal.store.store import Store

DAY = timedelta(days=1)
LATE = NOW + 100 * DAY
NINETY = Ages(90)


def no_marks(_: Collection[str]) -> Collection[str]:
    return ()


def add(store: Store, name: str, *, at: datetime = NOW, **more: object) -> str:
    return store.add(article(name, fetched=at, **more), now=at).id  # type: ignore[arg-type]


def remaining_titles(store: Store) -> set[str]:
    assert find_faults(store.records) == []
    return {found.title.removeprefix("标题 ") for found in store.all_articles()}


class TestArticles:
    def test_nothing_is_deleted_without_ages(self, store: Store) -> None:
        add(store, "a")
        assert store.pruning.articles(Ages(), no_marks, now=LATE + 9999 * DAY).deleted == {}
        assert remaining_titles(store) == {"a"}

    def test_expired_articles_are_deleted_and_logged(self, store: Store) -> None:
        old, _ = add(store, "old"), add(store, "new", at=LATE - DAY)
        before = store.last_seq()
        assert store.pruning.articles(NINETY, no_marks, now=LATE, dry_run=True).deleted == {"articles": 1}
        assert (remaining_titles(store), store.last_seq()) == ({"old", "new"}, before)
        assert store.pruning.articles(NINETY, no_marks, now=LATE).deleted == {"articles": 1}
        assert remaining_titles(store) == {"new"}
        assert [(change.kind, change.id) for change in store.changes(before)] == [("gone", old)]
        assert store.pruning.articles(NINETY, no_marks, now=LATE).deleted == {}

    def test_age_counts_from_the_last_revision(self, store: Store) -> None:
        add(store, "a")
        add(store, "a", at=LATE - DAY, text="改过的正文")
        store.pruning.articles(NINETY, no_marks, now=LATE)
        assert remaining_titles(store) == {"a"}

    def test_longest_age_of_source_and_topic_applies(self, store: Store) -> None:
        add(store, "plain")
        add(store, "short", source="feed:短")
        add(store, "for ever", source="gallery:长")
        add(store, "topic", source="feed:短", topic="旅游")
        ages = Ages(1000, {"短": 30, "gallery:长": None}, {"旅游": 200})
        assert store.pruning.articles(ages, no_marks, now=LATE).deleted == {"sources.短": 1}
        assert store.pruning.articles(ages, no_marks, now=NOW + 201 * DAY).deleted == {"topics.旅游": 1}
        assert store.pruning.articles(ages, no_marks, now=NOW + 2000 * DAY).deleted == {"articles": 1}
        assert remaining_titles(store) == {"for ever"}

    def test_story_is_kept_while_one_version_is_kept(self, store: Store) -> None:
        text = invented(1, 400)
        first = store.add(article("a", text=text), [SAME_TEXT], now=NOW)
        second = store.add(article("b", host="b.example", text=text, source="feed:乙"), [SAME_TEXT], now=NOW)
        assert first.story_id == second.story_id
        found = store.pruning.articles(Ages(90, {"乙": None}), no_marks, now=LATE)
        assert (found.deleted, found.retained) == ({}, {"younger": 1})
        for marked in (first.story_id, second.id):  # a mark with the story id from before it was folded
            found = store.pruning.articles(NINETY, lambda ids, exempt=marked: {exempt} & set(ids), now=LATE)  # type: ignore[misc]
            assert (found.deleted, found.retained) == ({}, {"marked": 2})
        assert remaining_titles(store) == {"a", "b"}
        assert store.pruning.articles(NINETY, no_marks, now=LATE).deleted == {"articles": 2}

    def test_edited_articles_are_kept(self, store: Store) -> None:
        ids = [
            add(store, name, text=invented(n)) for n, name in enumerate(("corrected", "hidden", "category", "taken out", "labelled", "no"))
        ]
        store.correct(ids[0], {"author": "林"}, by="林", now=NOW)
        store.hide([ids[1]], by="林", reason="误登", now=NOW)
        store.set_category(ids[2], "社会", by="editor", now=NOW)
        store.fold(ids[3], ids[0], reason="by-hand", now=NOW)
        store.unfold(ids[3], now=NOW)
        store.corpora.create("类", now=NOW)
        store.corpora.label("类", ids[4], "社会", by="林", now=NOW)
        found = store.pruning.articles(NINETY, no_marks, now=LATE)
        assert (found.deleted, found.retained) == ({"articles": 1}, {"edited": 5})
        assert "no" not in remaining_titles(store)

    def test_published_articles_are_kept_or_withdrawn(self, store: Store) -> None:
        published, waiting = add(store, "published"), add(store, "waits")
        store.outbox.follow("cms", [published, waiting], [], after=0, up_to=store.last_seq(), now=NOW)
        leased = {entry.article_id: entry for entry in store.outbox.lease_due("cms", "w", now=NOW, seconds=60, limit=9)}
        store.outbox.settle(leased[published], Result("done", revision=1, digest="d"), now=NOW)
        store.outbox.give_back([leased[waiting]], now=NOW)
        found = store.pruning.articles(NINETY, no_marks, now=LATE)
        assert (found.deleted, found.retained) == ({"articles": 1}, {"published": 1})
        assert set(store.outbox.of("cms", [published, waiting])) == {published}
        assert store.pruning.articles(replace(NINETY, withdraw=True), no_marks, now=LATE).deleted == {"articles": 1}
        assert store.outbox.of("cms", [published])[published].digest == "d", "the outbox entry is kept until withdrawal"
        (entry,) = store.outbox.lease_due("cms", "w", now=LATE, seconds=60, limit=9) or [None]
        assert entry is None
        store.outbox.follow("cms", [], [published], after=store.outbox.position("cms"), up_to=store.last_seq(), now=LATE)
        (entry,) = store.outbox.lease_due("cms", "w", now=LATE, seconds=60, limit=9)
        assert entry is not None
        store.outbox.settle(entry, Result("withdrawn"), now=LATE)
        store.pruning.leftovers(LATE)
        assert store.outbox.counts() == {"cms": {}}

    def test_identities_are_kept_for_a_year(self, store: Store) -> None:
        add(store, "a")
        store.add_aliases(["news.example/old"], "news.example/a")
        task = Task(content_id("news.example/a"), "news.example", "{}", link=True)
        store.links.open("rss", [task], since=0.0)
        store.links.finish([task.id])
        store.pruning.articles(NINETY, no_marks, now=LATE)
        names = {"news.example/a", "news.example/old"}
        assert store.find_stored([*names, "news.example/b"]) == names
        for name in names:
            again = replace(task, id=content_id(name))
            assert store.links.open("hub", [again], since=1e12, names={again.id: name}) == set(), "even if no filter knows the identity"
        assert store.links.queues() == ["rss"]
        assert store.article(add(store, "a", at=LATE)) is not None, "it may be imported again"
        store.pruning.articles(NINETY, no_marks, now=LATE + 100 * DAY)
        store.pruning.leftovers(LATE + 500 * DAY)
        assert store.find_stored(names) == set()

    def test_pictures_are_deleted_unless_frequent_or_shared(self, store: Store) -> None:
        old, new = add(store, "old"), add(store, "new", at=LATE)
        keys = ("alone", "shared", "frequent")
        for id, pictures in ((old, keys), (new, ("shared",))):
            story = StoryPictures(id, "站", "题", frozenset(pictures))
            store.pictures.record_story(story, [Picture(key, f"https://i.example/{key}.jpg") for key in pictures], now=NOW)
        store.pictures.mark({"frequent": "logo"}, now=NOW)
        store.pruning.articles(NINETY, no_marks, now=LATE)
        assert set(store.pictures.find_stored(keys)) == {"shared", "frequent"}
        assert store.pictures.totals().stories == 1

    def test_deleted_article_leaves_no_rows(self, store: Store) -> None:
        fill(store)
        ids = [stored.id for stored in store.all_articles()]
        free = Ages(1, withdraw=True)
        edited = set(store.pruning.articles(free, no_marks, now=LATE, dry_run=True).retained)
        assert edited == {"edited"}
        found = store.pruning.articles(free, no_marks, now=LATE)
        assert found.deleted.total() + found.retained.total() == len(ids)
        deleted = set(ids) - {stored.id for stored in store.all_articles()}
        assert deleted
        assert find_faults(store.records) == []
        with store.records.reading() as look:
            tables = {form.name for form in FORMS for row in look.rows(form) if deleted & {*map(str, row.values())}}
        assert tables <= {"changes", "links", "recommendations", "labelled_texts", "former_labels"}


class TestRecords:
    def test_revisions_are_deleted_except_of_corrected_articles(self, store: Store) -> None:
        plain, fixed = add(store, "a"), add(store, "b", text=invented(3))
        for at in (NOW + DAY, NOW + 50 * DAY):
            add(store, "a", at=at, text=f"正文 {at}")
        store.correct(fixed, {"author": "林"}, by="林", now=NOW)
        before = NOW + 40 * DAY
        assert store.pruning.revisions(before, dry_run=True) == 2
        assert store.pruning.revisions(before) == 2
        assert store.pruning.revisions(before) == 0
        assert (len(store.revisions(plain)), len(store.revisions(fixed))) == (0, 1)

    def test_change_log_keeps_last_row_of_each_kind(self, store: Store) -> None:
        """A follower that starts at 0 sees every article; one that lags behind sees every deletion."""
        changed, deleted = add(store, "one"), add(store, "gone", text=invented(1))
        for day in (1, 2):
            store.correct(changed, {"title": f"标题 {day}"}, by="编辑", now=NOW + day * DAY)
        assert store.pruning.articles(NINETY, no_marks, now=LATE).deleted == {"articles": 1}
        new = add(store, "new", at=LATE, text=invented(2))
        store.pruning.leftovers(NOW + 20 * DAY)
        assert len(store.changes()) == 6, "too young to be pruned"
        store.outbox.follow("slow", (), (), after=0, up_to=store.changes()[3].seq, now=LATE)
        for now in (LATE + 40 * DAY, LATE + 400 * DAY):
            store.pruning.leftovers(now)
            assert [(change.kind, change.id) for change in store.changes()] == [("article", changed), ("gone", deleted), ("article", new)]
        last = store.last_seq()
        store.outbox.follow("slow", (), (), after=store.outbox.position("slow"), up_to=last, now=LATE)
        store.pruning.leftovers(LATE + 400 * DAY)
        assert [change.id for change in store.changes()] == [changed, new]
        assert store.pruning.articles(Ages(1), no_marks, now=LATE + 9 * DAY).deleted == {"articles": 1}
        store.pruning.leftovers(LATE + 800 * DAY)
        assert [change.kind for change in store.changes()] == ["article", "gone"]
        assert store.last_seq() > last, "positions in the log stay valid"


class Killed(BaseException):
    """Stands in for a killed process."""


def test_killed_run_leaves_complete_stories_and_continues(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(7):
        add(store, str(number), text=invented(number))
    monkeypatch.setattr(pruning, "AT_ONCE", 2)
    logged = pruning.log_changes
    calls = 0

    def dying(*arguments: object) -> None:
        nonlocal calls
        calls += 1
        if calls == 4:  # in the second transaction
            raise Killed
        logged(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(pruning, "log_changes", dying)
    with pytest.raises(Killed):
        store.pruning.articles(NINETY, no_marks, now=LATE)
    assert len(remaining_titles(store)) == 5
    monkeypatch.setattr(pruning, "log_changes", logged)
    assert store.pruning.articles(NINETY, no_marks, now=LATE).deleted == {"articles": 5}
    assert remaining_titles(store) == set()
    assert sum(change.kind == "gone" for change in store.changes()) == 7


def test_article_marked_meanwhile_is_kept(store: Store) -> None:
    id, calls = add(store, "a"), 0

    def marked(ids: Collection[str]) -> Collection[str]:
        nonlocal calls
        calls += 1
        return {id} if calls > 1 else ()  # between the query and the transaction

    found = store.pruning.articles(NINETY, marked, now=LATE)
    assert (found.deleted, found.retained) == ({}, {"marked": 1})


def test_unavailable_accounts_prevent_deletion(store: Store) -> None:
    def unavailable(_: Collection[str]) -> Collection[str]:
        raise StoreError("away")

    add(store, "a")
    with pytest.raises(StoreError):
        store.pruning.articles(NINETY, unavailable, now=LATE)
    assert remaining_titles(store) == {"a"}


def size_of(file: Path) -> int:
    with sqlite3.connect(file) as raw:
        return int(raw.execute("PRAGMA page_count").fetchone()[0])


def test_file_shrinks(tmp_path: Path) -> None:
    file = tmp_path / "news.db"
    store = open_store(f"sqlite:///{file}")
    empty = size_of(file)
    for number in range(60):
        add(store, str(number), text=invented(number, 4000))
    full = size_of(file)
    store.pruning.articles(NINETY, no_marks, now=LATE)
    freed = store.pruning.release_space()
    store.close()
    assert freed > 100_000
    assert size_of(file) < (empty + full) / 2


def test_file_of_earlier_version_shrinks_after_vacuum(tmp_path: Path) -> None:
    file = tmp_path / "news.db"
    open_store(f"sqlite:///{file}").close()
    with sqlite3.connect(file) as raw:
        raw.execute("PRAGMA journal_mode = DELETE")
        raw.execute("PRAGMA auto_vacuum = NONE")
        raw.execute("VACUUM")
    store = open_store(f"sqlite:///{file}")
    for number in range(60):
        add(store, str(number), text=invented(number, 4000))
    store.pruning.articles(NINETY, no_marks, now=LATE)
    assert store.pruning.release_space() == 0
    assert store.pruning.release_space(rebuild=True) > 100_000
    add(store, "again", text=invented(1, 40_000))
    store.pruning.articles(NINETY, no_marks, now=LATE + 100 * DAY)
    assert store.pruning.release_space() > 0, "incremental vacuum from now on"
    store.close()


def test_index_follows_deletions(index: Index, tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/news.db")
    add(store, "a", images=(Image("https://i.example/1.jpg"),))
    index.follow(store)
    assert index.status().articles == 1
    store.pruning.articles(NINETY, no_marks, now=LATE)
    index.follow(store)
    assert index.status().articles == 0
    store.close()


@pytest.fixture
def index(tmp_path: Path) -> Index:
    from factories import empty_index

    return empty_index(tmp_path / "index.db")
