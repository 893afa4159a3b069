"""Pictures of stories: known ones are not fetched again, a failing server loses no story, and a picture found to be part of the site's
design is removed from stories stored earlier."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pytest
from PIL import Image as Pillow

from newsportal.crawl.link_tracker import LinkTracker
from newsportal.errors import StoreUnavailable
from newsportal.extractors.images.head import FIRST_BYTES
from newsportal.items import Article, Gallery, Image, Link
from newsportal.pipelines.gallery import PicturesPipeline
from newsportal.sources.parts import Pictures
from newsportal.spiders.fetcher import Interrupted, Outcome, PageUnavailable
from newsportal.spiders.image_fetcher import ImageBytes, ImageFetcher, StoryImages
from newsportal.store.pictures import Picture

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
LOGO = "https://static.example/mark.png?v={}"


def png(width: int, height: int, seed: int = 0) -> bytes:
    out = BytesIO()
    Pillow.effect_noise((width // 8, height // 8), 90 + seed).resize((width, height)).convert("L").save(out, "PNG")
    return out.getvalue()


PHOTOS = [png(640, 480, seed)[:60_000] for seed in range(2)]
MARK = png(400, 300, 7)


def twice(body: bytes) -> bytes:
    """Return the picture scaled to twice its size; its perceptual hash is the same."""
    out = BytesIO()
    with Pillow.open(BytesIO(body)) as small:
        small.resize((2 * small.width, 2 * small.height), Pillow.Resampling.NEAREST).save(out, "PNG")
    return out.getvalue()


COVERED = twice(MARK)


def missing(reason: str) -> PageUnavailable:
    return PageUnavailable(Outcome(reason, reason))


class Web:
    """Pictures by URL without query; ``requests`` records the requests."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.failing: dict[str, Exception] = {}

    async def __call__(self, image: Image, gallery: Gallery, most: int | None) -> ImageBytes:
        self.requests.append(image.url)
        await asyncio.sleep(0)
        name = image.url.partition("?")[0]
        if name in self.failing:
            raise self.failing[name]
        if "covered" in name:
            return ImageBytes(COVERED, True)
        return ImageBytes(MARK, True) if "mark" in name else ImageBytes(PHOTOS[0][:5000], False)


def story(number: int, *more: Image, photos: int = 2, site: str = "photo.example", title: str | None = None) -> Gallery:
    page = f"https://{site}/s/{number}.html"
    photographs = [Image(f"https://pics.example/{number}/{place}.jpg", f"图 {place}") for place in range(photos)]
    link = Link(page, "gallery:甲", identity=page)
    return Gallery(page, title or f"第{number}个故事", link, NOW, (*photographs, *more), complete=True, identity=page)


@pytest.fixture
def web() -> Web:
    return Web()


class PictureStages:
    """The processing of a story: the spider's image fetcher, then the pictures stage."""

    def __init__(self, tracker: LinkTracker, web: Web) -> None:
        self.images = StoryImages(tracker, web)
        self.stage = PicturesPipeline(tracker)

    async def process_item(self, item: Any) -> Any:
        return await self.stage.process_item(await self.images.complete(item) if isinstance(item, Gallery) else item)

    async def close_spider(self) -> None:
        await self.stage.close_spider()


@pytest.fixture
def stage(tracker: LinkTracker, web: Web) -> PictureStages:
    return PictureStages(tracker, web)


def process_and_store(stage: PictureStages, tracker: LinkTracker, gallery: Gallery) -> Gallery:
    """Process a story and store it."""
    done = asyncio.run(stage.process_item(gallery))
    assert isinstance(done, Gallery)
    tracker.store.galleries.save(done, now=NOW)
    return done


def stored_pictures(tracker: LinkTracker, gallery: Gallery) -> dict[str, str | None]:
    """Return the stored pictures: URL to the reason why it was dropped, or None."""
    found = tracker.store.galleries.find_stored([gallery.identity or ""])
    return {row.image.url: row.hidden_reason for row in tracker.store.galleries.pictures(found[gallery.identity or ""].id, dropped=True)}


def test_picture_sizes_are_fetched_once(stage: PictureStages, tracker: LinkTracker, web: Web) -> None:
    done = process_and_store(stage, tracker, story(1))
    assert [(image.width, image.height, image.format, image.dropped) for image in done.images] == [(640, 480, "png", None)] * 2
    assert [image.caption for image in done.images] == ["图 0", "图 1"]
    again = process_and_store(stage, tracker, story(1))
    assert again.images == done.images
    assert len(web.requests) == 2


def test_frequent_picture_is_dropped_from_all_stories(stage: PictureStages, tracker: LinkTracker) -> None:
    stories = [story(number, Image(LOGO.format(number))) for number in range(4)]
    done = [process_and_store(stage, tracker, gallery) for gallery in stories]
    assert [gallery.images[-1].dropped for gallery in done] == [None, None, "frequent", "frequent"]
    for number, gallery in enumerate(stories):  # same key, four URLs
        assert stored_pictures(tracker, gallery)[LOGO.format(number)] == "frequent"
        assert [reason for url, reason in stored_pictures(tracker, gallery).items() if "pics" in url] == [None, None]


def test_full_size_cover_photo_is_kept_in_its_story(stage: PictureStages, tracker: LinkTracker) -> None:
    photograph, cover = Image("https://pics.example/covered.png"), "https://pics.example/mark{}.png"
    covered = process_and_store(stage, tracker, story(0, photograph))
    for number in range(1, 4):  # other stories show a small copy, each at another URL
        process_and_store(stage, tracker, story(number, Image(cover.format(number))))
    asyncio.run(stage.close_spider())
    assert stored_pictures(tracker, covered)[photograph.url] is None
    assert [stored_pictures(tracker, story(number))[cover.format(number)] for number in range(1, 4)] == ["frequent"] * 3
    pictures = tracker.store.pictures.find_stored(["pics.example/covered.png", "pics.example/mark1.png"]).values()
    assert len({picture.perceptual_hash for picture in pictures}) == 1


def test_story_stored_during_crawl_is_cleaned_at_end(stage: PictureStages, tracker: LinkTracker) -> None:
    late = asyncio.run(stage.process_item(story(1, Image(LOGO.format(1)))))
    for number in (2, 3):
        process_and_store(stage, tracker, story(number, Image(LOGO.format(number))))
    tracker.store.galleries.save(late, now=NOW)  # counted before, stored after
    assert stored_pictures(tracker, late)[LOGO.format(1)] is None
    asyncio.run(stage.close_spider())
    assert stored_pictures(tracker, late)[LOGO.format(1)] == "frequent"
    notes = next(row.notes for row in tracker.report() if row.source == "gallery:甲")
    assert any("1 frequent" in str(note) for note in notes)


def test_copy_at_other_url_is_cleaned_at_end(stage: PictureStages, tracker: LinkTracker) -> None:
    process_and_store(stage, tracker, story(1, Image(LOGO.format(1))))
    late = asyncio.run(stage.process_item(story(2, Image(LOGO.format(2)))))
    process_and_store(stage, tracker, story(3, Image(LOGO.format(3))))
    tracker.store.galleries.save(late, now=NOW)
    asyncio.run(stage.close_spider())
    assert stored_pictures(tracker, late)[LOGO.format(2)] == "frequent"


def test_next_crawl_drops_pictures_marked_by_killed_crawl(stage: PictureStages, tracker: LinkTracker, web: Web) -> None:
    stored = [process_and_store(stage, tracker, story(number, Image(LOGO.format(number)))) for number in (1, 2)]
    tracker.store.pictures.mark({"static.example/mark.png": "frequent"}, now=datetime.now(UTC))
    asyncio.run(PictureStages(tracker, web).close_spider())
    assert [stored_pictures(tracker, gallery)[LOGO.format(number)] for number, gallery in enumerate(stored, start=1)] == ["frequent"] * 2


def test_picture_kept_by_editor_is_never_frequent(stage: PictureStages, tracker: LinkTracker) -> None:
    process_and_store(stage, tracker, story(0, Image(LOGO.format(0))))
    tracker.store.pictures.mark({"static.example/mark.png": "kept"}, now=NOW)
    done = [process_and_store(stage, tracker, story(number, Image(LOGO.format(number)))) for number in range(1, 6)]
    asyncio.run(stage.close_spider())
    assert [gallery.images[-1].dropped for gallery in done] == [None] * 5
    assert stored_pictures(tracker, done[-1])[LOGO.format(5)] is None


def test_reposts_of_a_story_keep_their_pictures(stage: PictureStages, tracker: LinkTracker) -> None:
    pictures = [Image(f"https://agency.example/{place}.jpg") for place in range(5)]
    for number in range(6):
        done = process_and_store(stage, tracker, story(number, *pictures, photos=0, site=f"site{number}.example", title="古镇的春天"))
        assert [image.dropped for image in done.images] == [None] * 5


def test_story_saved_again_counts_once(stage: PictureStages, tracker: LinkTracker) -> None:
    for _ in range(5):
        done = process_and_store(stage, tracker, story(1, Image(LOGO.format(1))))
    assert done.images[-1].dropped is None
    assert {picture.stories for picture in tracker.store.pictures.most_frequent()} == {1}


def test_failing_picture_server_loses_no_story(stage: PictureStages, tracker: LinkTracker, web: Web) -> None:
    web.failing = {"https://pics.example/1/0.jpg": missing("timeout"), "https://pics.example/1/1.jpg": missing("http-404")}
    done = process_and_store(stage, tracker, story(1, photos=3))
    assert [(image.dropped, image.width) for image in done.images] == [(None, None), ("gone", None), (None, 640)]
    web.failing = {}
    again = process_and_store(stage, tracker, story(1, photos=3))
    assert [(image.dropped, image.width) for image in again.images] == [(None, 640), ("gone", None), (None, 640)]


def test_interrupted_story_is_left_to_next_crawl(stage: PictureStages, web: Web) -> None:
    web.failing = {"https://pics.example/1/0.jpg": Interrupted()}
    with pytest.raises(Interrupted):
        asyncio.run(stage.process_item(story(1)))


def test_unavailable_store_is_left_to_next_stage(stage: PictureStages, tracker: LinkTracker, monkeypatch: pytest.MonkeyPatch) -> None:
    def unavailable(*_: Any, **__: Any) -> None:
        raise StoreUnavailable("locked")

    monkeypatch.setattr(tracker.store.pictures, "find_stored", unavailable)
    assert asyncio.run(stage.process_item(story(1))) == story(1)
    monkeypatch.setattr(tracker.store.pictures, "list_frequent", unavailable)
    asyncio.run(stage.close_spider())


def test_other_items_pass_through(stage: PictureStages, web: Web) -> None:
    article = Article("https://a.example/1", Link("https://a.example/1", "feed:甲"), NOW)
    assert asyncio.run(stage.process_item(article)) is article
    empty = replace(story(1), images=())
    assert asyncio.run(stage.process_item(empty)) == empty
    assert web.requests == []


def test_look_false_counts_without_fetching(tracker: LinkTracker, web: Web) -> None:
    tracker.sources = tracker.sources.model_copy(update={"pictures": Pictures(look=False)})
    stage = PictureStages(tracker, web)
    done = [process_and_store(stage, tracker, story(number, Image(LOGO.format(number)))) for number in range(3)]
    assert [gallery.images[-1].dropped for gallery in done] == [None, None, "frequent"]
    assert web.requests == []


def test_first_pictures_are_fetched_fully_for_their_hash() -> None:
    requests: list[tuple[str, int | None]] = []

    async def fetch(image: Image, gallery: Gallery, most: int | None) -> ImageBytes:
        requests.append((image.url[-5:], most))
        return ImageBytes(PHOTOS[0] if most else MARK, most is None)

    found = asyncio.run(ImageFetcher(fetch, prints=2).pictures(story(1, photos=4), {}))
    assert sorted(requests) == [("0.jpg", None), ("1.jpg", None), ("2.jpg", FIRST_BYTES), ("3.jpg", FIRST_BYTES)]
    assert [picture.perceptual_hash is not None for picture in sorted(found.values(), key=lambda picture: picture.url)] == [
        True,
        True,
        False,
        False,
    ]


def test_concurrent_copies_fetch_a_picture_once(web: Web) -> None:
    """Applies before the store knows the picture, also to later copies, but not to failed requests."""
    looker = ImageFetcher(web)
    first, other = story(1), story(1, site="elsewhere.example")

    async def together() -> list[dict[str, Picture]]:
        return [*await asyncio.gather(looker.pictures(first, {}), looker.pictures(other, {})), await looker.pictures(first, {})]

    found = asyncio.run(together())
    assert len(web.requests) == len(set(web.requests)) == 2
    assert found[0] == found[1] == found[2]
    assert all(picture.width for picture in found[1].values())
    web.failing = {"https://pics.example/2/0.jpg": missing("timeout")}
    failed = asyncio.run(looker.pictures(story(2), {}))["https://pics.example/2/0.jpg".partition("://")[2]]
    assert failed.fetched is None
    web.failing = {}
    again = asyncio.run(looker.pictures(story(2), {}))
    assert all(picture.width for picture in again.values())


def test_interruption_ends_every_waiting_reader(web: Web) -> None:
    looker = ImageFetcher(web)
    web.failing = {f"https://pics.example/1/{place}.jpg": Interrupted() for place in range(2)}

    async def together() -> list[BaseException | dict[str, Picture]]:
        both = asyncio.gather(looker.pictures(story(1), {}), looker.pictures(story(1), {}), return_exceptions=True)
        return await asyncio.wait_for(both, 600)

    assert [type(result) for result in asyncio.run(together())] == [Interrupted, Interrupted]


def test_invalid_and_deleted_pictures_have_reasons(tracker: LinkTracker, web: Web) -> None:
    web.failing = {"https://pics.example/1/0.jpg": missing("http-410")}
    found = asyncio.run(StoryImages(tracker, web).complete(story(1, Image("mailto:x"))))
    assert [(image.width, image.dropped) for image in found.images] == [(None, "gone"), (640, None), (None, "bad-address")]
