"""Forum threads are found by titles and posts, and can be filtered by kind."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from newsportal.items import Gallery, Image, Link, Post, Thread

if TYPE_CHECKING:
    from conftest import Newsroom

NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)


def write_thread(newsroom: Newsroom, *texts: str) -> str:
    link = Link("https://bbs.example/thread-1-1-1.html", "forum:社区", identity="bbs.example/#thread=1")
    posts = tuple(Post("木头人", NOW, text, id=str(number)) for number, text in enumerate(texts))
    return newsroom.store.threads.save(Thread(link.url, "阳台种番茄", link, NOW, posts, identity=link.identity), now=NOW).id


def test_thread_is_found_by_title_and_posts(newsroom: Newsroom) -> None:
    id = write_thread(newsroom, "第六周还没开花", "试试换个大盆")
    assert [hit.id for hit in newsroom.find("番茄").hits] == [id]
    assert [hit.id for hit in newsroom.find("大盆").hits] == [id]
    write_thread(newsroom, "第六周还没开花", "试试换个大盆", "昨天终于开花了，谢谢")
    assert [hit.id for hit in newsroom.find("终于").hits] == [id]


def test_kind_filter_separates_threads_and_articles(newsroom: Newsroom) -> None:
    write_thread(newsroom, "番茄第六周还没开花")
    newsroom.write("番茄丰收", "今年的番茄特别多")
    assert set(newsroom.titles("番茄")) == {"番茄丰收", "阳台种番茄"}
    for kind in ("kind:thread", "类型:帖子", "kind:forum"):
        assert newsroom.titles(f"番茄 {kind}") == ["阳台种番茄"]
    for kind in ("kind:article", "类型:新闻", "-kind:thread"):
        assert newsroom.titles(f"番茄 {kind}") == ["番茄丰收"]
    assert newsroom.titles("kind:thread") == ["阳台种番茄"]
    assert newsroom.titles("番茄 kind:video") == []
    assert "<mark>" not in newsroom.find("kind:thread").hits[0].title_html
    newsroom.index.rebuild(newsroom.store)
    assert newsroom.titles("番茄 kind:thread") == ["阳台种番茄"]


def test_photo_stories_are_found_by_captions_and_kind(newsroom: Newsroom) -> None:
    link = Link("https://pic.example/1.html", "gallery:图站")
    pictures = (Image("https://pic.example/1.jpg", "番茄挂满架"), Image("https://pic.example/2.jpg", "摘番茄的人"))
    newsroom.store.galleries.save(Gallery(link.url, "菜园的一天", link, NOW, pictures, complete=True, identity=link.url), now=NOW)
    newsroom.write("番茄丰收", "今年的番茄特别多")
    assert set(newsroom.titles("番茄")) == {"番茄丰收", "菜园的一天"}
    for kind in ("kind:photos", "类型:套图", "kind:gallery"):
        assert newsroom.titles(f"番茄 {kind}") == ["菜园的一天"]
    assert newsroom.titles("番茄 kind:article") == ["番茄丰收"]
