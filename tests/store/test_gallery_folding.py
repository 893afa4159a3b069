"""Repeated photo stories in the store: found by words and pictures; the one with more pictures becomes the head."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from newsportal.items import Gallery, Image, Link
from newsportal.store.gallery_tables import SavedGallery, WallFilter
from newsportal.store.store import Store

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)
SNOW = ("0f0f3c3c5a5a1234", "123456789abcdef0", "ffff0000ff000ff0", "8421842112481248")
SEA = ("a5a50f0fc3c39999", "6666111177772222", "0123456789abcdef", "f00ff00f0ff00ff0")


def save(store: Store, name: str, title: str, text: str, prints: tuple[str | None, ...], at: datetime = NOON) -> SavedGallery:
    site = name.partition("/")[0]
    url = f"https://{site}.example/{name}.html"
    images = tuple(Image(f"https://{site}.example/{name}/{n}.jpg", f"{title}{n}", 900, 600, print=phash) for n, phash in enumerate(prints))
    link = Link(url, f"gallery:{site}", title, site=site)
    gallery = Gallery(url, title, link, at, images=images, published=at, complete=True, identity=url, text=text, site=site)
    return store.galleries.save(gallery, now=NOON)


def test_story_with_more_pictures_becomes_the_head(store: Store) -> None:
    fewer = save(store, "a/1", "雪后古城银装素裹", "一场大雪过后，城墙披上白衣。", SNOW[:3])
    more = save(store, "b/7", "镜头下的冬日古城", "摄影师清晨登楼。", SNOW)
    story = store.story(fewer.story_id)
    assert (fewer.outcome, more.outcome) == ("stored", "folded")
    assert story is not None
    assert (story.count, story.sites, story.head.id) == (2, 2, more.id)
    folded = store.article(more.id)
    assert folded is not None
    assert (folded.fold_of, folded.fold_reason) == (fewer.id, "same-pictures")


def test_issues_of_a_series_are_not_folded(store: Store) -> None:
    save(store, "a/1", "每日一图", "今日精选。", SNOW)
    assert save(store, "a/2", "每日一图", "今日精选。", SEA).outcome == "stored"


def test_stories_far_apart_in_time_are_not_compared(store: Store) -> None:
    save(store, "a/1", "雪后古城银装素裹", "大雪。", SNOW, NOON - timedelta(days=31))
    assert save(store, "b/1", "雪后古城银装素裹", "大雪。", SNOW).outcome == "stored"


def test_unfolded_story_stays_apart(store: Store) -> None:
    save(store, "a/1", "雪后古城银装素裹", "大雪。", SNOW)
    other = save(store, "b/1", "雪后古城银装素裹", "大雪。", SNOW)
    own_story = store.unfold(other.id, now=NOON)
    again = save(store, "b/1", "雪后古城银装素裹了", "大雪。", (*SNOW, SEA[0]))
    assert (again.outcome, again.story_id) == ("grown", own_story)


def test_scores_follow_manual_folding(store: Store) -> None:
    """A story reported by two sites has a higher score than one reported by one site, and loses it when unfolded."""
    first = save(store, "a/1", "雪后古城银装素裹", "大雪。", SNOW)
    other = save(store, "b/1", "海边的渔船", "渔民归来。", SEA)

    def scores() -> list[float]:
        found = [store.galleries.gallery(saved.id) for saved in (first, other)]
        walls = {story.gallery.id: story.gallery.score for story in store.galleries.wall(WallFilter(source="gallery:a")).stories}
        assert all(gallery is not None and walls.get(gallery.id, gallery.score) == gallery.score for gallery in found)
        return [gallery.score for gallery in found if gallery is not None]

    apart = scores()
    store.fold(other.id, first.story_id, reason="editor", now=NOON)
    folded = scores()
    assert all(after > before for after, before in zip(folded, apart, strict=True))
    store.unfold(other.id, now=NOON)
    assert scores() == apart


def test_growing_story_may_become_a_repost(store: Store) -> None:
    first = save(store, "a/1", "雪后古城银装素裹", "大雪落在古城。", SNOW)
    unfolded = save(store, "b/1", "冬日里的安静", "清晨。", (None,))
    assert unfolded.outcome == "stored"
    grown = save(store, "b/1", "冬日里的安静", "清晨。", (None, *SNOW))
    assert (grown.outcome, grown.story_id) == ("grown", first.story_id)


def test_dates_at_the_ends_of_the_calendar(store: Store) -> None:
    for year in (1, 9999):
        save(store, f"a/{year}", "雪后古城银装素裹", "大雪。", SNOW, datetime(year, 1, 1, tzinfo=UTC))


def test_cosine_compares_words_only(store: Store) -> None:
    store.fold_by("cosine", theta=0.9)
    first = save(store, "a/1", "每日一图", "今日精选。", SNOW)
    assert save(store, "b/1", "雪后古城银装素裹", "大雪。", SNOW).outcome == "stored", "the same pictures"
    again = save(store, "c/1", "每日一图", "今日精选。", SEA)
    assert (again.outcome, again.story_id) == ("folded", first.story_id)
    store.fold_by("judge")
    assert save(store, "d/1", "每日一图", "今日精选。", ("1111222233334444",) * 3 + ("aaaa",)).outcome == "stored"
