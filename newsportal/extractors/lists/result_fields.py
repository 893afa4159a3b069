"""Fields of one record of a result list, extracted without a template: title, site, summary, date.

The layout of results differs between engines, the parts do not: a linked title, the site's name or URL in small print, a date, and an
excerpt of the article. Each is recognised by its form first and by class names second.
"""

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from urllib.parse import urlsplit

from newsportal.extractors.fields.date import default_zone, find_dates, parse_date
from newsportal.extractors.lists.engines import Result
from newsportal.extractors.lists.redirect import needs_fetch, resolve
from newsportal.text import CJK, clean
from newsportal.text.dom import SKIPPED_TAGS, Element, clean_href, lines_of, text_of

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
HEADING_ROLE = ".//*[@role='heading']"
EDGE = " \t-–—·•|,，;；:：\u200e\u200f\xa0"  # separators between site, date and summary
DATE_LABELS = "发布于发表时间更新()（）[]【】"
MIN_SUMMARY = 12  # characters: the shortest summaries of saved result pages (快讯 on news tabs) have 15
MIN_TITLE_LINE = 5  # characters; a shorter line of a linked card is a label (视频, 置顶, the site), not the title
TITLE_WIDTH = 16  # half-width characters: site names are shorter, most titles longer (8 Chinese characters)
MAX_LEAD = 16  # characters before a date that may precede it as a label: 「视频 · 」, 「Posted on 」
MAX_SITE = 80
MAX_DATE = 40
MAX_MIXED = 48
MAX_LINES = 60  # a record with more lines contains a widget; later lines are not searched for the summary
HOST = re.compile(r"^(https?://)?([\w-]+\.)+[a-z]{2,}([/:?…]\S*)?(\s*[›>].*)?$", re.IGNORECASE)
# as displayed: 「https://a.example › 旅游」
DISPLAYED_URL = re.compile(r"https?://[\w-]+\.|(^|\s|[\w])([\w-]+\.)+[a-z]{2,}\s*(›|>|/)", re.IGNORECASE)
SITE_CLASS = re.compile(
    r"(^|[-_\s])(cite|site|sitename|source|src|publisher|provider|url|showurl|domain|host|from|media|newsfrom|citeurl|author)",
    re.IGNORECASE,
)
SITE_LABEL = re.compile(r"^(新闻)?(来源|來源|出处|媒体|source)\s*[:：]\s*", re.IGNORECASE)
DATE_HINT = re.compile(r"^.{0,20}(\d|昨|前天|刚刚|今天|yesterday|today)", re.IGNORECASE)
DATE_CLASS = re.compile(r"(^|[-_\s])(date|time|posttime|pubtime|ago|age|timestamp|tm|dt)", re.IGNORECASE)
SUMMARY_CLASS = re.compile(
    r"(snippet|abstract|abstr|summary|desc|content|digest|intro|excerpt|caption|(^|[-_\s])(st|s|text|txt)($|[-_\s]))", re.IGNORECASE
)
NOISE_LABEL = re.compile(
    r"^(百度快照|快照|网页快照|搜狗快照|预览|举报|翻译此页|收藏|播报|评价|查看更多.*|更多.*>+|展开|"
    r"cached|similar( pages)?|translate this page|im cache|diese seite übersetzen|traduire cette page|read more.*|"
    r"\d+\s*(条相同新闻|条相同新闻>+).*|推荐您搜索.*|相关搜索.*|广告|ad|sponsored|anzeige)$",
    re.IGNORECASE,
)
AD_LABEL = re.compile(r"^(广告|推广|商业推广|ads?|sponsored|anzeige|annonce|gesponsert|publicité)$", re.IGNORECASE)
SHORT_AGE = re.compile(r"^\d{1,3}\s?(s|sec|m|min|mins|h|hr|hrs|d|w|wk|mo|mon|mth|y|yr)\.?$", re.IGNORECASE)  # on news cards: 「2h」
FAR_FUTURE = datetime.fromisoformat("2100-01-01T00:00:00+00:00")  # later than any date in a page, so that none is rejected as a future date
AGE_UNIT = re.compile(r"\s?[a-z]+\.?$", re.IGNORECASE)
LONG_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks", "mo": "months", "mt": "months", "y": "years"}


def title_of(anchor: Element, repeated: Collection[str] = ()) -> str:
    """Return the title in a link: its heading, or the first line that is not a label or shared with other cards (``repeated``)."""
    for node in anchor.iter(*HEADINGS):
        if text := text_of(node):
            return text
    for node in anchor.xpath(HEADING_ROLE):
        if text := text_of(node):
            return text
    if (plain := _text_without_url(anchor)) is not None:
        return plain
    lines = lines_of(anchor)
    if len(lines) < 2:
        return text_of(anchor)
    proper = [line for line in lines if len(line) >= MIN_TITLE_LINE and line not in repeated and not HOST.match(line) and not is_date(line)]
    return next((line for line in proper if _width(line) >= TITLE_WIDTH), max(proper, key=_width, default=lines[0]))


def _width(line: str) -> int:
    return len(line) + len(CJK.findall(line))


def is_title(text: str) -> bool:
    return not (HOST.match(text) or NOISE_LABEL.match(text) or is_date(text))


def _text_without_url(anchor: Element) -> str | None:
    """Return the text of a link without the element that displays its URL; ``None`` if there is no such element or no other text."""
    children = [child for child in anchor if isinstance(child.tag, str)]
    if len(children) == 1 and not clean((anchor.text or "") + (children[0].tail or "")):
        return _text_without_url(children[0])
    texts = [text_of(child) for child in children]
    if not any(DISPLAYED_URL.search(text) for text in texts):
        return None
    pieces = [anchor.text or ""]
    for child, text in zip(children, texts, strict=True):
        pieces += ["" if DISPLAYED_URL.search(text) else text, child.tail or ""]
    return clean(" ".join(pieces)) or None


def is_date(line: str) -> bool:
    """Return whether a short text is only a date (separators aside)."""
    text = line.strip(EDGE)
    if not text or len(text) > MAX_DATE:
        return False
    if SHORT_AGE.match(text):
        return True
    pieces, start = [], 0
    for found in find_dates(text, FAR_FUTURE):
        pieces.append(text[start : found.start])
        start = found.end
    rest = "".join((*pieces, text[start:]))
    return len(rest) < len(text) and len(rest.strip(EDGE + DATE_LABELS)) <= 1


def find_date(text: str) -> str | None:
    stripped = text.strip(EDGE)
    if SHORT_AGE.match(stripped):
        return stripped
    found = next(find_dates(text[:400], FAR_FUTURE), None)
    return clean(text[found.start : found.end]) or None if found else None


def parse_time(date: str | None, now: datetime, around: str = "") -> datetime | None:
    """Parse a date as written, or the short age on news cards (「2h」). The time zone of a date without one is guessed from the script of
    ``around``, title and summary: 「2024-05-02 08:30」 in a Chinese result is Beijing time."""
    if date is None:
        return None
    text = date.strip(EDGE)
    return parse_date(f"{AGE_UNIT.sub(_long_unit, text)} ago" if SHORT_AGE.match(text) else text, now, default_zone(text + around))


def _long_unit(match: re.Match[str]) -> str:
    unit = match[0].strip(" .").lower()
    return f" {LONG_UNITS['m' if unit.startswith('min') else unit[:2] if unit[:2] in LONG_UNITS else unit[0]]}"


def is_labelled_advert(record: Element) -> bool:
    """Return whether a record is labelled as an advertisement. A word highlighted by the engine (``<em>广告</em>``) is no label."""
    return any(AD_LABEL.match(node.text.strip()) for node in record.iter("span", "div", "cite", "label", "small", "p") if node.text)


def split_site(text: str | None) -> tuple[str | None, str | None]:
    """Split small print into site and date: 「新华网 2015年05月12日 08:00」, 「a.example/x - 2018-11-12」."""
    if not text:
        return None, None
    date = find_date(text)
    site = SITE_LABEL.sub("", clean(text.replace(date, " ") if date else text).strip(EDGE))
    return (site if site and len(site) <= MAX_SITE else None), date


def result_of(anchor: Element, nodes: Sequence[Element], title: str) -> Result:
    """Return the result in a record, its link as written. ``anchor`` is the title link, ``nodes`` are the elements of the record."""
    lines = [line for node in nodes for line in lines_of(node)[:MAX_LINES]]
    fields = _fields_by_class(nodes, anchor)
    site = fields["site"] or next((line.strip(EDGE) for line in lines if HOST.match(line) and len(line) <= MAX_SITE), None)
    site, inner_date = split_site(site)
    date = fields["date"] or inner_date or next((line.strip(EDGE) for line in lines if is_date(line)), None)
    if date is None:  # a short line with a date and other text: 「示例周刊 2024-05-05 08:30」
        mixed = (line for line in lines if line != title and len(line) <= MAX_MIXED and DATE_HINT.search(line))
        site_name, date = next((found for found in map(split_site, mixed) if found[1]), (None, None))
        site = site or site_name
    summary_date, summary = split_summary(fields["summary"] or _summary(lines, title, site), site)
    href = clean_href((anchor.get("href") or "").strip())
    if not site and not needs_fetch(href):  # the host of the target, if known; the engine's host is no site
        site = host_of(resolve(href))
    return Result(title, href, site, summary, date or summary_date)


def split_summary(text: str | None, site: str | None = None) -> tuple[str | None, str | None]:
    """Return the date near the start of a summary (「3天前 …」, 「Nov 21, 2019 - …」), and the summary without it and the site's name."""
    if not text:
        return None, None
    date = find_date(text[: MAX_DATE + MAX_LEAD])
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


def _fields_by_class(nodes: Sequence[Element], anchor: Element) -> dict[str, str | None]:
    """Return site, date and summary by the class names of a record, if their form fits: class names can be wrong."""
    found: dict[str, str | None] = {"site": None, "date": None, "summary": None}
    loose = None
    above = set(anchor.iterancestors())
    for node in (node for top in nodes for node in top.iter()):
        if not isinstance(node.tag, str) or node.tag in SKIPPED_TAGS or node in above or node is anchor or node.tag in HEADINGS:
            continue
        name = " ".join(filter(None, map(node.get, ("class", "id", "data-testid", "data-result"))))
        if node.tag == "cite" or SITE_CLASS.search(name):
            site, date = _site_and_date(node)
            _set_if_missing(found, "site", site, MAX_SITE)
            _set_if_missing(found, "date", date, MAX_DATE)
        if node.tag == "time" or DATE_CLASS.search(name):
            _set_if_missing(found, "date", _date_only(text_of(node)), MAX_DATE)
        elif len(node) == 0 and DATE_HINT.search(node.text or ""):
            loose = loose or _date_only(node.text or "")
        if SUMMARY_CLASS.search(name) and node.tag not in ("a", "img"):
            text = text_of(node)
            if len(text) >= MIN_SUMMARY and len(text) > len(found["summary"] or "") and not HOST.match(text) and not is_date(text):
                found["summary"] = text
    return found | {"date": found["date"] or loose}


def _date_only(text: str) -> str | None:
    stripped = clean(text).strip(EDGE)
    return stripped if is_date(stripped) else None


def _site_and_date(node: Element) -> tuple[str | None, str | None]:
    """Return site and date from the element of the site: by its text nodes if one of them is a date."""
    pieces = [piece for piece in map(clean, node.itertext()) if piece]
    dates = [piece for piece in pieces if is_date(piece)]
    if not dates:
        return split_site(text_of(node))
    rest = " ".join(piece for piece in pieces if piece not in dates).strip(EDGE)
    return (rest if rest and len(rest) <= MAX_SITE else None), dates[0].strip(EDGE)


def _set_if_missing(found: dict[str, str | None], key: str, text: str | None, longest: int) -> None:
    if found[key] is None and text and len(text) <= longest and not NOISE_LABEL.match(text):
        found[key] = text


def _summary(lines: Sequence[str], title: str, site: str | None) -> str | None:
    """Return the longest line that is not the title, a URL, a date or a button."""
    rest = (line for line in lines if line != title and not HOST.match(line) and not NOISE_LABEL.match(line) and not is_date(line))
    best = max(rest, key=len, default="")
    return best if len(best) >= MIN_SUMMARY and best != site else None
