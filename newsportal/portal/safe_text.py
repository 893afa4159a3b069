"""Escapes and sanitises crawled text for browsers, in the script that the reader chose. No other module marks crawled text as safe.

The body was sanitised before it was stored; it is sanitised again here, because the store may have been filled by an older version, by
another program or by hand (threats E).
"""

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar
from urllib.parse import urlsplit

import nh3
from markupsafe import Markup, escape

from newsportal.events.summaries import lead
from newsportal.extractors.article.sanitise import ATTRIBUTES, DROPPED_WITH_CONTENT, REL, TAGS
from newsportal.items import Image
from newsportal.store.results import StoredArticle, host
from newsportal.text import CJK, CONTROL, clean
from newsportal.text.characters import CONVERSIONS, convert, convert_html
from newsportal.text.characters import TAGS as SCRIPT_TAGS

Text = TypeVar("Text", bound=str)


def in_script(text: Text, script: str, language: str | None = None) -> Text:
    """Return ``text`` in ``script`` (``original``: unchanged) if its language is Chinese or unknown. Tags of markup are not converted."""
    if script not in CONVERSIONS or not _is_chinese(language):
        return text
    if isinstance(text, Markup):
        return type(text)(convert_html(text, script))  # tags are unchanged
    return type(text)(convert(text, script))


@lru_cache(1000)
def lang(language: str | None, script: str) -> Markup:
    """Return the attribute ``lang``, with a leading blank, for a text of ``language`` in ``script``; empty if unknown."""
    tag = SCRIPT_TAGS[script] if script in SCRIPT_TAGS and _is_chinese(language) else language
    return Markup(' lang="{}"').format(tag) if tag else Markup("")


def _is_chinese(language: str | None) -> bool:
    return language is None or language.lower().startswith("zh")


FORCED_ATTRIBUTES = {"img": {"loading": "lazy"}}
"""One attribute per tag: nh3 writes several in an order that varies from call to call, which would change the ETag of feeds."""

MARKED = nh3.Cleaner(tags={"mark"}, attributes={})  # search hits are escaped HTML with `<mark>`; this enforces it
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
"""These patterns match the cleaner's output: headings without attributes, each with an end tag."""

BLANK_PARAGRAPH = re.compile(r"<p>(?:\s|&nbsp;|<br>|\u3000)*</p>")


def body(article: StoredArticle, browser_url: Callable[[str], str | None]) -> Markup:
    """Return the article's body as safe HTML: the stored HTML, sanitised again, or its text in paragraphs. ``browser_url`` maps the URL of
    a picture to the one for browsers; pictures mapped to None are left out."""

    def replace_source(picture: re.Match[str]) -> str:
        source = browser_url(html.unescape(picture["src"])) if picture["src"] else None
        return f'<img{picture["before"]} src="{escape(source)}"{picture["after"]}>' if source else ""

    cleaned = BLANK_PARAGRAPH.sub("", sanitised(article.html, article.url)).strip() if article.html else ""
    if not cleaned:
        return paragraphs(article.text)
    return Markup(renumber_headings(PICTURE.sub(replace_source, cleaned)))  # noqa: S704 - this is the gate


def renumber_headings(fragment: str) -> str:
    """Renumber headings so that they begin below the page's own and skip no level: publishers choose them by their size."""
    used = sorted({int(level) for level in HEADING.findall(fragment)})
    last = 1

    def replace_level(match: re.Match[str]) -> str:
        nonlocal last
        last = min(used.index(int(match[1])) + 2, last + 1)
        return f"<h{last}>{match[2]}</h{last}>"

    return HEADING_WHOLE.sub(replace_level, fragment) if used else fragment


def sanitised(fragment: str, base: str) -> str:
    """Sanitise ``fragment`` with the allow-list used before storing. Relative URLs are resolved against the publisher's."""
    base_url = web_address(base)
    cleaner = nh3.Cleaner(
        tags=set(TAGS), clean_content_tags=set(DROPPED_WITH_CONTENT), attributes=ATTRIBUTES, set_tag_attribute_values=FORCED_ATTRIBUTES,
        url_schemes={"http", "https"}, url_relative=("rewrite_with_base", base_url) if base_url else "deny", link_rel=REL,
    )  # fmt: skip
    return cleaner.clean(CONTROL.sub("", fragment))


def paragraphs(text: str) -> Markup:
    """Return ``text`` (one paragraph per line) as escaped ``<p>`` elements."""
    return Markup("\n").join(Markup("<p>{}</p>").format(line) for line in map(clean, text.splitlines()) if line)


def safe_snippet(fragment: str) -> Markup:
    """Return a fragment of a search hit, with no tags but ``<mark>``."""
    return Markup(MARKED.clean(CONTROL.sub("", fragment)))  # noqa: S704 - this is the gate


@lru_cache(5000)  # called several times for every story of a page
def web_address(url: str | None) -> str | None:
    """Return ``url`` if it is http(s), has a host, and no user name, blank or control character; else None (threats E: ``javascript:``)."""
    if not url or any(character <= " " or character in "\\\x7f" for character in url):
        return None
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
    except ValueError:
        return None
    return url if usable else None


def site_name(article: StoredArticle) -> str:
    """Return the name of the article's site, else the host of its URL."""
    return clean(article.site or "") or host(article.url).removeprefix("www.") or clean(article.source)


def title(article: StoredArticle) -> str:
    """Return the title without control, direction and zero-width characters, which could reverse the text of the page."""
    return clean(article.title) or clean(article.url)


def excerpt(article: StoredArticle, limit: int = EXCERPT_CHARS) -> str:
    """Return the beginning of the text, else the summary of the list page, in complete sentences and without the title."""
    name = title(article)
    start = lead(name, article.text, limit)
    return lead(name, plain_text(article.summary), limit) or start if len(start) < MIN_EXCERPT_CHARS and article.summary else start


def plain_text(fragment: str) -> str:
    """Convert HTML to one line of text: summaries of feeds contain tags and entities."""
    return clean(html.unescape(PLAIN.clean(CONTROL.sub("", fragment))))


def reading_minutes(text: str) -> int:
    """Estimate the minutes to read ``text``, at least one; 0 if it has no words."""
    chinese = len(CJK.findall(text))
    words = len(LATIN_WORD.findall(text))
    return max(1, round(chinese / CHINESE_A_MINUTE + words / WORDS_A_MINUTE)) if chinese or words else 0


def body_picture_urls(article: StoredArticle) -> list[str]:
    matches = PICTURE.finditer(sanitised(article.html or "", article.url))
    return [html.unescape(picture["src"]) for picture in matches if picture["src"]]


def pictures(article: StoredArticle, browser_url: Callable[[str], str | None]) -> list[Image]:
    """Return the article's pictures that its body does not show, with their URLs for browsers."""
    body_urls = set(body_picture_urls(article))
    pairs = ((image, browser_url(image.url)) for image in dict.fromkeys(article.images) if image.url not in body_urls)
    return [replace(image, url=url) for image, url in pairs if url]


def thumbnail(images: Sequence[Image]) -> tuple[int, Image] | None:
    """Return the first picture large enough to stand beside a headline, and its position (from 1). Unknown sizes count as large."""
    sized = ((numbered, min(numbered[1].width or MIN_THUMBNAIL, numbered[1].height or MIN_THUMBNAIL)) for numbered in enumerate(images, 1))
    return next((numbered for numbered, side in sized if side >= MIN_THUMBNAIL and web_address(numbered[1].url)), None)
