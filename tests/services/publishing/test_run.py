"""Publishing into a table: rows are written once, updated, and withdrawn."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from cms import Cms, run, work_on
from factories import NOW, article, invented
from servers import Servers, in_postgresql

from newsportal.services.publishing.base import Published, TargetDown
from newsportal.services.publishing.run import BUSY_WAIT, LEASE, MAX_TRIES, follow, pending, publish
from newsportal.store import open_store
from newsportal.store.outbox import OutboxEntry
from newsportal.store.results import StoredArticle
from newsportal.store.store import Store

Add = Callable[..., str]


def test_article_becomes_a_row_with_configured_columns(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    id = add("桥", title="桥" * 90, html="<p>正文</p><script>alert(1)</script>", text="正文" * 30)
    tally = run(store, tmp_path, cms.target())
    assert (tally.published, tally.failed, tally.unavailable, tally.unfit) == (1, 0, None, None)
    (row,) = cms.rows()
    assert row["title"] == "桥" * 79 + "…"
    assert row["body"] == "<p>正文</p>"
    assert (row["cat_id"], row["hits"], row["origin"], row["slug"]) == (12, 0, "newsportal", f"article-{id}")
    assert row["created"].isoformat() == "2026-03-01T15:00:00", "in the column's time zone"
    assert row["made"] == int((NOW - timedelta(hours=1)).timestamp())
    assert row["theirs"] is None


def test_published_articles_are_not_published_again(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    for _ in range(3):
        add()
    assert run(store, tmp_path, cms.target()).published == 3
    assert run(store, tmp_path, cms.target()).done == 0
    add()
    assert run(store, tmp_path, cms.target()).published == 1
    assert len(cms.rows()) == 4
    assert store.outbox.counts() == {"cms": {"done": 4}}


def test_lost_outbox_duplicates_nothing(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    add("a")
    add("b")
    run(store, tmp_path, cms.target())
    store.outbox.forget("cms")
    tally = run(store, tmp_path, cms.target())
    assert (tally.published, len(cms.rows())) == (2, 2), "the marks beside their table are used"


@pytest.mark.parametrize("marks", ["table", "key"])
def test_revision_updates_its_row(store: Store, add: Add, cms: Cms, tmp_path: Path, marks: str) -> None:
    id = add("a")
    target = cms.target(marks=marks)
    run(store, tmp_path, target)
    add("a", title="改过的标题", category="体育")
    tally = run(store, tmp_path, target)
    assert (tally.revised, tally.published) == (1, 0)
    (row,) = cms.rows()
    assert row["title"] == "改过的标题"
    store.set_category(id, "财经", by="editor", now=NOW)
    assert run(store, tmp_path, target).revised == 1, "a changed category is a revision"
    assert cms.rows()[0]["cat_id"] == 1
    assert len(cms.rows()) == 1


def test_revisions_may_be_ignored(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    add("a")
    run(store, tmp_path, cms.target(revisions="ignore"))
    add("a", title="改过的标题")
    assert run(store, tmp_path, cms.target(revisions="ignore")).unchanged == 1
    assert cms.rows()[0]["title"] == "标题 a"


@pytest.mark.parametrize("marks", ["table", "key"])
def test_withdrawn_row_is_removed_and_can_return(store: Store, add: Add, cms: Cms, tmp_path: Path, marks: str) -> None:
    id = add("a")
    target = cms.target(marks=marks)
    run(store, tmp_path, target)
    store.outbox.request("cms", [id], "withdraw", now=NOW)
    assert run(store, tmp_path, target).withdrawn == 1
    assert cms.rows() == []
    add("a", title="改过的标题")
    assert run(store, tmp_path, target).done == 0, "it stays withdrawn after changes"
    store.outbox.request("cms", [id], "publish", now=NOW)
    assert run(store, tmp_path, target).published == 1
    assert cms.rows()[0]["title"] == "改过的标题"


def test_withdrawal_may_set_columns(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    id = add("a")
    target = cms.target(unpublish="{status: trash}")
    run(store, tmp_path, target)
    store.outbox.request("cms", [id], "withdraw", now=NOW)
    run(store, tmp_path, target)
    assert [row["status"] for row in cms.rows()] == ["trash"]
    store.outbox.request("cms", [id], "publish", now=NOW)
    run(store, tmp_path, target)
    assert [row["status"] for row in cms.rows()] == ["publish"]


@pytest.mark.parametrize("marks", ["table", "key"])
def test_row_deleted_in_the_target_is_not_written_again(store: Store, add: Add, cms: Cms, tmp_path: Path, marks: str) -> None:
    add("a")
    run(store, tmp_path, cms.target(marks=marks))
    cms.run("DELETE FROM posts")
    add("a", title="改过的标题")
    run(store, tmp_path, cms.target(marks=marks))
    assert cms.rows() == []
    assert "deleted there" in (store.outbox.entries()[0].reason or "")


def test_story_is_published_once(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    add("a", text=invented(1, 400))
    add("b", text=invented(1, 400), host="other.example", site="别的网")
    add("c", text=invented(2, 400))
    assert run(store, tmp_path, cms.target()).published == 2
    add("d", text=invented(1, 400), host="third.example", site="早的网", published=NOW - timedelta(hours=9))
    assert store.story(store.articles([add("c", text=invented(2, 400))])[0].story_id) is not None
    assert run(store, tmp_path, cms.target()).published == 0, "a new head is the same story"
    assert len(cms.rows()) == 2
    every = cms.target(only="{versions: all}").replace("name: cms", "name: all")
    assert run(store, tmp_path, every).published == 4
    assert len(cms.rows()) == 4, "rows of the other target with the same keys are reused"


def test_unfolded_head_is_published_separately(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    first = add("a", text=invented(1, 400))
    add("b", text=invented(1, 400), host="other.example", site="别的网")
    assert run(store, tmp_path, cms.target()).published == 1
    story = store.story(store.articles([first])[0].story_id)
    assert story is not None
    store.unfold(story.head.id, now=NOW)
    assert run(store, tmp_path, cms.target()).published == 1
    assert len(cms.rows()) == 2


def test_only_filters_articles(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    add("a", category="体育")
    add("b", topic="环境")
    add("c", source="feed:别的")
    add("d", text="短")
    add("e", now=NOW + timedelta(days=9))
    for only, number in (
        ("{categories: [体育]}", 1),
        ("{topics: [环境]}", 1),
        ("{sources: [别的, 'feed:没有']}", 1),
        ("{min_chars: 100}", 4),
        ("{since: 2026-03-05}", 1),
        ("{kinds: [thread]}", 0),
    ):
        with work_on(store, tmp_path, "topics: []\n" and cms.target(only=only).replace("topics: [环境]", "topics: []")) as work:
            filtered = replace(work, settings=work.settings)
            if "topics" in only:
                narrowed = work.settings.only.model_copy(update={"topics": ("环境",)})
                filtered = replace(work, settings=work.settings.model_copy(update={"only": narrowed}))
            assert len(list(pending(filtered))) == number, only


def test_limit(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    for _ in range(5):
        add()
    assert run(store, tmp_path, cms.target(), limit=2).published == 2
    assert run(store, tmp_path, cms.target()).published == 3


def test_refused_row_fails_with_its_reason(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    cms.run("CREATE UNIQUE INDEX one_title ON posts (title)")
    add("a", title="同一个标题")
    add("b", title="同一个标题")
    tally = run(store, tmp_path, cms.target())
    assert (tally.published, tally.failed) == (1, 1)
    (failed,) = store.outbox.entries(states=["failed"])
    assert "UNIQUE" in (failed.reason or "")
    cms.run("DROP INDEX one_title")
    assert run(store, tmp_path, cms.target()).done == 0
    store.outbox.retry("cms", now=NOW)
    assert run(store, tmp_path, cms.target()).published == 1


def test_crash_between_commit_and_settlement_duplicates_nothing(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    add("a")
    for marks in ("table", "key"):
        with work_on(store, tmp_path, cms.target(marks=marks)) as work:
            follow(work)
            store.outbox.request("cms", [entry.article_id for entry in store.outbox.entries()], "publish", now=NOW)
            (entry,) = store.outbox.lease_due("cms", "who dies", now=NOW + timedelta(days=400), seconds=1, limit=9)
            work.target.put(store.articles([entry.article_id])[0], replace(entry, digest=None))
            later = replace(work, now=lambda: NOW + timedelta(days=401))
            assert publish(later).published == 1
        assert len(cms.rows()) == 1
        store.outbox.forget("cms")


def test_overtaken_publisher_writes_nothing(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    id = add("a")
    store.outbox.request("cms", [id], "publish", now=NOW)
    with work_on(store, tmp_path, cms.target()) as work:
        (entry,) = store.outbox.lease_due("cms", "slow", now=NOW, seconds=LEASE, limit=1)
        old = store.articles([id])[0]
        add("a", title="新的标题")
        later = replace(work, now=lambda: NOW + timedelta(seconds=LEASE + 1))
        assert publish(later).published == 1
        with pytest.raises(Exception, match="another process"):
            work.target.put(old, entry)
    assert cms.rows()[0]["title"] == "新的标题"


def test_existing_row_with_our_key_is_updated(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    id = add("a")
    cms.write(title="旧", body="旧", cat_id=1, created=NOW, made=0, slug=f"article-{id}", hits=5, theirs="x")
    run(store, tmp_path, cms.target())
    (row,) = cms.rows()
    assert (row["title"], row["theirs"]) == ("标题 a", "x"), "other columns are unchanged"


def test_dry_run_shows_statements_and_changes_nothing(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    add("a", title="'); DROP TABLE posts; --")
    with work_on(store, tmp_path, cms.target()) as work:
        steps = [step for article_, entry in pending(work) for step in work.target.steps(article_, entry)]
    (step,) = steps
    assert step.operation.startswith("INSERT INTO posts")
    assert "DROP" not in step.operation
    assert step.values["title"] == "'); DROP TABLE posts; --"
    assert cms.rows() == []
    assert store.outbox.counts() == {}
    with pytest.raises(Exception, match="newsportal_published"):
        cms.marks()
    run(store, tmp_path, cms.target())
    assert cms.rows()[0]["title"] == "'); DROP TABLE posts; --"
    add("a", title="另一个")
    with work_on(store, tmp_path, cms.target()) as work:
        (step,) = [step for article_, entry in pending(work) for step in work.target.steps(article_, entry)]
    assert step.operation.startswith("UPDATE posts SET")


def test_internal_error_of_one_article_does_not_block_others(
    store: Store, add: Add, cms: Cms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken, _ = add("a"), add("b")
    with work_on(store, tmp_path, cms.target()) as work:
        put = work.target.put

        def breaking(article: StoredArticle, entry: OutboxEntry) -> Published:
            if article.id == broken:
                raise RuntimeError("a fault of ours")
            return put(article, entry)

        monkeypatch.setattr(work.target, "put", breaking)
        for day in range(MAX_TRIES + 1):
            publish(replace(work, now=lambda day=day: NOW + timedelta(days=400 + day)))
    assert len(cms.rows()) == 1
    assert "a fault of ours" in caplog.text
    (failed,) = store.outbox.entries(states=["failed"])
    assert (failed.article_id, "a fault of ours" in (failed.reason or "")) == (broken, True)


def test_target_unavailable_for_one_article_takes_the_others(
    store: Store, add: Add, cms: Cms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = min(add(), add(), add())  # entries due at the same time are ordered by id
    with work_on(store, tmp_path, cms.target()) as work:
        put = work.target.put

        def slow(article: StoredArticle, entry: OutboxEntry) -> Published:
            if article.id == broken:
                raise TargetDown("no answer")
            return put(article, entry)

        monkeypatch.setattr(work.target, "put", slow)
        tallies = [publish(replace(work, now=lambda day=day: NOW + timedelta(days=400 + day))) for day in range(3)]
    assert [tally.unavailable is not None for tally in tallies] == [True] * 3
    assert len(cms.rows()) == 2
    assert store.outbox.counts() == {"cms": {"done": 2, "waiting": 1}}


def test_waiting_for_another_version_is_not_a_failed_attempt(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    ids = [add("a", text=invented(1, 400)), add("b", text=invented(1, 400), host="other.example", site="别的网")]
    store.outbox.request("cms", ids, "publish", now=NOW)
    store.outbox.lease_due("cms", "who hangs", now=NOW, seconds=900, limit=1)
    with work_on(store, tmp_path, cms.target()) as work:
        for attempt in range(3 * MAX_TRIES):
            publish(replace(work, now=lambda attempt=attempt: NOW + (attempt + 1) * 2 * BUSY_WAIT))
    assert store.outbox.counts() == {"cms": {"waiting": 1, "under-way": 1}}


@pytest.mark.slow
def test_leases_use_the_clock_of_the_stores_server(servers: Servers, cms: Cms, tmp_path: Path) -> None:
    """A publisher whose clock differs from another's neither delays it nor delivers again what it has leased."""
    with servers.database("postgresql") as database:
        for statement in (
            "CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$SELECT timestamptz '2026-03-01 08:00+0'$$",
            f"ALTER DATABASE {database.name} SET search_path = public, pg_catalog",
        ):
            in_postgresql(database.port, statement, database.name)
        with closing(open_store(database.uri)) as store, work_on(store, tmp_path, cms.target()) as work:
            store.add(article("a", text=invented(1)), now=NOW)
            assert publish(work).published == 1
            (entry,) = store.outbox.entries("cms")
            assert (entry.changed, entry.fence) == (NOW, NOW.timestamp() * 1_000_000)


def test_unavailable_database_is_waited_for(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    add("a")
    target = cms.target().replace("cms.db", "gone.db")
    tally = run(store, tmp_path, target)
    assert tally.unavailable is not None
    assert "no such database" in tally.unavailable
    assert run(store, tmp_path, cms.target()).published == 1


def test_hostile_text_does_not_break_statements(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    hostile = "\u2028x\x00 ' \" \\ %s :name {0} 😀 \ud800"
    store.add(article("n", title=hostile, text=hostile * 20, category=hostile, author=hostile), now=NOW)
    assert run(store, tmp_path, cms.target()).published == 1
    assert "😀" in cms.rows()[0]["title"]
