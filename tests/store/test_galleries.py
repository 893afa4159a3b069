"""What every store guarantees about photo stories: pages in any order, kept while incomplete, completed later, never reduced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from newsportal.errors import StoreError
from newsportal.items import Gallery, GalleryPage, Image, Link, TopicMark, content_id
from newsportal.store.gallery_tables import WallFilter
from newsportal.store.results import StoredArticle, StoryFilter, is_gallery
from newsportal.store.store import Store

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
URL = "https://pic.example/2026/88_1.html"
NAME = "pic.example/2026/88_1.html"
TITLES = {
    "31": "夜市烟火",
    "32": "雪山日出",
    "33": "老街理发店",
    "34": "渔港归船",
    "35": "空城",
    "41": "候鸟",
    "42": "龙舟",
    "43": "麦收",
    "99": "石匠",
}
"""Titles of stories that are not similar to each other."""


def image(number: int, story: str = "88", **more: object) -> Image:
    print = content_id(f"{story} {number}")[:16]
    default = Image(f"https://img.example/{story}/{number}.jpg", f"{story} 的第 {number} 张：河岸", 900, 600, "jpeg", print=print)
    return replace(default, **more)  # type: ignore[arg-type]


def page(number: int = 1, **more: object) -> GalleryPage:
    default = GalleryPage(
        URL.replace("_1.", f"_{number}."), number, 3, "春天的河", "说明", (image(number),), NOW, pages=(URL,), next="https://pic.example/n"
    )
    return replace(default, **more)  # type: ignore[arg-type]


def gallery(*numbers: int, story: str = "88", **more: object) -> Gallery:
    """Return a story of three pages with one picture each, of which ``numbers`` were read."""
    url = URL.replace("88", story)
    default = Gallery(
        url,
        f"{TITLES.get(story, '春天的河')} {story}",
        Link(url, "gallery:某图站", site="某图站", identity=None),
        NOW,
        tuple(image(number, story) for number in numbers),
        NOW - HOUR,
        complete=numbers == (1, 2, 3),
        identity=NAME.replace("88", story),
        text="一条河，从春天流过。" if story not in TITLES else f"{TITLES[story]}。",
        topics=("自然",),
        pages=tuple(url.replace("_1.", f"_{number}.") for number in numbers),
        total=3,
        missing=tuple(number for number in (1, 2, 3) if number not in numbers),
        failure=None if numbers == (1, 2, 3) else "http-503",
        later=numbers != (1, 2, 3),
    )
    return replace(default, **more)  # type: ignore[arg-type]


def _article(store: Store, id: str) -> StoredArticle:
    found = store.article(id)
    assert found is not None
    return found


def _shown(store: Store, id: str) -> list[str]:
    return [picture.image.url.rpartition("/")[2] for picture in store.galleries.pictures(id)]


def test_pages_from_several_workers_are_kept_in_order(store: Store, another: Callable[[], Store]) -> None:
    other = another()
    store.galleries.put_page(NAME, page(3), now=NOW)
    other.galleries.put_page(NAME, page(1), now=NOW)
    other.galleries.put_page(NAME, replace(page(2), number=None), now=NOW)
    store.galleries.put_page(NAME, page(3, title="改过的"), now=NOW)
    assert [(stored.number, stored.title) for stored in store.galleries.pages(NAME)] == [(1, "春天的河"), (3, "改过的"), (None, "春天的河")]
    assert other.galleries.pages(NAME)[0] == page(1)
    assert store.galleries.pages("pic.example/other") == []
    other.close()


def test_photo_story_is_an_article_with_pictures(store: Store) -> None:
    marks = (TopicMark("自然", "keywords"),)
    saved = store.galleries.save(gallery(1, 2, 3, topic_marks=marks, category="旅游", keywords=("河",)), now=NOW)
    assert (saved.outcome, saved.complete, saved.id) == ("stored", True, content_id(NAME))
    article = _article(store, saved.id)
    assert is_gallery(article.source)
    assert article.text.splitlines() == ["一条河，从春天流过。", *(image(number).caption or "" for number in (1, 2, 3))]
    assert (article.category, article.category_by, article.topic_marks, article.keywords) == ("旅游", "source", marks, ("河",))
    assert [picture.image for picture in store.galleries.pictures(saved.id)] == [image(1), image(2), image(3)]
    assert [picture.place for picture in store.galleries.pictures(saved.id)] == [1, 2, 3]
    found = store.galleries.find_stored([NAME, "pic.example/other"])
    assert list(found) == [NAME]
    assert (found[NAME].pictures, found[NAME].pages, found[NAME].total, found[NAME].missing, found[NAME].complete) == (3, 3, 3, (), True)
    assert store.galleries.gallery(saved.id) == found[NAME]
    assert store.galleries.gallery("nobody") is None
    assert [story.head.id for story in store.stories(StoryFilter(topic="自然")).stories] == [saved.id]
    assert [change.id for change in store.changes(0)] == [saved.id]
    assert store.find_stored([NAME]) == {NAME}


def test_numbers_of_pictures_of_several_stories(store: Store) -> None:
    full = store.galleries.save(gallery(1, 2, 3), now=NOW).id
    part = store.galleries.save(gallery(1, story="31"), now=NOW).id
    assert store.galleries.sizes([full, "nobody", part, full]) == {full: 3, part: 1}
    store.galleries.drop(urls=[image(2).url], reason="logo", now=NOW)
    assert store.galleries.sizes([full]) == {full: 2}
    assert store.galleries.sizes([]) == {}


def test_alias_of_a_photo_story(store: Store) -> None:
    saved = store.galleries.save(gallery(1, 2, 3), now=NOW)
    store.add_aliases(["pic.example/2026/88_2.html"], NAME)
    assert store.galleries.find_stored(["pic.example/2026/88_2.html"])["pic.example/2026/88_2.html"].id == saved.id
    again = store.galleries.save(gallery(1, 2, 3, identity="pic.example/2026/88_2.html"), now=NOW)
    assert (again.outcome, again.id) == ("same", saved.id)


def test_incomplete_story_is_kept_and_completed_later(store: Store) -> None:
    store.galleries.put_page(NAME, page(1), now=NOW)
    saved = store.galleries.save(gallery(1, 3), now=NOW)
    assert (saved.outcome, saved.complete) == ("stored", False)
    assert [(row.id, row.missing, row.failure) for row in store.galleries.incomplete()] == [(saved.id, (2,), "http-503")]
    assert len(store.galleries.pages(NAME)) == 1, "its pages are kept"
    before = store.last_seq()
    grown = store.galleries.save(gallery(1, 2, 3), now=NOW + HOUR)
    assert (grown.outcome, grown.complete, grown.id) == ("grown", True, saved.id)
    assert _shown(store, saved.id) == ["1.jpg", "2.jpg", "3.jpg"]
    assert "第 2 张" in _article(store, saved.id).text
    assert [change.id for change in store.changes(before)] == [saved.id]
    assert store.galleries.incomplete() == []
    assert store.galleries.pages(NAME) == []


def test_smaller_version_does_not_replace_a_larger_one(store: Store) -> None:
    saved = store.galleries.save(gallery(1, 2), now=NOW)
    assert store.galleries.save(gallery(1), now=NOW).outcome == "same"
    assert _shown(store, saved.id) == ["1.jpg", "2.jpg"]
    store.galleries.save(gallery(1, 2, 3), now=NOW)
    before = store.last_seq()
    again = store.galleries.save(gallery(1, 2), now=NOW + HOUR)
    assert (again.outcome, again.complete) == ("same", True)
    assert _shown(store, saved.id) == ["1.jpg", "2.jpg", "3.jpg"]
    assert store.galleries.save(gallery(1, 2, 3), now=NOW).outcome == "same"
    assert store.last_seq() == before, "a visit without changes is not logged"


def test_visits_without_progress_are_counted(store: Store) -> None:
    assert [store.galleries.save(gallery(1), now=NOW + n * HOUR).fruitless_visits for n in range(3)] == [0, 1, 2]
    assert store.galleries.save(gallery(1, 2), now=NOW + 3 * HOUR).fruitless_visits == 0
    found = store.galleries.find_stored([NAME])[NAME]
    assert (found.fruitless_visits, found.visited, found.pages) == (0, NOW + 3 * HOUR, 2)


def test_dropped_pictures_are_kept_with_the_reason(store: Store) -> None:
    logo = Image("https://img.example/logo.png", "标志", dropped="seen-often")
    saved = store.galleries.save(gallery(1, 2, 3, images=(logo, image(1), image(2), image(3))), now=NOW)
    assert _shown(store, saved.id) == ["1.jpg", "2.jpg", "3.jpg"]
    left = store.galleries.pictures(saved.id, dropped=True)[-1]
    assert (left.image, left.hidden_reason, left.place) == (logo, "seen-often", 4)
    assert "标志" not in _article(store, saved.id).text


def test_picture_recognised_as_logo_is_removed_from_all_stories(store: Store) -> None:
    logo = Image("https://img.example/logo.png", "标志", print="f" * 16)
    first = store.galleries.save(gallery(1, 2, 3, images=(logo, image(1), image(2))), now=NOW)
    second = store.galleries.save(gallery(1, 2, 3, story="99", images=(image(1, "99"), replace(logo, url=logo.url + "?2"))), now=NOW)
    before, score = store.last_seq(), store.galleries.find_stored([NAME])[NAME].score
    assert store.galleries.drop(urls=[logo.url], reason="seen-often", now=NOW) == 1
    assert store.galleries.drop(prints=["f" * 16], reason="seen-often", now=NOW) == 1
    assert store.galleries.drop(urls=[logo.url], prints=["f" * 16], reason="seen-often", now=NOW) == 0
    assert (_shown(store, first.id), _shown(store, second.id)) == (["1.jpg", "2.jpg"], ["1.jpg"])
    assert {change.id for change in store.changes(before)} == {first.id, second.id}
    assert "标志" not in _article(store, first.id).text
    assert _article(store, first.id).images[0] == image(1)
    found = store.galleries.find_stored([NAME])[NAME]
    assert (found.pictures, found.score < score) == (2, True)
    store.galleries.save(gallery(1, 2, 3, images=(logo, image(1), image(2), image(3))), now=NOW)
    assert "logo.png" not in _shown(store, first.id), "a dropped picture stays dropped"
    assert store.galleries.drop(urls=[logo.url], reason=None, now=NOW) == 1
    assert "logo.png" in _shown(store, first.id)


def test_wall_is_ordered_filtered_and_paged(store: Store) -> None:
    ages = {"31": 0, "32": 40, "33": 2, "34": 90}
    for story, hours in ages.items():
        numbers = (1, 2, 3) if story != "33" else (1,)
        topics = ("自然",) if story != "31" else ("城市",)
        store.galleries.save(gallery(*numbers, story=story, published=NOW - hours * HOUR, topics=topics), now=NOW)
    store.galleries.save(gallery(1, 2, 3, story="35", images=()), now=NOW)  # without pictures
    assert _walk(store, WallFilter(order="newest", limit=1)) == ["31", "33", "32", "34"]
    assert _walk(store, WallFilter(limit=3)) == ["31", "33", "32", "34"]
    assert _walk(store, WallFilter(topic="自然")) == ["33", "32", "34"]
    assert _walk(store, WallFilter(source="gallery:某图站", category="没有")) == []
    assert _walk(store, WallFilter(before="nonsense", limit=4)) == ["31", "33", "32", "34"]
    first = store.galleries.wall(WallFilter()).stories[0]
    assert (first.count, first.sites, first.gallery.pictures, first.article.images[0]) == (1, 1, 3, image(1, "31"))
    assert first.article.topics == ("城市",)


def _walk(store: Store, which: WallFilter) -> list[str]:
    found: list[str] = []
    while True:
        page = store.galleries.wall(which)
        found += [story.article.title.split()[-1] for story in page.stories]
        if page.next is None:
            return found
        which = replace(which, before=page.next)


def test_pictures_and_weight_of_source_raise_the_rank(store: Store) -> None:
    store.galleries.save(gallery(1, 2, 3, story="41"), now=NOW)
    store.galleries.save(gallery(1, 2, 3, story="42", weight=9), now=NOW)
    store.galleries.save(gallery(1, story="43", weight=9), now=NOW)
    assert _walk(store, WallFilter()) == ["42", "41", "43"]


def test_folded_stories_are_on_the_wall_once(store: Store) -> None:
    first = store.galleries.save(gallery(1, 2, 3, story="51"), now=NOW)
    two = store.galleries.save(gallery(1, 2, 3, story="52", published=NOW), now=NOW)
    store.fold(two.id, first.story_id, reason="editor", now=NOW)
    assert len(_walk(store, WallFilter())) == 1
    assert store.galleries.wall(WallFilter()).stories[0].count == 2


def test_unstorable_characters_are_replaced(store: Store) -> None:
    odd = Image("https://img.example/\x00\ud800.jpg", "\x00题", print="9" * 90)
    store.galleries.put_page(NAME, page(1, images=(odd,), title="\ud800"), now=NOW)
    assert store.galleries.pages(NAME)[0].title == "\ufffd"
    saved = store.galleries.save(gallery(1, 2, 3, images=(odd, odd), failure="\x00x"), now=NOW)
    assert [picture.image.caption for picture in store.galleries.pictures(saved.id)] == ["题"]


def test_refused_links_are_skipped_for_hours(store: Store) -> None:
    store.galleries.refuse(NAME, "index-page", now=NOW)
    store.galleries.refuse(NAME, "http-404", now=NOW)
    assert store.galleries.filter_refused([NAME, "pic.example/other"], now=NOW + 5 * HOUR) == {NAME}
    assert store.galleries.filter_refused([NAME], now=NOW + 7 * HOUR) == set()
    assert store.find_stored([NAME]) == set()


def test_photo_story_needs_an_identity(store: Store) -> None:
    with pytest.raises(StoreError, match="without an identity"):
        store.galleries.save(gallery(1, identity=None), now=NOW)
    assert store.tally().articles == 0


def test_article_of_another_source_becomes_a_photo_story(store: Store) -> None:
    store.add(_as_article(), now=NOW)
    saved = store.galleries.save(gallery(1, 2, 3), now=NOW)
    assert (saved.outcome, _article(store, saved.id).source) == ("stored", "gallery:某图站")
    assert _shown(store, saved.id) == ["1.jpg", "2.jpg", "3.jpg"]
    assert store.tally().articles == 1


def _as_article() -> object:
    from newsportal.items import Article

    return Article(URL, Link(URL, "feed:别处"), NOW, NAME, title="春天的河", text="只有一句话的页面。")


def test_editors_category_survives_a_later_visit(store: Store) -> None:
    saved = store.galleries.save(gallery(1, category="旅游"), now=NOW)
    store.set_category(saved.id, "摄影", by="editor", now=NOW)
    store.galleries.save(gallery(1, 2, 3, category="旅游"), now=NOW)
    assert _article(store, saved.id).category == "摄影"
    assert _walk(store, WallFilter(category="摄影")) == ["88"]
    assert _walk(store, WallFilter(category="旅游")) == []
    assert _walk(store, WallFilter(category="摄影", topic="自然", source="gallery:某图站")) == ["88"]
    assert _walk(store, WallFilter(category="摄影", topic="城市")) == []


def test_editors_captions_survive_a_later_visit(store: Store) -> None:
    id = store.galleries.save(gallery(1, 2), now=NOW).id
    first, second, third = (image(number).url for number in (1, 2, 3))
    before = store.last_seq()
    assert store.galleries.set_captions(id, {first: "编辑写的说明", second: "", "https://other.example/x.jpg": "没有这张"}, now=NOW) == 2
    assert store.last_seq() > before, "the change is logged for the index"
    captions = [(picture.image.caption, picture.corrected, picture.page_caption) for picture in store.galleries.pictures(id)]
    assert captions == [("编辑写的说明", True, image(1).caption), (None, True, image(2).caption)]
    article = _article(store, id)
    assert "编辑写的说明" in article.text
    assert "88 的第" not in article.text
    assert [picture.caption for picture in article.images] == ["编辑写的说明", None]
    store.galleries.save(gallery(1, 2, 3), now=NOW + HOUR)
    assert [picture.image.caption for picture in store.galleries.pictures(id)] == ["编辑写的说明", None, image(3).caption]
    assert store.galleries.set_captions(id, {first: None, second: image(2).caption, third: image(3).caption}, now=NOW) == 2
    assert [picture.corrected for picture in store.galleries.pictures(id)] == [False] * 3
    assert store.galleries.set_captions(id, {first: None}, now=NOW) == 0
    assert "88 的第 1 张" in _article(store, id).text
