"""Pages of forum threads: floors with author and time, separate quotations, fifty posts a page, all text escaped."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from newsportal.items import Image, Link, Post, Thread
from newsportal.store.store import Store

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
URL = "https://bbs.example/thread-1-1-1.html"


def post(number: int, **more: object) -> Post:
    values = {
        "author": f"网友{number % 7}",
        "published": NOW - timedelta(minutes=400 - number),
        "text": f"第 {number} 层的话",
        "id": str(number),
    }
    return Post(**{**values, "floor": number, **more})  # type: ignore[arg-type]


def write(store: Store, *posts: Post, title: str = "换窗户花了多少钱", complete: bool = True) -> str:
    link = Link(URL, "forum:某论坛", site="某论坛", identity="bbs.example/#thread=1")
    thread = Thread(URL, title, link, NOW, posts, "修修补补", link.identity, URL, complete, topics=("家居",), language="zh")
    return store.threads.save(thread, now=NOW).id


@pytest.fixture
def portal(serve: Callable[..., httpx.Client], fresh: Store) -> Callable[[], httpx.Client]:
    return lambda: serve(fresh)


def test_thread_page_shows_floors(fresh: Store, portal: Callable[[], httpx.Client]) -> None:
    picture = (Image("https://bbs.example/1.jpg", width=600, height=400), Image("javascript:alert(1)"))
    id = write(fresh, post(1, images=picture), post(2), post(3), post(4), post(5, quoted="第 2 层的话", author="网友1"), complete=False)
    page = portal().get(f"/story/{id}")
    assert page.status_code == 200
    for text in (
        "换窗户花了多少钱",
        "楼主",
        "沙发",
        "板凳",
        "地板",
        "5 楼",
        "第 5 层的话",
        "网友3",
        "修修补补",
        "共 5 楼",
        "还有楼层尚未采集",
        f'href="{URL}"',
    ):
        assert text in page.text, text
    for text in ("修修补补", "共 5 楼", "还有楼层尚未采集", f'href="{URL}"'):
        assert text in page.text, text
    assert re.search(r"<blockquote><p>第 2 层的话</p></blockquote>\s*<p>第 5 层的话</p>", page.text)
    assert 'src="https://bbs.example/1.jpg"' in page.text
    assert "javascript:" not in page.text
    assert page.text.count("badge current") == 1  # the second post of the thread's author is marked
    assert "#5" not in page.text
    english = portal().get(f"/story/{id}?lang=en").text
    assert "Opening post" in english
    assert "Floor 5" in english


def test_floors_counted_from_first_reply_are_renumbered(fresh: Store, portal: Callable[[], httpx.Client]) -> None:
    id = write(fresh, post(1), post(2, floor=1), post(3, floor=2), post(5, floor=4))
    labels = re.findall(r'class="floor" href="[^"]+">([^<]+)<', portal().get(f"/story/{id}").text)
    assert labels == ["楼主", "沙发", "板凳", "5 楼"]


def test_thread_has_fifty_posts_per_page(fresh: Store, portal: Callable[[], httpx.Client]) -> None:
    id = write(fresh, *map(post, range(1, 121)))
    client = portal()
    pages = [re.findall(r"<p>第 (\d+) 层的话</p>", client.get(f"/story/{id}", params={"page": page}).text) for page in (1, 2, 3)]
    assert [int(number) for page in pages for number in page] == list(range(1, 121))
    assert [len(page) for page in pages] == [50, 50, 20]
    assert client.get(f"/story/{id}?page=4").status_code == 404
    assert client.get(f"/story/{id}?page=0").status_code == 404
    assert client.get(f"/story/{id}?page=x").status_code == 200
    second = client.get(f"/story/{id}?page=2").text
    assert f'rel="prev" href="/story/{id}"' in second
    assert f'rel="next" href="/story/{id}?page=3"' in second
    assert f'href="/story/{id}?page=3">最新楼层' in client.get(f"/story/{id}").text


def test_thread_is_one_story_in_lists_and_topics(fresh: Store, portal: Callable[[], httpx.Client]) -> None:
    id = write(fresh, post(1), post(2))
    for path in ("/latest", "/topic/家居"):
        page = portal().get(path).text
        assert f"/story/{id}" in page
        assert "论坛帖子" in page


def test_edited_post_shows_its_earlier_text(fresh: Store, portal: Callable[[], httpx.Client]) -> None:
    write(fresh, post(1), post(2))
    id = write(fresh, post(1), post(2, text="改过以后的话"))
    page = portal().get(f"/story/{id}").text
    assert "改过以后的话" in page
    assert re.search(r"<details>.*第 2 层的话.*</details>", page, re.DOTALL)


def test_posts_have_no_active_content(fresh: Store, portal: Callable[[], httpx.Client]) -> None:
    script = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    hostile = post(2, text=script, author=f"{script}\u202e", quoted=script, date_text=script, published=None, floor=-3)
    id = write(fresh, post(1, text=script), hostile, post(3, author=None, floor=None, text=""), title=script)
    page = portal().get(f"/story/{id}").text
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "\u202e" not in page
    assert "作者不详" in page
