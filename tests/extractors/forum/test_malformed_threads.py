"""Malformed and huge pages: every algorithm returns posts or ``NotApplicable``, in time linear in the posts.

An algorithm added to ``POST_EXTRACTORS`` is tested here automatically.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

import pytest
import threads
from work_counts import ends

from newsportal.errors import NotApplicable
from newsportal.extractors.forum import POST_EXTRACTORS, post_extractor
from newsportal.items import Page
from newsportal.text import dom

NOW: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
TIME: Final = "2024-03-05 08:30"
SENTENCE: Final = "今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民。"


def post(number: int, inner: str = "") -> str:
    return (
        f"<div class='post' id='p{number}'><a class='username' href='/member.php?u={number}'>Name{number}</a><span "
        f"class='date'>{TIME}</span>"
        f"<div class='content'>{SENTENCE}{number}{inner}</div></div>"
    )


def answers(**question: Any) -> str:
    return f"<script type='application/ld+json'>{json.dumps({'@type': 'Question', **question})}</script>"


def kinds_of_subtrees() -> str:
    """Return elements with 9,973 tags, all of whose subtrees differ."""
    tags = ([f"t{(a * 37 + b * 11 + c * 7) % 9973}" for c in range(30)] for a in range(20) for b in range(12))
    return "".join(f"<p><i>{''.join(f'<{tag}></{tag}>' for tag in row)}</i></p>" for row in tags)


# Pages just below dom.MAX_TAGS; larger ones are not parsed
BIG: Final[dict[str, Callable[[], str]]] = {
    "posts": lambda: "".join(map(post, range(4_000))),
    "nested posts": lambda: "".join(post(number)[:-6] for number in range(5_000)),
    "nested long posts": lambda: "".join(post(number, SENTENCE * 60)[:-6] for number in range(990)),
    "times": lambda: f"<span>{TIME}</span>" * 24_500,
    "times in boxes": lambda: f"<div><div>{TIME}</div></div>" * 12_200,
    "one line of times": lambda: f"<p>{f'{TIME} ' * 100_000}</p>",
    "classes": lambda: "".join(
        f"<div class='a{'x' * (n % 40)} b{n % 50 * 'y'} c{n % 77 * 'z'}'><a class=username>N</a>{TIME}</div>" for n in range(7_500)
    ),
    "quotes": lambda: f"<div class=post><a class=username>x</a>{TIME}{'<blockquote class=quote>' * 15_000}x",
    "wide trees": lambda: "".join(f"<div>{TIME}{'<p>x</p>' * n}</div>" for n in range(220)),
    "many shapes": lambda: "".join(
        f"<div>{TIME}{''.join(f'<{tag}>x</{tag}>' for tag in (('b', 'i', 'u', 'p', 'em')[n * m % 5] for m in range(60)))}</div>"
        for n in range(400)
    ),
    "members": lambda: "<a href='/user/1'>a</a>" * 24_500,
    "ids": lambda: "".join(f"<div id=post_{n}><div id=postmessage_{n}>x</div></div>" for n in range(7_500)),
    "html comment": lambda: f"<!--{'<div>' * 49_000}-->",
    "floors": lambda: "<div class=post><b>1楼</b></div>" * 12_200,
    "bylines": lambda: f"<div class=post>{'by ' * 15_000}{TIME}</div>" * 3,
    "boxes": lambda: "<div>" * 49_000 + SENTENCE,
    "one long text": lambda: f"<p>{SENTENCE * 100_000}</p>",
    "one long word": lambda: f"<p>{'a' * 10_000_000}</p>",
    "json": lambda: f"<script type='application/ld+json'>{'[' * 100_000}</script>",
    "json answers": lambda: answers(comment=[{"text": "y"}] * 30_000),
    "invalid json answers": lambda: answers(text="x", comment=[1] * 1_000_000),
    "unclosed comments": lambda: "<!--" * 49_000,
    "signatures and pictures": lambda: post(1) + post(2, "<div class=signature>q</div><img src=/b.png>" * 15_000) + post(3),
    "nested posts with hints": lambda: "".join(
        f"<div id=post_{n}><div class=authi><a>u{n}</a></div><em id=authorposton{n}>{TIME}</em><div id=postmessage_{n}>x {n}"
        for n in range(4_000)
    ),
    "different subtrees": lambda: "".join(f"<div>{TIME}{tree}</div>" for tree in [kinds_of_subtrees()] * 3),
}  # fmt: skip


@lru_cache(maxsize=1)
def parsed(name: str) -> dom.Document:
    """Parse a big page once for all algorithms, which are tested consecutively."""
    return dom.document(Page("https://a.example/1", threads.page(BIG[name]()).encode(), NOW))


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", POST_EXTRACTORS)
@pytest.mark.parametrize("name", BIG)
def test_huge_page_is_read_in_bounded_time(name: str, algorithm: str) -> None:
    with ends(20):
        read(algorithm, parsed(name))


def read(algorithm: str, document: dom.Document) -> int | None:
    try:
        return len(post_extractor(algorithm)(document, NOW))
    except NotApplicable as refusal:
        reason = refusal.reason
    assert reason in {"no-posts", "no-anchors", "no-records"}
    return None


NOISE: Final = bytes(range(256)) * 200
INVALID_PAGES: Final[dict[str, bytes]] = {
    "empty": b"",
    "white space": b" \r\n\t" * 1000,
    "zeros": bytes(5000),
    "one angle bracket": b"<",
    "empty html": b"<html></html>",
    "frameset": b"<html><frameset cols='20%,80%'><frame src='a.html'></frameset></html>",
    "PDF": b"%PDF-1.7\n" + NOISE,
    "gzip": b"\x1f\x8b\x08\0" + NOISE,
    "one word": "今天".encode(),
}


@pytest.mark.parametrize("case", INVALID_PAGES)
@pytest.mark.parametrize("algorithm", POST_EXTRACTORS)
def test_invalid_page_is_refused(algorithm: str, case: str) -> None:
    assert read(algorithm, dom.document(Page("https://a.example/1", INVALID_PAGES[case], NOW))) is None


THREAD: Final = threads.discuz()
BROKEN: Final = [
    THREAD[: len(THREAD) // 2],
    THREAD.replace("</td>", "</b></i></div>"),
    THREAD.replace("</div>", ""),
    THREAD.replace("<td", "<td "),
    THREAD.replace("</em>", "\x00</em>\x01"),
    f"</html></body>{THREAD}</html><html><body>{THREAD}",
    THREAD.replace("<div ", "<div class=\"a 'b><![CDATA[ ]]> "),
    f"<svg><foreignObject>{THREAD}",
    f"<body><body><head><frameset>{THREAD}<noscript>{THREAD}",
    f"<math><mi>{THREAD}<template>{THREAD}",
    THREAD.replace("2024-3-5", "9999-99-99"),
    THREAD.replace("2024-3-5", "0001-1-1"),
    THREAD.replace('id="', 'id="<>&\ud800'),
]


@pytest.mark.parametrize("html", BROKEN)
@pytest.mark.parametrize("algorithm", POST_EXTRACTORS)
def test_malformed_markup_is_tolerated(algorithm: str, html: str) -> None:
    read(algorithm, dom.document(Page("https://a.example/1", html.encode("utf-8", "surrogatepass"), NOW)))
    read(algorithm, dom.from_text(html))


@pytest.mark.parametrize("algorithm", POST_EXTRACTORS)
def test_gbk_thread_is_decoded(algorithm: str) -> None:
    page = Page("https://a.example/1", threads.discuz().encode("gb18030"), NOW, content_type="text/html; charset=utf-8")
    assert read(algorithm, dom.document(page)) == len(threads.TALK)


def test_posts_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a page of 24,000 posts to its end took eight seconds; posts beyond the limit are not read from another container either."""
    monkeypatch.setattr("newsportal.extractors.forum.best.MAX_POSTS", 20)
    page = dom.from_text("".join(map(post, range(50))), "https://bbs.example/thread-1-1-1.html")
    assert [found.author for found in post_extractor("best")(page, NOW)] == [f"Name{number}" for number in range(20)]
