"""The story in a page's data (paper C, 2.2.2, read instead of run): the list whose records have a picture and its caption.

It is found by shape, in any script, hidden element or attribute, under any name. A list of records that link to other pages is a list
of other stories; a list of the sizes of one picture is one picture.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import Any, Final

from newsportal.extractors.gallery.records import SMALL_KEY, image_url, links_elsewhere, picture_of, records_in_attributes, words_of
from newsportal.extractors.gallery.script_values import LINKED_DATA, find_values
from newsportal.extractors.gallery.variants import add_image, key_of
from newsportal.extractors.images.article_images import IMAGE_URL
from newsportal.items import Image
from newsportal.text import clean, dom, letters

MAX_OBJECTS: Final = 20_000
MAX_LISTS: Final = 400
MAX_DEPTH: Final = 30
MAX_SLIDES: Final = 500
MIN_PICTURES: Final = 2  # Pictures of the smallest slideshow
MIN_PICTURE_SHARE: Final = 0.8  # share of a list's records that must have a picture
MAX_LINK_SHARE: Final = 0.5  # share of records with links to other pages above which a list is one of other stories
MIN_UNCAPTIONED: Final = 3  # pictures without captions when the page shows none or one; fewer are versions of its lead picture
LAST_NUMBER: Final = re.compile(r"^(.*?)(\d{2,4})(?=\D*$)")
MIN_SIZE: Final = 60
MIN_STEP: Final = 10  # Numbers ending file names are sizes of one picture if they are large and far apart; else positions in a series
STORY_KEY: Final = re.compile(
    r"^(?:slug|publish\w*|pub_?(?:date|time)\w*|date_?published|comment_?count|teaser\w*|headline|article_?id)$", re.IGNORECASE
)  # keys of records of other stories, not of pictures
OBJECTS_OF_PICTURES: Final = re.compile(r"ImageObject|Photograph")
OTHER_STORIES: Final = re.compile(
    r"relat|recommend|tuijian|more|(?<!p)hot|rank|next|prev|ads?$|advert|latest|focus|menu|nav|also|guess|other", re.IGNORECASE
)  # names of lists of other stories
STORY_LIST: Final = re.compile(r"slide|galler|photo|pic|image|img|album|list|items", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Slides:
    """A story's pictures from its page's data. ``title``: the title in the data; ``names``: keys leading to the list, innermost first."""

    images: tuple[Image, ...]
    title: str | None
    names: tuple[str, ...]


def find_slideshow(document: dom.Document, displayed: Sequence[str], total: int | None, title: str | None) -> Slides | None:
    """Return the list that is most likely the page's own story, or ``None``. ``displayed``: the pictures that the page shows or names as
    its own, ``total``: its counter's total, ``title``: the story's."""
    page_keys = frozenset(map(key_of, displayed))
    best, most = None, 0.0
    for name, value in chain(find_values(document), records_in_attributes(document)):
        for found in islice(_lists(name, value, document.base), MAX_LISTS):
            score = _score(found, page_keys, total, title)
            if score > most:
                best, most = found, score
    return best


def _score(found: Slides, page_keys: frozenset[str], total: int | None, title: str | None) -> float:
    """Return the list's score; 0 if nothing relates it to the page."""
    count = len(found.images)
    if count < MIN_PICTURES or any(OTHER_STORIES.search(name) for name in found.names[:2]):
        return 0.0
    captions = sum(1 for image in found.images if image.caption)
    shared = sum(1 for image in found.images if key_of(image.url) in page_keys)
    mine, theirs = letters(found.title or ""), letters(title or "")
    same_title = bool(mine and theirs) and (mine in theirs or theirs in mine)
    story_name = any(STORY_LIST.search(name) for name in found.names[:2])
    drawn = not page_keys and story_name and (2 * captions >= count or count >= MIN_UNCAPTIONED)  # a script draws everything on the page
    related = total == count or shared > 0 or same_title or drawn
    if not related or (not captions and (_are_sizes(found.images) or (total != count and shared < 2 and count < MIN_UNCAPTIONED))):
        return 0.0
    points = 4.0 * (total == count) + 3.0 * same_title + 3.0 * (shared > 0) + 1.0 * story_name + 2.0 * captions / count
    return points * (1 + min(count, 50) / 50)


def _are_sizes(images: Sequence[Image]) -> bool:
    """Return whether a list without captions contains the sizes of one picture: equal names, or names or widths that differ."""
    names = [image.url.partition("?")[0].rstrip("/").rpartition("/")[2] for image in images]
    if len(set(names)) <= (len(names) + 1) / 2:
        return True
    widths = {image.width for image in images}
    if None not in widths and len(widths) == len(images) > 2:
        return True
    matches = [LAST_NUMBER.match(name) for name in names]
    numbers = sorted(int(match[2]) for match in matches if match is not None)
    if len(numbers) < len(names) or len({match[1] for match in matches if match is not None}) > 1:
        return False
    return numbers[0] >= MIN_SIZE and all(other - number >= MIN_STEP for number, other in pairwise(numbers))


def _lists(name: str, value: Any, base: str) -> Iterator[Slides]:
    """Yield every list of pictures in a value, with its names from the innermost out and the title of the object around it."""
    waiting: list[tuple[Any, tuple[str, ...], tuple[Mapping[str, Any], ...]]] = [(value, (name,), ())]
    count = 0
    while waiting and count < MAX_OBJECTS:
        item, names, owners = waiting.pop()
        count += 1
        if len(names) > MAX_DEPTH:
            continue
        if isinstance(item, dict):
            yield from _parallel(item, names, owners, base)
            if len(item) >= MIN_PICTURES and all(key.isdecimal() for key in item):  # an object used as a list: ``{"0": {…}, "1": {…}}``
                yield from _records([item[key] for key in sorted(item, key=int)], names, owners, base)
            within = (item, *owners)[:3]
            waiting.extend((inner, (str(key), *names), within) for key, inner in reversed(item.items()) if isinstance(inner, (dict, list)))
        elif isinstance(item, list):
            yield from _records(item, names, owners, base)
            waiting.extend((inner, names, owners) for inner in reversed(item) if isinstance(inner, (dict, list)))


def _records(items: Sequence[Any], names: tuple[str, ...], owners: tuple[Mapping[str, Any], ...], base: str) -> Iterator[Slides]:
    if len(items) < MIN_PICTURES or not all(isinstance(item, dict) for item in items[:5]):
        return
    found: dict[str, Image] = {}
    pictured = leading = 0
    for record in items[:MAX_SLIDES]:
        picture = picture_of(record, base) if isinstance(record, dict) else None
        if picture is None or (names[-1] == LINKED_DATA and not OBJECTS_OF_PICTURES.search(str(record.get("@type")))):
            continue
        pictured += 1
        leading += links_elsewhere(record, picture.url, base) or any(STORY_KEY.match(str(key)) for key in record)
        add_image(found, picture)
    least = MIN_PICTURE_SHARE * min(len(items), MAX_SLIDES)
    if pictured >= MIN_PICTURES and pictured >= least - 1 and leading <= MAX_LINK_SHARE * pictured:
        yield Slides(_without_shared_caption(found), _title(owners), names)


def _parallel(data: Mapping[str, Any], names: tuple[str, ...], owners: tuple[Mapping[str, Any], ...], base: str) -> Iterator[Slides]:
    """Yield slides from parallel lists in one object: URLs in one, captions in another of the same length."""
    if names[-1] == LINKED_DATA:
        return  # lists of versions of a lead picture
    lists = {key: value for key, value in data.items() if isinstance(value, list) and len(value) >= MIN_PICTURES}
    for key, value in lists.items():
        urls = [image_url(url, base) if isinstance(url, str) and IMAGE_URL.match(url.strip()) else None for url in value[:MAX_SLIDES]]
        if sum(url is not None for url in urls) < max(MIN_PICTURES, MIN_PICTURE_SHARE * len(urls)) or SMALL_KEY.search(key):
            continue
        texts = max(
            (other for name, other in lists.items() if name != key and len(other) == len(value) and _are_words(other)),
            key=lambda texts: sum(map(len, texts)),
            default=[],
        )
        found: dict[str, Image] = {}
        for number, url in enumerate(urls):
            if url is not None:
                add_image(found, Image(url, words_of(texts[number]) if texts else None))
        if len(found) >= MIN_PICTURES:
            yield Slides(_without_shared_caption(found), _title((data, *owners)), (key, *names))


def _are_words(texts: Sequence[Any]) -> bool:
    return all(isinstance(text, str) for text in texts) and not any(IMAGE_URL.match(text.strip()) or "://" in text[:10] for text in texts)


def _without_shared_caption(found: Mapping[str, Image]) -> tuple[Image, ...]:
    """Return the pictures without a caption that all of them share: it belongs to the story."""
    captions = {letters(image.caption) for image in found.values() if image.caption}
    alike = len(captions) == 1 and len(found) > 1
    return tuple(Image(image.url, None if alike else image.caption, image.width, image.height) for image in found.values())


def _title(owners: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the title of the object around a list, or of an object in it (``{"slide": {"title": …}, "images": […]}``)."""
    objects = (data for owner in owners for data in (owner, *(value for value in owner.values() if isinstance(value, dict))))
    values = (data.get(key) for data in objects for key in ("title", "headline", "setname", "name"))
    titles = (value for value in values if isinstance(value, str) and len(value.strip()) > 3 and not IMAGE_URL.match(value))
    return next(map(clean, titles), None)
