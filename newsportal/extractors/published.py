"""When the article was published: what the page tells machines, else what stands beside the title, else its address, else the link."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Final

from newsportal import dom
from newsportal.extractors.clock import CHINA, KOREA
from newsportal.extractors.date import Written, find_dates, parse_date
from newsportal.extractors.metadata import Metadata
from newsportal.items import Link

META_DATES: Final = (
    "article:published_time",
    "og:article:published_time",
    "og:published_time",
    "bytedance:published_time",
    "weibo:article:create_at",
    "datepublished",
    "pubdate",
    "publishdate",
    "publish_date",
    "publish-date",
    "publish_time",
    "dc.date.issued",
    "dcterms.created",
    "dc.date",
    "sailthru.date",
    "parsely-pub-date",
    "cxenseparse:recs:publishtime",
    "article.published",
    "date",
    "releasedate",
)
MACHINE_CHARS: Final = 60
LONGEST_LINE: Final = 200
"""A longer line of the page is a paragraph, and dates in it belong to its story."""

WORDS: Final = re.compile(
    r"发布|發布|發佈|发表|發表|时间|時間|日期|来源|來源|更新|published|posted|updated|erstellt|veröffentlicht|publié", re.IGNORECASE
)
COPYRIGHT: Final = re.compile(r"©|copyright|版权|版權|备案|ICP|许可证|all rights", re.IGNORECASE)
URL_DATE: Final = re.compile(
    r"(?<!\d)(?P<y>(?:19|20)\d\d)[/_-]?(?P<m>0[1-9]|1[0-2]|[1-9](?=[/_-]))[/_-]?(?P<d>0[1-9]|[12]\d|3[01]|[1-9](?=[/_.-]))(?!\d)"
)
URL_DATE_RUN: Final = re.compile(r"(?<!\d)(?P<y>20[012]\d)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])\d{4,10}(?!\d)")


@dataclass(frozen=True, slots=True)
class Seen:
    """A date written on the page: the number of its line, and that line."""

    line: int
    text: str
    written: Written


def best_date(
    document: dom.Document, meta: Metadata, link: Link | None, fetched: datetime, language: str | None, heading: str | None = None
) -> datetime | None:
    """The moment of publication, aware, or ``None``."""
    zone = zone_of(language)
    told = _told(meta, fetched, zone) or _time_element(document, fetched, zone)
    if told and (told.hour or told.minute):
        return told
    beside = _beside_title(document, fetched, zone, heading)
    if told:
        return beside if beside and beside.date() == told.date() else told
    if beside:
        return beside
    return url_date(document.url, fetched, zone) or (link.published if link else None)


def zone_of(language: str | None) -> tzinfo:
    """The zone of dates that name none, by the language of the page."""
    if language and language.startswith("zh"):
        return CHINA
    return KOREA if language in ("ja", "ko") else UTC


def _told(meta: Metadata, fetched: datetime, zone: tzinfo) -> datetime | None:
    values = (meta.article("datePublished"), *map(meta.get, META_DATES))
    for value in values:
        found = next(find_dates(value, fetched, zone), None) if value and len(value) <= MACHINE_CHARS else None
        if found and found.has_year:
            return found.when
    return None


def _time_element(document: dom.Document, fetched: datetime, zone: tzinfo) -> datetime | None:
    """``time[datetime]``: the one that says it is the publication, else the only one."""
    values = []
    for node in document.root.iter("time"):
        value = (node.get("datetime") or "").strip()
        if not value or len(value) > MACHINE_CHARS:
            continue
        found = parse_date(value, fetched, zone) if value[:1].isdigit() else None
        if found and ("publish" in (node.get("itemprop") or "").lower() or node.get("pubdate") is not None):
            return found
        values.append(found)
    return values[0] if len({value.date() for value in values if value}) == 1 else None


def _beside_title(document: dom.Document, fetched: datetime, zone: tzinfo, heading: str | None) -> datetime | None:
    lines = document.lines
    place = next((number for number, line in enumerate(lines) if heading and _same(line, heading)), None)
    best, most = None, 0.0
    for number in sorted(range(len(lines)), key=lambda number: (-_at_most(number, place), number)):
        if _at_most(number, place) <= most:
            break
        for written in _dates(lines[number], fetched, zone):
            score = _score(Seen(number, lines[number], written), place)
            if score > most:
                best, most = written.when, score
    return best


def _same(line: str, heading: str) -> bool:
    return line == heading or ("\t" in line and "".join(line.split()) == "".join(heading.split()))


def _dates(line: str, fetched: datetime, zone: tzinfo) -> Iterator[Written]:
    if len(line) <= LONGEST_LINE:
        yield from find_dates(line, fetched, zone)


def _score(seen: Seen, place: int | None) -> float:
    """How much a written date looks like the publication's: a year, a time, a word that says so, a place soon after the title."""
    written, rest = seen.written, len(seen.text) - (seen.written.end - seen.written.start)
    score = 2.0 * written.has_year + 1.5 * written.has_time + (1.0 if WORDS.search(seen.text) else 0.0)
    score -= min(rest / 60, 2.0) + (4.0 if COPYRIGHT.search(seen.text) else 0.0)
    if not (written.has_year or written.has_time) or (written.relative and not written.has_time):
        score -= 3.0
    if written.relative:
        score -= 2.5
    return score + _nearness(seen.line, place)


MOST: Final = 4.5
"""What :func:`_score` can be without :func:`_nearness`."""


def _at_most(line: int, place: int | None) -> float:
    """The score that no date in this line can exceed: the likeliest lines are read first, and most are never read."""
    return MOST + _nearness(line, place)


def _nearness(line: int, place: int | None) -> float:
    distance = line - place if place is not None else None
    if distance is None:
        near = 0.0
    elif 0 <= distance <= 30:
        near = 3.0 - distance / 10
    else:
        near = 1.0 if -8 <= distance < 0 else -1.0
    return near - line / 500


def url_date(url: str, fetched: datetime, zone: tzinfo) -> datetime | None:
    """The day in an address: ``/2024/03/05/``, ``/20240305/``, ``t20240305_1.html``, ``/2024-03/05/``."""
    path = url.partition("://")[2].partition("/")[2]
    for match in (*URL_DATE.finditer(path), *URL_DATE_RUN.finditer(path)):
        found = parse_date(f"{match['y']}-{match['m']}-{match['d']}", fetched, zone)
        if found:
            return found
    return None
