"""Who wrote it, who published it first, in which language, under which address."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from newsportal import dom
from newsportal.extractors.metadata import Metadata
from newsportal.text import CJK, chinese_share, clean, fold_characters

MAX_BYLINES: Final = 2000
MAX_BYLINE_CHARS: Final = 160
"""Lines looked at, and how long they may be: a byline stands before the middle of a page and is no paragraph."""

BYLINE: Final = re.compile(r"[:：/|｜]|者|^\s*(?:by|written by|von|par|por|di)\b", re.IGNORECASE)

NAME: Final = r"[\u4e00-\u9fff·]{2,5}(?:[\s、,，/;；]{1,2}[\u4e00-\u9fff·]{2,4}){0,4}"
AUTHOR: Final = re.compile(
    rf"(?:作\s*者|撰\s*文|文字|撰稿|采写|记\s*者|記\s*者|本报记者|特约撰稿人?|通讯员)\s*[:：/|｜]\s*(?P<zh>(?:{NAME}|[A-Za-z0-9_.·\u4e00-\u9fff-]{{2,20}}))"
    rf"|[(（【]\s*(?:本报|本網|本网|实习|見習|见习)?(?:记者|記者)\s*(?P<zh2>{NAME})"
    rf"|本[报報网網社](?:[\u4e00-\u9fff]{{0,4}}讯)?\s*(?:实习|见习)?[记記]者\s*(?P<zh3>[\u4e00-\u9fff·]{{2,3}}(?:[\s、]+[\u4e00-\u9fff·]{{2,3}}){{0,3}})(?=\s|$|[(（，,)）])"
)
BY: Final = re.compile(r"^\s*(?:by|written by|von|par|por|di)[:\s]+(?P<name>[A-Z][^\d|•·,]{2,60}?)\s*(?:[|•·,\d]|$)", re.IGNORECASE)
ORIGIN: Final = re.compile(
    r"(?:来\s*源|來\s*源|稿源|转自|轉自|出处|source)\s*[:：]\s*(?P<name>[^\s:：|｜\[\]()（）<>]{2,30})", re.IGNORECASE
)
AUTHOR_META: Final = (
    "author",
    "article:author",
    "og:article:author",
    "dc.creator",
    "sailthru.author",
    "parsely-author",
    "byl",
    "articleauthor",
    "twitter:creator",
)
ORIGIN_META: Final = ("source", "contentsource", "og:article:source", "copyright-holder", "mediaid")
NOT_NAMES: Final = re.compile(
    r"^(?:admin|administrator|editor|root|null|none|undefined|佚名|未知|匿名|管理员|编辑|网络|小编|\d+|@.*)$", re.IGNORECASE
)
CUT: Final = re.compile(r"\s*(?:来源|來源|编辑|編輯|责任|責任|发布|日期|时间|字号|点击|浏览|评论|发表).*$")


def author(document: dom.Document, meta: Metadata, lines: Sequence[str]) -> str | None:
    """The author's name; of several, all, parted by ``; ``."""
    site = f"{meta.get('og:site_name') or ''} {(dom.text_of(next(iter(document.root.iter('title')), document.root)))[-40:]}".lower()
    told = tuple(filter(None, (meta.get(key) for key in AUTHOR_META)))[:1]
    named = meta.names_of("author") or tuple(name for name in told if name.lower() not in site)
    named = tuple(name for name in dict.fromkeys(named) if _is_name(name))
    if named:
        return "; ".join(named[:6])
    for text in (*short_texts(document), *lines[:2], *lines[-2:]):
        match = AUTHOR.search(text) or BY.match(text)
        if match:
            name = CUT.sub("", clean(next(filter(None, match.groups()))))
            if _is_name(name):
                return "; ".join(re.split(r"[、,，/;；]\s*|(?<=[\u4e00-\u9fff])\s+", name)) if CJK.search(name) else name
    return None


def _is_name(name: str) -> bool:
    return 2 <= len(name) <= 80 and not NOT_NAMES.match(name) and "://" not in name


def short_texts(document: dom.Document) -> list[str]:
    """The short lines of the page that may hold a byline, in order."""
    return [line for line in document.lines[:MAX_BYLINES] if len(line) <= MAX_BYLINE_CHARS and BYLINE.search(line)]


def origin(document: dom.Document, meta: Metadata, language: str | None) -> str | None:
    """来源: who published it first, as the page says; a line of its own is a habit of Chinese pages only."""
    for text in short_texts(document) if (language or "zh").startswith("zh") else ():
        match = ORIGIN.search(text)
        if match:
            name = CUT.sub("", match["name"]).strip("·-_,，。；; ")
            if len(name) >= 2 and not name.startswith("http"):
                return name
    return next((value for value in map(meta.get, ORIGIN_META) if value and len(value) <= 30), None)


KANA: Final = re.compile("[\u3041-\u30fa]")
HANGUL: Final = re.compile("[\uac00-\ud7a3]")
ENGLISH: Final = re.compile(r"\b(?:the|of|and|to|is|that)\b", re.IGNORECASE)
SAMPLE: Final = 3000


def language(document: dom.Document, meta: Metadata, lines: Sequence[str]) -> str | None:
    """BCP 47, from the text first: templates are copied with the wrong ``lang``."""
    text = "".join(lines)[:SAMPLE]
    told = re.sub(r"[^A-Za-z-].*$", "", (meta.language or "").replace("_", "-")).lower()
    if len(KANA.findall(text)) > 0.05 * len(text) > 0:
        return "ja"
    if len(HANGUL.findall(text)) > 0.2 * len(text) > 0:
        return "ko"
    if chinese_share(text) > 0.3:
        return "zh-Hant" if _is_traditional(text) else "zh"
    if told and not told.startswith(("zh", "ja", "ko")) and 2 <= len(told.split("-")[0]) <= 3:
        return told.split("-")[0]
    return "en" if len(ENGLISH.findall(text)) > len(text) / 100 else None


def _is_traditional(text: str) -> bool:
    characters = CJK.findall(text)[:600]
    changed = sum(1 for before, after in zip(characters, fold_characters("".join(characters)), strict=True) if before != after)
    return changed > 0.1 * len(characters)


def canonical(document: dom.Document, meta: Metadata) -> str | None:
    """``rel=canonical`` where it is plausible: the same site, and not its front page unless this is it."""
    if not meta.canonical:
        return None
    here, there = urlsplit(document.url), urlsplit(meta.canonical)
    if not here.hostname or _site(here.hostname) != _site(there.hostname or ""):
        return None
    if there.path in ("", "/") and not there.query and here.path not in ("", "/"):
        return None
    return meta.canonical


def _site(host: str) -> str:
    """The last two labels, three where the last but one is a category (``com.cn``): enough to know a stranger."""
    labels = host.lower().split(".")
    return ".".join(labels[-3:] if len(labels) > 2 and len(labels[-2]) <= 3 else labels[-2:])
