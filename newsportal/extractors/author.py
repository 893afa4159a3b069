"""Who wrote it: what the page tells machines, else its byline, else the element that calls itself author, else the first and last lines.

    作者：某某 · 撰文 | 某某 · 文／某某 · 某报记者 某某 某某 报道 · （记者某某） · 〔記者某某／報導〕 · By Jane Doe · Von Max Muster

The site itself, the editor on duty (责任编辑) and the photographer (记者某某 摄) are no authors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from newsportal import dom
from newsportal.extractors.metadata import Metadata
from newsportal.extractors.title import SEPARATOR
from newsportal.text import CJK, clean

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

MAX_BYLINES: Final = 2000
MAX_BYLINE_CHARS: Final = 80
"""Lines looked at, and how long they may be: a byline stands before the middle of a page and is no paragraph."""

MAX_PARTS: Final = 10
"""A line of more elements is a navigation."""

MAX_NAMES: Final = 6
MAX_CHINESE_CHARS: Final = 24
"""A longer "name" is a sentence."""

MAX_NAME_CHARS: Final = 80
DESCRIBED_CHARS: Final = 40
"""A Latin name of more characters has its bearer's office behind a comma."""

_LABEL: Final = (
    "责任|責任|责编|責編|编辑|編輯|来源|來源|发布|發佈|时间|時間|日期|字号|字體|字体|摄影|攝影|摄$|图|圖|记者|記者|通讯员|通訊員|实习|實習|校对|审核|点击|浏览|阅读"
    "|评论|评$|分享|转载|转自|网站|本报|本報|本网|本刊|综合|未知|佚名|匿名|供稿|报道|報導|報道|采写|文字|作者|原创|原創|一审|二审|三审"
)
_VERB: Final = (
    "获悉|獲悉|了解|从|從|在|采访|採訪|发现|發現|看到|问|問|说|說|表示|注意|日前|昨|今|近日|会$|们|們"
    "|节|证|手记|观察|调查|站|团|来到|走进|探访"
)
_END: Final = r"(?=[\s、,，;；/／|｜)）\]】〕。]|报道|報導|報道|发自|發自|撰文|采写|$)"
_CHINESE: Final = rf"(?!{_LABEL}|{_VERB})[\u4e00-\u9fff]{{2,4}}(?:[·•][\u4e00-\u9fff]{{1,6}}){{0,3}}{_END}(?!\s*(?:摄|攝|图|圖))"
_CHINESE_NAMES: Final = rf"{_CHINESE}(?:[\s、,，;；/／]{{1,2}}{_CHINESE}){{0,5}}"
_ANY_NAME: Final = rf"(?:[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*){{1,3}}|(?!{_LABEL})[^\s:：|｜/／,，;；、。()（）\[\]【】〔〕<>《》]{{2,20}})"

LABELLED: Final = re.compile(
    rf"(?:作\s*者|撰\s*文|文字|撰稿|采写|採寫|特约撰稿人?|(?<![\u4e00-\u9fff])(?:文|图文|文图)(?=\s*[/／|｜︱丨]))"
    rf"\s*[:：/／|｜︱∣丨]\s*(?P<any>{_ANY_NAME}(?:[\s、,，;；/／]{{1,2}}{_CHINESE}){{0,5}})"
    rf"|作者\s+(?P<author>{_CHINESE_NAMES})"
)
REPORTER: Final = re.compile(rf"(?:记者|記者|特派员)\s*[:：/／|｜]?\s*(?P<names>{_CHINESE_NAMES})")
IN_TEXT: Final = re.compile(
    rf"[(（【〔\[][^()（）【】〔〕\[\]]{{0,20}}(?:记者|記者|通讯员)\s*[:：]?\s*(?P<bracketed>{_CHINESE_NAMES})"
    rf"|[报報网網社刊](?:[\u4e00-\u9fff]{{0,6}}[讯电])?\s*(?:实习|见习|首席|特约)?[记記]者\s*(?P<names>{_CHINESE_NAMES})"
)
"""A paragraph tells of reporters, too: only in brackets, or after the name of a paper, are they its own."""

_SURNAME: Final = (
    "[王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何林高罗羅郑鄭梁谢謝宋唐许許韩韓邓鄧冯馮曹彭曾肖蕭田董潘袁蔡蒋蔣余于杜叶葉程魏苏蘇吕呂丁任卢盧姚沈钟鍾姜"
    "崔谭譚陆陸范汪廖石金韦韋贾賈夏付方邹鄒熊白孟秦邱侯江尹薛闫段雷龙龍黎史陶贺賀毛郝顾顧龚龔邵万萬覃武钱錢戴严嚴莫孔向常汤湯易]"
)
"""The hundred and some commonest: nine of ten people have one of them."""

LAST_WORDS: Final = re.compile(
    rf"[(（]\s*(?P<names>{_SURNAME}[\u4e00-\u9fff]{{1,2}}(?:[\s、,，]+{_SURNAME}[\u4e00-\u9fff]{{1,2}}){{0,3}})\s*[)）]\s*$"
)
"""An article's last line ends with its authors in brackets."""

BY: Final = re.compile(
    r"(?:^|[|•·\t]\s*)(?i:written by|by|von|par|por|di|autor(?:in)?(?:/autor(?:in)?)?)\s*[:\s]\s*"
    r"(?P<name>[^\W\d_a-z][\w.'’-]*(?:\s(?!and\b|und\b|et\b|y\b)[\w.'’-]+){0,2}\s[^\W\d_a-z][\w.'’-]*"
    r"(?:\s(?:and|und|et|y|&)\s[^\W\d_a-z][\w.'’-]*(?:\s[^\W\d_a-z][\w.'’-]*){1,3})?)\s*(?:[|•·,(\t\d]|$)"
)
FIRST_WORD: Final = re.compile(r"^(?:by|von|par|por|di)\s+", re.IGNORECASE)
AFTER: Final = re.compile(r"\s+[|—–-](?:\s.*)?$|\s+(?:publi\w+|posted|updated|veröffentlicht)\b.*$", re.IGNORECASE)
"""What is written behind a name: the paper's name, the word before the date."""

BYLINE: Final = re.compile(r"作\s*者|撰\s*[文稿]|文字|文\s*[/／|｜︱丨]|[采採][写寫]|[记記]者|特派员")
BY_WORD: Final = re.compile(r"\b(?:by|von|par|por|di|autor(?:in)?)\b", re.IGNORECASE)

EDITOR: Final = re.compile(
    r"(?:责任编辑|責任編輯|责编|責編|编辑|編輯|编审|校对|审核|监制|主编)\s*[:：/／]\s*(?P<name>[\u4e00-\u9fff]{2,4}(?![\u4e00-\u9fff]))"
)
NOT_NAMES: Final = re.compile(
    r"^(?:admin|administrator|editor|root|null|none|undefined|(?:no )?authors?:?|佚名|未知|匿名|管理员|编辑|网络|小编|作者|\d+|@.*)$"
    r"|(?:报道|報導|報道|编译|編譯|编制|編制|综合|綜合|职员|職員|记者|記者|整理|摄|攝|图|圖|供稿)$|://|www\.|\.(?:cn|com)\b",
    re.IGNORECASE,
)
CUT: Final = re.compile(r"\s*(?:来源|來源|编辑|編輯|责任|責任|发布|日期|时间|字号|点击|浏览|评论|发表).*$")
PARTS: Final = re.compile(r"[、,，/／;；]\s*|(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])")
LATIN_PARTS: Final = re.compile(r"\s+(?:and|und|et|y|&)\s+|\s*;\s*")

ELEMENT: Final = (
    ".//*[@rel='author' or @itemprop='author' or contains(@class,'uthor') or contains(@class,'yline') or contains(@class,'AUTHOR')]"
)
ELEMENT_CLASS: Final = re.compile(r"(?<![a-z])(?:authors?|byline)(?:[-_]*names?)?(?![a-z])", re.IGNORECASE)
ELEMENT_CHARS: Final = 40
OTHERS: Final = re.compile(r"comment|reply|pinglun|relate|recommend|sidebar|footer|hot|rank|teaser|card", re.IGNORECASE)
"""Where other people's names stand."""


def author(
    document: dom.Document, meta: Metadata, lines: Sequence[str], language: str | None = None, heading: str | None = None
) -> str | None:
    """The author's name; of several, all, parted by ``; ``.

    An organisation that is named as author counts last, and not on Chinese pages: there the newsroom is 来源.
    """
    site = site_names(document, meta)
    witnesses = (lambda: _told(document, meta, heading), lambda: _written(document, lines, heading), lambda: _marked(document))
    for witness in witnesses:
        found = [name for name in dict.fromkeys(map(_bare, witness())) if is_name(name) and not is_site(name, site)]
        if found:
            return "; ".join(found[:MAX_NAMES])
    if (language or "zh").startswith("zh"):
        return None
    return "; ".join(name for name in meta.organisations("author") if is_name(name)) or None


def site_names(document: dom.Document, meta: Metadata) -> frozenset[str]:
    """What the site calls itself: in ``meta``, as publisher, behind the page's title."""
    title = next((dom.text_of(node) for node in document.root.iter("title")), "")
    told = (meta.get("og:site_name"), meta.get("application-name"), *meta.organisations("publisher"), *SEPARATOR.split(title)[1:])
    return frozenset("".join(name.lower().split()) for name in told if name)


def is_site(name: str, site: Iterable[str]) -> bool:
    """Whether ``name`` is the site's, or the beginning of it (网易 of 网易财经)."""
    bare = "".join(name.lower().split())
    return any(other.startswith(bare) for other in site)


def is_name(name: str) -> bool:
    most = MAX_CHINESE_CHARS if CJK.search(name) else MAX_NAME_CHARS
    return 2 <= len(name) <= most and not NOT_NAMES.search(name)


def _bare(name: str) -> str:
    name = AFTER.sub("", FIRST_WORD.sub("", name))
    return name.partition(",")[0] if len(name) > DESCRIBED_CHARS and not CJK.search(name) else name


def _told(document: dom.Document, meta: Metadata, heading: str | None) -> Iterator[str]:
    """People in JSON-LD, else the first ``meta`` with a name that is not the title and not whom the page calls its editor."""
    people = meta.people("author")
    if people:
        yield from people
        return
    for key in AUTHOR_META:
        name = meta.get(key)
        if name and is_name(name) and name != heading and not (CJK.search(name) and name in _editors(document)):
            yield name
            return


def _editors(document: dom.Document) -> frozenset[str]:
    return frozenset(match["name"] for line in document.lines if "编" in line or "編" in line for match in EDITOR.finditer(line))


def _written(document: dom.Document, lines: Sequence[str], heading: str | None) -> list[str]:
    """Lines that are bylines, from the heading on and then before it; at last the ends of the text."""
    page = document.lines[:MAX_BYLINES]
    start = next((number for number, line in enumerate(page) if heading and line.startswith(heading[:20])), 0)
    short = [line for line in (*page[start:], *page[:start]) if _may_be_byline(line)]
    for form in (LABELLED, REPORTER):
        for line in short:
            match = form.search(line) if BYLINE.search(line) else BY.search(line) if BY_WORD.search(line) else None
            if match:
                return _parted(next(filter(None, match.groups())))
    for line in (*lines[:2], *lines[-2:]):
        match = IN_TEXT.search(line)
        if match:
            return _parted(match["bracketed"] or match["names"])
    last = LAST_WORDS.search(lines[-1]) if lines else None
    return _parted(last["names"]) if last else []


def _may_be_byline(line: str) -> bool:
    return len(line) <= MAX_BYLINE_CHARS and line.count("\t") <= MAX_PARTS and not line.endswith(("。", "！", "？", "”"))


def _parted(names: str) -> list[str]:
    names = CUT.sub("", clean(names))
    return (PARTS if CJK.search(names) else LATIN_PARTS).split(names)


def _is_marked(node: dom.Element) -> bool:
    return bool(node.get("rel") or node.get("itemprop") or ELEMENT_CLASS.search(node.get("class") or ""))


def _marked(document: dom.Document) -> list[str]:
    """The first element that is marked as the author, outside of comments and teasers."""
    for node in dom.xpath(document.root, ELEMENT):
        if not isinstance(node, dom.Element) or not _is_marked(node):
            continue
        text = FIRST_WORD.sub("", dom.text_of(node))
        if not 2 <= len(text) <= ELEMENT_CHARS or re.search(r"[\d:：]", text):
            continue
        if any(OTHERS.search(f"{above.get('class') or ''} {above.get('id') or ''}") for above in node.iterancestors()):
            continue
        return _parted(text)
    return []
