"""Candidates for a page's headline: headings, elements named title, lines that repeat its ``title``, the line before the date."""

import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from newsportal.extractors.article.hints import short_text
from newsportal.extractors.fields.date_forms import MONTH
from newsportal.text import clean, dom

# Padding in page titles: the site's name, its sections, separators.

MAX_TITLE_CHARS: Final = 300  # longer "titles" are paragraphs or padding; finding the common substring takes quadratic time
SEPARATOR: Final = re.compile(
    r"\s*[_|｜]+\s*|\s+(?:[-–—·•»›:@<>]|--|::)\s+|\s*(?:--+|——+)\s*|(?<=[^\x00-\x7f])-(?=[^\x00-\x7f])|-(?=[\u4e00-\u9fff]{2,8}[网網]$)"
)  # separates a title from the site's name. A hyphen or point counts between spaces, a hyphen between Chinese characters.
_SITE: Final = "网|網|新闻|新聞|日报|日報|晚报|晚報|在线|線上|频道|頻道|中心|电子报|電子報|官网|门户|首页|首頁"

# 「某某新闻网：」 before the title
LEADING_SITE: Final = re.compile(r"^[\w\s]{2,12}?(?:网|網|新闻|新聞|日报|日報|在线|線上)[:：]\s*(?=\S{4})")
# bullets and arrows of lists and breadcrumbs before a title
BULLET: Final = re.compile(r"^(?:[〉›»>·•・．■□◆◇●○◎▲★☆*|｜]+|》+(?![^《]*《))\s*(?=\S{4})")
TRAILING_SITE: Final = re.compile(
    r"[-_|｜–—]\s*[^-_|｜–—]{0,16}(?:网|網|新闻|新聞|日报|日報|在线|線上|频道|頻道|online|news|\.com|\.cn)\s*$", re.IGNORECASE
)
SITE_NAME: Final = re.compile(rf"(?:{_SITE}|online|news|\.com|\.cn|home)$", re.IGNORECASE)  # endings of site and section names

# an editor's mark, which is part of the headline: （图）, [3P], 【16:15】
TRAILING_MARK: Final = re.compile(r"\s*[【\[(（〔][^】\])）〕]{1,12}[】\])）〕]$")
PERMALINK: Final = re.compile(r"(?:\s?[¶§]|\s#)\s?$")  # the permalink after a heading in documentation
NAME_CHARS: Final = 16  # longer parts are headlines that only end like a name
MIN_PART: Final = 5  # minimum characters (twice that in Latin letters) of a title's first part; else its longest part is used
ENTITY: Final = re.compile(r"&(?:#\d{1,6}|#x[0-9a-fA-F]{1,5}|[a-zA-Z]{2,8});")


def plain(text: str | None) -> str:
    """Return a title on one line; unescape it again if it was escaped twice."""
    text = clean((text or "")[: 4 * MAX_TITLE_CHARS])
    return clean(html.unescape(text))[:MAX_TITLE_CHARS] if ENTITY.search(text) else text[:MAX_TITLE_CHARS]


def bare(title: str) -> str:
    return LEADING_SITE.sub("", BULLET.sub("", PERMALINK.sub("", title))) or title


def is_long_enough(part: str) -> bool:
    return len(part) >= (MIN_PART if not part.isascii() else 2 * MIN_PART)


def without_site(title: str, site: str | None = None) -> str:
    """Return ``title`` without the names of site and section at its end (rarely its start)."""
    title = clean(title)
    if site and len(site) > 1 and title.endswith(site) and title != site:
        title = title[: -len(site)].rstrip(" _|｜–—»›·•-:@,，")
    parts: list[str] = list(filter(None, SEPARATOR.split(title)))
    if len(parts) < 2:
        return title.strip(" _|｜-")
    first, longest = parts[0], max([part for part in parts if not _is_name(part)] or parts, key=len)
    return first if is_long_enough(first) and 3 * len(first) > len(longest) else longest


def is_site_name(title: str, names: Iterable[str] = ()) -> bool:
    """Return whether a page's title is only names of site and section: each part is short, in ``names``, or ends like a name."""
    name_set = frozenset(names)
    return all(len(part) < MIN_PART or part in name_set or _is_name(part) for part in list(filter(None, SEPARATOR.split(title))) or [title])


def _is_name(part: str) -> bool:
    return len(part) <= NAME_CHARS and SITE_NAME.search(part) is not None


MAX_HEADINGS: Final = 60  # more headings are teasers: the article's own is among the first
RANKS: Final = {"h1": 0.6, "h2": 0.4, "h3": 0.3, "h4": 0.1, "h5": 0.1, "h6": 0.1}
MARKED_RANK: Final = 0.2
TITLE_NAME: Final = re.compile(
    r"(?<![a-z])(?:(?:art|article|news|main|content|post|page|big|the|top|h|new|show|info|doc|text|nr|wz|xw)?[-_]?(?:titles?|tit|headlines?|subject|bt|biaoti|btn?t))(?![a-z])",
    re.IGNORECASE,
)  # Classes and ids that mean title: ``title``, ``articleTitle``, ``news_title``, ``main-title``, ``bt`` (标题)
OTHER_NAME: Final = re.compile(
    r"(?:sub|site|logo|side|list|more|menu|nav|col|box|tab|rel|hot|foot|video|photo|img|widget|block|module|section|comment)", re.IGNORECASE
)  # Classes and ids of titles of boxes
TAGS: Final = ("div", "span", "p", "td", "th", "font", "strong", "b", "dt", "em", "center", "label", "header")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A headline candidate. ``rank``: how likely its element is a headline (0 to 0.6); ``part``: the text is a part of its element."""

    text: str
    rank: float
    part: bool = False


def headings(document: dom.Document) -> Iterator[Ranked]:
    """Yield ``h1`` to ``h6``, higher levels first, each text once, and the parts of those with nested elements."""
    seen: set[str] = set()
    found: dict[str, list[dom.Element]] = {}
    for node in document.root.iter(*RANKS):
        nodes = found.setdefault(node.tag, [])
        if len(nodes) < MAX_HEADINGS:
            nodes.append(node)
    for tag, rank in RANKS.items():
        for node in found.get(tag, ()):
            full = short_text(node)
            texts = [full[: 2 * MAX_TITLE_CHARS]] if len(full) >= 2 else []
            if texts and len(node) and not TRAILING_MARK.search(full):
                # the text before, and that of the first nested elements
                parts = (" ".join((node.text or "").split()), *map(short_text, list(node)[:3]))
                texts += [part for part in parts if 2 <= len(part) <= MAX_TITLE_CHARS and part != full]
            for number, text in enumerate(texts):
                if text not in seen:
                    seen.add(text)
                    yield Ranked(text, rank, part=number > 0)


def marked_headlines(document: dom.Document) -> Iterator[Ranked]:
    count = 0
    for node in document.root.iter(*TAGS):
        name = f"{node.get('class') or ''} {node.get('id') or ''}"
        if name == " " or not TITLE_NAME.search(name) or OTHER_NAME.search(name):
            continue
        count += 1
        if count > MAX_HEADINGS:
            return
        text = short_text(node)
        if 2 <= len(text) <= MAX_TITLE_CHARS:
            yield Ranked(text, MARKED_RANK)


def lines_in(document: dom.Document, title: str) -> Iterator[Ranked]:
    """Yield lines, and tab-separated parts of lines, whose middle occurs in ``title``: a quick filter before letters are compared."""
    for line in document.lines:
        if len(line) <= 2 * MAX_TITLE_CHARS:
            for text in (line.replace("\t", ""), *(line.split("\t") if "\t" in line else ())):
                middle = len(text) // 2
                if len(text) >= 4 and text[middle - 2 : middle + 2] in title:
                    yield Ranked(text, 0.0)


MAX_HEADLINE: Final = 100  # maximum characters of a headline found by position alone
DATE: Final = re.compile(
    r"(?:19|20)\d\d\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}|\b\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)\d\d|\d{1,2}:\d\d|\d{1,2}月\d{1,2}日"
    rf"|\b{MONTH}\.? \d{{1,2}}\b|\b\d{{1,2}}\.? {MONTH}",
    re.IGNORECASE,
)
DATE_LABEL: Final = re.compile(
    r"来源|來源|发布|發布|發佈|发表|發表|时间|時間|日期|作者|编辑|記者|记者|字号|published|posted|updated|\bby\b", re.IGNORECASE
)
SENTENCE: Final = re.compile(r"[。；;:：]$")
CRUMB: Final = re.compile(r"[>›»〉]|^(?:您?的?(?:当前|現在|现在)?的?位置|首页|首頁|home)|copyright|©|版权|版權|http|www\.|@", re.IGNORECASE)
BEFORE_DATE: Final = 6  # Lines between a headline and its date: a subtitle, buttons, the author
BEFORE_TEXT: Final = 15  # lines between a headline and the first paragraph
PARAGRAPH_CHARS: Final = 70
DATE_LINE_CHARS: Final = 120
MIN_CHARS: Final = 6  # Minimum characters of a headline found by position alone
MAX_LINES: Final = 2000
MIN_SCORE: Final = 0.5


def headline_by_place(document: dom.Document, names: Sequence[str]) -> str | None:
    """Return the headline of a page with an uninformative ``title``: a heading, an element named title, or a line, right before a date."""
    lines = document.lines[:MAX_LINES]
    number_of = {"".join(line.split()): number for number, line in reversed(tuple(enumerate(lines)))}
    dated = [number for number, line in enumerate(lines) if len(line) <= DATE_LINE_CHARS and DATE.search(line)]
    near = (Ranked(lines[number], 0.0) for date in dated for number in range(max(0, date - BEFORE_DATE), date) if "\t" not in lines[number])
    best, most = None, MIN_SCORE
    found = tuple(entry for entry in headings(document) if not entry.part and entry.text not in names and _may_be_headline(entry.text))
    if sum(entry.rank == RANKS["h1"] for entry in found) == 1:
        return found[0].text
    for entry in (*headings(document), *marked_headlines(document), *near):
        if not _may_be_headline(entry.text) or entry.text in names:
            continue
        number = number_of.get("".join(entry.text.split()))
        score = entry.rank + min(len(entry.text), 30) / 100 + (_place(lines, dated, number) if number is not None else 0.0)
        if score > most:
            best, most = entry.text, score
    return best


def _may_be_headline(text: str) -> bool:
    text = TRAILING_MARK.sub("", text)
    return MIN_CHARS <= len(text) <= MAX_HEADLINE and not (
        SENTENCE.search(text) or CRUMB.search(text) or DATE.search(text) or is_site_name(text)
    )


def _place(lines: Sequence[str], dated: Sequence[int], number: int) -> float:
    """Score the line's position (-0.4 to 1.4): no paragraph before it, a date soon after it, then a paragraph."""
    if any(_is_paragraph(line) for line in lines[max(0, number - BEFORE_TEXT) : number]):
        return -0.4
    after = bisect_right(dated, number)
    date = dated[after] if after < len(dated) else number
    score = 0.0
    if number < date <= number + BEFORE_DATE:
        score = (0.6 + (0.4 if DATE_LABEL.search(lines[date]) else 0.0)) * (1 - (date - number - 1) / BEFORE_DATE)
    return score + (0.4 if any(map(_is_paragraph, lines[number + 1 : number + BEFORE_TEXT])) else 0.0)


def _is_paragraph(line: str) -> bool:
    return len(line) >= PARAGRAPH_CHARS and line.count("\t") < PARAGRAPH_CHARS / 10
