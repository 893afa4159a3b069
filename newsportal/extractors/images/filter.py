"""Which pictures of a photo story belong to no story: logos, advertisements, icons, banners. Pure.

Paper C (Jiang, Zuo 2014), 2.2.1: a dictionary tells how often each picture was seen; those seen often are advertisements and logos and
go, then those go whose width and height are not a photograph's. The paper gives no numbers. Here:

- what is counted are *different* stories: cross-posted copies of one story share its pictures, and are one (:func:`different`);
- a picture is frequent in ``max(3, n / 100)`` different stories of one site, n: the site's stories, or in 5 of 3 sites;
- a picture is known by the key of its address (:func:`key`), and by its perceptual hash under any other address;
- sizes are the pictures' own, not what a page says of them.

Each picture left out has a reason (``Image.dropped``): ``frequent``, ``frequent-elsewhere``, ``small``, ``banner``, ``name``, or what its
bytes came to (``gone``, ``markup``, ``svg``, ``not-a-picture``, ``no-size``, ``too-large``, ``broken``, ``empty``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final
from urllib.parse import urlsplit

from newsportal.items import Image, content_id

LEAST: Final = 3  # Different stories of a site that show a picture before it is taken for the site's own: two may be parts of one report
SHARE: Final = 100  # one of so many of a site's stories: archive pictures come again more seldom, rotating advertisements more often
MOST: Final = 20  # Different stories that are enough whatever the site's size
LEAST_ELSEWHERE, LEAST_SITES = 5, 3  # stories and sites from which on a picture is an advertisement everywhere
COPY_SHARE: Final = 0.5  # Of the pictures of the story that has fewer: copies on two sites share more, copies under one title as much
SAME_SITE_SHARE: Final = 0.8  # Of the pictures of the story that has more: within one site, where all stories share its own pictures
MIN_SIDE, MIN_LONGER_SIDE = 80, 200  # Pixels: photographs of stories begin at 300, thumbnails of other stories end at 180
BANNER_SHAPE, BANNER_SIDE = 3.5, 250  # sides of a banner: 970 × 250 and 160 × 600, but not panoramas of 1200 × 300
THUMBNAIL_SHARE, THUMBNAIL_SIDE, THUMBNAIL_OTHERS = 9, 320, 3  # so many times smaller than the median of so many photographs
NAMED_SIDE: Final = 400  # Pixels: a picture that is called a logo and is larger may be the photograph of one
NAME: Final = re.compile(
    r"(?:^|[/_.-])(?:site|web|page|top|foot(?:er)?|head(?:er)?|wap|m)?[_-]?"
    r"(?:logos?|banners?|icons?|avatars?|qr[_-]?codes?|qrcode|ewm|erweima|weixin|wechat|ads?|adverts?|sponsors?|btn|buttons?|share"
    r"|placeholder|nopic|no[_-]?image|default|loading|lazyload|spacer|blank|pixel|1x1|tracker|counter|beacon|sprite)\d{0,3}(?=[/_.-]|$)",
    re.IGNORECASE,
)  # what the address of a picture says that is no photograph; it counts for small ones alone
KEPT, BY_HAND = "kept", "by-hand"  # What an editor said of a picture: it is a photograph, whatever is counted; it belongs to no story
FILE: Final = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|bmp)$", re.IGNORECASE)
SHARD: Final = re.compile(r"^([a-z]+)\d{1,3}(?=\.)")  # ``img3.``, ``p12.``: servers among which one picture's copies are spread
# Parts of a title that tell copies of a story not apart: (组图), 【高清图集】, punctuation.
NOT_SAID: Final = re.compile(r"\s*[(（\[【《][^)）\]】》]{0,12}(?:图|photos?|pics?)[^)）\]】》]{0,6}[)）\]】》]|[\W_]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StoryPictures:
    """A story's pictures: ``id`` of its article, whose ``site`` it is, the :func:`title_key` of its ``title``, what they are known by."""

    id: str
    site: str
    title: str
    pictures: frozenset[str]


def key(url: str) -> str:
    """By what a picture is known: its address without scheme, without the query of a file (a version, a size) and number of server."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.lower().rpartition("@")[2]
    except ValueError:
        return url
    host = host.removesuffix(":443" if parts.scheme == "https" else ":80")
    query = f"?{parts.query}" if parts.query and not FILE.search(parts.path.partition("!")[0]) else ""
    return SHARD.sub(r"\1", host) + parts.path + query


def title_key(title: str) -> str:
    return content_id(NOT_SAID.sub("", title).casefold())


def different(stories: Sequence[StoryPictures]) -> list[StoryPictures]:
    found: list[StoryPictures] = []
    for story in stories:
        if not any(copies(story, other) for other in found):
            found.append(story)
    return found


def copies(one: StoryPictures, other: StoryPictures) -> bool:
    """Whether two stories that share a picture are one story: they share more than a site's own pictures would make.

    Under one title half of the pictures of the one with fewer, on two sites more than half; within one site, whose own pictures all its
    stories share, four fifths of the one with more.
    """
    shared = len(one.pictures & other.pictures)
    fewer, more = sorted((len(one.pictures), len(other.pictures)))
    if not fewer:
        return False
    if one.title == other.title:
        return shared >= COPY_SHARE * fewer
    return shared >= SAME_SITE_SHARE * more if one.site == other.site else shared > COPY_SHARE * fewer


def frequent(stories: Sequence[StoryPictures], counted: Mapping[str, int]) -> str | None:
    """Why a picture that these stories show belongs to none of them; ``counted``: site → number of its stories that are known."""
    apart = different(stories)
    sites = Counter(story.site for story in apart)
    if any(number >= enough(counted.get(site, 0)) for site, number in sites.items()):
        return "frequent"
    return "frequent-elsewhere" if len(apart) >= LEAST_ELSEWHERE and len(sites) >= LEAST_SITES else None


def enough(counted: int) -> int:
    """In how many different stories of a site with so many a picture is frequent."""
    return min(max(LEAST, counted // SHARE), MOST)


def judged(images: Sequence[Image], reasons: Mapping[str, str | None]) -> tuple[Image, ...]:
    """Each with why it is left out, by ``reasons`` (key → why), its size or name; an editor's choice (:data:`KEPT`) stays."""
    areas = [image.width * image.height for image in images if image.width and image.height and image.format and not image.dropped]
    usual = median(areas) if len(areas) > THUMBNAIL_OTHERS else None
    return tuple(
        image if image.dropped or (reason := reasons.get(key(image.url))) == KEPT else replace(image, dropped=reason or unfit(image, usual))
        for image in images
    )


def unfit(image: Image, others: float | None = None) -> str | None:
    """Why a picture cannot be a photograph of a story, by its size and its name. ``others``: the area that its neighbours have."""
    width, height = image.width, image.height
    if not width or not height:
        return "name" if _named(image.url) else None
    shorter, longer = sorted((width, height))
    if image.format is None:  # what a page says of a size is how it shows the picture
        return "small" if longer < MIN_SIDE else "name" if longer < NAMED_SIDE and _named(image.url) else None
    if shorter < MIN_SIDE or longer < MIN_LONGER_SIDE:
        return "banner" if longer >= BANNER_SHAPE * shorter and longer >= MIN_LONGER_SIDE else "small"
    if shorter <= BANNER_SIDE and longer >= BANNER_SHAPE * shorter:
        return "banner"
    if longer < NAMED_SIDE and _named(image.url):
        return "name"
    if others is not None and longer <= THUMBNAIL_SIDE and width * height * THUMBNAIL_SHARE < others:
        return "small"
    return None


def _named(url: str) -> bool:
    try:
        return NAME.search(urlsplit(url).path) is not None
    except ValueError:
        return False


def left_out(images: Iterable[Image]) -> Counter[str]:
    return Counter(image.dropped for image in images if image.dropped)
