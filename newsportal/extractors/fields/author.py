"""Find the author: metadata, else the byline, else an element marked as the author, else the first and last lines of the text.

The site itself, the editor on duty (责任编辑) and photographers (记者某某 摄) do not count as authors.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, takewhile
from typing import Final

from newsportal.extractors.article.hints import find_elements, short_text
from newsportal.extractors.fields.headlines import SEPARATOR
from newsportal.extractors.fields.metadata import Metadata
from newsportal.text import CJK, clean, dom

# Patterns of bylines, Chinese first, all with bounded quantifiers.
# 作者：某某 · 撰文 | 某某 · 文／某某 · 某报记者 某某 通讯员 某某 · （记者某某） · 【某报記者某某台北報導】 · By Jane Doe and Max Poe

MAX_CHINESE_CHARS: Final = 24  # a longer "name" is a sentence
MAX_NAME_CHARS: Final = 80
DESCRIBED_CHARS: Final = 40  # A longer Latin name is cut at its comma, which is followed by a position
_LABEL: Final = (
    "责任|責任|责编|責編|编辑|編輯|来源|來源|发布|發佈|时间|時間|日期|字号|字體|字体|摄影|攝影|摄$|图|圖|记者|記者|通讯员|通訊員|实习|實習|校对|审核|点击|浏览|阅读"
    "|评论|评$|分享|转载|转自|网站|本报|本報|本网|本刊|综合|未知|佚名|匿名|供稿|报道|報導|報道|采写|文字|作者|原创|原創|一审|二审|三审"
)
_VERB: Final = (
    "获悉|獲悉|了解|从|從|在|采访|採訪|发现|發現|看到|问|問|说|說|表示|注意|日前|昨|今|近日|会$|们|們"
    "|节|证|手记|观察|调查|站|团|来到|走进|探访"
)
_SAYS: Final = r"[:：/／╱|｜︱∣丨]"
_ROLE: Final = "(?:(?:实习|實習|见习|見習|特约|首席)?(?:记者|記者|通讯员|通訊員)|实习生|實習生)"
_END: Final = r"(?=[\s、,，;；/／╱|｜)）\]】〕。]|实习|實習|通讯员|通訊員|报道|報導|報道|发自|發自|撰文|采写|$)"
_NO_PICTURE: Final = r"(?!\s*(?:摄|攝|图|圖)(?!影?[/／]?(?:报道|報導|文)))"
_CHINESE: Final = rf"(?!{_LABEL}|{_VERB})[\u4e00-\u9fff]{{2,4}}(?:[·•][\u4e00-\u9fff]{{1,6}}){{0,3}}{_END}{_NO_PICTURE}"
_AND: Final = rf"(?:[\s、,，;；/／]{{0,2}}{_ROLE}[\s:：]{{0,2}}|[\s、,，;；/／]{{1,2}})"
_CHINESE_NAMES: Final = rf"{_CHINESE}(?:{_AND}{_CHINESE}){{0,5}}"
_ANY_NAME: Final = rf"(?:[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*){{1,3}}|(?!{_LABEL})[^\s:：|｜/／,，;；、。()（）\[\]【】〔〕<>《》]{{2,20}})"
LABELLED: Final = re.compile(
    r"(?:作\s*者|撰\s*文|撰\s*稿人?|文字|采写|採寫|特约撰稿人?"
    r"|(?<![\u4e00-\u9fff])(?:文|图文|文图|圖文|[图圖]\s?[/／]\s?文|文\s?[/／]\s?[图圖])(?=\s*[/／╱|｜︱丨:：]))"
    rf"\s*{_SAYS}\s*(?:[\u4e00-\u9fff]{{0,12}}{_ROLE}[\s:：]{{0,2}}(?P<staff>{_CHINESE_NAMES})"
    rf"|(?P<any>本[报報刊][^\s:：]{{0,6}}(?:评论员|評論員|编辑部)|{_ANY_NAME}(?:{_AND}{_CHINESE}){{0,5}}))"
    rf"|(?:作者|(?<![\u4e00-\u9fff])[图圖]\s?[/／]\s?文|文\s?[/／]\s?[图圖])\s+(?P<author>{_CHINESE_NAMES})"
    rf"|(?<![\u4e00-\u9fff])[报報][道導]\s?[/／╱]\s?(?P<told>{_CHINESE_NAMES})"
)
REPORTER: Final = re.compile(rf"(?:记者|記者|特派员|通讯员|通訊員)\s*{_SAYS}?\s*(?P<names>{_CHINESE_NAMES})")
_SURNAME: Final = (
    "[王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何林高罗羅郑鄭梁谢謝宋唐许許韩韓邓鄧冯馮曹彭曾肖蕭田董潘袁蔡蒋蔣余于杜叶葉程魏苏蘇吕呂丁任卢盧姚沈钟鍾姜"
    "崔谭譚陆陸范汪廖石金韦韋贾賈夏付方邹鄒熊白孟秦邱侯江尹薛闫段雷龙龍黎史陶贺賀毛郝顾顧龚龔邵万萬覃武钱錢戴严嚴莫孔向常汤湯易]"
)  # the hundred and some most common ones, which cover nine of ten people
IN_TEXT: Final = re.compile(
    rf"[(（【〔\[][^()（）【】〔〕\[\]]{{0,20}}(?:记者|記者|通讯员|通訊員)\s*[:：]?\s*(?P<bracketed>{_CHINESE_NAMES})"
    rf"|[(（](?:[图圖文]\s?[/／]?\s?[图圖文]?|撰文|撰稿|作者|供稿|来稿)[\s:：/／]{{1,3}}(?P<signed>{_CHINESE_NAMES})[)）]\s*$"
    rf"|[(（【〔][^()（）【】〔〕]{{0,12}}(?:记者|記者)\s?(?P<placed>{_SURNAME}[\u4e00-\u9fff]{{1,2}})"
    rf"(?=[\u4e00-\u9fff]{{2,4}}[\s／/]?(?:电|電|报道|報導|報道)[)）】〕])"
    rf"|[报報网網社刊](?:[\u4e00-\u9fff]{{0,6}}[讯电])?\s*(?:实习|见习|首席|特约)?[记記]者\s*(?P<names>{_CHINESE_NAMES})"
)  # a paragraph may mention reporters; it is a byline only in brackets, or after the name of a paper
TRAILING_NAME: Final = re.compile(
    rf"[(（]\s*(?P<names>{_SURNAME}[\u4e00-\u9fff]{{1,2}}(?:[\s、,，]+{_SURNAME}[\u4e00-\u9fff]{{1,2}}){{0,3}})\s*[)）]\s*$"
)  # An article's last line may end with its authors in brackets
_LATIN: Final = r"[^\W\d_a-z][\w.'’-]*(?: (?!and\b|und\b|et\b|y\b)[\w.'’-]+){0,2} [^\W\d_a-z][\w.'’-]*"
BY: Final = re.compile(
    r"(?:^|[|•·\t]\s*)(?:(?i:written|posted|authored) (?i:by)\s*[:\s]\s*(?P<one>[^\W\d_][\w.'’-]{2,30})(?=\s(?:at|on)\s|\t|$)"
    r"|(?i:(?:(?:written|posted|authored|article|story|words) )?by\s*[:\s]|(?:von|par|por|di|autor(?:in)?(?:/autor(?:in)?)?)\s*[:\s])\s*"
    rf"(?P<name>{_LATIN}(?:(?:,\s{_LATIN}){{0,3}},?\s(?:and|und|et|y|&)\s{_LATIN})?)\s*(?:[|•·,(\t\d]|$))"
)
LABEL_LINE: Final = re.compile(
    r"(?:(?:(?:written|posted|authored|article|story|words) )?by|autor(?:in)?|von|par|作者|撰文)\s?[:：]?", re.IGNORECASE
)  # the name is on the next line
LEADING_BY: Final = re.compile(r"^(?:by|von|par|por|di)\s+", re.IGNORECASE)
# Text after a name: the paper's name, a word before the date.
AFTER_NAME: Final = re.compile(r"\s+[|—–-](?:\s.*)?$|\s+(?:publi\w+|posted|updated|veröffentlicht)\b.*$", re.IGNORECASE)
BYLINE: Final = re.compile(
    r"作\s*者|撰\s*[文稿]|文字|文\s*[/／╱|｜︱丨:：]|/\s?文|／\s?文|采[写寫]|採[写寫]|记者|記者|特派员|通[讯訊][员員]|报[道導]\s?[/／╱]|報[道導]\s?[/／╱]"
)  # Each alternative starts with a literal character, which makes the search fast
MAY_BE_BY: Final = re.compile("by|von|par|por|di|autor")  # a quick filter before :data:`BY_WORD`, in a quarter of its time
BY_WORD: Final = re.compile(r"\b(?:by|von|par|por|di|autor(?:in)?)\b", re.IGNORECASE)
EDITOR: Final = re.compile(
    r"(?:责任编辑|責任編輯|责编|責編|编辑|編輯|编审|校对|审核|监制|主编)\s*[:：/／]\s*(?P<name>[\u4e00-\u9fff]{2,4}(?![\u4e00-\u9fff]))"
)
NOT_NAMES: Final = re.compile(
    r"^(?:admin|administrator|editor|root|null|none|undefined|(?:no )?authors?:?|share|subscribe|login|more|follow"
    r"|佚名|未知|匿名|管理员|编辑|网络|小编|作者|账号|帳號|登录|登錄|注册|用户名|密码|首页|关注|订阅|举报|\d+|@.*)$"
    r"|(?:报道|報導|報道|编译|編譯|编制|編制|综合|綜合|职员|職員|记者|記者|整理|摄|攝|图|圖|供稿)$|://|www\.|\.(?:cn|com)\b",
    re.IGNORECASE,
)
LOGIN: Final = re.compile(r"[a-z0-9]+(?:[._][a-z0-9]+)+")  # a user name, or the key of a missing translation
END: Final = re.compile(r"\s*(?:来源|來源|编辑|編輯|责任|責任|发布|日期|时间|字号|点击|浏览|评论(?!员)|发表|(?:19|20)\d\d[-年/.]\d).*$")
# Words before a name: 「本报记者」.
ROLE_BEFORE: Final = re.compile(rf"^(?:[\u4e00-\u9fff]{{0,8}}?[报報网網社])?(?:本[报報刊网網])?{_ROLE}\s?[:：]?\s?(?=[\u4e00-\u9fff]{{2}})")
PARTS: Final = re.compile(rf"[\s、,，;；/／]{{0,2}}{_ROLE}[\s:：]{{0,2}}|" r"[、,，/／;；]\s*|(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])")
# A comma separates names only if another comma or an "and" follows; after the last name it introduces a position.
LATIN_PARTS: Final = re.compile(r",?\s+(?:and|und|et|y|&)\s+|\s*;\s*|,\s(?=[^,]*(?:,|\s(?:and|und|et|y|&)\s))")
AUTHOR_META: Final = (
    "author article:author og:article:author dc.creator sailthru.author parsely-author byl articleauthor cxenseparse:author twitter:creator"
).split()
CARD: Final = "twitter:label1"
WRITTEN_BY: Final = re.compile(
    r"(?:written|posted) by|authors?|verfasst von|geschrieben von|[ée]crit par|escrito por|scritto da|作者|撰文", re.IGNORECASE
)  # values of ``twitter:label1`` for which ``twitter:data1`` is the author (WordPress, Ghost)
MAX_DECLARED_CHARS: Final = 500  # of an author name in metadata
MAX_CLASS_CHARS: Final = 200
MAX_BYLINES: Final = 2000
MAX_BYLINE_CHARS: Final = 80  # Lines searched, and their maximum length: a byline is in the first half of a page and not a paragraph
MAX_PARTS: Final = 10  # a line with more elements is a navigation
MAX_NAMES: Final = 6
SITE_CHARS: Final = 20
SITE_WORDS: Final = 4  # Maximum words of a site's name
MIN_SITE_PREFIX: Final = 6  # minimum letters of a site's name found at the start of a longer name
ELEMENT_CLASS: Final = re.compile(r"(?<![a-z])(?:authors?|byline)(?:[-_]*(?:names?|list|item|link))*(?![a-z])", re.IGNORECASE)
# URLs of a site's author pages.
ELEMENT_LINK: Final = re.compile(r"/(?:authors?|autor|autoren|auteurs?|autores)/[^/?#]+/?(?:[^/?#]+/?)?$")
MAX_ELEMENT_NAME_CHARS: Final = 40
OTHER_PEOPLE: Final = re.compile(r"comment|reply|pinglun|relate|recommend|sidebar|footer|hot|rank|teaser|card", re.IGNORECASE)
COMMENT_NAMES: Final = re.compile(r"comment|reply|pinglun|relate|recommend|teaser", re.IGNORECASE)  # elements with other people's names
PERSON_DETAILS: Final = re.compile(r"(?:author|byline)[a-z]*(?:[-_]+[a-z]+)*[-_]+(?:role|job|title|bio|desc)", re.IGNORECASE)
# Other information in the author's element.
ROLE: Final = re.compile(r"role|job|position|title|date|time|desc|bio|avatar|social", re.IGNORECASE)


def find_author(
    document: dom.Document, meta: Metadata, lines: Sequence[str], language: str | None = None, heading: str | None = None
) -> str | None:
    """Return the author's name, several separated by ``; ``. Organisations and the site come last, and not on Chinese pages (see 来源)."""
    title = next((dom.text_of(node) for node in document.root.iter("title")), "")
    publishers = meta.named("publisher", organisations=True)
    site_names = (meta.get("og:site_name"), meta.get("application-name"), *publishers, *SEPARATOR.split(title)[1:])
    ends = (title.rpartition(mark)[2] for mark in "-," if mark in title)
    squeezed = frozenset("".join(name.lower().split()) for name in (*site_names, *(end for end in ends if len(end) <= SITE_CHARS)) if name)
    initials = ("".join(word[0] for word in name.lower().split()) for name in site_names if name and 2 <= name.count(" ") <= SITE_WORDS)
    site = squeezed | frozenset(word for word in initials if word.isalpha())
    chinese = (language or "zh").startswith("zh")
    sources: tuple[Callable[[], Iterable[Sequence[str]]], ...] = (
        lambda: (meta.named("author"),),
        lambda: (_named_in_meta(document, meta, heading),),
        lambda: () if chinese else (meta.named("author", organisations=True),),
        lambda: (_written(document, lines, heading),),
        lambda: takewhile(lambda names: not any(is_site(name, site) for name in names), _marked(document, heading)),
    )
    for names in (dict.fromkeys(map(_bare, candidates)) for source in sources for candidates in source()):
        found = [name for name in names if is_name(name) and not is_site(name, site) and not LOGIN.fullmatch(name)]
        if found:
            return "; ".join(found[:MAX_NAMES])
    if chinese:
        return None
    declared = (*meta.named("author"), *meta.named("author", organisations=True), meta.get("author") or "")
    fallback = (*declared, *next(_marked(document, heading), ()))
    return next((name for name in map(_bare, fallback) if is_name(name)), None)


def is_site(name: str, site: Iterable[str]) -> bool:
    """Return whether ``name`` is the site's name, a beginning of it (网易 of 网易财经), or starts with it."""
    bare = "".join(name.lower().split())
    return any(other.startswith(bare) or (len(other) >= MIN_SITE_PREFIX and bare.startswith(other)) for other in site)


def is_name(name: str) -> bool:
    most = MAX_CHINESE_CHARS if CJK.search(name) else MAX_NAME_CHARS
    return 2 <= len(name) <= most and name[0].isalnum() and not NOT_NAMES.search(name)


def _bare(name: str) -> str:
    name = name[:MAX_DECLARED_CHARS]
    name = clean(html.unescape(name)) if "&" in name else name
    name = AFTER_NAME.sub("", LEADING_BY.sub("", ROLE_BEFORE.sub("", name)))
    return name.partition(",")[0] if len(name) > DESCRIBED_CHARS and not CJK.search(name) else name


def _named_in_meta(document: dom.Document, meta: Metadata, heading: str | None) -> list[str]:
    """Return the author of the first ``meta`` whose name is not the title and not the page's editor; of citations, all names."""
    labels = [number for number in "12" if WRITTEN_BY.fullmatch(meta.names.get(f"twitter:label{number}", ""))] if CARD in meta.names else []
    for name in filter(None, (*map(meta.get, AUTHOR_META), *(meta.get(f"twitter:data{number}") for number in labels))):
        if is_name(name) and name != heading:
            marked = [line for line in document.lines if "编" in line or "編" in line] if CJK.search(name) else []
            if not any(match["name"] == name for line in marked for match in EDITOR.finditer(line)):
                return [name]
    # the form 「Jong, Michiel de」
    return [" ".join(reversed(name.split(", "))) if name.count(", ") == 1 else name for name in meta.citation_authors]


def _written(document: dom.Document, lines: Sequence[str], heading: str | None) -> list[str]:
    """Return the names in the byline: lines from the heading on, then those before it, then the ends of the text."""
    page = document.lines[:MAX_BYLINES]
    opening = heading[:20] if heading else ""
    start = next((number for number, line in enumerate(page) if opening and opening in line and line.startswith(opening)), 0)
    short = [line if size <= MAX_BYLINE_CHARS else "" for line, size in zip(page, map(len, page), strict=True)]
    marked = find_lines(BYLINE, short)
    numbers = marked | find_lines(MAY_BE_BY, "\n".join(short).lower().split("\n"))
    labelled: list[tuple[str, bool]] = []
    for number in sorted(numbers, key=lambda number: (number < start, number)):
        line = page[number]
        if LABEL_LINE.fullmatch(line):
            line = "\t".join((line, *short[number + 1 : number + 2]))
        if line.count("\t") <= MAX_PARTS and not line.endswith(("。", "！", "？", "”")):
            chinese = number in marked and BYLINE.search(line) is not None
            if chinese or BY_WORD.search(line):
                labelled.append((line, chinese))
    for form in (LABELLED, REPORTER, IN_TEXT):
        for line, chinese in labelled:
            match = (form if chinese else BY).search(line)
            if match:
                return _parted(next(filter(None, match.groups())))
    for line in (*lines[:2], *lines[-2:]):
        match = IN_TEXT.search(line)
        if match:
            return _parted(next(filter(None, match.groups())))
    last = TRAILING_NAME.search(lines[-1]) if lines else None
    return _parted(last["names"]) if last else []


def find_lines(pattern: re.Pattern[str], lines: Sequence[str]) -> set[int]:
    """Return the numbers of lines with a match of ``pattern``, including matches that span two lines. One search for all lines."""
    starts = list(accumulate(map((1).__add__, map(len, lines)), initial=0))
    spans = (match.span() for match in pattern.finditer("\n".join(lines)))
    return {bisect_right(starts, place) - 1 for span in spans for place in span} & set(range(len(lines)))


def _parted(names: str) -> list[str]:
    names = END.sub("", clean(names))
    return (PARTS if CJK.search(names) else LATIN_PARTS).split(names)


def _marked(document: dom.Document, heading: str | None) -> Iterator[list[str]]:
    """Yield the names in elements marked as the author, outside comments and teasers (boxes that do not contain the headline)."""
    around = {above for node in document.root.iter("h1") if heading and heading in short_text(node) for above in node.iterancestors()}
    around |= set(document.root.iter("body"))
    for node in find_elements(document, ("uthor", "yline", "AUTHOR", "/aut"), ("class", "rel", "itemprop", "href")):
        is_author = "author" in ((node.get("rel") or "").lower(), (node.get("itemprop") or "").lower())
        name = (node.get("class") or "")[:MAX_CLASS_CHARS]
        is_author = is_author or (ELEMENT_CLASS.search(name) is not None and not PERSON_DETAILS.search(name))
        if not is_author and not (node.tag == "a" and ELEMENT_LINK.search(node.get("href") or "")):
            continue
        details = {child for child in node if ROLE.search(f"{child.get('class') or ''} {child.get('itemprop') or ''}")}
        parts = (short_text(child) for child in node if child not in details)  # a description of the author is not part of the name
        text = LEADING_BY.sub("", clean(" ".join((node.text or "", *parts))) if details else short_text(node))
        if not 2 <= len(text) <= MAX_ELEMENT_NAME_CHARS or re.search(r"[\d:：]", text):
            continue
        others = COMMENT_NAMES if node.get("itemprop") else OTHER_PEOPLE
        boxes = (above for above in node.iterancestors() if above not in around)
        if not any(others.search(f"{above.get('class') or ''} {above.get('id') or ''}") for above in boxes):
            yield _parted(text)


MAX_LINE_CHARS: Final = 160
_CAPITALS: Final = r"[A-Z][\w&.'’-]*(?: [A-Z&][\w&.'’-]*)+"
_NAME: Final = rf"(?:{_CAPITALS}|[^\s:：|｜\[\]()（）【】<>“”\"]{{2,30}})"
LABEL: Final = re.compile(
    r"(?<![“\"「『])(?<!注明)(?<!图片)(?<!圖片)(?<!资料)(?<!資料)(?<!数据)(?<!數據)(?<!照片)(?<!视频)"
    rf"(?:来\s*源|來\s*源|稿源|转自|轉自|转载自|轉載自|出处|出處)\s*[:：]\s*[(（【]?\s*(?P<zh>{_NAME})"
    rf"|(?:^|\t|[|｜]\s?)(?:来源|來源)\s+(?P<bare>{_NAME})"
    rf"|本文(?:来源于|來源於|来自|來自|转自|源自|摘自|原载于?|首发于)\s*[:：]?\s*《?(?P<said>[^\s:：|｜\[\]()（）【】<>《》，。]{{2,20}})》?\s*(?:\t|$|\d|，)"
    r"|\b(?i:source|first published (?:by|in|on)|originally published (?:by|in|on)|originally appeared (?:in|on))\s*:?\s*"
    r"(?P<en>[A-Z0-9][^:|｜\t\[\]()<>•·]{1,40}?)\s*(?:[|｜\t\[(•·]|\.?$)"
)  # a Chinese name ends at the first space; sources of images and figures, and those in disclaimers, do not count
SOURCE_HINT: Final = re.compile("[源處处自]|[Ss]ource|SOURCE|publish|appear|[载发]于?")
DISCLAIMER: Final = re.compile(r"凡.{0,8}注明|免责|免責|声明|聲明|版权|版權")
NOT_SOURCES: Final = re.compile(r"^(?:资料图|資料圖|图片|X{2,}|x{2,}|未知|不明|http.*|.*[，。！？].*)$")
FOREIGN_HINTS: Final = ("Source:", "irst published", "riginally ")  # required on a page that is not Chinese, to skip others quickly
ELEMENT_NAME: Final = re.compile(
    r"(?<![a-z])(?:article|art|news|post|info|time|the)?[-_]?(?:sources?|laiyuan)(?:[-_]?(?:name|baidu))?(?![a-z])"
    r"|(?<![a-z])(?:profile|account|media|wemedia)[-_]?(?:nick)?name(?![a-z])",
    re.IGNORECASE,
)  # Classes and ids that mean source, or the account on a site with user content
ORIGIN_META: Final = ("source", "contentsource", "og:article:source", "copyright-holder", "mediaid")
MAX_CHARS: Final = 30
MAX_ELEMENT_CHARS: Final = 16


def find_origin(document: dom.Document, meta: Metadata, language: str | None = None) -> str | None:
    """Return the name after 来源 or "First published by", else that in ``meta``, else on Chinese pages an element named source."""
    chinese = (language or "zh").startswith("zh")
    searched = chinese or any(word in document.html for word in FOREIGN_HINTS)
    for line in document.lines[:MAX_BYLINES] if searched else ():
        match = LABEL.search(line) if len(line) <= MAX_LINE_CHARS and SOURCE_HINT.search(line) else None
        quoted = match and DISCLAIMER.search(line, line.rfind("\t", 0, match.start()) + 1, match.start())
        name = _name(next(filter(None, match.groups()))) if match and not quoted else None
        if name:
            return name
    declared = next((value for value in map(meta.get, ORIGIN_META) if value and len(value) <= MAX_CHARS), None)
    if declared or not chinese:
        return declared
    for node in find_elements(document, ("ource", "laiyuan", "nickname", "ccount", "edia")):
        if ELEMENT_NAME.search(f"{node.get('class') or ''} {node.get('id') or ''}"):
            text = short_text(node)
            name = _name(text) if len(text) <= MAX_ELEMENT_CHARS and not re.search(r"[\d:：#\s]", text) else None
            if name:
                return name
    return None


def _name(text: str) -> str | None:
    name = END.sub("", text).strip("·-_,，。；; ")
    return name if len(name) >= 2 and not NOT_SOURCES.search(name) else None
