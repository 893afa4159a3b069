"""Photo stories skip the stages of articles; this one assigns category, topics and keywords as for articles, and stores each with its pages
and images in one transaction. An incomplete story is stored as well, and its link waits for the next visit.

Before that its images are counted, and those that belong to no story excluded. An image that turns out to belong to the site after some of
its stories were stored is removed from those as well, at once and once more when the crawl ends.
"""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final

from newsportal.crawl.link_tracker import utcnow
from newsportal.crawl.list_filters import MAX_FRUITLESS, NO_PICTURES, refuse_story
from newsportal.dedup.canonical import identity, site_of
from newsportal.errors import StoreError
from newsportal.extractors.images import filter as rules
from newsportal.extractors.images.filter import StoryPictures
from newsportal.items import Article, Gallery, content_id
from newsportal.messages import Message
from newsportal.pipelines.base import COLUMN, ItemDone, Stage, retry
from newsportal.pipelines.classify import ClassifyPipeline
from newsportal.store.pictures import Picture

logger = logging.getLogger(__name__)

SAMPLE: Final = 3 * rules.MAX_STORIES  # Stories with an image that are examined: enough to find that many different ones among copies
CLASSIFIED: Final = ("category", "category_by", "category_score", "category_reason", "topics", "topic_marks", "keywords", "language")
"""Fields of a classified article that are copied to a story."""

LATELY: Final = timedelta(days=1)  # A killed crawl may have marked an image without removing it: the next one does


class PicturesPipeline(Stage):
    kind = Gallery

    def setup(self) -> None:
        self._dropped: dict[str, Counter[str]] = defaultdict(Counter)
        self._counting = asyncio.Lock()
        self._began = utcnow()

    async def process(self, gallery: Gallery) -> Gallery:
        """Return the story; its excluded images have a reason."""
        if not gallery.images:
            return gallery
        try:
            async with self._counting:
                reasons = await asyncio.to_thread(self._count, gallery)
        except StoreError as error:  # the stage that stores the story reports an outage
            logger.error("the pictures of %s could not be counted: %s", gallery.url, error, extra={"url": gallery.url})
            return gallery
        gallery = replace(gallery, images=rules.mark_dropped(gallery.images, reasons))
        self._dropped[gallery.link.source] += Counter(rules.count_dropped(gallery.images))
        return gallery

    def _count(self, gallery: Gallery) -> dict[str, str]:
        """Record that the story shows its images; return key → reason of the frequent ones. Raises ``StoreError``."""
        store = self.tracker.store.pictures
        now = utcnow()
        urls = {rules.key(image.url): image.url for image in gallery.images}
        site = site_of(gallery.url) or gallery.site or ""
        story = StoryPictures(content_id(gallery.identity or identity(gallery.url)), site, rules.title_key(gallery.title), frozenset(urls))
        inspected = ((rules.key(image.url), image) for image in gallery.images if image.url in gallery.inspected)
        facts = {
            key: Picture(key, image.url, image.width, image.height, image.format, image.print, rejected_reason=image.dropped, fetched=now)
            for key, image in inspected
        }
        stored = store.find_stored(urls)
        store.record_story(story, [facts.get(key) or stored.get(key) or Picture(key, url) for key, url in urls.items()], now=now)
        reasons = {key: picture.frequent_reason for key, picture in stored.items() if picture.frequent_reason}
        stories = store.stories([key for key in urls if key not in reasons], min_stories=rules.MIN_STORIES, max_stories=SAMPLE)
        sites = {story_pictures.site for found in stories.values() for story_pictures in found}
        totals = {name: store.counts_of_site(name) for name in sites}
        fresh = {key: reason for key, found in stories.items() if (reason := rules.frequency_reason(found, totals))}
        if fresh:
            store.mark(fresh, now=now)
            self._take_out(fresh)
        return reasons | fresh

    def _take_out(self, reasons: Mapping[str, str]) -> None:
        """Remove images from stories stored before they were frequent, under any URL: with another query, and with the same fingerprint
        under another name. Raises ``StoreError``."""
        galleries, dictionary = self.tracker.store.galleries, self.tracker.store.pictures
        same = dictionary.equal_keys(reasons)
        holders = dictionary.addresses({other for others in same.values() for other in others})
        for key, reason in reasons.items():
            stored = galleries.picture_urls({id for other in same[key] for id in holders.get(other, ())})
            if urls := [url for url in stored if rules.key(url) in same[key]]:
                galleries.drop(urls=urls, reason=reason, now=utcnow())

    async def close_spider(self) -> None:
        """Remove images from stories that others stored during the count, and report what was excluded."""
        for source, counts in sorted(self._dropped.items()):
            if text := ", ".join(f"{number} {reason}" for reason, number in counts.most_common()):
                self.tracker.note(source, Message("note.pictures-excluded", counts=text))
        try:
            marked = await asyncio.to_thread(self.tracker.store.pictures.list_frequent, since=self._began - LATELY)
            await asyncio.to_thread(self._take_out, {picture.key: picture.frequent_reason for picture in marked if picture.frequent_reason})
        except StoreError as error:
            logger.error("some stories keep pictures that are not theirs until the next crawl: %s", error)


class GalleryPipeline(Stage):
    kind = Gallery

    def setup(self) -> None:
        self._classify = ClassifyPipeline(self.tracker)
        self._counts: dict[str, Counter[str]] = {}
        self._reasons: dict[str, Counter[str]] = {}

    async def process(self, gallery: Gallery) -> Gallery:
        """Return the story with its topics after storing it and settling its link."""
        if not gallery.visible_images and gallery.complete:  # only logos and advertisements
            await refuse_story(self.tracker, gallery.link, NO_PICTURES)
            raise ItemDone(f"{gallery.url}: no pictures left")
        captions = dict.fromkeys(image.caption for image in gallery.visible_images if image.caption)
        text = "\n".join(filter(None, (gallery.text, *captions)))
        article = Article(gallery.url, gallery.link, gallery.fetched, gallery.identity, title=gallery.title, text=text)
        classified = await self._classify.process(replace(article, category=gallery.category, language=gallery.language))
        gallery = replace(gallery, **{name: getattr(classified, name) for name in CLASSIFIED})
        saved = await retry(self.tracker.store.galleries.save, gallery, now=utcnow())
        names = [identity(url) for url in (gallery.url, *gallery.pages)]  # an index page may link to any of its pages
        await asyncio.to_thread(self.tracker.stored_urls.add_aliases, names, gallery.identity or "")
        waits = not saved.complete and gallery.later and saved.fruitless_visits < MAX_FRUITLESS
        counts = self._counts.setdefault(gallery.link.source, Counter())
        counts["finished" if saved.outcome == "grown" and saved.complete else "complete" if saved.complete else "incomplete"] += 1
        counts["given up"] += not saved.complete and not waits
        if not saved.complete:
            self._reasons.setdefault(gallery.link.source, Counter())[gallery.failure or "missing-pages"] += 1
        await self.tracker.settle(gallery.link, COLUMN[saved.outcome], later=waits)
        return gallery

    async def close_spider(self) -> None:
        """Report whether the stories are complete, and the reasons if not."""
        await self._classify.close_spider()
        for source, counts in self._counts.items():
            reasons = ", ".join(f"{reason} × {number}" for reason, number in sorted(self._reasons.get(source, Counter()).items()))
            notes = [Message("note.complete", number=counts["complete"])]
            notes += [Message("note.finished", number=counts["finished"])] if counts["finished"] else []
            notes += [Message("note.incomplete", number=counts["incomplete"], reasons=reasons)] if counts["incomplete"] else []
            notes += [Message("note.no-longer-retried", number=counts["given up"])] if counts["given up"] else []
            self.tracker.note(source, Message("note.galleries", counts=tuple(notes)))
