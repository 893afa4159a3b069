"""Filter for images of a photo story that are not its photographs: logos, advertisements, icons, banners. Pure.

Paper C (Jiang, Zuo 2014), 2.2.1: a dictionary counts how often each image was seen; frequent images are advertisements and logos and are
dropped, then images whose width and height are unusual for a photograph. The paper gives no numbers. Here:

- only *different* stories are counted: cross-posted copies of a story share its images and count once (:func:`distinct_stories`);
- an image is frequent in ``max(3, n / 100)`` different stories of one site, n: the site's stories, or in 5 of 3 sites;
- an image is identified by the key of its URL (:func:`key`), and under another URL by its perceptual hash;
- sizes are those of the image file, not those declared by the page.

Each dropped image has a reason (``Image.dropped``): ``frequent``, ``frequent-elsewhere``, ``small``, ``banner``, ``name``, or the reason
why its file is unusable (``gone``, ``markup``, ``svg``, ``not-a-picture``, ``no-size``, ``too-large``, ``broken``, ``empty``).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final
from urllib.parse import urlsplit

from newsportal.items import Image, content_id

MIN_STORIES: Final = 3  # Different stories of a site with an image before it counts as the site's own: two may be parts of one report
FREQUENCY_DIVISOR: Final = 100  # 1/100 of a site's stories: archive images are reused more rarely, rotating advertisements more often
MAX_STORIES: Final = 20  # Upper limit for that threshold, whatever the site's size
MIN_STORIES_ANYWHERE, MIN_SITES = 5, 3  # stories and sites from which an image is an advertisement on every site
COPY_SHARE: Final = 0.5  # Of the images of the story with fewer: copies on two sites share more, copies with the same title at least this
SAME_SITE_SHARE: Final = 0.8  # Of the images of the story with more, within one site: all its stories share the site's own images
MIN_SIDE, MIN_LONGER_SIDE = 80, 200  # Pixels: photographs of stories begin at 300, thumbnails of other stories end at 180
BANNER_SHAPE, BANNER_SIDE = 3.5, 250  # shape of a banner: 970 × 250 and 160 × 600, but not panoramas of 1200 × 300
THUMBNAIL_SHARE, THUMBNAIL_SIDE, MIN_MEDIAN_IMAGES = 9, 320, 3  # area: 1/9 of the median; longer side in pixels; images for a median
MAX_LOGO_SIDE: Final = 400  # Pixels: a larger image named "logo" may be the photograph of one
LOGO_NAME: Final = re.compile(
    r"(?:^|[/_.-])(?:site|web|page|top|foot(?:er)?|head(?:er)?|wap|m)?[_-]?"
    r"(?:logos?|banners?|icons?|avatars?|qr[_-]?codes?|qrcode|ewm|erweima|weixin|wechat|ads?|adverts?|sponsors?|btn|buttons?|share"
    r"|placeholder|nopic|no[_-]?image|default|loading|lazyload|spacer|blank|pixel|1x1|tracker|counter|beacon|sprite)\d{0,3}(?=[/_.-]|$)",
    re.IGNORECASE,
)  # URL parts that name non-photographs; applied to small images only
KEPT, BY_HAND = "kept", "by-hand"  # An editor's decision: always a photograph; not part of the story
FILE: Final = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|bmp)$", re.IGNORECASE)
SHARD: Final = re.compile(r"^([a-z]+)\d{1,3}(?=\.)")  # ``img3.``, ``p12.``: numbered servers that hold copies of the same image
# Parts of a title that do not distinguish copies of a story: (组图), 【高清图集】, punctuation.
TITLE_NOISE: Final = re.compile(r"\s*[(（\[【《][^)）\]】》]{0,12}(?:图|photos?|pics?)[^)）\]】》]{0,6}[)）\]】》]|[\W_]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StoryPictures:
    """The images of a story. ``id``: of its article; ``title``: its :func:`title_key`; ``pictures``: keys of its images."""

    id: str
    site: str
    title: str
    pictures: frozenset[str]


def key(url: str) -> str:
    """Return the key that identifies an image: its URL without scheme, server number, and a file's query (a version or size)."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.lower().rpartition("@")[2]
    except ValueError:
        return url
    host = host.removesuffix(":443" if parts.scheme == "https" else ":80")
    query = f"?{parts.query}" if parts.query and not FILE.search(parts.path.partition("!")[0]) else ""
    return SHARD.sub(r"\1", host) + parts.path + query


def title_key(title: str) -> str:
    return content_id(TITLE_NOISE.sub("", title).casefold())


def distinct_stories(stories: Sequence[StoryPictures]) -> list[StoryPictures]:
    found: list[StoryPictures] = []
    for story in stories:
        if not any(are_copies(story, other) for other in found):
            found.append(story)
    return found


def are_copies(story: StoryPictures, other: StoryPictures) -> bool:
    """Return whether two stories that share images are copies of one: they share more than the site's own images.

    With the same title: at least half of the images of the story with fewer; on two sites: more than half. Within one site, where all
    stories share its own images: four fifths of the images of the story with more.
    """
    shared = len(story.pictures & other.pictures)
    fewer, more = sorted((len(story.pictures), len(other.pictures)))
    if not fewer:
        return False
    if story.title == other.title:
        return shared >= COPY_SHARE * fewer
    return shared >= SAME_SITE_SHARE * more if story.site == other.site else shared > COPY_SHARE * fewer


def frequency_reason(stories: Sequence[StoryPictures], story_counts: Mapping[str, int]) -> str | None:
    """Return the reason to drop an image shown by ``stories``, or ``None``. ``story_counts``: site → number of its known stories."""
    distinct = distinct_stories(stories)
    sites = Counter(story.site for story in distinct)
    frequent = {site: min(max(MIN_STORIES, story_counts.get(site, 0) // FREQUENCY_DIVISOR), MAX_STORIES) for site in sites}
    if any(number >= frequent[site] for site, number in sites.items()):
        return "frequent"
    return "frequent-elsewhere" if len(distinct) >= MIN_STORIES_ANYWHERE and len(sites) >= MIN_SITES else None


def mark_dropped(images: Sequence[Image], reasons: Mapping[str, str | None]) -> tuple[Image, ...]:
    """Return the images with ``dropped`` set by ``reasons`` (key → reason), size or name; those an editor kept (:data:`KEPT`) stay."""
    areas = [image.width * image.height for image in images if image.width and image.height and image.format and not image.dropped]
    usual = median(areas) if len(areas) > MIN_MEDIAN_IMAGES else None
    return tuple(
        one if one.dropped or (reason := reasons.get(key(one.url))) == KEPT else replace(one, dropped=reason or drop_reason(one, usual))
        for one in images
    )


def drop_reason(image: Image, others: float | None = None) -> str | None:
    """Return why an image cannot be a story's photograph, by size and name, or ``None``. ``others``: median area of the story's images."""
    width, height = image.width, image.height
    if not width or not height:
        return "name" if _named(image.url) else None
    shorter, longer = sorted((width, height))
    if image.format is None:  # the size declared by a page is only the displayed size
        return "small" if longer < MIN_SIDE else "name" if longer < MAX_LOGO_SIDE and _named(image.url) else None
    if shorter < MIN_SIDE or longer < MIN_LONGER_SIDE:
        return "banner" if longer >= BANNER_SHAPE * shorter and longer >= MIN_LONGER_SIDE else "small"
    if shorter <= BANNER_SIDE and longer >= BANNER_SHAPE * shorter:
        return "banner"
    if longer < MAX_LOGO_SIDE and _named(image.url):
        return "name"
    if others is not None and longer <= THUMBNAIL_SIDE and width * height * THUMBNAIL_SHARE < others:
        return "small"
    return None


def _named(url: str) -> bool:
    try:
        return LOGO_NAME.search(urlsplit(url).path) is not None
    except ValueError:
        return False


def count_dropped(images: Iterable[Image]) -> Counter[str]:
    return Counter(image.dropped for image in images if image.dropped)
