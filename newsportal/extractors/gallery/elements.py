"""The elements of a page that show a picture, in document order, each with what stands around it: images, backgrounds, large copies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from newsportal import dom
from newsportal.extractors.images import LAZY, PICTURE, source_of

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
)  # What ``alt`` says of pictures that belong to no story
FACE: Final = re.compile(
    r"(?:^|/)(?:ico_|icon_|btn_|arrow_)?(?:face|portrait|head_?(?:pic|img|shot)?|user|author|reporter|wechat|weixin|weibo"
    r"|left|right|prev(?:ious)?|next|arrow|close|zoom|play|top|up|down|bg|background|line|dot|search|menu)[_-]?\w{0,2}\.\w+(?:$|\?)",
    re.IGNORECASE,
)  # Files that are called after people and channels, and what a page's frame is made of
GIF: Final = re.compile(r"\.gif(?:$|[?!@])", re.IGNORECASE)
HEADINGS: Final = 3  # headings of a page that are taken for its story's


@dataclass(slots=True)
class Met:
    node: dom.Element
    url: str | None
    link: str | None
    large: str | None
    aside: bool
    told: str | None


def walk_pictures(body: dom.Element, base: str) -> Iterator[Met]:
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
                    yield Met(node, held, None, None, bool(asides), told)
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
            taken, told = _taken(holders)
            yield Met(node, source_of(node, base), link, taken or _large_of(node, base), bool(asides), told)
            continue
        holds = _held(node, base)
        if holds:
            holders.append((node, holds, _told(node)))
            continue
        background = _background(node, base)
        if background:
            yield Met(node, background, link, None, bool(asides), None)


def _taken(holders: list[tuple[dom.Element, str, str | None]]) -> tuple[str | None, str | None]:
    """The large copy that the innermost element around a picture holds: it goes with the first picture inside."""
    if not holders or not holders[-1][1]:
        return None, None
    node, large, told = holders[-1]
    holders[-1] = (node, "", told)
    return large, told


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


def _large_of(node: dom.Element, base: str) -> str | None:
    named = (value for name, value in node.items() if LARGE_NAME.search(name) and PICTURE.match(value))
    return next((url for value in named if (url := dom.join(base, value))), None)


def _told(node: dom.Element) -> str | None:
    names = ("data-caption", "data-sub-html", "data-desc", "data-description", "data-title", "data-intro", "title")
    return next((value for value in map(node.get, names) if value and value.strip()), None)


def _background(node: dom.Element, base: str) -> str | None:
    style = node.get("style")
    match = BACKGROUND.search(style[:5000]) if style and "url(" in style else None
    value = match[1] if match else next((value for value in map(node.get, BACKGROUND_NAMES) if value and PICTURE.match(value)), None)
    return dom.join(base, value.strip()) if value and not value.startswith("data:") else None


def says(pattern: re.Pattern[str], node: dom.Element) -> bool:
    name = f"{node.get('class') or ''} {node.get('id') or ''}"[:200]
    return name != " " and pattern.search(name) is not None
