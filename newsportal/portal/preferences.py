"""Cookies of a reader, kept for a year: preferences (theme, reading font, text size, language, script of the texts, order of the boards,
topics), and two times, so that the front page can show what is new since the last visit. The preferences of signed-in readers are stored
with the account, too, and restored when they sign in elsewhere."""

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
}  # allowed values. The first is the default, except for the language, which the browser sends.

TOPICS = "topics"  # chosen by the reader, in this order: escaped, separated by |
MAX_TOPICS_CHARS = 3000  # browsers accept some 4,000 bytes of a cookie
YEAR = 365 * 86400
VISIT_COOKIE = "visited"
NEW_VISIT_AFTER = timedelta(minutes=30)  # a request after this time without any begins a new visit (as web statistics count them)
WELL_FORMED = re.compile(r"(\d{1,11})\.(\d{1,11})")


@dataclass(frozen=True, slots=True)
class Preferences:
    """Validated preferences; ``lang`` None: not chosen."""

    theme: str = "auto"
    font: str = "serif"
    size: str = "medium"
    lang: str | None = None
    script: str = "original"
    boards: str = "newest"
    topics: tuple[str, ...] = ()

    def own(self, available: Sequence[str]) -> Sequence[str]:
        """Return the topics of ``available`` that the reader chose, in the chosen order; all if none was chosen."""
        return [topic for topic in self.topics if topic in available] or available


def preferences(cookies: Mapping[str, str]) -> Preferences:
    """Return the preferences in ``cookies``; unknown values are ignored."""
    topics = tuple(filter(None, map(unquote, cookies.get(TOPICS, "")[:MAX_TOPICS_CHARS].split("|"))))
    return Preferences(**{key: cookies[key] for key, allowed in CHOICES.items() if cookies.get(key) in allowed}, topics=topics)


def allowed_choices(values: Mapping[str, str]) -> dict[str, str]:
    """Return the preferences in ``values`` that have an allowed value."""
    choices = {key: values[key] for key, allowed in CHOICES.items() if values.get(key) in allowed}
    return choices | ({TOPICS: values[TOPICS][:MAX_TOPICS_CHARS]} if TOPICS in values else {})


def remember(response: Response, values: Mapping[str, str]) -> None:
    """Set a cookie for every allowed preference in ``values``. Scripts may read them: the theme button changes one."""
    for key, value in allowed_choices(values).items():
        response.set_cookie(key, value, max_age=YEAR, samesite="lax", path="/")


def safe_next(target: str | None) -> str:
    """Return ``target`` if it is a path on this portal, else ``/``.

    Browsers read ``//evil``, ``/\\evil`` and ``/<tab>/evil`` as another host. So there must be a single slash at the start, and no
    backslash, control character or blank anywhere (threats F).
    """
    if not target or not target.startswith("/") or target.startswith("//"):
        return "/"
    if "\\" in target or any(character <= " " or character == "\x7f" for character in target):
        return "/"
    return target


def last_visit(request: Request, now: datetime, name: str = VISIT_COOKIE) -> tuple[datetime | None, str]:
    """Return when the previous visit ended (None: there was none), and the new value of the cookie."""
    match = WELL_FORMED.fullmatch(request.cookies.get(name, ""))
    ended, last = (int(part) for part in match.groups()) if match else (0, 0)
    current = int(now.timestamp())
    if last > current or ended > last:  # the clock was set back, or the cookie was forged
        ended, last = 0, 0
    if current - last > NEW_VISIT_AFTER.total_seconds():
        ended = last
    return (datetime.fromtimestamp(ended, UTC) if ended else None), f"{ended}.{current}"


def remember_visit(response: Response, cookie: str, name: str = VISIT_COOKIE) -> None:
    response.set_cookie(name, cookie, max_age=YEAR, samesite="lax", path="/", httponly=True)
