"""Boards, threads and login walls of made-up forums are recognised by URL or by structure alone; malformed pages are tolerated."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from madeup.exchange import Request
from madeup.forums import Board, Forum, forums
from madeup.forums.server import ENGINES
from madeup.sites import CHINA
from work_counts import ends

from newsportal.crawl.list_filters import has_grown
from newsportal.extractors.forum import kinds
from newsportal.extractors.forum.kinds import ForumPage, Listed
from newsportal.extractors.forum.rows import sort_by_shape
from newsportal.items import Page
from newsportal.store.threads import StoredThread
from newsportal.text import dom

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
FORUMS = forums(NOW.astimezone(CHINA))
HOST = "http://bbs.example"
BOARDS = {
    "discuz": "/forum-{}-{}.html", "phpwind": "/thread.php?fid={}&page={}", "phpbb": "/viewforum.php?f={}&start={}",
    "discourse": "/c/board/{}?page={}", "homemade": "/s/{}/{}",
}  # fmt: skip
THREADS = {
    "discuz": "/thread-{}-{}-1.html", "phpwind": "/read.php?tid={}&page={}", "phpbb": "/viewtopic.php?t={}&start={}",
    "discourse": "/t/title/{}?page={}", "homemade": "/v/{}/{}",
}  # fmt: skip
FRONT_PATHS = {"discourse": "/categories"}


def page(key: str, target: str, day: int = 0, change: Any = lambda html: html) -> dom.Document:
    answer = ENGINES[key](FORUMS[key], day, Request(key, target))
    assert answer.status == 200
    read = dom.document(Page(HOST + target, answer.body, NOW, content_type=answer.content_type))
    return dom.from_text(change(read.html), read.url)


def at(form: str, number: int, place: int) -> str:
    """Return the URL of a page of a board or thread, numbered as its engine does."""
    offset = {"start={}": (place - 1) * 10, "/c/board/{}?page={}": place - 1}
    value_or_place = next((value for ending, value in offset.items() if form.endswith(ending)), place)
    return form.format(number, value_or_place)


def listing_errors(found: ForumPage, board: Board, place: int) -> list[str]:
    """Return the differences between a board's listing and its threads."""
    rows = {row.title: row for row in found.threads}
    wrong = [f"missing {thread.title}" for thread in board.page(0, place) if thread.title not in rows]
    wrong += [f"none: {title}" for title in rows if title not in {thread.title for thread in board.threads}]
    for thread in board.page(0, place):
        row = rows.get(thread.title)
        if row is None:
            continue
        if row.replies != len(thread.shown(0)) - 1:
            wrong.append(f"{row.replies} replies: {thread.title}")
        if row.last is None or abs((row.last - thread.last(0)).total_seconds()) > row.precision:
            wrong.append(f"{row.last} last: {thread.title}")
        if row.sticky != thread.sticky:
            wrong.append(f"stuck {row.sticky}: {thread.title}")
    return wrong


@pytest.mark.parametrize("key", ENGINES)
def test_front_page_lists_boards(key: str) -> None:
    found = kinds.classify(page(key, FRONT_PATHS.get(key, "/")), NOW)
    assert found.kind == "front"
    assert {board.title for board in found.boards} >= {board.name for board in FORUMS[key].boards if not board.above}
    assert {board.title for board in found.boards} <= {board.name for board in FORUMS[key].boards}
    assert found.threads == ()


def test_front_page_with_latest_threads_is_no_board() -> None:
    items = "".join(f'<li><a href="/thread-{number}-1-1.html">最新的帖子之 {number}</a></li>' for number in range(20))
    found = kinds.classify(
        page("discuz", "/", change=lambda html: html.replace('<div class="fl bm">', f'<ul>{items}</ul><div class="fl bm">')), NOW
    )
    assert (found.kind, len(found.boards), found.threads) == ("front", 4, ())


@pytest.mark.parametrize("key", ENGINES)
def test_board_lists_threads_and_next_page(key: str) -> None:
    for board in FORUMS[key].boards[:4]:
        for place in range(1, board.pages(0) + 1):
            found = kinds.classify(page(key, at(BOARDS[key], board.number, place)), NOW)
            assert found.kind == "board"
            assert listing_errors(found, board, place) == []
            assert (found.next is not None) == (place < board.pages(0))
    below = kinds.classify(page(key, at(BOARDS[key], 4, 1)), NOW).boards
    assert key == "discourse" or [board.title for board in below] == [FORUMS[key].boards[3].name]


@pytest.mark.parametrize("key", ENGINES)
def test_members_only_page_is_a_login_wall(key: str) -> None:
    assert kinds.classify(page(key, at(BOARDS[key], 6, 1)), NOW).kind == "login"
    thread = FORUMS[key].boards[4].threads[0]
    assert kinds.is_login_wall(page(key, at(THREADS[key], thread.number, 1)))


@pytest.mark.parametrize("key", ENGINES)
def test_thread_pages_are_followed_to_the_end(key: str) -> None:
    thread = next(thread for thread in FORUMS[key].boards[0].threads if thread.pages(0) == 3)
    document = page(key, at(THREADS[key], thread.number, 1))
    assert kinds.classify(document, NOW).kind in ("thread", "other")
    assert not kinds.is_login_wall(document)
    urls = [document.url]
    while (following := kinds.next_of_thread(document)) is not None and len(urls) < 9:
        urls.append(following)
        document = page(key, following.removeprefix(HOST))
    assert len(urls) == len(set(urls)) == 3


@pytest.mark.parametrize(
    ("key", "target"),
    [
        ("discuz", "/plugin.php?id=calendar&month=2026-03"), ("phpwind", "/calendar.php?m=2026-03"), ("phpbb", "/calendar.php?m=2026-03"),
        ("discourse", "/calendar?m=2026-03"), ("homemade", "/k/2026/03"), ("phpbb", "/memberlist.php?u=2"),
    ],
)  # fmt: skip
def test_calendars_and_profiles_yield_no_links(key: str, target: str) -> None:
    found = kinds.classify(page(key, target), NOW)
    assert (found.boards, found.threads) == ((), ())
    assert found.kind in ("calendar", "member", "other")


OPAQUE = (
    (r"thread-(\d+)-1-\d+\.html|forum\.php\?mod=viewthread&amp;tid=(\d+)&amp;extra[^\"]*", r"/x/\1\2"),
    (r"thread-(\d+)-(\d+)-\d+\.html", r"/x/\1/\2"),
    (r"forum-(\d+)-\d+\.html", r"/y/\1"),
    (r"(?:\./)?viewtopic\.php\?(?:f=\d+&amp;)?t=(\d+)&amp;start=(\d+)[^\"]*", r"/x/\1/\2"),
    (r"(?:\./)?viewtopic\.php\?(?:f=\d+&amp;)?t=(\d+)[^\"]*", r"/x/\1"),
    (r"read\.php\?tid=(\d+)&amp;fpage=\d+&amp;page=(\d+)", r"/x/\1/\2"),
    (r"read\.php\?tid=(\d+)[^\"]*", r"/x/\1"),
    (r"(?:\./)?(?:viewforum|thread)\.php\?f(?:id)?=(\d+)[^\"]*", r"/y/\1"),
)


def with_opaque_urls(html: str) -> str:
    """Return the page with URLs from which no kind can be read."""
    for form, opaque in OPAQUE:
        html = re.sub(form, opaque, html)
    return html


@pytest.mark.parametrize("key", ["discuz", "phpwind", "phpbb"])
def test_boards_are_recognised_without_url_patterns(key: str) -> None:
    front = kinds.classify(page(key, "/", change=with_opaque_urls), NOW)
    assert [board.title for board in front.boards] == [board.name for board in FORUMS[key].boards if not board.above]
    board = FORUMS[key].boards[0]
    hidden = page(key, at(BOARDS[key], 2, 1), change=with_opaque_urls)
    found = kinds.classify(dom.from_text(hidden.html, f"{HOST}/y/2"), NOW)
    assert (found.kind, listing_errors(found, board, 1)) == ("board", [])


def test_navigation_is_neither_board_nor_thread() -> None:
    texts = enumerate(("首页", "论坛公约和注意事项的全文", "联系"))
    items = "".join(f'<li><a href="/a/{number}">{text}</a></li>' for number, text in texts)
    document = dom.from_text(f"<ul>{items}</ul>")
    assert sort_by_shape([(node, node.get("href") or "", dom.text_of(node)) for node in document.css("a")]) == {}


# growth


def stored_thread(**more: Any) -> StoredThread:
    values = {"replies": 5, "last_reply": NOW, "last_post": NOW, "complete": True, **more}
    return StoredThread("id", "key", None, 6, visited=NOW, last_page="", **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("replies", "last", "before", "grown"),
    [
        (5, NOW, stored_thread(), False),
        (6, NOW, stored_thread(), True),
        (4, NOW, stored_thread(), True),  # one was deleted, others may be new
        (5, NOW + timedelta(minutes=30), stored_thread(), True),  # one was deleted, another is new
        (5, NOW + timedelta(seconds=30), stored_thread(), False),  # times in lists are accurate to a minute
        (5, NOW, stored_thread(complete=False), True),
        (None, NOW, stored_thread(), False),
        (None, NOW + timedelta(hours=1), stored_thread(), True),
        (None, None, stored_thread(), True),  # no evidence in the list: the thread is visited
        (5, None, stored_thread(), False),
        (None, NOW + timedelta(hours=1), stored_thread(replies=None, last_reply=None), True),
        (None, NOW, stored_thread(replies=None, last_reply=None), False),
    ],
)
def test_growth_is_detected_by_replies_and_times(replies: int | None, last: datetime | None, before: StoredThread, grown: bool) -> None:
    assert has_grown(Listed("u", "k", "t", replies, last, 60.0), before) is grown


# malformed pages

DEEP = "<div>" * 20_000 + '<a href="/thread-1-1-1.html">x</a>'
ROW = '<tr><td><a href="/thread-{0}-1-1.html">一个帖子的标题 {0}</a></td><td>{0}</td><td>2026-3-1 08:{1:02}</td></tr>'
ROWS = "".join(ROW.format(number, number % 60) for number in range(5_000))
LINKS = '<a href="/x/1">回复 2026-3-1 08:00</a>' * 5_000


BAD = ("", "<a href=//[>x</a>", '<a href="javascript:x">a</a>', "<base href='http://[::1'><a href=x>x</a>", DEEP, LINKS, f"<table>{ROWS}")


@pytest.mark.parametrize("html", BAD)
def test_malformed_page_is_read_in_bounded_time(html: str) -> None:
    for url in (f"{HOST}/", f"{HOST}/forum-2-1.html", f"{HOST}/thread-1-1-1.html", "about:blank"):
        with ends():
            kinds.classify(dom.from_text(html, url), NOW)


def test_five_thousand_threads_are_listed() -> None:
    found = kinds.classify(dom.from_text(f"<table>{ROWS}</table>", f"{HOST}/forum-2-1.html"), NOW)
    assert len(found.threads) == 5_000
    assert all(thread.replies == number for number, thread in enumerate(found.threads[:100]))


def test_forums_are_reproducible_by_seed() -> None:
    again: dict[str, Forum] = forums(NOW.astimezone(CHINA))
    assert again == FORUMS
    assert forums(NOW, seed=2) != FORUMS
