"""The fields of one record of a result list, read without a template: title, site, summary, date.

What a result shows differs from engine to engine, but it is always the same few things: a linked title, the site's name or the
address in small print, a date, and a piece of the article. Each is told by its shape first and by the names of classes second.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from urllib.parse import urlsplit

from newsportal.extractors.fields.date import default_zone, find_dates, parse_date
from newsportal.extractors.lists.engines import Result
from newsportal.extractors.lists.redirect import needs_fetch, resolve
from newsportal.text import CJK, clean
from newsportal.text.dom import SKIPPED, Element, lines_of, printable, text_of

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
HEADING_ROLE = ".//*[@role='heading']"
EDGE = " \t-–—·•|,，;；:：\u200e\u200f\xa0"  # what engines put between site, date and summary
AROUND_DATE = "发布于发表时间更新()（）[]【】"
MIN_SUMMARY = 12  # characters: the shortest summaries of saved result pages (快讯 on news tabs) have 15
MIN_TITLE_LINE = 5  # Characters. A shorter line of a linked card is a label (视频, 置顶, the site), not the title
TITLE_WIDTH = 16  # Half-width characters: names of sites are shorter, most titles are longer (8 Chinese characters)
MAX_LEAD = 16  # characters before a date that still belong to the small print: 「视频 · 」, 「Posted on 」
MAX_SITE = 80
MAX_DATE = 40
MAX_MIXED = 48
MAX_LINES = 60  # A record with more lines than this holds a whole widget; its summary is not looked for further down
HOST = re.compile(r"^(https?://)?([\w-]+\.)+[a-z]{2,}([/:?…]\S*)?(\s*[›>].*)?$", re.IGNORECASE)
# as shown: 「https://a.example › 旅游」
ADDRESS = re.compile(r"https?://[\w-]+\.|(^|\s|[\w])([\w-]+\.)+[a-z]{2,}\s*(›|>|/)", re.IGNORECASE)
SITE_CLASS = re.compile(
    r"(^|[-_\s])(cite|site|sitename|source|src|publisher|provider|url|showurl|domain|host|from|media|newsfrom|citeurl|author)",
    re.IGNORECASE,
)
SITE_LEAD = re.compile(r"^(新闻)?(来源|來源|出处|媒体|source)\s*[:：]\s*", re.IGNORECASE)
DATE_HINT = re.compile(r"^.{0,20}(\d|昨|前天|刚刚|今天|yesterday|today)", re.IGNORECASE)
DATE_CLASS = re.compile(r"(^|[-_\s])(date|time|posttime|pubtime|ago|age|timestamp|tm|dt)", re.IGNORECASE)
SUMMARY_CLASS = re.compile(
    r"(snippet|abstract|abstr|summary|desc|content|digest|intro|excerpt|caption|(^|[-_\s])(st|s|text|txt)($|[-_\s]))", re.IGNORECASE
)
NOISE = re.compile(
    r"^(百度快照|快照|网页快照|搜狗快照|预览|举报|翻译此页|收藏|播报|评价|查看更多.*|更多.*>+|展开|"
    r"cached|similar( pages)?|translate this page|im cache|diese seite übersetzen|traduire cette page|read more.*|"
    r"\d+\s*(条相同新闻|条相同新闻>+).*|推荐您搜索.*|相关搜索.*|广告|ad|sponsored|anzeige)$",
    re.IGNORECASE,
)
AD_LABEL = re.compile(r"^(广告|推广|商业推广|ads?|sponsored|anzeige|annonce|gesponsert|publicité)$", re.IGNORECASE)
AGO = re.compile(r"^\d{1,3}\s?(s|sec|m|min|mins|h|hr|hrs|d|w|wk|mo|mon|mth|y|yr)\.?$", re.IGNORECASE)  # the short age of news cards: 「2h」
NEVER = datetime.fromisoformat("2100-01-01T00:00:00+00:00")  # a clock for which every date is in the past, to see how one is written
AGE_UNIT = re.compile(r"\s?[a-z]+\.?$", re.IGNORECASE)
LONG_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks", "mo": "months", "mt": "months", "y": "years"}


def title_of(anchor: Element, repeated: Collection[str] = ()) -> str:
    """The title an anchor shows: its heading, or the first line that is no label and no line of other cards (``repeated``)."""
    for node in anchor.iter(*HEADINGS):
        if text := text_of(node):
            return text
    for node in anchor.xpath(HEADING_ROLE):
        if text := text_of(node):
            return text
    if (rest := _without_address(anchor)) is not None:
        return rest
    lines = lines_of(anchor)
    if len(lines) < 2:
        return text_of(anchor)
    proper = [line for line in lines if len(line) >= MIN_TITLE_LINE and line not in repeated and not HOST.match(line) and not is_date(line)]
    return next((line for line in proper if _width(line) >= TITLE_WIDTH), max(proper, key=_width, default=lines[0]))


def _width(line: str) -> int:
    return len(line) + len(CJK.findall(line))


def is_title(text: str) -> bool:
    return not (HOST.match(text) or NOISE.match(text) or is_date(text))


def _without_address(anchor: Element) -> str | None:
    """The text of a link beside the element that shows the address in it; ``None`` if the link shows none, or nothing else."""
    children = [child for child in anchor if isinstance(child.tag, str)]
    if len(children) == 1 and not clean((anchor.text or "") + (children[0].tail or "")):
        return _without_address(children[0])
    texts = [text_of(child) for child in children]
    if not any(ADDRESS.search(text) for text in texts):
        return None
    pieces = [anchor.text or ""]
    for child, text in zip(children, texts, strict=True):
        pieces += ["" if ADDRESS.search(text) else text, child.tail or ""]
    return clean(" ".join(pieces)) or None


def is_date(line: str) -> bool:
    """Whether a short text is a date and nothing else (separators aside)."""
    text = line.strip(EDGE)
    if not text or len(text) > MAX_DATE:
        return False
    if AGO.match(text):
        return True
    pieces, start = [], 0
    for found in find_dates(text, NEVER):
        pieces.append(text[start : found.start])
        start = found.end
    rest = "".join((*pieces, text[start:]))
    return len(rest) < len(text) and len(rest.strip(EDGE + AROUND_DATE)) <= 1


def date_in(text: str) -> str | None:
    stripped = text.strip(EDGE)
    if AGO.match(stripped):
        return stripped
    found = next(find_dates(text[:400], NEVER), None)
    return clean(text[found.start : found.end]) or None if found else None


def published(date: str | None, now: datetime, around: str = "") -> datetime | None:
    """What a written date means, and the short age of news cards (「2h」). Digits alone are in the zone that the script of ``around``,
    title and summary, tells: 「2024-05-02 08:30」 in a Chinese result is Beijing time."""
    if date is None:
        return None
    text = date.strip(EDGE)
    return parse_date(f"{AGE_UNIT.sub(_long_unit, text)} ago" if AGO.match(text) else text, now, default_zone(text + around))


def _long_unit(match: re.Match[str]) -> str:
    unit = match[0].strip(" .").lower()
    return f" {LONG_UNITS['m' if unit.startswith('min') else unit[:2] if unit[:2] in LONG_UNITS else unit[0]]}"


def is_labelled_advert(record: Element) -> bool:
    """Whether a record says of itself that it is paid. A word the engine highlights (``<em>广告</em>``) is no label."""
    return any(AD_LABEL.match(node.text.strip()) for node in record.iter("span", "div", "cite", "label", "small", "p") if node.text)


def split_site(text: str | None) -> tuple[str | None, str | None]:
    """Site and date of small print that holds both: 「新华网 2015年05月12日 08:00」, 「a.example/x - 2018-11-12」."""
    if not text:
        return None, None
    date = date_in(text)
    site = SITE_LEAD.sub("", clean(text.replace(date, " ") if date else text).strip(EDGE))
    return (site if site and len(site) <= MAX_SITE else None), date


def result_of(anchor: Element, nodes: Sequence[Element], title: str) -> Result:
    """The result that a record shows, its link as written. ``anchor`` is its title link, ``nodes`` the elements that make up the record."""
    lines = [line for node in nodes for line in lines_of(node)[:MAX_LINES]]
    small = _small_print(nodes, anchor)
    site = small["site"] or next((line.strip(EDGE) for line in lines if HOST.match(line) and len(line) <= MAX_SITE), None)
    site, inner = split_site(site)
    date = small["date"] or inner or next((line.strip(EDGE) for line in lines if is_date(line)), None)
    if date is None:  # a short line that holds a date beside something: 「示例周刊 2024-05-05 08:30」
        mixed = (line for line in lines if line != title and len(line) <= MAX_MIXED and DATE_HINT.search(line))
        named, date = next((found for found in map(split_site, mixed) if found[1]), (None, None))
        site = site or named
    written, summary = split_summary(small["summary"] or _summary(lines, title, site), site)
    href = printable((anchor.get("href") or "").strip())
    if not site and not needs_fetch(href):  # the host it leads to, where it says so; an engine's own name is nobody's site
        site = host_of(resolve(href))
    return Result(title, href, site, summary, date or written)


def split_summary(text: str | None, site: str | None = None) -> tuple[str | None, str | None]:
    """The date near the start of a summary (「3天前 …」, 「Nov 21, 2019 - …」), and the summary without that date and the site's name."""
    if not text:
        return None, None
    date = date_in(text[: MAX_DATE + MAX_LEAD])
    before, _, after = text.partition(date) if date else (text, "", "")
    if date and len(before.strip(EDGE)) > MAX_LEAD:
        date = None
    elif date and not before.strip(EDGE):
        text = after.strip(EDGE)
    return date, (text.removesuffix(site).strip(EDGE) if site else text) or None


def host_of(url: str) -> str | None:
    try:
        host = urlsplit(url.strip()).hostname
    except ValueError:
        return None
    return host.removeprefix("www.") if host else None


def _small_print(nodes: Sequence[Element], anchor: Element) -> dict[str, str | None]:
    """What the classes of a record name: site, date, summary. Shape confirms it, since classes lie."""
    found: dict[str, str | None] = {"site": None, "date": None, "summary": None}
    loose = None
    above = set(anchor.iterancestors())
    for node in (node for top in nodes for node in top.iter()):
        if not isinstance(node.tag, str) or node.tag in SKIPPED or node in above or node is anchor or node.tag in HEADINGS:
            continue
        name = " ".join(filter(None, map(node.get, ("class", "id", "data-testid", "data-result"))))
        if node.tag == "cite" or SITE_CLASS.search(name):
            site, date = _site_and_date(node)
            _keep(found, "site", site, MAX_SITE)
            _keep(found, "date", date, MAX_DATE)
        if node.tag == "time" or DATE_CLASS.search(name):
            _keep(found, "date", _pure_date(text_of(node)), MAX_DATE)
        elif len(node) == 0 and DATE_HINT.search(node.text or ""):
            loose = loose or _pure_date(node.text or "")
        if SUMMARY_CLASS.search(name) and node.tag not in ("a", "img"):
            text = text_of(node)
            if len(text) >= MIN_SUMMARY and len(text) > len(found["summary"] or "") and not HOST.match(text) and not is_date(text):
                found["summary"] = text
    return found | {"date": found["date"] or loose}


def _pure_date(text: str) -> str | None:
    shown = clean(text).strip(EDGE)
    return shown if is_date(shown) else None


def _site_and_date(node: Element) -> tuple[str | None, str | None]:
    """Site and date of an element that stands for the site: in pieces where its children part them."""
    pieces = [piece for piece in map(clean, node.itertext()) if piece]
    dates = [piece for piece in pieces if is_date(piece)]
    if not dates:
        return split_site(text_of(node))
    rest = " ".join(piece for piece in pieces if piece not in dates).strip(EDGE)
    return (rest if rest and len(rest) <= MAX_SITE else None), dates[0].strip(EDGE)


def _keep(found: dict[str, str | None], key: str, text: str | None, longest: int) -> None:
    if found[key] is None and text and len(text) <= longest and not NOISE.match(text):
        found[key] = text


def _summary(lines: Sequence[str], title: str, site: str | None) -> str | None:
    """The longest line that is not the title, an address, a date or a button."""
    rest = (line for line in lines if line != title and not HOST.match(line) and not NOISE.match(line) and not is_date(line))
    best = max(rest, key=len, default="")
    return best if len(best) >= MIN_SUMMARY and best != site else None
