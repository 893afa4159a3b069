"""Publishers killed between any two steps, and concurrent publishers: nothing is lost or duplicated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest
from cms import Cms, run, work_on
from factories import NOW
from forked import Started
from servers import MAKE, Server, Servers, own_server

from newsportal.services.publishing.run import LEASE, Tally, publish
from newsportal.store import open_store
from newsportal.store.store import Store

Add = Callable[..., str]
DYING = Path(__file__).with_name("killed_publisher.py")

pytestmark = pytest.mark.slow


@contextmanager
def open_cms(uri: str) -> Iterator[Cms]:
    site = Cms(uri)
    yield site
    site.close()


@pytest.fixture(params=["sqlite", "postgresql", "mariadb"])
def foreign(request: pytest.FixtureRequest, tmp_path: Path, servers: Servers) -> Iterator[Cms]:
    """A foreign news site on each database."""
    if request.param == "sqlite":
        with open_cms(f"sqlite:///{tmp_path}/cms.db") as site:
            yield site
        return
    with servers.database(request.param) as database, open_cms(database.uri) as site:
        yield site


def finish(store: Store, folder: Path, target: str) -> Tally:
    """Publish at a time when every lease has expired."""
    with work_on(store, folder, target) as work:
        later = replace(work, now=lambda: datetime.now(UTC) + timedelta(seconds=LEASE + 1))
        return publish(later)


@contextmanager
def killable_publisher(folder: Path, target: str) -> Iterator[Callable[[int], bool]]:
    """Yield a function that runs a publisher and returns whether it was killed at a step; otherwise it had finished before."""
    described = folder / "target.yaml"
    described.write_text(target, "utf-8")
    with Started(str(folder), str(described), script=DYING, piped=True) as process:

        def is_killed(step: int) -> bool:
            print(step, file=process.stdin, flush=True)
            result = process.stdout.readline().strip()
            assert result in ("alive", "killed"), result
            return result == "killed"

        yield is_killed


@pytest.mark.parametrize("marks", ["table", "key"])
def test_publisher_killed_at_any_step_loses_nothing(store: Store, add: Add, foreign: Cms, tmp_path: Path, marks: str) -> None:
    target, ids, step = foreign.target(marks=marks), [add()], 0
    stride = 1 if foreign.uri.startswith("sqlite") else 4  # the steps are the same; on database servers a sample is enough
    with killable_publisher(tmp_path, target) as is_killed:
        while is_killed(step):
            assert finish(store, tmp_path, target).unavailable is None
            assert foreign.slugs() == sorted(f"article-{id}" for id in ids), step
            store.set_category(ids[-1], "体育" if step % 2 else "旅游", by="editor", now=NOW)
            ids.append(add())
            step += stride
    assert step > 10, "it was never killed"
    assert finish(store, tmp_path, target).failed == 0
    expected = {f"article-{article.id}": 7 if article.category == "体育" else 12 for article in store.articles(ids)}
    assert {row["slug"]: row["cat_id"] for row in foreign.rows()} == expected
    assert len(foreign.rows()) == len(ids)
    assert store.outbox.counts()["cms"] == {"done": len(ids)}


def test_eight_publishers_share_one_outbox(store: Store, add: Add, foreign: Cms, tmp_path: Path) -> None:
    ids = [add() for _ in range(60)]
    tallies: list[Tally] = []

    def work() -> None:
        opened = open_store(f"sqlite:///{tmp_path}/news.db")
        tallies.append(run(opened, tmp_path, foreign.target()))
        opened.close()

    threads = [Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [tally.unavailable or tally.unfit for tally in tallies if tally.unavailable or tally.unfit] == []
    assert sum(tally.published for tally in tallies) == 60
    assert foreign.slugs() == sorted(f"article-{id}" for id in ids)
    assert len(foreign.marks()) == 60


def test_hostile_text_and_refused_rows_on_real_databases(store: Store, add: Add, foreign: Cms, tmp_path: Path) -> None:
    """Strict types, four-byte characters, quotes; a refused row does not block the others."""
    foreign.run("CREATE UNIQUE INDEX one_title ON posts (title)")
    hostile = "';\"\\ %s %(a)s :b {c} 😀"
    add("a", title=hostile, text=hostile * 9)
    add("b", title=hostile)
    add("c", title="另一个", published=None)
    tally = run(store, tmp_path, foreign.target())
    assert (tally.published, tally.failed, tally.unavailable, tally.unfit) == (2, 1, None, None)
    assert sorted(row["title"] for row in foreign.rows()) == sorted([hostile, "另一个"])
    (failed,) = store.outbox.entries(states=["failed"])
    assert "one_title" in (failed.reason or "") or "posts.title" in (failed.reason or "")
    store.outbox.request("cms", [row["article"] for row in foreign.marks()], "withdraw", now=NOW)
    assert run(store, tmp_path, foreign.target()).withdrawn == 2
    assert foreign.rows() == []


TRIGGERS = {
    "sqlite": ["CREATE TRIGGER no BEFORE INSERT ON posts WHEN NEW.title = 'no' BEGIN SELECT RAISE(ABORT, 'not wanted'); END"],
    "postgresql": [
        "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN IF NEW.title = 'no' THEN RAISE EXCEPTION 'not wanted'; END IF; RETURN NEW; END $$",
        "CREATE TRIGGER no BEFORE INSERT ON posts FOR EACH ROW EXECUTE FUNCTION no()",
    ],
    "mariadb": [
        "CREATE TRIGGER no BEFORE INSERT ON posts FOR EACH ROW "
        "IF NEW.title = 'no' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not wanted'; END IF"
    ],
}


def test_row_refused_by_trigger_fails_and_others_are_published(store: Store, add: Add, foreign: Cms, tmp_path: Path) -> None:
    for statement in TRIGGERS["sqlite" if foreign.uri.startswith("sqlite") else "postgresql" if "postgresql" in foreign.uri else "mariadb"]:
        foreign.run(statement)
    ids = [add(title="no"), add(), add()]
    tally = run(store, tmp_path, foreign.target())
    assert (tally.published, tally.failed, tally.unavailable, tally.unfit) == (2, 1, None, None)
    (failed,) = store.outbox.entries(states=["failed"])
    assert failed.article_id == ids[0]
    assert "not wanted" in (failed.reason or "")


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_publishing_resumes_after_server_was_killed(store: Store, add: Add, tmp_path: Path, kind: str) -> None:
    ids = [add() for _ in range(120)]
    with own_server(kind) as server:
        MAKE[kind](server.port, "cms")
        _killed(store, server, ids, tmp_path)


def _killed(store: Store, server: Server, ids: list[str], tmp_path: Path) -> None:
    with open_cms(server.url("cms")) as foreign:

        def kill_midway() -> bool:
            """Return False; kill the server between two articles."""
            if server.alive and store.outbox.counts().get("cms", {}).get("done", 0):
                server.kill()
            return False

        with work_on(store, tmp_path, foreign.target()) as work:
            tally = publish(replace(work, stopped=kill_midway))
            assert tally.unavailable is not None, "it was not killed before the end"
            assert "publish.to" in tally.unavailable or "try again" in tally.unavailable or "wait for it" in tally.unavailable
            assert publish(work).unavailable is not None, "still unavailable: reported again, nothing lost"
            server.start()
            tally = publish(work)
            assert (tally.unavailable, tally.failed) == (None, 0)
        foreign.engine.dispose()
        assert foreign.slugs() == sorted(f"article-{id}" for id in ids)
        assert len(foreign.marks()) == len(ids)
    assert store.outbox.counts() == {"cms": {"done": 120}}
