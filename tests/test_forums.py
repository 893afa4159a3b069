"""Forums in complete crawls: made-up boards on loopback that grow between visits, the real spider, stages, store, index and portal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import forked
import pytest
from killed_crawl import crawl_and_kill
from link_rows import waiting

from newsportal.search import open_index
from newsportal.search.base import Query
from newsportal.store import open_store
from newsportal.store.store import Store
from newsportal.store.threads import StoredPost

if TYPE_CHECKING:
    from madeup.forums import MadeUpForums

pytestmark = pytest.mark.slow

ENGINES = ("discuz", "phpwind", "phpbb", "discourse")
PAGES = re.compile(
    r"/(?:robots\.txt|forum\.php|forum-\d+-\d+\.html|thread-\d+-\d+-1\.html|forum\.php\?mod=viewthread&tid=\d+(?:&page=\d+)?"
    r"|thread\.php\?fid=\d+(?:&page=\d+)?|read\.php\?tid=\d+(?:&page=\d+)?|viewforum\.php\?f=\d+(?:&start=\d+)?|viewtopic\.php\?f=\d+&t=\d+(?:&start=\d+)?"
    r"|latest\?page=\d+|c/[\w-]+/\d+(?:\?page=\d+)?|t/[\w-]+/\d+(?:\?page=\d+)?|[sv]/\d+(?:/\d+)?)?"
)
"""All useful pages of the made-up forums: no calendar, member, search, reply or print view, and no session id."""

SHAPELESS = "homemade"
"""The forum whose URLs have no pattern. A thread of one post cannot be recognized there: it is read as an article, without its author."""


def crawl(sources: Path, *options: str) -> dict[str, Any]:
    report = forked.crawl(sources, "forum", *options)
    for row in (*report["sources"], report["total"]):
        assert row["entries"] == row["known"] + row["repeated"] + row["new"], row
        assert row["new"] == row["parsed"] + sum(row["failed"].values()) + row["left"], row
        assert row["parsed"] == row["stored"] + row["folded"] + row["same"], row
    return report


def row(report: dict[str, Any], key: str) -> dict[str, Any]:
    return next(row for row in report["sources"] if row["source"] == f"forum:{key}")


def opened(sources: Path) -> Store:
    return open_store(f"sqlite:///{sources.parent}/data/newsportal.db", create=False)


def threads(store: Store, key: str) -> dict[int, list[StoredPost]]:
    """Return the posts of each thread by its number."""
    found = {}
    for article in store.all_articles():
        if article.source == f"forum:{key}":
            number = int(re.findall(r"\d+", article.identity)[-1])
            assert number not in found
            found[number] = store.threads.posts(article.id)
    return found


def thread_faults(posts: list[StoredPost], gold: list[dict[str, Any]]) -> list[str]:
    """Return what is wrong with the posts of a thread; empty if all are present once and in order."""
    wrong = []
    begins = {post["number"]: post["lines"][0][:20] for post in gold}
    places = {number: [post.place for post in posts if post.text.startswith(begin)] for number, begin in begins.items()}
    wrong += [f"{number} is there {len(found)} times" for number, found in places.items() if len(found) != 1]
    order = [found[0] for found in places.values() if found]
    if order != sorted(order):
        wrong.append(f"out of order: {order}")
    if len(posts) != len(gold):
        wrong.append(f"{len(posts)} posts of {len(gold)}")
    return wrong


@pytest.fixture(scope="module")
def forums() -> Iterator[MadeUpForums]:
    from madeup.forums import MadeUpForums

    with MadeUpForums() as forums:
        yield forums


@pytest.fixture(scope="module")
def visits(forums: MadeUpForums, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], Path, list[Any]]:
    """Return the reports of three visits of all forums, while they grow."""
    forums.reset()
    sources = forums.sources(tmp_path_factory.mktemp("论坛") / "sources.yaml", more="    max_age: 30\n")
    reports = []
    for day in range(3):
        forums.day = day
        reports.append(crawl(sources))
    return reports, sources, list(forums.requests)


@pytest.mark.parametrize("key", [*ENGINES, SHAPELESS])
def test_every_thread_and_post_is_stored_once(forums: MadeUpForums, visits: Any, key: str) -> None:
    store = opened(visits[1])
    stored = threads(store, key)
    gold = {thread["number"]: thread for thread in forums.gold(key) if not thread["old"]}
    assert sorted(stored) == sorted(gold)
    assert {number: wrong for number, thread in gold.items() if (wrong := thread_faults(stored[number], thread["posts"]))} == {}
    titles = {
        article.identity.rpartition("=")[2].rpartition("/")[2]: article.title
        for article in store.all_articles()
        if article.source == f"forum:{key}"
    }
    assert {number for number, thread in gold.items() if titles[str(number)] != thread["title"]} == set()
    store.close()


@pytest.mark.parametrize("key", [*ENGINES, SHAPELESS])
def test_posts_have_authors_and_times(forums: MadeUpForums, visits: Any, key: str) -> None:
    store = opened(visits[1])
    stored = threads(store, key)
    wrong: Counter[str] = Counter()
    for thread in forums.gold(key):
        gold_posts = {post["lines"][0][:20]: post for post in thread["posts"]}
        for post in stored.get(thread["number"], ()):
            gold = gold_posts[post.text[:20]]
            wrong["author"] += post.author != gold["author"] and (key != SHAPELESS or len(thread["posts"]) > 1)
            wrong["time"] += post.published != datetime.fromisoformat(gold["written"])
    assert wrong.total() == 0
    store.close()


def test_edited_posts_keep_earlier_text(forums: MadeUpForums, visits: Any) -> None:
    store = opened(visits[1])
    for key in ENGINES:
        changed = [post for posts in threads(store, key).values() for post in posts if post.former_texts]
        assert len(changed) >= 10
        assert all(
            post.text.startswith(post.former_texts[0]) and len(post.text) > len(post.former_texts[0])
            for post in changed
            if "24" not in post.text
        )
    store.close()


def test_known_thread_is_read_from_its_last_page(forums: MadeUpForums, visits: Any) -> None:
    """Of a growing thread of three pages, later visits request only the last ones."""
    board_threads = [thread for board in forums.forums["discuz"].boards for thread in board.threads]
    long = next(thread for thread in board_threads if thread.pages(0) == 3 and len(thread.posts) > 31)
    pattern = re.compile(rf"thread-{long.number}-(\d)-1|tid={long.number}\b")
    pages = [found[1] or "1" for visit in visits[2] if visit.site == "discuz" and (found := pattern.search(visit.path))]
    assert (pages.count("1"), pages.count("2")) == (1, 1)
    assert pages.count("3") > 1


def test_no_other_pages_are_requested(visits: Any) -> None:
    assert {visit.path for visit in visits[2] if not PAGES.fullmatch(visit.path)} == set()


def test_members_only_boards_are_reported_without_failing(forums: MadeUpForums, visits: Any) -> None:
    for report in visits[0]:
        for key in ("discuz", "phpwind", "phpbb", SHAPELESS):
            assert row(report, key)["list_failed"] == {"login": 1}
            assert any(note["code"] == "note.members-only" for note in row(report, key)["notes"])
    store = opened(visits[1])
    walled = {thread.number for forum in forums.forums.values() for board in forum.boards if board.walled for thread in board.threads}
    assert not walled & {number for key in forums.forums for number in threads(store, key)}
    assert all(state.last_success and not state.failures_in_row for state in store.source_states())
    store.close()


def test_threads_are_searchable_by_kind(visits: Any) -> None:
    store, index = opened(visits[1]), open_index("sqlite://")
    index.follow(store)
    assert index.search(Query("灯会 kind:thread")).total > 0
    assert index.search(Query("Edit checked again kind:thread")).total > 0  # a post of a later visit
    assert index.search(Query("灯会 kind:article")).total == 0
    store.close()


def test_page_depth_and_age_limits(forums: MadeUpForums, tmp_path: Path) -> None:
    forums.reset()
    board = forums.url("phpwind", "/thread.php?fid=3")
    sources = forums.sources(
        tmp_path / "sources.yaml", "phpwind", more=f"    boards: [{board}]\n    pages: 1\n    depth: 2\n    max_age: 365\n"
    )
    report = row(crawl(sources), "phpwind")
    assert (report["list_pages"], report["stored"]) == (1, 12)
    assert max(int(found[1]) for visit in forums.requests if (found := re.search(r"read.*page=(\d+)", visit.path))) == 2
    store = opened(sources)
    long = {number: posts for number, posts in threads(store, "phpwind").items() if len(posts) == 20}
    assert long
    crawl(sources)  # the next visit continues where the first had to stop
    stored = threads(store, "phpwind")
    gold = {thread["number"]: [post for post in thread["posts"] if post["day"] == 0] for thread in forums.gold("phpwind")}
    assert {number: wrong for number in long if (wrong := thread_faults(stored[number], gold[number]))} == {}
    store.close()


def test_board_url_reads_only_that_board(forums: MadeUpForums, tmp_path: Path) -> None:
    forums.reset()
    sources = forums.sources(tmp_path / "sources.yaml", "discuz")
    sources.write_text(sources.read_text("utf-8").replace(forums.url("discuz"), forums.url("discuz", "/forum-2-1.html")), "utf-8")
    report = row(crawl(sources), "discuz")
    assert (report["list_pages"], report["stored"]) == (2, 15)
    store = opened(sources)
    assert {article.site for article in store.all_articles()} == {"discuz"}
    store.close()


def test_unavailable_thread_pages_are_retried(forums: MadeUpForums, tmp_path: Path) -> None:
    """One thread has no first page, one no second: what can be read is stored, and the next visit reads the rest."""
    forums.reset()
    missed, cut = (next(t for t in forums.forums["phpbb"].boards[0].threads if t.pages(0) == pages and not t.sticky) for pages in (1, 3))
    forums.fail(f"/viewtopic.php?f=2&t={missed.number}", times=9)
    forums.fail(f"/viewtopic.php?f=2&t={cut.number}&start=10", times=9)
    sources = forums.sources(tmp_path / "sources.yaml", "phpbb")
    report = row(crawl(sources), "phpbb")
    assert report["failed"] == {"http-503": 2}
    store = opened(sources)
    assert missed.number not in threads(store, "phpbb")
    assert len(threads(store, "phpbb")[cut.number]) == 10
    assert len(waiting(store, "forum:phpbb")) == 2
    forums.fail("/", times=0)
    forums.reset()
    crawl(sources)
    gold = {thread["number"]: [post for post in thread["posts"] if post["day"] == 0] for thread in forums.gold("phpbb")}
    stored = threads(store, "phpbb")
    assert (thread_faults(stored[missed.number], gold[missed.number]), thread_faults(stored[cut.number], gold[cut.number])) == ([], [])
    assert waiting(store, "forum:phpbb") == []
    store.close()


@pytest.fixture(scope="module")
def resumed(forums: MadeUpForums, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the sources of a crawl that was killed and run again to its end."""
    forums.reset()
    sources = forums.sources(tmp_path_factory.mktemp("killed") / "sources.yaml", "discuz")
    crawl_and_kill(forums, 40, "crawl", "forum", "--sources", str(sources))
    with closing(opened(sources)) as store:
        assert len(threads(store, "discuz")) < 60, "the crawl must be killed midway"
        assert waiting(store, "forum:discuz")
    crawl(sources)
    return sources


def test_killed_crawl_loses_and_duplicates_nothing(forums: MadeUpForums, resumed: Path) -> None:
    with closing(opened(resumed)) as store:
        gold = {thread["number"]: [post for post in thread["posts"] if post["day"] == 0] for thread in forums.gold("discuz")}
        stored = threads(store, "discuz")
        assert sorted(stored) == sorted(number for number, posts in gold.items() if posts)
        assert {number: wrong for number in stored if (wrong := thread_faults(stored[number], gold[number]))} == {}
        assert waiting(store, "forum:discuz") == []


def test_unchanged_boards_cost_one_request_each(forums: MadeUpForums, resumed: Path) -> None:
    forums.reset()
    report = row(crawl(resumed), "discuz")
    assert (report["new"], report["known"], report["list_pages"]) == (0, report["entries"], 6)  # front page, four boards, one for members
    assert len(forums.requests) == 7  # including robots.txt


def test_refused_board_does_not_fail_the_forum(forums: MadeUpForums, tmp_path: Path) -> None:
    forums.reset()
    forums.fail("/forum-3-1.html", times=9, status=403)
    sources = forums.sources(tmp_path / "sources.yaml", "discuz", more="    pages: 1\n    depth: 1\n")
    report = row(crawl(sources), "discuz")
    assert report["list_failed"] == {"http-403": 1, "login": 1}
    assert "cannot be read (http-403): 出行路上" in [note["text"] for note in report["notes"]]
    store = opened(sources)
    state = store.source_state("forum:discuz")
    assert (state.failures_in_row, state.unfinished) == (0, None)
    store.close()


def test_page_without_threads_is_a_failure(forums: MadeUpForums, tmp_path: Path) -> None:
    forums.reset()
    sources = forums.sources(tmp_path / "sources.yaml", "phpwind")
    sources.write_text(sources.read_text("utf-8").replace(forums.url("phpwind"), forums.url("phpwind", "/u.php?uid=1")), "utf-8")
    report = row(crawl(sources), "phpwind")
    assert report["list_failed"] == {"no-threads": 1}


def test_redirected_threads_are_not_stored(forums: MadeUpForums, tmp_path: Path) -> None:
    """Deleted threads redirect to lists, whose rows look like posts."""
    forums.reset()
    discuz, homemade = ([t for t in forums.forums[key].boards[0].threads if t.pages(0) == 1] for key in ("discuz", SHAPELESS))
    discuz = discuz[:2]
    for thread, to in zip(discuz, ("/forum-2-1.html", "/"), strict=True):
        for path in (f"/thread-{thread.number}-1-1.html", f"/forum.php?mod=viewthread&tid={thread.number}"):
            forums.lead(path, to)
    board = forums.forums[SHAPELESS].boards[0].number
    for thread in homemade:
        forums.lead(f"/v/{thread.number}", f"/s/{board}")
    sources = forums.sources(tmp_path / "sources.yaml", "discuz", SHAPELESS, more="    pages: 1\n    depth: 1\n")
    report = crawl(sources)
    assert row(report, "discuz")["failed"] == {"gone": 2}
    assert row(report, SHAPELESS)["failed"]["gone"] > 0
    store = opened(sources)
    assert not {thread.number for thread in discuz} & set(threads(store, "discuz"))
    assert not {thread.number for thread in homemade} & set(threads(store, SHAPELESS))
    store.close()
