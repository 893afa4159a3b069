"""The interface in the reader's language: gettext catalogs read from ``locale/<language>/*.po`` (messages are English), and times.

Catalogs are compiled in memory on the first request (some 10 ms), so no compiled file can be out of date. The catalog of a language may
have several files, one for each part of the portal; no message is in two. To add a language, add a folder ``locale/xx`` and a line to
``LANGUAGES``; ``tests/portal/test_language.py`` reports what is missing.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from functools import cache, lru_cache
from gettext import GNUTranslations, NullTranslations
from importlib import resources
from io import BytesIO
from itertools import groupby

from babel.core import negotiate_locale
from babel.dates import format_date, format_skeleton
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from newsportal.messages import Message, choose_forms, render
from newsportal.store.results import Story

LANGUAGES = {"zh": "中文", "en": "English"}  # languages of the interface, each by its own name
TAGS = {"zh": "zh-CN", "en": "en"}
"""Values of ``<html lang>``: ``zh`` alone leaves the choice between Chinese and Japanese glyphs to the browser."""

SOURCE_LANGUAGE = "en"


def _(message: str) -> str:
    """Mark a message for the catalog; it is translated when it is rendered."""
    return message


def catalog(language: str) -> Catalog:
    """Return all messages of ``language`` (not the source language). Raises ``ValueError`` if a message is in two files."""
    merged = Catalog(locale=language)
    folder = resources.files("newsportal.portal").joinpath("locale", language)
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        for message in read_po(BytesIO(file.read_bytes()), locale=language):
            if message.id and message.id in merged:
                raise ValueError(f"{file.name}: {message.id!r} stands in another file already")
            if message.id:
                merged[message.id] = message
    return merged


@cache
def translations(language: str) -> NullTranslations:
    """Return the translations into ``language`` (a key of ``LANGUAGES``); none for the source language."""
    if language == SOURCE_LANGUAGE:
        return NullTranslations()
    compiled = BytesIO()
    write_mo(compiled, catalog(language))
    compiled.seek(0)
    return GNUTranslations(compiled)


def choose(choice: str | None, accept: str, default: str) -> str:
    """Return the reader's choice if it is supported, else the best of ``Accept-Language``, else ``default``, else Chinese."""
    if choice in LANGUAGES:
        return str(choice)
    # Sort the tags of the header by weight, without malformed parts. Regions fall back to the plain language.
    weighted: list[tuple[float, int, str]] = []
    for place, part in enumerate(accept[:1000].split(",")):
        tag, _, quality = part.partition(";")
        try:
            weight = float(quality.strip().removeprefix("q=") or 1)
        except ValueError:
            continue
        if tag.strip() and weight > 0:
            weighted.append((-weight, place, tag.strip().lower()))
    best = negotiate_locale([form for _, _, tag in sorted(weighted) for form in (tag, tag.split("-")[0])], list(LANGUAGES), sep="-")
    return best or (default if default in LANGUAGES else next(iter(LANGUAGES)))


RECENT = timedelta(hours=24)  # within this time a relative time («5 小时前») says more than a date


@dataclass(frozen=True, slots=True)
class Clock:
    """Formats times for one reader: the present, the time zone, the language."""

    now: datetime
    zone: tzinfo
    language: str
    words: NullTranslations

    def local(self, moment: datetime) -> datetime:
        """Convert ``moment`` to the portal's time zone. Dates at the limits of ``datetime`` are returned unchanged."""
        try:
            return moment.astimezone(self.zone)
        except OverflowError:
            return moment

    def time(self, moment: datetime) -> str:
        return self.local(moment).strftime("%H:%M")

    def full(self, moment: datetime) -> str:
        """``2026-11-21 08:30``, the same in every language; the year always has four digits."""
        return self.local(moment).isoformat(" ", "minutes")[:16]

    def day(self, moment: datetime) -> str:
        """``11月19日``, with the year if it is not the current one."""
        day = self.local(moment).date()
        skeleton = "MMMd" if day.year == self.local(self.now).year else "yMMMd"
        return _format_day(skeleton, day, self.language)

    def heading(self, day: date) -> str:
        """今天, 昨天, or the day with its weekday."""
        today = self.local(self.now).date()
        if day == today:
            return self.words.gettext("Today")
        if day == today - timedelta(days=1):
            return self.words.gettext("Yesterday")
        skeleton = "MMMMEEEEd" if day.year == today.year else "yMMMMEEEEd"
        return _format_day(skeleton, day, self.language)

    def today(self) -> str:
        """The date in the masthead, with its weekday."""
        return format_date(self.local(self.now).date(), "full", locale=self.language)

    def say(self, message: str, **params: object) -> str:
        """Translate ``message`` into the reader's language and insert ``params``."""
        text = choose_forms(self.words.gettext(message), params)
        return text % params if params else text

    def says(self, message: Message) -> str:
        """Render a message in the reader's language and time zone."""
        return render(message, self.words.gettext, self.full)

    def ago(self, moment: datetime) -> str:
        """Return a relative time within a day, else the date. Moments in the future are dates, too, not «minus 3 minutes»."""
        elapsed = self.now - moment
        if not timedelta(0) <= elapsed < RECENT:
            return self.day(moment)
        minutes = int(elapsed.total_seconds() // 60)
        if minutes < 1:
            return self.words.gettext("just now")
        if minutes < 60:
            return self.say("%(num)s {minute|minutes} ago", num=minutes)
        return self.say("%(num)s {hour|hours} ago", num=minutes // 60)

    def lasted(self, start: datetime, end: datetime) -> str:
        """Return the duration as ``1:02:03`` or ``2:03``: hours, minutes and seconds."""
        return self.span((end - start).total_seconds())

    def span(self, seconds: float) -> str:
        minutes, rest = divmod(max(0, int(seconds)), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@lru_cache(2000)  # a page formats the same few days again and again
def _format_day(skeleton: str, day: date, language: str) -> str:
    return str(format_skeleton(skeleton, datetime.combine(day, datetime.min.time()), locale=language))


def by_day(stories: Iterable[Story], clock: Clock, moment: Callable[[Story], datetime]) -> list[tuple[date, list[Story]]]:
    """Group ``stories``, in their order, by the day of ``moment`` in the portal's time zone."""
    return [(day, list(group)) for day, group in groupby(stories, key=lambda story: clock.local(moment(story)).date())]
