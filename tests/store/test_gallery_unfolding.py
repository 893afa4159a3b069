"""Photo stories that were folded too early are separated when more of their pictures are known."""

from __future__ import annotations

from datetime import UTC, datetime

from newsportal.items import Gallery, Image, Link
from newsportal.store.gallery_tables import SavedGallery
from newsportal.store.store import Store

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)
SNOW = ("0f0f3c3c5a5a1234", "123456789abcdef0", "ffff0000ff000ff0", "8421842112481248")
SEA = ("a5a50f0fc3c39999", "6666111177772222", "0123456789abcdef", "f00ff00f0ff00ff0")
PAID = "00ff123400ff1234"


def save(store: Store, name: str, prints: tuple[str, ...], complete: bool = True) -> SavedGallery:
    """Save an issue of a series: all have the same title and first sentence."""
    site = name.partition("/")[0]
    url = f"https://{site}.example/{name}.html"
    images = tuple(Image(f"https://{site}.example/{name}/{phash}.jpg", f"{name} {phash}", 900, 600, print=phash) for phash in prints)
    link = Link(url, f"gallery:{site}", "每日一图", site=site)
    gallery = Gallery(url, "每日一图", link, NOON, images, NOON, complete, url, "编辑部挑出的照片。", site=site, topics=("图片",))
    return store.galleries.save(gallery, now=NOON)


def story_of(store: Store, saved: SavedGallery) -> str:
    article = store.article(saved.id)
    assert article is not None
    return article.story_id


def test_growing_story_leaves_story_joined_by_words(store: Store) -> None:
    first = save(store, "a/1", SNOW[:1], complete=False)
    other = save(store, "b/1", SEA)
    assert story_of(store, other) == story_of(store, first)
    save(store, "a/1", SNOW)
    assert story_of(store, other) != story_of(store, first)
    for saved in (first, other):
        story = store.story(story_of(store, saved))
        assert story is not None
        assert (story.count, story.head.id, story.head.fold_of) == (1, saved.id, None)
        assert store.galleries.gallery(saved.id) is not None


def test_copies_of_a_separated_story_go_with_it(store: Store) -> None:
    first = save(store, "a/1", SNOW[:1], complete=False)
    other = save(store, "b/1", SEA)
    copy = save(store, "c/1", (*SEA, "1111222233334444"))
    assert story_of(store, copy) == story_of(store, other) == story_of(store, first)
    save(store, "a/1", SNOW)
    assert story_of(store, copy) == story_of(store, other) != story_of(store, first)


def test_stories_joined_by_an_advertisement_are_separated(store: Store) -> None:
    first, other = save(store, "a/1", (*SNOW[:3], PAID)), save(store, "b/1", (*SEA[:3], PAID))
    assert story_of(store, first) == story_of(store, other)
    assert store.galleries.drop(prints=[PAID], reason="frequent", now=NOON) == 2
    assert story_of(store, first) != story_of(store, other)


def test_growing_copy_stays_folded(store: Store) -> None:
    first, other = save(store, "a/1", SNOW), save(store, "b/1", SNOW[:2], complete=False)
    assert story_of(store, other) == story_of(store, first)
    save(store, "b/1", SNOW)
    assert story_of(store, other) == story_of(store, first)


def test_manually_folded_story_stays(store: Store) -> None:
    first, other = save(store, "a/1", SNOW[:3], complete=False), save(store, "b/1", SEA)
    store.fold(other.id, story_of(store, first), reason="editor", now=NOON)
    save(store, "a/1", SNOW)
    assert story_of(store, other) == story_of(store, first)
