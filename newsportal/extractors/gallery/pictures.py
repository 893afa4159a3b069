"""The pictures that a page shows, in order, and what each of them is: the story's, a small copy, or a way to something else.

Nothing here knows a site. A picture is judged by its address (shared with :mod:`newsportal.extractors.images.article_images`), its
declared size, the names of what it stands in, and where a click on it leads.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import Final, Literal

from newsportal.extractors.article.hints import ancestors
from newsportal.extractors.gallery.variants import variant
from newsportal.extractors.images.article_images import ICON, LAZY, PICTURE, size_of, source_of
from newsportal.extractors.lists.hub_urls import Address
from newsportal.extractors.lists.page_turns import written
from newsportal.items import Image
from newsportal.text import dom

# The names that tell what a picture of a page is: classes and ids around it, attributes, files, what ``alt`` says.

ASIDE: Final = re.compile(
    r"relat|recommend|tuijian|xiangguan|guess|comment|cmt|pinglun|(?<![a-z])foot|copyright|(?<![a-z])nav(?![a-z])|menu|topbar|toolbar|breadcrumb"
    r"|search|share|social|weixin|wechat|qr-?code|erweima|ewm|side-?bar|(?<![a-z])side(?![a-z])|aside|widget|banner|advert|(?<![a-z])ads?(?![a-z])"
    r"|(?<![a-z])ad[-_]|[-_]ad(?![a-z])|sponsor|guanggao|popup|author|avatar|(?<![a-z])user-?(?:info|name|pic|head|card|face)|profile|(?<![a-z])rank|(?<![a-z])hot(?![a-z])|login|friend"
    r"|logo|download|app-?(?:down|code)|more(?![a-z])|promo|next-?(?:group|album|set|story|gallery)|prev-?(?:group|album|set|story|gallery)|also|latest",
    re.IGNORECASE,
)  # Class and id of what stands beside a story
ASIDE_TAGS: Final = frozenset(("nav", "aside", "footer"))
SHOWCASE: Final = re.compile(
    r"(?<![a-z])(?:gallery|album|slides?|slideshow|photo|pic|picture|img|image|main|content|article|big|figure|swiper|viewer|stage|tuji|tuku)(?![a-z])",
    re.IGNORECASE,
)  # Class and id of what a story's pictures stand in
# Class and id of a row of small copies.
STRIP: Final = re.compile(r"thumb|strip|small|(?<![a-z])mini|tiny|(?<![a-z])nav|filmstrip|xiaotu|indicator|dots", re.IGNORECASE)
BACKGROUND: Final = re.compile(r"background(?:-image)?\s*:[^;]{0,200}?url\(\s*[\"']?([^\"')]{1,3000})", re.IGNORECASE)
BACKGROUND_NAMES: Final = ("data-bg", "data-background", "data-background-image", "data-bgimage", "data-bgset", "data-image")
LARGE_NAME: Final = re.compile(r"big|large|full|zoom|orig|hi-?res|high|max", re.IGNORECASE)  # attributes with the large copy of ``src``
SKIPPED: Final = frozenset("script style template iframe object svg head select".split())
DEAD: Final = re.compile(r"#|[a-z]+:(?!//)", re.IGNORECASE)  # Links that lead to no page: fragments, scripts, mail
# The picture that a viewer is asked to show: ``show.html?http://…/1.jpg``.
VIEWED: Final = re.compile(r"[?&=](https?://[^&\s\"'<>]{5,1000}\.(?:jpe?g|png|gif|webp|avif))(?:$|[&?])", re.IGNORECASE)
NO_STORY: Final = re.compile(
    r"二维码|二維碼|扫一扫|扫码|头像|頭像|广告|廣告|(?<![a-z])logo(?![a-z])|(?<![a-z])qr code|advertisement|^ad$", re.IGNORECASE
)  # what ``alt`` says of pictures that belong to no story
FACE: Final = re.compile(
    r"(?:^|/)(?:ico_|icon_|btn_|arrow_)?(?:face|portrait|head_?(?:pic|img|shot)?|user|author|reporter|wechat|weixin|weibo"
    r"|left|right|prev(?:ious)?|next|arrow|close|zoom|play|top|up|down|bg|background|line|dot|search|menu)[_-]?\w{0,2}\.\w+(?:$|\?)",
    re.IGNORECASE,
)  # Files that are called after people and channels, and what a page's frame is made of
GIF: Final = re.compile(r"\.gif(?:$|[?!@])", re.IGNORECASE)
HEADINGS: Final = 3  # headings of a page that are taken for its story's


@dataclass(slots=True)
class WalkedPicture:
    node: dom.Element
    url: str | None
    link: str | None
    large: str | None
    aside: bool
    caption: str | None


def walk_pictures(body: dom.Element, base: str) -> Iterator[WalkedPicture]:
    """Pictures in document order; what stands around one is known without climbing."""
    walk = dom.walk(body)
    # what stands around the page's headings
    titled = {body, *(above for heading in islice(body.iter("h1"), HEADINGS) for above in heading.iterancestors())}
    asides: list[dom.Element] = []
    links: list[dom.Element] = []
    holders: list[tuple[dom.Element, str, str | None]] = []
    for event, node in walk:
        if event == "end":
            if asides and asides[-1] is node:
                asides.pop()
            if links and links[-1] is node:
                links.pop()
            if holders and holders[-1][0] is node:
                _, held, told = holders.pop()
                if held and node.tag != "a":
                    yield WalkedPicture(node, held, None, None, bool(asides), told)
            continue
        tag = node.tag
        if tag in SKIPPED:
            walk.skip_subtree()
            continue
        if not node.attrib:
            if tag in ASIDE_TAGS:
                asides.append(node)
            continue
        if tag in ASIDE_TAGS or (says(ASIDE, node) and node not in titled):
            asides.append(node)
        if tag == "a":
            links.append(node)
        link = links[-1].get("href") if links else None
        if tag == "img":
            large = caption = None
            if holders and holders[-1][1]:  # the innermost large copy around goes with the first picture inside
                holder, large, caption = holders[-1]
                holders[-1] = (holder, "", caption)
            named = (value for name, value in node.items() if LARGE_NAME.search(name) and PICTURE.match(value))
            large = large or next((url for value in named if (url := dom.join(base, value))), None)
            yield WalkedPicture(node, source_of(node, base), link, large, bool(asides), caption)
            continue
        if holds := _held(node, base):
            names = ("data-caption", "data-sub-html", "data-desc", "data-description", "data-title", "data-intro", "title")
            holders.append((node, holds, next((value for value in map(node.get, names) if value and value.strip()), None)))
            continue
        if background := _background(node, base):
            yield WalkedPicture(node, background, link, None, bool(asides), None)


def _held(node: dom.Element, base: str) -> str | None:
    """The large picture that an element holds for the small one inside: ``<a href=big.jpg>``, ``<li data-src=big.jpg>``."""
    if node.tag == "a":
        href = node.get("href") or ""
        viewed = VIEWED.search(href)
        return dom.join(base, viewed[1]) if viewed else dom.join(base, href) if PICTURE.match(href) else None
    if node.tag in ("source", "video", "audio", "input", "link", "meta"):
        return None
    named = (
        value
        for name, value in node.items()
        if (name in LAZY or LARGE_NAME.search(name)) and name.startswith("data") and PICTURE.match(value)
    )
    return next((url for value in named if (url := dom.join(base, value))), None)


def _background(node: dom.Element, base: str) -> str | None:
    style = node.get("style")
    match = BACKGROUND.search(style[:5000]) if style and "url(" in style else None
    value = match[1] if match else next((value for value in map(node.get, BACKGROUND_NAMES) if value and PICTURE.match(value)), None)
    return dom.join(base, value.strip()) if value and not value.startswith("data:") else None


def says(pattern: re.Pattern[str], node: dom.Element) -> bool:
    name = f"{node.get('class') or ''} {node.get('id') or ''}"[:200]
    return name != " " and _found(pattern, name)


@lru_cache(maxsize=4096)  # of a page's elements few have a name of their own
def _found(pattern: re.Pattern[str], name: str) -> bool:
    return pattern.search(name) is not None


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
class PagePicture:
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
    caption: str | None = None  # what an attribute of the element around it says under it


def pictures_of(document: dom.Document, akin: Callable[[str], bool]) -> list[PagePicture]:
    """Every picture of a page that is no icon, in page order; ``akin`` tells whether an address is a page of this story."""
    body = next(iter(document.root.iter("body")), None)
    walked = (_judged(met, document, akin) for met in walk_pictures(body, document.base)) if body is not None else ()
    found = list(islice((one for one in walked if one is not None), MAX_PICTURES))
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
        if headings := [(link, text) for link, text in said if len(text) >= CARD_CHARS]:
            href = headings[0][0].get("href") or ""
            target = None if DEAD.match(href) else dom.join(document.base, href) or href
            whole = len(dom.text_of(box)) if len(list(islice(box.iter(), MAX_CARD))) < MAX_CARD else MAX_CARD * CARD_CHARS
            if target and not akin(target) and sum(len(text) for _, text in headings) >= CARD_SHARE * whole:
                return target
            return None
        box = box.getparent()
    return None


def of_story(found: list[PagePicture]) -> list[PagePicture]:
    """The story's own pictures: first those that lead nowhere or to its next page, without rows of small copies."""
    forms = Counter(one.form for one in found if one.lead == "page")
    targets: dict[str, set[str | None]] = defaultdict(set)
    for one in found:
        if one.lead == "story":
            targets[one.form].add(one.target)
    inside = [one for one in found if not one.aside and one.lead != "site"]
    own = [one for one in inside if one.lead == "none" or (one.lead == "story" and len(targets[one.form]) < STRIP_LEAST)]
    alone = [one for one in inside if one.lead == "page" and forms[one.form] == 1]
    large = [one for one in own if not one.small]
    gifs = [one for one in large if GIF.search(one.image.url)]  # a few among other pictures are counters, marks, placeholders
    large = [one for one in large if one not in gifs] if 2 * len(gifs) <= len(large) else large
    showcased = [one for one in alone if one.showcased and not one.small]
    chosen = [*large, *(showcased if len(large) <= FEW else ())] if large else showcased or alone or own
    places = {id(one): at for at, one in enumerate(found)}
    chosen = sorted(chosen, key=lambda one: places[id(one)])
    largest: dict[str, tuple[int, int]] = {}
    for one in chosen:
        copy = variant(one.image.url)
        largest[copy.key] = max(largest.get(copy.key, (-1, -1)), (copy.rank, copy.area))
    once: dict[str, PagePicture] = {}
    for one in chosen:
        copy = variant(one.image.url)
        if (copy.rank, copy.area) == largest[copy.key]:
            once.setdefault(one.image.url, one)
    return list(once.values())


def _judged(met: WalkedPicture, document: dom.Document, akin: Callable[[str], bool]) -> PagePicture | None:
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
    lead, target = _lead(met, document, akin)
    return PagePicture(
        image,
        node,
        lead,
        target,
        aside=met.aside,
        small=small or (not met.large and any(says(STRIP, one) for one in (node, *around))),
        form="/".join(re.sub(r"\d+", "", f"{one.tag}.{one.get('class') or ''}"[:80]) for one in (node, *around)),
        showcased=any(says(SHOWCASE, one) for one in (node, *around)),
        caption=met.caption,
    )


def _lead(met: WalkedPicture, document: dom.Document, akin: Callable[[str], bool]) -> tuple[Lead, str | None]:
    href = (met.link or "").strip()
    target = dom.join(document.base, href) if href and not href.startswith("#") and not PICTURE.match(href) else None
    if target is None and href and not DEAD.match(href) and not PICTURE.match(href):
        return "page", href  # of a page whose own address is not known
    if target is None or target == met.url:
        return "none", None
    if akin(target):
        return "story", target if target != document.url.partition("#")[0] else None
    return ("page" if Address(target).domain == Address(document.url).domain else "site"), target
