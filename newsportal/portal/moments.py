"""Times for people: «3 分钟前», 今天, 昨天, 11月19日 星期四. Pure; the present and the time zone are arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache
from gettext import NullTranslations
from itertools import groupby

from babel.dates import format_date, format_skeleton

from newsportal.messages import Message, render
from newsportal.store.results import Story

RECENT = timedelta(hours=24)
"""Up to here a distance («5 小时前») says more than a date."""


@dataclass(frozen=True, slots=True)
class Clock:
    """How times read for one reader: the present, the time zone, the language."""

    now: datetime
    zone: tzinfo
    language: str
    words: NullTranslations

    def local(self, moment: datetime) -> datetime:
        """``moment`` on the wall of the portal's zone. Dates at the edge of the calendar stay as they are."""
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
        """``11月19日``, with the year where it is another one."""
        there = self.local(moment).date()
        skeleton = "MMMd" if there.year == self.local(self.now).year else "yMMMd"
        return _day(skeleton, there, self.language)

    def heading(self, day: date) -> str:
        """今天, 昨天, or the day with its weekday."""
        today = self.local(self.now).date()
        if day == today:
            return self.words.gettext("Today")
        if day == today - timedelta(days=1):
            return self.words.gettext("Yesterday")
        skeleton = "MMMMEEEEd" if day.year == today.year else "yMMMMEEEEd"
        return _day(skeleton, day, self.language)

    def today(self) -> str:
        """The date in the masthead, with its weekday."""
        return _date(self.local(self.now).date(), self.language)

    def says(self, message: Message) -> str:
        """A message in the reader's language and zone."""
        return render(message, self.words.gettext, self.full)

    def ago(self, moment: datetime) -> str:
        """A distance within a day, else the day. A moment ahead of the clock is told as a day too: it is no «minus 3 minutes»."""
        passed = self.now - moment
        if not timedelta(0) <= passed < RECENT:
            return self.day(moment)
        minutes = int(passed.total_seconds() // 60)
        if minutes < 1:
            return self.words.gettext("just now")
        if minutes < 60:
            return self.words.ngettext("%(num)d minute ago", "%(num)d minutes ago", minutes) % {"num": minutes}
        hours = minutes // 60
        return self.words.ngettext("%(num)d hour ago", "%(num)d hours ago", hours) % {"num": hours}

    def lasted(self, start: datetime, end: datetime) -> str:
        """``1:02:03`` or ``2:03``, hours, minutes and seconds."""
        return self.span((end - start).total_seconds())

    def span(self, seconds: float) -> str:
        """As :meth:`lasted`."""
        minutes, rest = divmod(max(0, int(seconds)), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@lru_cache(2000)  # a page tells the same few days again and again
def _day(skeleton: str, day: date, language: str) -> str:
    return str(format_skeleton(skeleton, datetime.combine(day, datetime.min.time()), locale=language))


@lru_cache(100)
def _date(day: date, language: str) -> str:
    return str(format_date(day, "full", locale=language))


def by_day(stories: Iterable[Story], clock: Clock, moment: Callable[[Story], datetime]) -> list[tuple[date, list[Story]]]:
    """``stories`` in their order, grouped by the day of ``moment`` in the portal's zone."""
    return [(day, list(group)) for day, group in groupby(stories, key=lambda story: clock.local(moment(story)).date())]
