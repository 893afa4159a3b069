"""``/photos``: the photo stories (套图), by score or by time, filtered by topic; and its feeds."""

from collections.abc import Mapping
from dataclasses import dataclass
from gettext import NullTranslations
from typing import Any

from fastapi import APIRouter, Request, Response

from newsportal.messages import explain
from newsportal.portal.context import Portal, Visit, VisitDep
from newsportal.portal.reading.feeds import EXPORTS, FeedAddresses, list_response, max_stories
from newsportal.portal.reading.picture_proxy import address_of
from newsportal.portal.reading.story_lists import Choice
from newsportal.portal.render import address, render
from newsportal.portal.safe_text import title
from newsportal.store.gallery_tables import StoredGallery, WallFilter, WallOrder, WallStory
from newsportal.text import clean

router = APIRouter()

PAGE = 30
FILTERS = ("source", "category")
COLUMN_WIDTH = 27  # width of a column in half rems (`photos.css`: 13.5rem); heights of covers have the same unit
HEIGHTS = range(14, 43, 2)  # in half rems: from 2:1 to about 2:3; other covers are cropped
LINE_CHARS = 13.5  # Chinese characters in a line of a card, with some room
LATIN_WIDTH = 0.66  # width of a Latin letter in these units, capitals and wide ones included
DEFAULT_SIZE = (3, 2)  # of pictures of unknown size

EXAMPLE = """galleries:
  - name: 某图片站
    seeds: [https://pictures.example.org/]"""


@dataclass(frozen=True, slots=True)
class Card:
    """A photo story on the page. ``height``: height of its cover in half rems; ``reason``: why it is incomplete, as text."""

    story: WallStory
    cover: str | None
    width: int
    cover_height: int
    height: int
    short: bool
    reason: str


@router.get("/photos")
def photos(request: Request, visit: VisitDep) -> Response:
    portal = visit.portal
    topic, before = visit.text("topic"), visit.text("before")
    order: WallOrder = "newest" if visit.text("order") == "newest" else "ranked"
    filters = {name: visit.text(name) for name in FILTERS}
    wall = portal.store.galleries.wall(WallFilter(topic, filters["category"], filters["source"], order, before, PAGE))
    params: dict[str, Any] = {"topic": topic, "order": "newest" if order == "newest" else None, **filters}
    return render(
        request, "photos.html", heading=f"{visit.say('Photo stories')} · {clean(topic)}" if topic else visit.say("Photo stories"),
        topic=topic, order=order, ranked=address("/photos", **{**params, "order": None}),
        newest=address("/photos", **{**params, "order": "newest"}),
        choices=choices(visit, topic, params) if wall.stories or topic else [],
        filters=[Choice(clean(value), address("/photos", **{**params, name: None})) for name, value in filters.items() if value],
        cards=[card_of(visit.portal, story, visit.clock.words) for story in wall.stories],
        next=address("/photos", **params, before=wall.next) if wall.next else None,
        first_page=address("/photos", **params) if before else None, example=EXAMPLE, feed=feeds(visit, {**params, "order": order}),
    )  # fmt: skip


def choices(visit: Visit, topic: str | None, params: dict[str, Any]) -> list[Choice]:
    """Return all topics as links, the current one marked; empty if there are none."""
    topics = [(None, visit.say("All photo stories")), *((name, clean(name)) for name in visit.portal.topics())]
    links = [Choice(label, address("/photos", **{**params, "topic": name}), name == topic) for name, label in topics]
    return links if len(links) > 1 else []


def card_of(portal: Portal, story: WallStory, words: NullTranslations) -> Card:
    article = story.article
    places = enumerate(article.images, 1)
    cover = next(((place, image) for place, image in places if address_of(portal, article.id, place, image, thumb=True)), None)
    image = cover[1] if cover else None
    width, cover_height = (image.width, image.height) if image and image.width and image.height else DEFAULT_SIZE
    url = address_of(portal, article.id, *cover, thumb=True) if cover else None
    short = sum(1.0 if character >= "\u2e80" else LATIN_WIDTH for character in title(article)) <= LINE_CHARS  # certainly one line
    return Card(story, url, width, cover_height, height_of(width, cover_height), short, why_incomplete(story.gallery, words))


def height_of(width: int, cover_height: int) -> int:
    """Return the height of a cover, the nearest of ``HEIGHTS``."""
    return min(HEIGHTS, key=lambda height: abs(height - COLUMN_WIDTH * cover_height / width))


def why_incomplete(gallery: StoredGallery, words: NullTranslations) -> str:
    """Return why a photo story is incomplete, as a sentence; empty if it is complete."""
    if gallery.complete:
        return ""
    if gallery.failure:
        return explain(gallery.failure, words.gettext) or clean(gallery.failure)
    return words.gettext("the next visit fetches the rest")


def feeds(visit: Visit, params: Mapping[str, str | None]) -> FeedAddresses:
    """Return the feeds of the page with these parameters."""
    title = f"{visit.say('Photo stories')} · {clean(params['topic'] or visit.portal.site.title)}"
    return FeedAddresses.below("/photos", title, **params)


@router.get("/photos/feed.{ending}")
def feed(visit: VisitDep, ending: str) -> Response:
    """The newest photo stories, with pictures in the text and as enclosures."""
    params = {name: visit.text(name) for name in ("topic", *FILTERS)}
    order: WallOrder = "ranked" if ending in EXPORTS and visit.text("order") == "ranked" else "newest"
    selection = WallFilter(params["topic"], params["category"], params["source"], order, limit=max_stories(ending))
    ids = [story.article.id for story in visit.portal.store.galleries.wall(selection).stories]
    return list_response(visit, ending, feeds(visit, params).title, address("/photos", **params), ids)
