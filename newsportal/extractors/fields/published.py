"""Find the publication date: metadata, else a date near the title, else one in the URL, else that of the link."""

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newsportal.extractors.fields.date import WrittenDate, find_dates, is_plausible, parse_date, read_date
from newsportal.extractors.fields.date_forms import CHINA, KOREA, MONTH
from newsportal.extractors.fields.metadata import Metadata
from newsportal.items import Link
from newsportal.text import dom

META_DATES: Final = (
    "article:published_time og:article:published_time og:published_time bytedance:published_time weibo:article:create_at "
    "datepublished pubdate publishdate publish_date publish-date publish_time dc.date.issued dcterms.created dc.date sailthru.date "
    "parsely-pub-date cxenseparse:recs:publishtime article.published date releasedate citation_publication_date citation_date"
).split()
META_CHANGES: Final = ("article:modified_time", "og:updated_time", "datemodified", "last-modified")
MAX_MACHINE_CHARS: Final = 60
MAX_LINE_CHARS: Final = 200  # A longer line is a paragraph, whose dates belong to its story
LABELS: Final = re.compile(
    r"发布|發布|發佈|发表|發表|时间|時間|日期|来源|來源|更新|作者|记者|記者|编辑|編輯|published|posted|updated|erstellt|veröffentlicht|publié|datum"
    r"|\bby\b",
    re.IGNORECASE,
)
PUBLISHED_LABEL: Final = re.compile(
    r"(?:发布|發布|發佈|发表|發表|刊登|首发|创建|建立|上传|发稿|發稿|入稿|(?<!\w)(?:datum|date|日期|时间|時間)|published|posted|erstellt|veröffentlicht|publié)\W{0,3}(?:时间|時間|日期|于|於|on|le|am)?"
    r"[\s:：|｜]{0,4}$",
    re.IGNORECASE,
)
CHANGED_LABEL: Final = re.compile(
    r"(?:更新|修改|编辑于|編輯於|last (?:edit|modif)\w+|updated|modified|aktualisiert|mis à jour|actualizado|modificado)\W{0,3}"
    r"(?:时间|時間|日期|于|於|on|le|am|at|el)?[\s:：|｜]{0,4}$",
    re.IGNORECASE,
)
CURRENT_DATE_LABEL: Final = re.compile(
    r"(?:今天是?|今日是?|现在是?|現在是?|当前时间|當前時間|现在时间|today(?: is|'s date)?|北京时间)[\s:：]{0,3}$", re.IGNORECASE
)
EVENT_LABEL: Final = re.compile(
    r"(?:截止|截至|报名|報名|活动|活動|有效|举行|舉行|开始|開始|结束|結束|上映|出生|生于|召开|自|从|從|由|至|到|在|于|於|日前|展期|档期"
    r"|until|from|since|bis|vom|ab|as of"
    r"|due|deadline|expires?|born)(?:时间|時間|日期|期限)?[\s:：]{0,3}$",
    re.IGNORECASE,
)  # text right before a date: first publication, later change, current time, an event in the story
LABEL_SCORES: Final = ((CURRENT_DATE_LABEL, -5.0), (CHANGED_LABEL, -2.0), (PUBLISHED_LABEL, 1.0), (EVENT_LABEL, -1.5))
PROSE: Final = re.compile(rf"[。！？，,;；]\s?(?!(?i:{MONTH}))[^\s\d]|\.\s[A-Z]")  # not matched by 「Monday, March 5」
SENTENCE_PENALTY: Final = 1.0  # Penalty of a date within a sentence
COPYRIGHT: Final = re.compile(r"©|copyright|版权|版權|备案|ICP|许可证|all rights", re.IGNORECASE)
URL_DATE: Final = re.compile(
    r"(?<!\d)(?P<y>(?:19|20)\d\d)[/_-]?(?P<m>0[1-9]|1[0-2]|[1-9](?=[/_-]))[/_-]?(?P<d>0[1-9]|[12]\d|3[01]|[1-9](?=[/_.-]))(?!\d)"
)
URL_DATE_RUN: Final = re.compile(r"(?<!\d)(?P<y>20[012]\d)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])\d{4,10}(?!\d)")
SCRIPT_DATE: Final = re.compile(
    r"""["'\s.,{](?:ct|publish(?:ed)?_?(?:time|date|at|on)?|pub_?(?:time|date)|create_?(?:time|date|d_?at)|release_?(?:time|date)|news_?time|display_?time"""
    r"""|post_?(?:time|date))["']?"""
    r"""\s*[:=]\s*["']?(\d{10}(?:\d{3})?(?!\d)"""
    r"""|(?:19|20)\d\d[-/]\d{1,2}[-/]\d{1,2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?)""",
    re.IGNORECASE,
)
MIN_SCORE: Final = 2.0  # A date on the page with a lower score is used last: it may belong to anything
CLEAR_SCORE: Final = (
    4.0  # Minimum score for an earlier date near the title to override the day in metadata, which may be that of a template's last change
)
MAX_MARK_CHARS: Final = 10
MAX_CHARS_BESIDE_RELATIVE: Final = 12  # Characters beside 「3小时前」: in a longer statement it belongs to a story
CURRENT_DATE_PENALTY: Final = 2.5  # penalty of the current date at the top of a page
MAX_TIMES: Final = 1_000  # ``time`` elements, and dates in scripts, that are read
MAX_SCORE: Final = 5.5  # maximum of :func:`_score` without :func:`_nearness`


def best_date(
    document: dom.Document, meta: Metadata, link: Link | None, fetched: datetime, language: str | None, heading: str | None = None
) -> datetime | None:
    zone = zone_of(language)
    values = (meta.article("datePublished"), *map(meta.get, META_DATES))
    first = (next(find_dates(value, fetched, zone), None) for value in values if value and len(value) <= MAX_MACHINE_CHARS)
    declared = next((found.when for found in first if found and found.has_year), None) or _time_element(document, fetched, zone)
    if declared and (declared.hour or declared.minute):
        return declared
    from_url = None if declared else url_date(document.url, fetched, zone)
    near, score = _date_near_title(document, fetched, zone, heading, writes_day_first(language))
    if declared:
        overrides = near is not None and (near.date() == declared.date() or (near < declared and score >= CLEAR_SCORE))
        return near if overrides else declared
    if from_url and near and near.date() != from_url.date():
        lines = (line for line in document.lines if len(line) <= MAX_LINE_CHARS and str(from_url.year) in line)
        days = (found.when for line in lines for found in find_dates(line, fetched, zone, writes_day_first(language)))
        near, score = next(((when, MIN_SCORE) for when in days if when.date() == from_url.date()), (near, score))
    if near and score >= MIN_SCORE:
        return near
    found = script_date(document.html, fetched, zone) or near or from_url or (link.published if link else None)
    return found or _changed(document, meta, fetched, zone, writes_day_first(language))


def _changed(document: dom.Document, meta: Metadata, fetched: datetime, zone: tzinfo, first: bool) -> datetime | None:
    """Return when the article was last changed, as a fallback."""
    values = filter(None, (meta.article("dateModified"), *map(meta.get, META_CHANGES)))
    changed = next((found for value in values if (found := parse_date(value[:MAX_MACHINE_CHARS], fetched, zone))), None)
    short = (line for line in document.lines if len(line) <= MAX_LINE_CHARS)
    days = (line for line in short if CHANGED_LABEL.search(line))
    dates = (found for line in days for found in find_dates(line, fetched, zone, first) if CHANGED_LABEL.search(line[: found.start]))
    return changed or next((found.when for found in dates if found.has_year), None)


def writes_day_first(language: str | None) -> bool:
    """Return whether 05/03/2024 means the fifth of March in the page's language."""
    return language is not None and language not in ("zh", "zh-Hant", "ja", "ko", "en")


def script_date(html: str, fetched: datetime, zone: tzinfo) -> datetime | None:
    """Return the first date assigned to a publication key in a script: ``"publishTime": 1718000000``, ``var ct = "1581517074"``."""
    for match in islice(SCRIPT_DATE.finditer(html), MAX_TIMES):
        if found := read_date(match[1], fetched, zone):
            return found
    return None


def zone_of(language: str | None) -> tzinfo:
    """Return the zone for dates that name none, by the page's language."""
    if language and language.startswith("zh"):
        return CHINA
    return KOREA if language in ("ja", "ko") else UTC


def _time_element(document: dom.Document, fetched: datetime, zone: tzinfo) -> datetime | None:
    """Return the date in ``time[datetime]``: of the element marked as publication, else the only date."""
    values: list[datetime | None] = []
    for node in islice(document.root.iter("time"), MAX_TIMES):
        value = (node.get("datetime") or "").strip()
        if not value or len(value) > MAX_MACHINE_CHARS:
            continue
        found = read_date(value, fetched, zone) if value[:1].isdigit() else None
        if found and ("publish" in (node.get("itemprop") or "").lower() or node.get("pubdate") is not None):
            return found
        values.append(found)
    return values[0] if len({value.date() for value in values if value}) == 1 else None


def _date_near_title(
    document: dom.Document, fetched: datetime, zone: tzinfo, heading: str | None, day_first: bool = False
) -> tuple[datetime | None, float]:
    lines = document.lines
    may_be = (number for number, line in enumerate(lines) if heading and ("\t" in line or heading in line))
    place = next((number for number in may_be if _same(lines[number], heading or "")), None)
    best, most = None, 0.0
    near = _nearness(len(lines), place)
    # likeliest lines first; most are never read
    for number in np.argsort(-(MAX_SCORE + near), kind="stable").tolist():
        if MAX_SCORE + near[number] <= most:
            break
        line = lines[number]
        for written in find_dates(line, fetched, zone, day_first) if len(line) <= MAX_LINE_CHARS else ():
            score = _score(line, written) + float(near[number])
            # today's date, which templates show at the top of every page, before the title and without further words
            if place is not None and number < place and not LABELS.search(line) and abs(written.when - fetched) < timedelta(days=2):
                score -= CURRENT_DATE_PENALTY
            if score > most:
                best, most = written.when, score
    return best, most


def _same(line: str, heading: str) -> bool:
    if line == heading:
        return True
    if "\t" in line:
        line, heading = "".join(line.split()), "".join(heading.split())
    return len(line) <= len(heading) + MAX_MARK_CHARS and heading in line


def _score(text: str, written: WrittenDate) -> float:
    """Score how likely a date is the publication date: year, time, a telling word nearby, alone in its statement."""
    start, end = text.rfind("\t", 0, written.start) + 1, text.find("\t", written.end)
    statement = text[start : end if end >= 0 else len(text)]
    length = written.end - written.start
    score = (
        2.0 * written.has_year + 1.5 * written.has_time + (1.0 if LABELS.search(text) else 0.0) - (4.0 if COPYRIGHT.search(text) else 0.0)
    )
    score -= min((len(text) - length) / 60, 2.0) + (SENTENCE_PENALTY if PROSE.search(statement) else 0.0)
    if not (written.has_year or written.has_time) or (written.relative and not written.has_time):
        score -= 3.0
    score -= min((len(statement) - length) / 60, 1.0)
    if written.relative:
        score -= 2.5 if len(statement) - length <= MAX_CHARS_BESIDE_RELATIVE else 5.0
    before = text[max(0, written.start - 24) : written.start]
    return score + next((worth for pattern, worth in LABEL_SCORES if pattern.search(before)), 0.0)


def _nearness(lines: int, place: int | None) -> NDArray[np.float64]:
    """Score the distance of each line to the title in line ``place``; earlier lines score slightly higher."""
    line = np.arange(lines)
    near = np.zeros(lines)
    if place is not None:
        distance = line - place
        near = np.where((distance >= -8) & (distance < 0), 1.0, -1.0)
        near = np.where((distance >= 0) & (distance <= 30), 3.0 - distance / 10, near)
    return near - line / 500


def url_date(url: str, fetched: datetime, zone: tzinfo) -> datetime | None:
    """Return the day in a URL: ``/2024/03/05/``, ``/20240305/``, ``t20240305_1.html``, ``/2024-03/05/``."""
    path = url.partition("://")[2].partition("/")[2]
    for match in (*URL_DATE.finditer(path), *URL_DATE_RUN.finditer(path)):
        with suppress(ValueError):  # the 30th of February
            found = datetime(int(match["y"]), int(match["m"]), int(match["d"]), tzinfo=zone)
            if is_plausible(found, fetched):
                return found
    return None
