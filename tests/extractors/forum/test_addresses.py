"""URLs of forums by the conventions of their engines: each thread has one key on all its pages and URL forms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.extractors.forum.addresses import clean_url, form_of, parse_address

HOST = "https://bbs.example"
SESSION = "0a" * 16


@pytest.mark.parametrize(
    ("first", "others"),
    [
        ("/thread-101-1-1.html", ["/thread-101-1-7.html", "/forum.php?mod=viewthread&tid=101&extra=page%3D3", "/thread-101-4-1.html"]),
        ("/viewthread.php?tid=101", ["/viewthread.php?tid=101&extra=page%3D1&page=2", "/thread-101-1-1.html"]),
        ("/read.php?tid=101", ["/read.php?tid=101&fpage=3", "/read.php?tid=101&page=2", "/read-htm-tid-101-page-3.html"]),
        ("/viewtopic.php?f=2&t=101", ["/viewtopic.php?f=2&t=101&start=20", f"/viewtopic.php?f=2&t=101&sid={SESSION}"]),
        (
            "/showthread.php?t=101",
            ["/showthread.php?t=101&page=3", "/showthread.php?101-title/page2", f"/showthread.php?s={SESSION}&t=101"],
        ),
        ("/threads/a-title.101/", ["/threads/a-title.101/page-2", "/index.php?threads/a-title.101/", "/threads/another-title.101/"]),
        ("/t/a-title/101", ["/t/a-title/101?page=2", "/t/renamed/101"]),
        ("/d/101-a-title", ["/d/101-a-title?page=2", "/d/101"]),
        (
            "/index.php?topic=101.0",
            ["/?topic=101.20", "/index.php?PHPSESSID=0123456789abcdef&topic=101.0", "/topic,101.0.html"],
        ),
        ("/discussion/101/a-title", ["/discussion/101/a-title/p2"]),
        ("/topic/101-a-title/", ["/topic/101-a-title/?page=2", "/index.php?showtopic=101&st=20"]),
        ("/p/1010101010", ["/p/1010101010?pn=3"]),
    ],
)
def test_url_forms_of_a_thread_share_one_key(first: str, others: list[str]) -> None:
    at = parse_address(HOST + first)
    assert (at.kind, at.place) == ("thread", 0)
    assert {parse_address(HOST + other).key for other in others} == {at.key}


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("/thread-101-4-1.html", 4),
        ("/read.php?tid=101&page=2", 2),
        ("/viewtopic.php?f=2&t=101&start=20", 20),
        ("/index.php?topic=101.40", 40),
        ("/threads/a.101/page-7", 7),
        ("/c/kitchen/5?page=1", 1),  # the second page: Discourse counts from 0
        ("/forum-2-1.html", 0),
        ("/thread.php?fid=2&page=1", 0),
        ("/viewforum.php?f=2&start=0", 0),
    ],
)
def test_page_number_is_read_from_url(address: str, place: int) -> None:
    assert parse_address(HOST + address).place == place


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("/forum-2-1.html", "board"),
        ("/forum.php?mod=forumdisplay&fid=2&page=3", "board"),
        ("/thread.php?fid=2", "board"),
        ("/viewforum.php?f=2", "board"),
        ("/forums/some-board.12/", "board"),
        ("/c/kitchen/5", "board"),
        ("/f?kw=%E7%8C%AB&ie=utf-8", "board"),
        ("/space-uid-12.html", "member"),
        ("/home.php?mod=space&uid=2", "member"),
        ("/memberlist.php?mode=viewprofile&u=3", "member"),
        ("/u/somebody", "member"),
        ("/plugin.php?id=calendar&month=2026-03", "calendar"),
        ("/calendar.php?month=3", "calendar"),
        ("/search.php?mod=forum", "search"),
        ("/member.php?mod=logging&action=login", "login"),
        ("/ucp.php?mode=register", "login"),
        ("/forum.php?mod=redirect&tid=101&goto=lastpost", "post"),
        ("/viewtopic.php?p=999", "post"),
        ("/viewtopic.php?f=2&t=101&p=999", "post"),
        ("/read.php?tid=101&page=e", "post"),
        ("/threads/a.101/post-999", "post"),
        ("/t/a-title/101/12", "post"),
        ("/index.php?topic=101.msg999", "post"),
        ("/forum.php?mod=viewthread&tid=101&authorid=5", "other"),  # posts of one member only
        ("/forum.php?mod=viewthread&tid=101&ordertype=1", "other"),  # the same posts in reverse order
        ("/forum.php?mod=forumdisplay&fid=2&orderby=views", "other"),
        ("/viewtopic.php?t=101&view=print", "other"),
        ("/viewtopic.php?t=101&view=next", "other"),  # another thread
        ("/forum.php?mod=post&action=reply&tid=101", "other"),
        ("/", "other"),
    ],
)
def test_url_kinds(address: str, kind: str) -> None:
    assert parse_address(HOST + address).kind == kind


def test_requested_url_has_no_session_or_return_parameters() -> None:
    assert clean_url(f"{HOST}/v/5;jsessionid=ABCDEF0123456789#p3") == f"{HOST}/v/5"
    assert parse_address(f"{HOST}/viewtopic.php?f=2&t=7&sid={'ab' * 16}#p9").url == f"{HOST}/viewtopic.php?f=2&t=7"
    assert parse_address(f"{HOST}/thread-7-1-9.html").url == f"{HOST}/thread-7-1-1.html"
    assert clean_url(f"{HOST}/list?sid=123") == f"{HOST}/list?sid=123"  # a short sid may be a parameter of the page
    assert clean_url(f"{HOST}/f?kw=%C3%A8&fpage=2") == f"{HOST}/f?kw=%C3%A8"  # percent-encoded bytes of another encoding are kept


def test_url_forms() -> None:
    assert form_of(f"{HOST}/v/501") == form_of(f"{HOST}/v/7;jsessionid=ABCDEF0123456789") == "/v/#"
    assert form_of(f"{HOST}/talk/one-title") == form_of(f"{HOST}/talk/another") == "/talk/*"


@given(st.text(max_size=300))
def test_any_text_is_accepted(text: str) -> None:
    for url in (text, f"http://{text}", f"{HOST}/{text}", f"{HOST}/thread.php?{text}"):
        parse_address(url)
        form_of(url)
