"""What the portal keeps in cookies of a reader, for a year: his choices (theme, reading font, text size, language, script of the texts,
order of the boards, topics), and two times, so that the front page says what is new since his last visit. Choices of somebody who is
signed in are kept with the account, too, and come back when he signs in elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response

from newsportal.portal.language import LANGUAGES

CHOICES: Mapping[str, tuple[str, ...]] = {
    "theme": ("auto", "light", "dark"),
    "font": ("serif", "sans"),
    "size": ("medium", "small", "large"),
    "lang": tuple(LANGUAGES),
    "script": ("original", "simplified", "traditional"),
    "boards": ("newest", "ranked"),
}  # what may be chosen. The first of each is the default, but for the language, which the browser tells us.

TOPICS = "topics"  # of the reader's own choice, in his order: escaped, with | between
MOST_TOPICS_CHARS = 3000  # browsers keep some 4,000 bytes of a cookie
YEAR = 365 * 86400
VISIT_COOKIE = "visited"
PAUSE = timedelta(minutes=30)  # after so long without a request the next one begins a new visit (as Web statistics count them)
WELL_FORMED = re.compile(r"(\d{1,11})\.(\d{1,11})")


@dataclass(frozen=True, slots=True)
class Preferences:
    """Checked choices; ``lang`` None: never chosen."""

    theme: str = "auto"
    font: str = "serif"
    size: str = "medium"
    lang: str | None = None
    script: str = "original"
    boards: str = "newest"
    topics: tuple[str, ...] = ()

    def own(self, known: Sequence[str]) -> Sequence[str]:
        """The topics of ``known`` that the reader chose, in his order; all of them where he chose none."""
        return [topic for topic in self.topics if topic in known] or known


def preferences(cookies: Mapping[str, str]) -> Preferences:
    """The choices in ``cookies``; anything we never offered is ignored."""
    topics = tuple(filter(None, map(unquote, cookies.get(TOPICS, "")[:MOST_TOPICS_CHARS].split("|"))))
    return Preferences(**{key: cookies[key] for key, allowed in CHOICES.items() if cookies.get(key) in allowed}, topics=topics)


def chosen_in(asked: Mapping[str, str]) -> dict[str, str]:
    """What of ``asked`` is a choice that we offer."""
    found = {key: asked[key] for key, allowed in CHOICES.items() if asked.get(key) in allowed}
    return found | ({TOPICS: asked[TOPICS][:MOST_TOPICS_CHARS]} if TOPICS in asked else {})


def remember(response: Response, asked: Mapping[str, str]) -> None:
    """Set a cookie for every allowed choice in ``asked``. Scripts may read them: the theme button changes one."""
    for key, value in chosen_in(asked).items():
        response.set_cookie(key, value, max_age=YEAR, samesite="lax", path="/")


def safe_next(target: str | None) -> str:
    """``target`` if it is a path on this portal, else ``/``.

    Browsers read ``//evil``, ``/\\evil`` and ``/<tab>/evil`` as another host, so one slash at the start, no back slash and no
    control character or blank anywhere (threats F).
    """
    if not target or not target.startswith("/") or target.startswith("//"):
        return "/"
    if "\\" in target or any(character <= " " or character == "\x7f" for character in target):
        return "/"
    return target


def last_visit(request: Request, now: datetime, name: str = VISIT_COOKIE) -> tuple[datetime | None, str]:
    """When the visit before this one ended (None: there was none), and what the cookie says from now on."""
    found = WELL_FORMED.fullmatch(request.cookies.get(name, ""))
    ended, last = (int(part) for part in found.groups()) if found else (0, 0)
    present = int(now.timestamp())
    if last > present or ended > last:  # a clock that was put back, or somebody's own making
        ended, last = 0, 0
    if present - last > PAUSE.total_seconds():
        ended = last
    return (datetime.fromtimestamp(ended, UTC) if ended else None), f"{ended}.{present}"


def remember_visit(answer: Response, cookie: str, name: str = VISIT_COOKIE) -> None:
    answer.set_cookie(name, cookie, max_age=YEAR, samesite="lax", path="/", httponly=True)
