"""What every store guarantees about the dictionary of pictures: unique counts of stories, lasting properties, and marks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from newsportal.extractors.images.filter import StoryPictures
from newsportal.store.pictures import Picture
from newsportal.store.store import Store

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
LOGO = "static.example/logo.png"


def pictures(number: int, *keys: str, site: str = "news.example", title: str | None = None) -> StoryPictures:
    return StoryPictures(f"{number:020x}", site, title or f"title-{number}", frozenset(keys))


def save(store: Store, story: StoryPictures, now: datetime = NOW, **learnt: object) -> None:
    pictures = [Picture(key, f"https://{key}", **learnt) for key in sorted(story.pictures)]  # type: ignore[arg-type]
    store.pictures.record_story(story, pictures, now=now)


def test_story_is_counted_once(store: Store) -> None:
    for _ in range(3):
        save(store, pictures(1, LOGO, "a/1.jpg"))
    save(store, pictures(2, LOGO, "a/2.jpg"))
    often = store.pictures.most_frequent(limit=1)
    assert [(picture.picture.key, picture.stories, picture.sites) for picture in often] == [(LOGO, 2, 1)]
    assert store.pictures.addresses([LOGO, "a/2.jpg", "b"]) == {
        LOGO: {pictures(1).id, pictures(2).id},
        "a/2.jpg": {pictures(2).id},
    }
    assert store.pictures.totals().stories == 2
    assert store.pictures.totals().pictures == 3


def test_growing_story_keeps_its_pictures(store: Store) -> None:
    save(store, pictures(1, "a/1.jpg", LOGO))
    save(store, pictures(1, "a/2.jpg"))
    save(store, pictures(2, LOGO, site="other.example"))
    found = store.pictures.stories([LOGO, "a/1.jpg", "nowhere"], min_stories=2, max_stories=10)
    assert set(found) == {LOGO}
    assert {story.id: (story.site, story.title, story.pictures) for story in found[LOGO]} == {
        pictures(1).id: ("news.example", "title-1", frozenset({"a/1.jpg", "a/2.jpg", LOGO})),
        pictures(2).id: ("other.example", "title-2", frozenset({LOGO})),
    }


def test_pictures_with_same_print_and_size_are_counted_together(store: Store) -> None:
    for number in range(3):
        save(store, pictures(number, f"cdn{number}/x.png"), perceptual_hash="00ff00ff00ff00ff", width=300, height=250, fetched=NOW)
    save(store, pictures(6, "cdn0/x_small.png"), perceptual_hash="00ff00ff00ff00ff", width=150, height=125, fetched=NOW)
    save(store, pictures(7, "cdn7/x.png"), perceptual_hash="0000ffff0000ffff", fetched=NOW)
    found = store.pictures.stories(["cdn0/x.png", "cdn7/x.png"], min_stories=3, max_stories=10)
    assert set(found) == {"cdn0/x.png"}
    assert len(found["cdn0/x.png"]) == 3  # the thumbnail counts as another picture
    assert found["cdn0/x.png"][0].pictures == {"00ff00ff00ff00ff"}
    assert len(store.pictures.stories(["cdn0/x.png"], min_stories=2, max_stories=2)["cdn0/x.png"]) == 2


def test_copies_of_a_picture_at_other_urls_are_found(store: Store) -> None:
    save(store, pictures(1, "a/x.png"), perceptual_hash="00ff00ff00ff00ff", width=300, height=250, fetched=NOW)
    save(store, pictures(2, "b/y.png"), perceptual_hash="00ff00ff00ff00ff", width=300, height=250, fetched=NOW)
    save(store, pictures(3, "b/y_small.png"), perceptual_hash="00ff00ff00ff00ff", width=150, height=125, fetched=NOW)
    save(store, pictures(4, "c/z.png", "c/w.png"))  # not fetched: their content is unknown
    assert store.pictures.equal_keys(["a/x.png", "c/z.png", "nowhere"]) == {
        "a/x.png": {"a/x.png", "b/y.png"},
        "c/z.png": {"c/z.png"},
        "nowhere": {"nowhere"},
    }


def test_picture_properties_are_kept_until_replaced(store: Store) -> None:
    assert store.pictures.find_stored(["a/1.jpg"]) == {}
    save(store, pictures(1, "a/1.jpg"), width=640, height=480, format="jpeg", perceptual_hash="0123456789abcdef", fetched=NOW)
    save(store, pictures(2, "a/1.jpg"), now=LATER)  # not fetched this time
    found = store.pictures.find_stored(["a/1.jpg", "a/2.jpg"])
    first = Picture("a/1.jpg", "https://a/1.jpg", 640, 480, "jpeg", "0123456789abcdef", fetched=NOW)
    assert found == {"a/1.jpg": first}
    save(store, pictures(2, "a/1.jpg"), now=LATER, rejected_reason="gone", fetched=LATER)
    assert store.pictures.find_stored(["a/1.jpg"])["a/1.jpg"] == replace(
        first, width=None, height=None, format=None, perceptual_hash=None, rejected_reason="gone", fetched=LATER
    )
    totals = store.pictures.totals()
    assert (totals.fetched, totals.rejected) == (1, 1)


def test_marks_keep_their_first_time(store: Store) -> None:
    save(store, pictures(1, LOGO, "a/1.jpg"))
    store.pictures.mark({LOGO: "frequent", "nobody": "frequent"}, now=NOW)
    store.pictures.mark({LOGO: "frequent"}, now=LATER)
    assert [(mark.key, mark.frequent_reason, mark.frequent_since) for mark in store.pictures.list_frequent()] == [(LOGO, "frequent", NOW)]
    assert [mark.key for mark in store.pictures.list_frequent(since=NOW)] == [LOGO]
    assert store.pictures.list_frequent(since=LATER) == []
    assert store.pictures.totals().frequent == 1
    save(store, pictures(2, LOGO))
    assert store.pictures.find_stored([LOGO])[LOGO].frequent_reason == "frequent"
    store.pictures.mark({LOGO: None}, now=LATER)
    assert store.pictures.list_frequent() == []


def test_empty_list_of_keys(store: Store) -> None:
    assert store.pictures.find_stored([]) == {}
    assert store.pictures.stories([], min_stories=1, max_stories=1) == {}
    assert store.pictures.addresses([]) == {}
    assert store.pictures.most_frequent() == []


def test_long_and_unusual_keys(store: Store) -> None:
    odd = "http-less.example/" + "图" * 3000 + "\x00?a=1'\""
    save(store, pictures(1, odd, title="t" * 300, site="s" * 600))
    save(store, pictures(2, odd))
    assert store.pictures.most_frequent()[0].stories == 2
    assert len(store.pictures.find_stored([odd])) == 1


def test_saved_pictures_are_visible_to_another_process(store: Store, another: Callable[[], Store]) -> None:
    save(store, pictures(1, LOGO))
    other = another()
    save(other, pictures(1, LOGO))
    save(other, pictures(2, LOGO))
    other.close()
    assert store.pictures.most_frequent()[0].stories == 2
