"""The pictures of a page, in order, each classified: the story's, a thumbnail, or a link to something else.

There are no rules for particular sites. A picture is classified by its URL (as in :mod:`newsportal.extractors.images.article_images`), its
declared size, the class and id of the elements around it, and the target of its link.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, Literal

from newsportal.extractors.article.hints import ancestors
from newsportal.extractors.gallery.variants import parse_variant
from newsportal.extractors.images.article_images import ICON, IMAGE_URL, LAZY_ATTRIBUTES, size_of, source_of
from newsportal.extractors.lists.hub_urls import Address
from newsportal.extractors.lists.page_turns import link_label
from newsportal.items import Image
from newsportal.text import dom
from newsportal.text.characters import cached_search

# Patterns that classify a picture: classes and ids around it, attributes, file names, ``alt`` texts.

is_aside: Final = cached_search(
    r"relat|recommend|tuijian|xiangguan|guess|comment|cmt|pinglun|(?<![a-z])foot|copyright|(?<![a-z])nav(?![a-z])|menu|topbar|toolbar|breadcrumb"
    r"|search|share|social|weixin|wechat|qr-?code|erweima|ewm|side-?bar|(?<![a-z])side(?![a-z])|aside|widget|banner|advert|(?<![a-z])ads?(?![a-z])"
    r"|(?<![a-z])ad[-_]|[-_]ad(?![a-z])|sponsor|guanggao|popup|author|avatar|(?<![a-z])user-?(?:info|name|pic|head|card|face)|profile|(?<![a-z])rank|(?<![a-z])hot(?![a-z])|login|friend"
    r"|logo|download|app-?(?:down|code)|more(?![a-z])|promo|next-?(?:group|album|set|story|gallery)|prev-?(?:group|album|set|story|gallery)|also|latest"
)  # Class and id of elements beside a story
ASIDE_TAGS: Final = frozenset(("nav", "aside", "footer"))
is_showcase: Final = cached_search(
    r"(?<![a-z])(?:gallery|album|slides?|slideshow|photo|pic|picture|img|image|main|content|article|big|figure|swiper|viewer|stage|tuji|tuku)(?![a-z])"
)  # Class and id of elements with a story's pictures
# Class and id of a row of thumbnails.
is_thumbnail_strip: Final = cached_search(r"thumb|strip|small|(?<![a-z])mini|tiny|(?<![a-z])nav|filmstrip|xiaotu|indicator|dots")
BACKGROUND: Final = re.compile(r"background(?:-image)?\s*:[^;]{0,200}?url\(\s*[\"']?([^\"')]{1,3000})", re.IGNORECASE)
BACKGROUND_ATTRIBUTES: Final = ("data-bg", "data-background", "data-background-image", "data-bgimage", "data-bgset", "data-image")
LARGE_NAME: Final = re.compile(r"big|large|full|zoom|orig|hi-?res|high|max", re.IGNORECASE)  # attributes with the large ``src``
SKIPPED_TAGS: Final = frozenset("script style template iframe object svg head select".split())
NOT_PAGE_LINK: Final = re.compile(r"#|[a-z]+:(?!//)", re.IGNORECASE)  # Links that are not pages: fragments, scripts, mail
# The picture to be shown by a viewer page: ``show.html?http://…/1.jpg``.
VIEWER_URL: Final = re.compile(r"[?&=](https?://[^&\s\"'<>]{5,1000}\.(?:jpe?g|png|gif|webp|avif))(?:$|[&?])", re.IGNORECASE)
NO_STORY: Final = re.compile(
    r"二维码|二維碼|扫一扫|扫码|头像|頭像|广告|廣告|(?<![a-z])logo(?![a-z])|(?<![a-z])qr code|advertisement|^ad$", re.IGNORECASE
)  # ``alt`` texts of pictures that belong to no story
FACE_ICON: Final = re.compile(
    r"(?:^|/)(?:ico_|icon_|btn_|arrow_)?(?:face|portrait|head_?(?:pic|img|shot)?|user|author|reporter|wechat|weixin|weibo"
    r"|left|right|prev(?:ious)?|next|arrow|close|zoom|play|top|up|down|bg|background|line|dot|search|menu)[_-]?\w{0,2}\.\w+(?:$|\?)",
    re.IGNORECASE,
)  # Names of files with people, channel logos or parts of the page's layout
GIF: Final = re.compile(r"\.gif(?:$|[?!@])", re.IGNORECASE)
MAX_TITLE_HEADINGS: Final = 3  # the first headings of a page, assumed to be its story's


@dataclass(slots=True)
class WalkedPicture:
    node: dom.Element
    url: str | None
    link: str | None
    large: str | None
    aside: bool
    caption: str | None


def walk_pictures(body: dom.Element, base: str) -> Iterator[WalkedPicture]:
    """Yield pictures in document order, with their surroundings, which are tracked in the same pass."""
    walk = dom.walk(body)
    # elements around the page's headings
    titled = {body, *(above for heading in islice(body.iter("h1"), MAX_TITLE_HEADINGS) for above in heading.iterancestors())}
    asides: list[dom.Element] = []
    links: list[dom.Element] = []
    containers: list[tuple[dom.Element, str, str | None]] = []
    for event, node in walk:
        if event == "end":
            if asides and asides[-1] is node:
                asides.pop()
            if links and links[-1] is node:
                links.pop()
            if containers and containers[-1][0] is node:
                _, version, text = containers.pop()
                if version and node.tag != "a":
                    yield WalkedPicture(node, version, None, None, bool(asides), text)
            continue
        tag = node.tag
        if tag in SKIPPED_TAGS:
            walk.skip_subtree()
            continue
        if not node.attrib:
            if tag in ASIDE_TAGS:
                asides.append(node)
            continue
        if tag in ASIDE_TAGS or (has_name(is_aside, node) and node not in titled):
            asides.append(node)
        if tag == "a":
            links.append(node)
        link = links[-1].get("href") if links else None
        if tag == "img":
            large = caption = None
            if containers and containers[-1][1]:  # the innermost large version around belongs to the first picture inside
                container, large, caption = containers[-1]
                containers[-1] = (container, "", caption)
            values = (value for name, value in node.items() if LARGE_NAME.search(name) and IMAGE_URL.match(value))
            large = large or next((url for value in values if (url := dom.join(base, value))), None)
            yield WalkedPicture(node, source_of(node, base), link, large, bool(asides), caption)
            continue
        if large_url := _large_version(node, base):
            names = ("data-caption", "data-sub-html", "data-desc", "data-description", "data-title", "data-intro", "title")
            containers.append((node, large_url, next((value for value in map(node.get, names) if value and value.strip()), None)))
            continue
        if background := _background(node, base):
            yield WalkedPicture(node, background, link, None, bool(asides), None)


def _large_version(node: dom.Element, base: str) -> str | None:
    """Return the URL of the large version given by an element around the small one: ``<a href=big.jpg>``, ``<li data-src=big.jpg>``."""
    if node.tag == "a":
        href = node.get("href") or ""
        viewed = VIEWER_URL.search(href)
        return dom.join(base, viewed[1]) if viewed else dom.join(base, href) if IMAGE_URL.match(href) else None
    if node.tag in ("source", "video", "audio", "input", "link", "meta"):
        return None
    data = (value for name, value in node.items() if name.startswith("data") and (name in LAZY_ATTRIBUTES or LARGE_NAME.search(name)))
    return next((url for value in data if IMAGE_URL.match(value) and (url := dom.join(base, value))), None)


def _background(node: dom.Element, base: str) -> str | None:
    style = node.get("style")
    match = BACKGROUND.search(style[:5000]) if style and "url(" in style else None
    value = match[1] if match else next((value for value in map(node.get, BACKGROUND_ATTRIBUTES) if value and IMAGE_URL.match(value)), None)
    return dom.join(base, value.strip()) if value and not value.startswith("data:") else None


def has_name(matches: Callable[[str], bool], node: dom.Element) -> bool:
    name = f"{node.get('class') or ''} {node.get('id') or ''}"[:200]
    return name != " " and matches(name)


LinkKind = Literal["none", "story", "page", "site"]  # target of the picture's link: none, a page of the story, of the site, of another site
MAX_PICTURES: Final = 2_000  # pictures of one page at most
CARD_LEVELS: Final = 3
MAX_CARD: Final = 60  # Elements of a card at most
CARD_CHARS: Final = 6  # characters of a heading with a link to another page
CARD_SHARE: Final = 0.5  # share of link text beside a picture above which both announce another page
BANNER_RATIO: Final = 3.0
BANNER_HEIGHT: Final = 130  # A picture so many times as wide as high, and at most this high, is a banner (468 x 60, 728 x 90, 970 x 120)
MAX_THUMBNAIL_SIDE: Final = 160  # a picture with both declared sides below this is a thumbnail or an icon
MIN_LONG_STORY: Final = 2  # pictures of a page of a long story; if there are no more, a linked one may be its main picture
MIN_STRIP: Final = 3  # different story pages linked from pictures of one form that make a row of thumbnails
LEVELS: Final = 4  # levels above a picture whose class and id are checked


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A picture in its context. ``link`` and ``target``: kind and URL of its link; ``aside``: in an element beside the story; ``small``: in
    a row of thumbnails; ``form``: tags and classes around it, the same for all pictures of a list."""

    image: Image
    node: dom.Element = field(repr=False)
    link: LinkKind = "none"
    target: str | None = None
    aside: bool = False
    small: bool = False
    form: str = ""
    showcased: bool = False
    caption: str | None = None  # caption in an attribute of an element around it


def pictures_of(document: dom.Document, is_story_page: Callable[[str], bool]) -> list[PagePicture]:
    """Return all pictures of a page except icons, in page order. ``is_story_page`` returns whether a URL is a page of this story."""
    body = next(iter(document.root.iter("body")), None)
    classified = (_classify(picture, document, is_story_page) for picture in walk_pictures(body, document.base)) if body is not None else ()
    found = list(islice((picture for picture in classified if picture is not None), MAX_PICTURES))
    # a picture without a link gets the target of the heading in its box, if there are several such boxes
    forms = Counter(picture.form for picture in found if picture.link == "none")
    retargeted = [
        replace(picture, link="page", target=target)
        if picture.link == "none" and forms[picture.form] > 1 and (target := _heading_of_card(picture.node, document, is_story_page))
        else picture
        for picture in found
    ]
    cards = Counter(picture.form for picture, before in zip(retargeted, found, strict=True) if picture is not before)
    return [picture if cards[picture.form] > 1 else before for picture, before in zip(retargeted, found, strict=True)]


def _heading_of_card(node: dom.Element, document: dom.Document, is_story_page: Callable[[str], bool]) -> str | None:
    """Return the target of the text in a picture's box, if most of it links to one other page."""
    box = node.getparent()
    for _ in range(CARD_LEVELS):
        if box is None or box.tag in ("body", "main", "article") or len(list(islice(box.iter("img"), 3))) > 2:
            return None
        links = list(islice(box.iter("a"), 5))
        labels = [(link, link_label(link)) for link in links] if len(links) < 5 else []
        if headings := [(link, text) for link, text in labels if len(text) >= CARD_CHARS]:
            href = headings[0][0].get("href") or ""
            target = None if NOT_PAGE_LINK.match(href) else dom.join(document.base, href) or href
            total = len(dom.text_of(box)) if len(list(islice(box.iter(), MAX_CARD))) < MAX_CARD else MAX_CARD * CARD_CHARS
            if target and not is_story_page(target) and sum(len(text) for _, text in headings) >= CARD_SHARE * total:
                return target
            return None
        box = box.getparent()
    return None


def select_story_pictures(found: list[PagePicture]) -> list[PagePicture]:
    """Return the story's own pictures: preferably those without a link or with one to its next page, without rows of thumbnails."""
    forms = Counter(picture.form for picture in found if picture.link == "page")
    targets: dict[str, set[str | None]] = defaultdict(set)
    for picture in found:
        if picture.link == "story":
            targets[picture.form].add(picture.target)
    main = [picture for picture in found if not picture.aside and picture.link != "site"]
    own = [picture for picture in main if picture.link == "none" or (picture.link == "story" and len(targets[picture.form]) < MIN_STRIP)]
    singles = [picture for picture in main if picture.link == "page" and forms[picture.form] == 1]
    large = [picture for picture in own if not picture.small]
    gifs = [picture for picture in large if GIF.search(picture.image.url)]  # a few GIFs among others are counters, marks or placeholders
    large = [picture for picture in large if picture not in gifs] if 2 * len(gifs) <= len(large) else large
    showcased = [picture for picture in singles if picture.showcased and not picture.small]
    chosen = [*large, *(showcased if len(large) <= MIN_LONG_STORY else ())] if large else showcased or singles or own
    places = {id(picture): at for at, picture in enumerate(found)}
    chosen = sorted(chosen, key=lambda picture: places[id(picture)])
    largest: dict[str, tuple[int, int]] = {}
    for picture in chosen:
        copy = parse_variant(picture.image.url)
        largest[copy.key] = max(largest.get(copy.key, (-1, -1)), (copy.rank, copy.area))
    unique: dict[str, PagePicture] = {}
    for picture in chosen:
        copy = parse_variant(picture.image.url)
        if (copy.rank, copy.area) == largest[copy.key]:
            unique.setdefault(picture.image.url, picture)
    return list(unique.values())


def _classify(walked: WalkedPicture, document: dom.Document, is_story_page: Callable[[str], bool]) -> PagePicture | None:
    """Return the picture in its context; ``None`` for icons, counters and banners."""
    node, url = walked.node, walked.large or walked.url
    if (
        not url
        or ICON.search(url)
        or FACE_ICON.search(url)
        or (walked.url and ICON.search(walked.url) and not walked.large)
        or NO_STORY.search(node.get("alt") or "")
    ):
        return None
    width, height = size_of(node, walked.url or url)
    if bool(width and height and width >= BANNER_RATIO * height and height <= BANNER_HEIGHT):
        return None
    small = bool(width and height and max(width, height) < MAX_THUMBNAIL_SIDE) and not walked.large
    if small and (width or 0) < MAX_THUMBNAIL_SIDE / 2 and (height or 0) < MAX_THUMBNAIL_SIDE / 2:
        return None
    around = list(ancestors(node, LEVELS, ("body", "html", "article", "main")))
    image = Image(url, None, *((None, None) if walked.large and walked.large != walked.url else (width, height)))
    lead, target = _lead(walked, document, is_story_page)
    return PagePicture(
        image,
        node,
        lead,
        target,
        aside=walked.aside,
        small=small or (not walked.large and any(has_name(is_thumbnail_strip, box) for box in (node, *around))),
        form="/".join(re.sub(r"\d+", "", f"{box.tag}.{box.get('class') or ''}"[:80]) for box in (node, *around)),
        showcased=any(has_name(is_showcase, box) for box in (node, *around)),
        caption=walked.caption,
    )


def _lead(walked: WalkedPicture, document: dom.Document, is_story_page: Callable[[str], bool]) -> tuple[LinkKind, str | None]:
    href = (walked.link or "").strip()
    target = dom.join(document.base, href) if href and not href.startswith("#") and not IMAGE_URL.match(href) else None
    if target is None and href and not NOT_PAGE_LINK.match(href) and not IMAGE_URL.match(href):
        return "page", href  # the page's own URL is unknown
    if target is None or target == walked.url:
        return "none", None
    if is_story_page(target):
        return "story", target if target != document.url.partition("#")[0] else None
    return ("page" if Address(target).domain == Address(document.url).domain else "site"), target
