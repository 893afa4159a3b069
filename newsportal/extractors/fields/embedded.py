"""Find the article in a page's embedded data (scripts, JSON-LD, microdata), for pages rendered by JavaScript.

Sources are ``articleBody`` of JSON-LD and microdata, and the page's state: the longest text in it that reads like an article's (paragraphs,
sentences) and that belongs to this page (matched by title or description).
"""

from __future__ import annotations

import html
import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final
from urllib.parse import unquote

from newsportal.extractors.fields.date import default_zone, read_date
from newsportal.extractors.fields.headlines import ENTITY, is_site_name, plain, without_site
from newsportal.extractors.fields.metadata import Metadata
from newsportal.extractors.fields.title import META_TITLES
from newsportal.text import WORD, clean, dom, letters

MIN_SCRIPT_CHARS: Final = 150
MAX_SCRIPT_CHARS: Final = 4_000_000
MAX_OBJECTS: Final = 30_000
MAX_DEPTH: Final = 40
MAX_STATES: Final = 20  # Assignments tried in one script

# Texts in a page's scripts: its state as JSON, assigned or alone, and long string literals if it is not JSON. <script
# type="application/json"> · <script id="__NEXT_DATA__"> · window.__INITIAL_STATE__ = {...} · JSON.parse("...") ·
# window.__NUXT__=(function(a,b){return {...}}(...)) · var content = "...". No script is executed. Bytes, objects, depth and attempts are
# bounded, so the time is linear in the page.

MIN_TEXT_CHARS: Final = 120  # minimum characters of a candidate: the shortest article is a paragraph
MAX_LITERAL_CHARS: Final = 500_000
RADIUS: Final = 3000  # Characters around a string literal that are searched for its title and date
MAX_NEAR: Final = 100  # titles and dates considered per literal
MAX_TEXTS: Final = 5_000  # of a page
MAX_LEVELS_ABOVE: Final = 3  # levels of objects above a text that may hold its title: ``article.content.html`` beside ``article.title``
START: Final = re.compile(r"(?:=|:|return)\s*(?=[{\[])|JSON\.parse\(\s*(?=[\"'])")
UNDEFINED: Final = re.compile(r"(?<=[:,\[])\s{0,2}undefined(?=[,}\]])")
_SPAN: Final = f"{{{MIN_TEXT_CHARS},{MAX_LITERAL_CHARS}}}"
# An escaped quote starts no literal: otherwise each of thousands would scan the rest of the script in vain.
LITERAL: Final = re.compile(rf'(?<!\\)(?:"((?:[^"\\\n]|\\.){_SPAN})"|\'((?:[^\'\\\n]|\\.){_SPAN})\'|`((?:[^`\\]|\\.){_SPAN})`)')
TITLES: Final = ("title", "headline", "articleTitle", "article_title", "newsTitle", "news_title", "subject", "name")
DATES: Final = (
    "datePublished publishedAt published_at publishTime publish_time publishDate publish_date pubDate pub_date pubtime newsTime "
    "firstPublished createTime create_time createdAt created_at ctime date"
).split()
KEYED_VALUE: Final = re.compile(
    rf"""({"|".join((*TITLES, *DATES))})["']?\s*[:=]\s*"""
    r"""(?:"((?:[^"\\\n]|\\.){4,300})"|'((?:[^'\\\n]|\\.){4,300})'|(\d{10,13}))"""
)
TEXT_KEYS: Final = ("html", "text", "content", "body", "value", "paragraph", "data", "children", "items", "model")
ESCAPE: Final = re.compile(r"((?:\\u[0-9a-fA-F]{4})+)|\\(?:u\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_SHORT: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "", "f": "", "0": ""}


@dataclass(frozen=True, slots=True)
class ScriptText:
    """A text in the page's state, the titles and dates in its object or those around it, and its key."""

    text: str
    titles: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    key: str = ""


def script_texts(document: dom.Document) -> Iterator[ScriptText]:
    left = MAX_SCRIPT_CHARS
    for node in document.root.iter("script"):
        text, kind = node.text or "", (node.get("type") or "").lower()
        if len(text) < MIN_SCRIPT_CHARS or "ld+json" in kind:
            continue
        text, left = text[:left], left - len(text)
        is_json = "json" in kind
        states = [state for state in (parse_json(text.strip()),) if state is not None] if is_json else list(_assigned(text))
        for state in states:
            waiting: list[tuple[Any, str, tuple[Mapping[str, Any], ...], int]] = [(state, "", (), 0)]
            count = 0
            while waiting and count < MAX_OBJECTS:
                value, key, owners, depth = waiting.pop()
                count += 1
                if isinstance(value, str):
                    nested = parse_json(value) if depth < MAX_DEPTH and len(value) >= MIN_TEXT_CHARS and value[:1] in "{[" else None
                    if nested is not None:
                        waiting.append((nested, key, owners, depth + 1))
                    elif len(value) >= MIN_TEXT_CHARS:
                        yield ScriptText(value, _named(owners, TITLES), _named(owners, DATES), key)
                elif depth >= MAX_DEPTH:
                    continue
                elif isinstance(value, dict):
                    within = (value, *owners)[: MAX_LEVELS_ABOVE + 1]
                    waiting.extend((inner, str(name), within, depth + 1) for name, inner in reversed(value.items()))
                elif isinstance(value, list):
                    # a list of paragraphs, as texts or as objects with a text, becomes one text with a paragraph per line
                    texts = (_block_text(block, 0) for block in value[:2000]) if len(value) > 1 else ()
                    joined = "\n".join(filter(None, texts))
                    if len(joined) >= MIN_TEXT_CHARS:
                        yield ScriptText(joined, _named(owners, TITLES), _named(owners, DATES), key)
                    waiting.extend((inner, key, owners, depth + 1) for inner in reversed(value))
        if not states and LITERAL.search(text):
            # long string literals, with nearby titles and dates
            entries = _keyed(text)
            starts = [entry[0] for entry in entries]
            for match in LITERAL.finditer(text):
                start, end = match.span()
                before, after = bisect_left(starts, start), bisect_left(starts, end)
                near = [entry for entry in entries[max(0, before - MAX_NEAR) : before] if entry[0] >= start - RADIUS and entry[1] <= start]
                near += [entry for entry in entries[after : after + MAX_NEAR] if entry[1] <= end + RADIUS]
                titles, dates = (tuple(value for _, _, key, value in near if key in keys) for keys in (TITLES, DATES))
                yield ScriptText(unescape_literal(next(filter(None, match.groups()))), titles, dates)
        if left <= 0:
            return


def parse_json(text: str) -> Any:
    """Parse a JSON text, allowing line feeds in strings; ``None`` if it is invalid."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _assigned(text: str) -> Iterator[Any]:
    """Yield the JSON values that are assigned, passed as arguments or returned; ``undefined`` is read as null."""
    decoder = json.JSONDecoder(strict=False)
    text = UNDEFINED.sub("null", text) if "undefined" in text else text
    start = tries = 0
    while tries < MAX_STATES:
        match = START.search(text, start)
        if match is None:
            return
        start, tries = match.end(), tries + 1
        try:
            state, end = decoder.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            continue
        if isinstance(state, str):
            state = parse_json(state)
        if isinstance(state, (dict, list)) and state:
            start = max(end, start)
            yield state


def _named(owners: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> tuple[str, ...]:
    found = (owner.get(key) for owner in owners for key in keys)
    return tuple(str(value) for value in found if (isinstance(value, str) and value.strip()) or (isinstance(value, int) and value > 10**9))


def _block_text(block: Any, depth: int) -> str:
    if isinstance(block, str):
        return block if " " in block or not block.isascii() else ""
    if depth > 4:
        return ""
    if isinstance(block, dict):
        return next((text for text in (_block_text(block.get(key), depth + 1) for key in TEXT_KEYS) if text), "")
    return "".join(_block_text(inner, depth + 1) for inner in block[:500]) if isinstance(block, list) else ""


def _keyed(text: str) -> list[tuple[int, int, str, str]]:
    """Return start, end, name and value of each title and date in a script, read once for all nearby texts.

    The word boundary before a name is checked after the match: a pattern that starts with the name is three times as fast.
    """
    found = (match for match in KEYED_VALUE.finditer(text) if not WORD.match(text[match.start() - 1 : match.start()]))
    return [(*match.span(), match[1], unescape_literal(match[2] or match[3] or match[4])) for match in islice(found, MAX_OBJECTS)]


def unescape_literal(text: str) -> str:
    """Decode a JavaScript string literal."""
    if "\\" not in text:
        return text

    def decode_escape(match: re.Match[str]) -> str:
        if match[1]:
            return bytes.fromhex(match[1].replace("\\u", "")).decode("utf-16-be", "surrogatepass")
        code = match[2] or match[3]
        if code is None:
            return _SHORT.get(match[4], match[4])
        return chr(int(code, 16)) if int(code, 16) < 0x110000 else ""

    joined = ESCAPE.sub(decode_escape, text)
    return joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if "\\u" in text else joined


MARKUP: Final = re.compile(r"<(?:p|div|br|span|a|em|section|h[1-6]|figure|img|strong|ul)\b[^<>]{0,500}/?>", re.IGNORECASE)
SENTENCE: Final = re.compile(r"[。！？；]|[.!?][\"'”’)]?(?=\s|$)")
CODE: Final = re.compile(
    r"function\s*\(|=>|[{;]\s*(?:var|let|const|return)\b|\}\s*\.[\w-]+\s*\{|^\s*[.#@][\w-]+[^。]{0,80}\{|base64,|\[\"\$\"", re.MULTILINE
)
MIN_SENTENCES: Final = 2
MIN_PROSE_SHARE: Final = 0.5  # Minimum share of an article's characters in lines with a sentence mark
MIN_SHARED_LETTERS: Final = 6  # minimum letters shared by a title and the page's; a shorter title must match completely
DESCRIPTION_LETTERS: Final = 24  # letters of the page's description that its text must contain
YEAR: Final = re.compile(r"(?:19|20)\d\d|\d{10}")
MIN_LENGTH_FACTOR: Final = 2  # A text that starts with the description must be so many times as long, or it is only the description


@dataclass(frozen=True, slots=True)
class EmbeddedArticle:
    """An article from the page's data: ``text`` has one paragraph per line; ``html`` (not sanitised) is set if the text had markup."""

    text: str
    html: str | None = None
    title: str | None = None
    published: datetime | None = None


def find_embedded(document: dom.Document, meta: Metadata, fetched: datetime | None = None) -> EmbeddedArticle | None:
    """Return the longest article in the page's data, or ``None``. ``fetched`` is needed for its date."""
    # letters of the page's titles
    site = meta.get("og:site_name")
    page = plain(next((dom.text_of(node) for node in document.root.iter("title")), ""))
    meta_titles = (plain(meta.get(key)) for key in META_TITLES)
    titles = (without_site(text, site) for text in (page, *meta_titles, plain(meta.article("headline"))) if text and not is_site_name(text))
    witnesses = tuple(dict.fromkeys(filter(None, map(letters, titles))))
    best: EmbeddedArticle | None = None
    letters_of: dict[str, str] = {}
    for source in islice(_sources(document, meta), MAX_TEXTS):
        if best is not None and len(source.text) <= len(best.text):
            continue
        title = _agreeing(source.titles, witnesses, letters_of)
        if title is None and not _described(source.text, meta) and (witnesses or not source.titles or not MARKUP.search(source.text)):
            continue
        found = _read(source, title or (clean(source.titles[0]) if source.titles else None), fetched)
        if found is not None and (best is None or len(found.text) > len(best.text)):
            best = found
    return best


def _sources(document: dom.Document, meta: Metadata) -> Iterator[ScriptText]:
    body = meta.article("articleBody")
    title, date = meta.article("headline"), meta.article("datePublished")
    if body and len(body) >= MIN_TEXT_CHARS:
        yield ScriptText(body, (title,) if title else (), (date,) if date else (), "articleBody")
    if "articleBody" in document.html:
        for node in dom.xpath(document.root, ".//*[@itemprop='articleBody']")[:3]:
            if isinstance(node, dom.Element):
                text = node.get("content") or dom.html_of(node)
                yield ScriptText(text, (title,) if title else (), (date,) if date else (), "articleBody")
    yield from script_texts(document)


def _agreeing(titles: Sequence[str], witnesses: Sequence[str], letters_of: dict[str, str]) -> str | None:
    for title in titles:
        if (form := letters_of.get(title)) is None:  # a title may be near many texts
            form = letters_of[title] = letters(title)
        for witness in witnesses:
            if form and (form == witness or (min(len(form), len(witness)) >= MIN_SHARED_LETTERS and (form in witness or witness in form))):
                return clean(title)
    return None


def _described(text: str, meta: Metadata) -> bool:
    declared = meta.get("og:description") or meta.get("description") or ""
    description = letters(declared)[:DESCRIPTION_LETTERS]
    if len(text) < MIN_LENGTH_FACTOR * len(declared) or len(description) < DESCRIPTION_LETTERS:
        return False
    return description in letters(dom.text_of(dom.parse_html(_marked_up(text))))


def _marked_up(text: str) -> str:
    """Decode the text as the page would for display: percent-encoding and doubly escaped entities."""
    if "%3C" in text[:200] or "%E" in text[:200] or "%3c" in text[:200]:
        text = unquote(text)
    return html.unescape(text) if ENTITY.search(text) and not MARKUP.search(text) else text


def _read(source: ScriptText, title: str | None, fetched: datetime | None) -> EmbeddedArticle | None:
    text = _marked_up(source.text)
    marked = MARKUP.search(text) is not None
    if not marked and CODE.search(text[:5000]):
        return None
    lines = dom.lines_of(dom.parse_html(text)) if marked else [line for line in map(clean, text.splitlines()) if line]
    total = sum(map(len, lines))
    prose = [line for line in lines if SENTENCE.search(line)]
    sentences = sum(len(SENTENCE.findall(line)) for line in prose)
    if total < MIN_TEXT_CHARS / 2 or sentences < MIN_SENTENCES or sum(map(len, prose)) < MIN_PROSE_SHARE * total:
        return None
    moments = (read_date(date, fetched, default_zone(lines[0])) for date in source.dates if YEAR.search(date)) if fetched else ()
    return EmbeddedArticle("\n".join(lines), text if marked else None, title, next(filter(None, moments), None))
