"""Crawled text on its way to a browser: the last gate, and the script that the reader chose. Only what passes here is ever marked as safe.

The body was sanitised before it was stored; it is sanitised again here, since a store may have been filled by an older version, by
somebody else's program or by hand (threats E).
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar
from urllib.parse import urlsplit

import nh3
from markupsafe import Markup, escape

from newsportal.events.summaries import beginning
from newsportal.extractors.article.sanitise import ATTRIBUTES, DROPPED_WITH_CONTENT, REL, TAGS
from newsportal.items import Image
from newsportal.store.results import StoredArticle, host
from newsportal.text import CJK, CONTROL, clean
from newsportal.text.characters import CONVERSIONS, convert, convert_html
from newsportal.text.characters import TAGS as SCRIPT_TAGS

Text = TypeVar("Text", bound=str)


def written(text: Text, script: str, language: str | None = None) -> Text:
    """``text`` in ``script`` (``original``: as it is) if its language is Chinese or unknown; of markup the text alone."""
    if script not in CONVERSIONS or not _is_chinese(language):
        return text
    if isinstance(text, Markup):
        return type(text)(convert_html(text, script))  # its tags stay letter by letter
    return type(text)(convert(text, script))


@lru_cache(1000)
def lang(language: str | None, script: str) -> Markup:
    """The attribute ``lang`` with a blank before it, for a text of ``language`` shown in ``script``; nothing where it is not known."""
    tag = SCRIPT_TAGS[script] if script in SCRIPT_TAGS and _is_chinese(language) else language
    return Markup(' lang="{}"').format(tag) if tag else Markup("")


def _is_chinese(language: str | None) -> bool:
    return language is None or language.lower().startswith("zh")


FORCED = {"img": {"loading": "lazy"}}
"""One attribute a tag: nh3 writes several in an order that changes from call to call, and the ETag of a feed with it."""

MARKED = nh3.Cleaner(tags={"mark"}, attributes={})  # search hits come as escaped HTML with `<mark>`; this holds an index to that promise
PLAIN = nh3.Cleaner(tags=set(), clean_content_tags={"script", "style"}, attributes={})
EXCERPT_CHARS = 140  # two to three lines of a list on a telephone
MIN_EXCERPT_CHARS = 20  # a shorter beginning is a dateline or a label: the summary says more
MIN_THUMBNAIL = 120  # pixels: smaller pictures are icons, counters and avatars
CHINESE_A_MINUTE = 400  # characters: some 260 words of one and a half (Brysbaert, How many words do we read per minute?, 2019, on Chinese)
WORDS_A_MINUTE = 238  # of English non-fiction (the same)
LATIN_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9'’.-]*")

HEADING = re.compile("<h([2-6])>")
HEADING_WHOLE = re.compile("<h([2-6])>(.*?)</h\\1>", re.DOTALL)
PICTURE = re.compile(r'<img(?P<before>(?: (?!src=)[a-z]+="[^"]*")*)(?: src="(?P<src>[^"]*)")?(?P<after>(?: [a-z]+="[^"]*")*)>')
"""As the cleaner writes them: headings without attributes, and every one with its end."""

BLANK_PARAGRAPH = re.compile(r"<p>(?:\s|&nbsp;|<br>|\u3000)*</p>")


def body(article: StoredArticle, shown: Callable[[str], str | None]) -> Markup:
    """The article's body as safe HTML: its own, cleaned once more, or its text in paragraphs. ``shown``: where a browser finds a picture,
    by its address; one without such a place is left out."""

    def placed(picture: re.Match[str]) -> str:
        place = shown(html.unescape(picture["src"])) if picture["src"] else None
        return f'<img{picture["before"]} src="{escape(place)}"{picture["after"]}>' if place else ""

    cleaned = BLANK_PARAGRAPH.sub("", sanitised(article.html, article.url)).strip() if article.html else ""
    if not cleaned:
        return paragraphs(article.text)
    return Markup(levelled(PICTURE.sub(placed, cleaned)))  # noqa: S704 - this is the gate


def levelled(fragment: str) -> str:
    """A clean fragment whose headings begin below the page's own and skip no level: publishers choose them by their size."""
    used = sorted({int(level) for level in HEADING.findall(fragment)})
    last = 1

    def renamed(found: re.Match[str]) -> str:
        nonlocal last
        last = min(used.index(int(found[1])) + 2, last + 1)
        return f"<h{last}>{found[2]}</h{last}>"

    return HEADING_WHOLE.sub(renamed, fragment) if used else fragment


def sanitised(fragment: str, base: str) -> str:
    """``fragment`` by the same allow-list as when it was stored. Relative addresses are the publisher's, never ours."""
    there = web_address(base)
    cleaner = nh3.Cleaner(
        tags=set(TAGS), clean_content_tags=set(DROPPED_WITH_CONTENT), attributes=ATTRIBUTES, set_tag_attribute_values=FORCED,
        url_schemes={"http", "https"}, url_relative=("rewrite_with_base", there) if there else "deny", link_rel=REL,
    )  # fmt: skip
    return cleaner.clean(CONTROL.sub("", fragment))


def paragraphs(text: str) -> Markup:
    """``text`` (one paragraph a line) as escaped ``<p>``s."""
    return Markup("\n").join(Markup("<p>{}</p>").format(line) for line in map(clean, text.splitlines()) if line)


def marked(fragment: str) -> Markup:
    """A fragment of a search hit in which only ``<mark>`` is a tag."""
    return Markup(MARKED.clean(CONTROL.sub("", fragment)))  # noqa: S704 - this is the gate


@lru_cache(5000)  # asked several times for every story of a page
def web_address(url: str | None) -> str | None:
    """``url`` if a reader may be sent there: http or https, with a host, nothing hidden in it. Else None (threats E: ``javascript:``)."""
    if not url or any(character <= " " or character in "\\\x7f" for character in url):
        return None
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
    except ValueError:
        return None
    return url if usable else None


def site_name(article: StoredArticle) -> str:
    """Whose article it is: the site's name, else the host of its address."""
    return clean(article.site or "") or host(article.url).removeprefix("www.") or clean(article.source)


def title(article: StoredArticle) -> str:
    """The title without control, direction and zero-width characters, which could turn the rest of the page around."""
    return clean(article.title) or clean(article.url)


def excerpt(article: StoredArticle, limit: int = EXCERPT_CHARS) -> str:
    """How the text begins, else the summary a list page gave, in whole sentences; never the title once more."""
    name = title(article)
    said = beginning(name, article.text, limit)
    return beginning(name, plain(article.summary), limit) or said if len(said) < MIN_EXCERPT_CHARS and article.summary else said


def plain(fragment: str) -> str:
    """HTML as one line of text: summaries of feeds come with tags and entities."""
    return clean(html.unescape(PLAIN.clean(CONTROL.sub("", fragment))))


def minutes(text: str) -> int:
    """Minutes to read ``text``, at least one; 0 for none."""
    chinese = len(CJK.findall(text))
    words = len(LATIN_WORD.findall(text))
    return max(1, round(chinese / CHINESE_A_MINUTE + words / WORDS_A_MINUTE)) if chinese or words else 0


def addresses_of_pictures(article: StoredArticle) -> list[str]:
    """The pictures that stand in the article's body."""
    found = PICTURE.finditer(sanitised(article.html or "", article.url))
    return [html.unescape(picture["src"]) for picture in found if picture["src"]]


def pictures(article: StoredArticle, shown: Callable[[str], str | None]) -> list[Image]:
    """The article's pictures that its body does not show already, with the addresses at which a browser finds them."""
    inside = set(addresses_of_pictures(article))
    found = ((image, shown(image.url)) for image in dict.fromkeys(article.images) if image.url not in inside)
    return [replace(image, url=place) for image, place in found if place]


def thumbnail(images: Sequence[Image]) -> tuple[int, Image] | None:
    """The first picture large enough to stand beside a headline, and its place (from 1); sizes that nobody told count as large enough."""
    sized = ((one, min(one[1].width or MIN_THUMBNAIL, one[1].height or MIN_THUMBNAIL)) for one in enumerate(images, 1))
    return next((one for one, side in sized if side >= MIN_THUMBNAIL and web_address(one[1].url)), None)
