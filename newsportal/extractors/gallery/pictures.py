"""The pictures that a page shows, in order, and what each of them is: the story's, a small copy, or a way to something else.

Nothing here knows a site. A picture is judged by its address (shared with :mod:`newsportal.extractors.images`), its declared size, the
names of what it stands in, and where a click on it leads. How often a site shows it is judged elsewhere, over many stories.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, Literal

from newsportal import dom
from newsportal.extractors.gallery.elements import DEAD, FACE, GIF, NO_STORY, SHOWCASE, STRIP, Met, says, walk_pictures
from newsportal.extractors.gallery.variants import variant
from newsportal.extractors.hints import ancestors
from newsportal.extractors.hub_urls import Address
from newsportal.extractors.images import ICON, PICTURE, size_of
from newsportal.extractors.page_turns import written
from newsportal.items import Image

Lead = Literal["none", "story", "page", "site"]  # where a click leads: nowhere, to a page of the story, of the site, elsewhere
MAX_PICTURES: Final = 2_000  # pictures of one page that are looked at
CARD_LEVELS: Final = 3
MAX_CARD: Final = 60  # Elements of a card at most
CARD_CHARS: Final = 6  # characters of a heading that leads to another page
CARD_SHARE: Final = 0.5  # the share of links in the words beside a picture above which both announce another page
BANNER: Final = 3.0
BANNER_HEIGHT: Final = 130  # A picture so many times as wide as high, and no higher than this, is a banner (468 x 60, 728 x 90, 970 x 120)
SAID_SMALL: Final = 160  # a picture that declares both its sides below this is a small copy or an icon
FEW: Final = 2  # pictures of a page of a long story; where it has no more, a linked one may be its largest
STRIP_LEAST: Final = 3  # pictures of one form that lead to so many pages of the story are a row of small copies
LEVELS: Final = 4  # elements above a picture whose names are asked what it stands in


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture where it stands. ``lead`` and ``target``: where a click leads; ``aside``: among what stands beside the story; ``small``:
    one of a row of small copies; ``form``: the elements around it, the same for all of a list."""

    image: Image
    node: dom.Element = field(repr=False)
    lead: Lead = "none"
    target: str | None = None
    aside: bool = False
    small: bool = False
    form: str = ""
    showcased: bool = False
    told: str | None = None  # what an attribute of the element around it says under it


def shown(document: dom.Document, akin: Callable[[str], bool]) -> list[Shown]:
    """Every picture of a page that is no icon, in page order; ``akin`` tells whether an address is a page of this story."""
    body = next(iter(document.root.iter("body")), None)
    found: list[Shown] = []
    for met in walk_pictures(body, document.base) if body is not None else ():
        one = _judged(met, document, akin)
        if one is not None:
            found.append(one)
        if len(found) >= MAX_PICTURES:
            break
    # pictures that lead nowhere themselves, but stand in a list of boxes with a heading each that leads to another page, lead there
    forms = Counter(one.form for one in found if one.lead == "none")
    judged = [
        replace(one, lead="page", target=target)
        if one.lead == "none" and forms[one.form] > 1 and (target := _heading_of_card(one.node, document, akin))
        else one
        for one in found
    ]
    cards = Counter(one.form for one, before in zip(judged, found, strict=True) if one is not before)
    return [one if cards[one.form] > 1 else before for one, before in zip(judged, found, strict=True)]


def _heading_of_card(node: dom.Element, document: dom.Document, akin: Callable[[str], bool]) -> str | None:
    """Where the words in the box of a picture lead, if most of them lead to one other page."""
    box = node.getparent()
    for _ in range(CARD_LEVELS):
        if box is None or box.tag in ("body", "main", "article") or len(list(islice(box.iter("img"), 3))) > 2:
            return None
        links = list(islice(box.iter("a"), 5))
        said = [(link, written(link)) for link in links] if len(links) < 5 else []
        headings = [(link, text) for link, text in said if len(text) >= CARD_CHARS]
        if headings:
            href = headings[0][0].get("href") or ""
            target = None if DEAD.match(href) else dom.join(document.base, href) or href
            whole = len(dom.text_of(box)) if len(list(islice(box.iter(), MAX_CARD))) < MAX_CARD else MAX_CARD * CARD_CHARS
            if target and not akin(target) and sum(len(text) for _, text in headings) >= CARD_SHARE * whole:
                return target
            return None
        box = box.getparent()
    return None


def of_story(found: list[Shown]) -> list[Shown]:
    """Those of :func:`shown` that are the story's: first those that lead nowhere or on to its next page, without rows of small copies."""
    forms = Counter(one.form for one in found if one.lead == "page")
    targets: dict[str, set[str | None]] = defaultdict(set)
    for one in found:
        if one.lead == "story":
            targets[one.form].add(one.target)
    inside = [one for one in found if not one.aside and one.lead != "site"]
    own = [one for one in inside if one.lead == "none" or (one.lead == "story" and len(targets[one.form]) < STRIP_LEAST)]
    alone = [one for one in inside if one.lead == "page" and forms[one.form] == 1]
    large = _stills([one for one in own if not one.small])
    showcased = [one for one in alone if one.showcased and not one.small]
    chosen = [*large, *(showcased if len(large) <= FEW else ())] if large else showcased or alone or own
    places = {id(one): at for at, one in enumerate(found)}
    return _each_once(sorted(chosen, key=lambda one: places[id(one)]))


def _stills(own: list[Shown]) -> list[Shown]:
    """Without the few GIFs among other pictures: counters, marks, placeholders."""
    gifs = [one for one in own if GIF.search(one.image.url)]
    return [one for one in own if one not in gifs] if 2 * len(gifs) <= len(own) else own


def _each_once(chosen: list[Shown]) -> list[Shown]:
    """Each picture where it comes first, in its largest copy: what ``noscript`` and rows of thumbnails repeat is left out."""
    largest: dict[str, tuple[int, int]] = {}
    for one in chosen:
        copy = variant(one.image.url)
        largest[copy.key] = max(largest.get(copy.key, (-1, -1)), (copy.rank, copy.area))
    once: dict[str, Shown] = {}
    for one in chosen:
        copy = variant(one.image.url)
        if (copy.rank, copy.area) == largest[copy.key]:
            once.setdefault(one.image.url, one)
    return list(once.values())


def _judged(met: Met, document: dom.Document, akin: Callable[[str], bool]) -> Shown | None:
    """The picture with its place; ``None`` for icons, counters and banners."""
    node, url = met.node, met.large or met.url
    if (
        not url
        or ICON.search(url)
        or FACE.search(url)
        or (met.url and ICON.search(met.url) and not met.large)
        or NO_STORY.search(node.get("alt") or "")
    ):
        return None
    width, height = size_of(node, met.url or url)
    if bool(width and height and width >= BANNER * height and height <= BANNER_HEIGHT):
        return None
    small = bool(width and height and max(width, height) < SAID_SMALL) and not met.large
    if small and (width or 0) < SAID_SMALL / 2 and (height or 0) < SAID_SMALL / 2:
        return None
    around = list(ancestors(node, LEVELS, ("body", "html", "article", "main")))
    image = Image(url, None, *((None, None) if met.large and met.large != met.url else (width, height)))
    found = Shown(image, node, aside=met.aside, told=met.told)
    lead, target = _lead(met, document, akin)
    return replace(
        found,
        lead=lead,
        target=target,
        small=small or (not met.large and any(says(STRIP, one) for one in (node, *around))),
        form=_form(node, around),
        showcased=any(says(SHOWCASE, one) for one in (node, *around)),
    )


def _lead(met: Met, document: dom.Document, akin: Callable[[str], bool]) -> tuple[Lead, str | None]:
    href = (met.link or "").strip()
    target = dom.join(document.base, href) if href and not href.startswith("#") and not PICTURE.match(href) else None
    if target is None and href and not DEAD.match(href) and not PICTURE.match(href):
        return "page", href  # of a page whose own address is not known
    if target is None or target == met.url:
        return "none", None
    if akin(target):
        return "story", target if target != document.url.partition("#")[0] else None
    return ("page" if _site(target) == _site(document.url) else "site"), target


def _site(url: str) -> str:
    return Address(url).domain


def _form(node: dom.Element, around: list[dom.Element]) -> str:
    """Tags and classes around a picture, without counters: members of one list share them."""
    return "/".join(re.sub(r"\d+", "", f"{one.tag}.{one.get('class') or ''}"[:80]) for one in (node, *around))
