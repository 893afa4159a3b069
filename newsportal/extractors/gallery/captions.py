"""The text around the pictures of a page: the caption of each picture, and the lines that belong to the story.

Three layouts; the first that fits is used: a single picture, whose caption is the text of its box; a box per picture with text inside
(a slide); pictures and lines alternately.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from newsportal.extractors.article.hints import ancestors
from newsportal.extractors.article.joining import is_pager
from newsportal.extractors.gallery.pictures import ASIDE_TAGS, SKIPPED_TAGS, PagePicture, has_name, is_aside
from newsportal.extractors.images.article_images import caption_of
from newsportal.items import Image
from newsportal.text import clean, dom, letters
from newsportal.text.characters import cached_search

MAX_SLIDE_CHARS: Final = 600  # characters of one picture's caption: agencies' longest captions have some 400, an article's text more
MAX_SLIDE_LINES: Final = 4
HEADING_TAGS: Final = ("h2", "h3", "h4", "h5", "h6", "dt")
MAX_LEVELS: Final = 12  # Levels above a picture that are searched for its box
MAX_BOX_CHARS: Final = 20_000
MIN_WORDS: Final = 2  # Letters of the shortest line with a meaning
MIN_INTRODUCTION_LETTERS: Final = 15  # letters of the shortest line outside the pictures' box that counts as the story's text
is_separate: Final = cached_search(
    r"(?<![a-z])(?:pagers?|pages?|pagination|fenye|turn|tool|tools|bar|tips?|keyboard|editor|edit|source|laiyuan|time|date|pubtime|byline|info|meta"
    r"|button|btn|count|counter|index|num|number|tags?|keywords?|crumbs?|breadcrumbs?|hidden-print|report|statement|disclaimer|zan|like|vote)(?![a-z])"
)  # Class and id of short elements near pictures that do not describe them
MAX_SEPARATE_CHARS: Final = 60  # characters; longer text is used in spite of such a name
NOISE: Final = re.compile(
    r"^[\d\s/／|()（）\[\]<>«»‹›←→·.,:：第页頁张張幅共图圖前后後上下一首末尾-]*$"
    r"|^(?:来源|來源|稿源|作者|责任编辑|責任編輯|编辑|編輯|责编|責編|分享|打印|字号|字號|评论|評論|关键词|關鍵詞|标签|標籤|版权|版權|声明|聲明)\s*(?:[:：]|到|至|$)"
    r"|(?:点击|點擊|单击|按|支持|使用|提示|通过)[^。]{0,12}(?:图片|圖片|大图|原图|键盘|鍵盤|方向键|下一[页頁张張]|[←→])"
    r"|^(?:查看|浏览|下载|下載)?(?:原图|原圖|大图|大圖|全部图片|全屏(?:观看|浏览|查看)?|幻灯(?:片)?(?:播放|浏览)?|自动播放|列表(?:模式|查看)?|缩略图"
    r"|返回.{0,6}|重新(?:播放|浏览)|收藏|点赞|举报)$"
    r"|^(?:图源|圖源|图片来源|圖片來源|摄影|攝影|image source|photo(?:graph)? by|getty images)(?:\s*[:：,/，]|$).{0,40}$"
    r"|^(?:copyright|©|all rights reserved|share|print|advertisement|loading|previous|next|close|slide ?show|full ?screen"
    r"|view (?:gallery|fullscreen|original))\b.{0,40}$"
    r"|^.{0,40}\d{4}\s*[-年/.]\s*\d{1,2}\s*[-月/.]\s*\d{1,2}\s*日?\s*(?:\d{1,2}[:：]\d{2}(?:[:：]\d{2})?)?(?:\s.{0,40})?$",
    re.IGNORECASE,
)  # Lines near pictures that are not captions: counters, pagers, bylines, controls
# Prefixes of captions for screen readers.
PREFIX: Final = re.compile(r"^(?:(?:image|photo|picture)\s+caption|caption|图片说明|圖片說明|图说|圖說)\s*[,，:：]\s*", re.IGNORECASE)
SENTENCE_MARK: Final = re.compile(r"[，。；！？]|, ")  # a line with a date that is a sentence nevertheless


@dataclass(frozen=True, slots=True)
class CaptionedPictures:
    """The pictures of a page with their captions, and the lines that belong to no picture."""

    images: tuple[Image, ...]
    lines: tuple[str, ...] = ()


def assign_captions(found: Sequence[PagePicture], document: dom.Document, titles: Sequence[str]) -> CaptionedPictures:
    """Assign captions to the story's pictures (at least one). ``titles``: titles of page and story, which are not captions."""
    titled = {letters(title) for title in titles if title}
    page = letters(next((dom.text_of(node) for node in document.root.iter("title")), "")[:MAX_BOX_CHARS])
    words: list[str | None]
    words, rest = _caption_of_single(found[0], titled) if len(found) == 1 else _captions_of_several(found, titled)
    captions = [PREFIX.sub("", _caption(picture, text) or "") or None for picture, text in zip(found, words, strict=True)]
    times = Counter(letters(caption) for caption in captions if caption)
    unique = [
        caption
        if caption and (key := letters(caption)) and times[key] == 1 and key not in titled and not (len(captions) > 1 and key in page)
        else None
        for caption in captions
    ]
    shared = [caption for caption in dict.fromkeys(captions) if caption and times[letters(caption)] > 1 and letters(caption) not in titled]
    lines = [*rest, *(caption for caption in shared if letters(caption) not in page)]
    images = tuple(replace(picture.image, caption=caption) for picture, caption in zip(found, unique, strict=True))
    return CaptionedPictures(images, tuple(dict.fromkeys(lines)))


def _caption(picture: PagePicture, beside: str | None) -> str | None:
    """Return the first of: the figure's caption, an attribute of the element around, text beside the picture, its ``alt`` or label."""
    node, figure = picture.node, next(picture.node.iterancestors("figure"), None)
    figcaptions = list(figure.iter("figcaption")) if figure is not None else []
    lines = [line for line in dom.lines_of(figcaptions[0]) if NOISE.search(line) is None] if len(figcaptions) == 1 else []
    if caption := " ".join(lines)[:MAX_SLIDE_CHARS]:
        return caption
    if picture.caption:
        text = dom.text_of(dom.parse_html(picture.caption)) if "<" in picture.caption else clean(picture.caption)
        if text and (not beside or letters(text) not in letters(beside)):
            beside = text if node.tag != "img" or not beside else beside
    return (beside or caption_of(node) or None) if node.tag == "img" else beside or clean(node.get("aria-label") or "") or None


def _caption_of_single(picture: PagePicture, titles: set[str]) -> tuple[list[str | None], Sequence[str]]:
    """Return the text of the smallest box around the picture that has any, and the story's lines."""
    for box in ancestors(picture.node, MAX_LEVELS):
        before, after = text_between(box, [picture.node], titles)
        if not before and not after:
            continue
        heads = next((at for at, line in enumerate(after) if not line.form.startswith(HEADING_TAGS)), 0)
        caption_lines = after[: next((at for at in range(heads, len(after)) if after[at].form != after[heads].form), len(after))]
        if caption_lines and sum(map(len, caption_lines)) <= MAX_SLIDE_CHARS:
            return [" ".join(caption_lines)], [*before, *after[len(caption_lines) :]]
        if not after and sum(map(len, before)) <= MAX_SLIDE_CHARS:
            return [" ".join(before)], []
        return [None], [*before, *after]
    return [None], []


def _captions_of_several(found: Sequence[PagePicture], titles: set[str]) -> tuple[list[str | None], Sequence[str]]:
    nodes = [picture.node for picture in found]
    # the largest box around each picture without other pictures, and the smallest around all
    chains = [list(ancestors(node, MAX_LEVELS)) for node in nodes]
    counts = Counter(box for chain in chains for box in chain)
    boxes = [next((box for box in reversed(chain) if counts[box] == 1), None) for chain in chains]
    common = next((box for box in chains[0] if counts[box] == len(nodes)), None)
    if common is None:
        common = next(iter(nodes[0].getroottree().getroot().iter("body")), nodes[0])
    inside = [
        [line for lines in text_between(box, [node], titles) for line in lines] if box is not None else []
        for box, node in zip(boxes, nodes, strict=True)
    ]
    gaps = text_between(common, nodes, titles)
    if sum(map(_fits, inside)) >= max(1, len(found) / 2):
        used = {line.key for lines in inside if _fits(lines) for line in lines}
        words = [" ".join(lines) if _fits(lines) else None for lines in inside]
    else:
        alternating = _alternating_lines(gaps)
        used = {line.key for lines in alternating for line in lines}
        words = [" ".join(lines) or None for lines in alternating]
    rest = [line for lines in gaps for line in lines if line.key not in used]
    if not rest:  # an introduction
        flows = (text_between(box, nodes, titles) for box in ancestors(common, 3))
        introductions = ([line for line in (*around[0], *around[-1]) if len(line.key) >= MIN_INTRODUCTION_LETTERS] for around in flows)
        rest = next(filter(None, introductions), [])
    return words, rest


def _fits(lines: Sequence[str]) -> bool:
    return 0 < len(lines) <= MAX_SLIDE_LINES and sum(map(len, lines)) <= MAX_SLIDE_CHARS


def _alternating_lines(gaps: list[list[Line]]) -> list[list[Line]]:
    """Return the lines of each picture in a page of alternating pictures and lines: those after it, or those before it if none follow the
    last picture and all lines before pictures have the same form (else the line before the first is an introduction)."""
    count = len(gaps) - 1
    before, after = gaps[:-1], gaps[1:]
    forms = {line.form for lines in before for line in lines[-1:]}
    sides = before if not gaps[-1] and all(before) and len(forms) == 1 and count > 1 else after
    if sum(map(_fits, sides)) < max(1, count / 2):
        return [[] for _ in range(count)]
    usual = max((len(lines) for lines in sides[:-1] if _fits(lines)), default=1)
    *first, last = sides
    return [*(lines if _fits(lines) else [] for lines in first), last[:usual] if _fits(last[:usual]) else []]


class Line(str):
    """A line of text. ``form``: tag and attributes of its element, the same for all lines of a kind; ``key``: its letters."""

    __slots__ = ("form", "key")
    form: str
    key: str


def text_between(top: dom.Element, nodes: Sequence[dom.Element], titles: set[str]) -> list[list[Line]]:
    """Return the lines before the first of ``nodes``, after the first, and so on, without links, asides, titles and noise."""
    marked = set(nodes)
    around = {above for node in nodes for above in (node, *takewhile(lambda box: box is not top, node.iterancestors()))}
    gaps: list[list[Line]] = [[]]
    line: list[str] = []
    block = top

    def flush() -> None:
        if not line:
            return
        text = clean("".join(line))
        line.clear()
        key = letters(text)
        if len(key) < MIN_WORDS or key in titles or is_pager(text) or sum(map(len, gaps[-1])) >= MAX_BOX_CHARS:
            return
        if NOISE.search(text) is None or (SENTENCE_MARK.search(text) is not None and len(key) > MIN_INTRODUCTION_LETTERS):
            entry = Line(text)
            entry.key = key
            entry.form = f"{block.tag} {block.get('class')} {block.get('align')} {block.get('style')}"[:200]
            gaps[-1].append(entry)

    walk = dom.walk(top)
    for event, node in walk:
        if event == "start":
            if node is not top and (node.tag in SKIPPED_TAGS or _is_unrelated(node, around)):
                flush()
                walk.skip_subtree()
                continue
            if node.tag in dom.BREAKING_TAGS:
                flush()
                block = node
            if node in marked:
                flush()
                gaps.append([])
            if node.text:
                line.append(node.text.replace("\n", " "))
        else:
            if node.tag in dom.BREAKING_TAGS:
                flush()
            if node is not top and node.tail:
                line.append(node.tail.replace("\n", " "))
    flush()
    return gaps


def _is_unrelated(node: dom.Element, around: set[dom.Element]) -> bool:
    """Return whether an element's text does not belong to the story: a link, a menu, a button, a byline."""
    tag = node.tag
    if node in around:
        return False
    if tag in ("a", "h1", "button", "form", "textarea", "time", "noscript") or tag in ASIDE_TAGS or has_name(is_aside, node):
        return True
    if not has_name(is_separate, node):
        return False
    text = 0
    for number, part in enumerate(node.itertext()):
        text += len(part.strip())
        if text > MAX_SEPARATE_CHARS or number > 40:
            return False
    return True
