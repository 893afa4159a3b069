"""A store with rows in every table, for the tests of copies and backups."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from factories import LONG, NOW, SAME_TEXT, article

from newsportal.extractors.images.filter import StoryPictures
from newsportal.items import Gallery, GalleryPage, Image, Link, Post, Thread
from newsportal.items.report import Run
from newsportal.items.visits import Visit
from newsportal.recommend.base import Recommendation
from newsportal.store.boards import Place
from newsportal.store.crawl_state import Subscription
from newsportal.store.events import Assignment, Edit
from newsportal.store.labels import NewDocument
from newsportal.store.link_tables import Task
from newsportal.store.outbox import Result
from newsportal.store.pictures import Picture
from newsportal.store.reader_views import VIEWS_KEPT
from newsportal.store.readers import Fit
from newsportal.store.results import SourceState
from newsportal.store.store import Store

LATER = NOW + timedelta(hours=2)
NASTY = "桥\u2028a\tb\r\n\u200e𠀀 {x} $1 ' \" \\ =1+1 \ufffe é e\u0301 "
FORUM = "https://bbs.example/thread-1-1-1.html"
PHOTOS = "https://pic.example/2026/88_1.html"


def fill(store: Store) -> None:
    """Add rows to every table."""
    _articles(store)
    _threads_and_galleries(store)
    _corpora(store)
    _events(store)
    _crawl_state(store)


def _articles(store: Store) -> None:
    first = store.add(article("a", text=LONG, topic="旅游", site="青河网", category="社会", category_by="source"), [SAME_TEXT], now=NOW)
    store.add(article("b", host="other.example", text=LONG, keywords=("图书馆", "旧粮仓")), [SAME_TEXT], now=LATER)
    twin = store.add(article("c", host="third.example", text=LONG, images=(Image("https://i.example/1.jpg", "说明", 3, 4),)), now=LATER)
    store.unfold(twin.id, now=LATER)
    odd = article("d", title=NASTY, text=NASTY * 3, html=f"<p>{NASTY}</p>", author=NASTY, topic="a ")
    store.add(odd, now=NOW)
    store.add(replace(odd, text="改过的正文", published=datetime(1, 1, 1, tzinfo=UTC)), now=LATER)
    store.add_aliases(["news.example/old"], "news.example/a")
    store.declare_url("declared.example/x", "news.example/a")
    store.set_category(first.id, "文化", by="editor", now=LATER)
    store.correct(first.id, {"title": "旧粮仓里的图书馆", "published": None}, by="林编辑", now=LATER)
    store.hide([twin.id], by="陈编辑", reason="误登", now=LATER)
    store.readers.record_view("林", first.id, [1, 9], pictures=20, now=NOW)
    store.readers.record_view("陈", first.id, [1], pictures=20, now=NOW - VIEWS_KEPT * 2)
    store.readers.prune_views(alpha=0.5, now=NOW)
    store.readers.record_offer("林", (Recommendation(first.story_id, 1.0, "neighbours"),), now=NOW)
    store.readers.set_recording("off", False, now=NOW)
    store.readers.save_fit(Fit(NOW, {"alpha": 0.5, "views": 3}, bytes(range(256))))


def _threads_and_galleries(store: Store) -> None:
    posts = tuple(
        Post(f"作者{n}", NOW, f"第 {n} 条说的话", floor=n, id=str(100 + n), images=(Image("https://i.example/p.jpg"),)) for n in (1, 2, 3)
    )
    thread = Thread(FORUM, "怎么换窗户", Link(FORUM, "forum:某论坛"), NOW, posts, "修修补补", "bbs.example/1", FORUM, topics=("家居",))
    store.threads.save(thread, now=NOW)
    store.threads.save(replace(thread, posts=(replace(posts[0], text="改了的话"), *posts[1:])), now=LATER)
    pictures = tuple(Image(f"https://img.example/{n}.jpg", f"第 {n} 张", 900, 600, "jpeg", print=f"{n:016x}") for n in (1, 2))
    link = Link(PHOTOS, "gallery:某图站", site="某图站")
    page = GalleryPage(PHOTOS, 1, 3, "春天的河", "说明", pictures[:1], NOW)
    store.galleries.put_page("pic.example/other", page, now=NOW)
    story = Gallery(
        PHOTOS, "春天的河", link, NOW, pictures, NOW, identity="pic.example/88", text="一条河。", topics=("自然",), total=3, missing=(3,)
    )
    store.galleries.save(story, now=NOW)
    store.galleries.refuse("pic.example/index", "no-story", now=NOW)
    story_pictures = StoryPictures(f"{7:020x}", "pic.example", "t", frozenset({"static.example/logo.png"}))
    store.pictures.record_story(
        story_pictures, [Picture("static.example/logo.png", "https://static.example/logo.png", 3, 4, "png", fetched=NOW)], now=NOW
    )
    store.pictures.mark({"static.example/logo.png": "logo"}, now=LATER)


def _events(store: Store) -> None:
    stories = [article.story_id for article in store.all_articles()][:2]
    placed = [Assignment(id, "event", 0.5, ("图书馆", NASTY)) for id in dict.fromkeys(stories)]
    assert store.events.assign(placed, {"event": '[1,{"桥":1.0},{},[]]'}, after=0, up_to=store.last_seq())
    moves = {stories[0]: ("event", "other")}
    store.events.edit(Edit("join", "other", LATER, "林编辑", moves), {"other": "[]"})
    store.events.edit(Edit("rename", "event", LATER, "林编辑", title=(None, NASTY)), {})


def _corpora(store: Store) -> None:
    documents = [
        NewDocument("体育", "正文一", "题一", "n1"),
        NewDocument("财经", "正文二", "题二"),
        NewDocument("旧闻", article_id=next(store.all_articles()).id),
    ]
    store.corpora.add("categories", documents, source="imported", now=NOW)
    store.corpora.label("categories", documents[0].id, None, now=LATER, by="编辑")
    version = store.corpora.save_model(
        "categories", b"\x00model\xff", algorithm="linear", facts={"f1": 0.5}, now=NOW, held_out=[documents[1].id]
    )
    store.corpora.activate("categories", version, now=LATER)


def _crawl_state(store: Store) -> None:
    store.save_run(Run("run-1", NOW, LATER))
    store.save_source_state(SourceState("feed:快讯", unfinished=NOW))
    store.save_site_lines({"青河网": {"https://qinghe.example/1": b"\x00\x01\xfe"}}, now=NOW, max_sites=10)
    urls = [f"https://later.example/{number}" for number in (1, 2)]
    tasks = [Task(url[-9:], "later.example", json.dumps({"url": url}), source="feed:快讯", link=True) for url in urls]
    store.links.open("rss", tasks, since=0.0)
    store.visits.add(Visit("feed:快讯", NOW, 1.5, entries=3, new=1, published=(NOW,), failed={"http-404": 1}))
    store.visits.add(Visit("feed:快讯", LATER))
    store.subscriptions.save(
        Subscription("feed:快讯", "https://hub.example/", "https://f.example/", "tok", "geheim", asked=NOW, until=LATER)
    )
    call = store.assistant.begin("k" * 40, "summary", "模型", now=NOW, since=NOW, calls=9, tokens=None, lasts=NOW - NOW)
    store.assistant.finish(int(call), NASTY, 120)
    store.boards.add("list:热榜", NOW, [Place("a" * 20, "台风登陆", "https://a.example/1", 1, 35.5)])
    store.outbox.follow("站点 甲", [first := next(store.all_articles()).id, "gone"], [], after=0, up_to=3, now=NOW)
    entries = store.outbox.lease_due("站点 甲", "w1", now=NOW, seconds=60, limit=9)
    store.outbox.settle(next(entry for entry in entries if entry.article_id == first), Result("done", None, 1, "d" * 40, "17"), now=LATER)
