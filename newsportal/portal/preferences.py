"""What a reader may choose without an account: theme, reading font, text size, language, script of the texts, order of the boards. Kept in
cookies of a year.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.responses import Response

from newsportal.portal.language import LANGUAGES

CHOICES: Mapping[str, tuple[str, ...]] = {
    "theme": ("auto", "light", "dark"),
    "font": ("serif", "sans"),
    "size": ("medium", "small", "large"),
    "lang": tuple(LANGUAGES),
    "script": ("original", "simplified", "traditional"),
    "boards": ("newest", "ranked"),
}
"""What may be chosen. The first of each is the default, but for the language, which the browser tells us."""

YEAR = 365 * 86400


@dataclass(frozen=True, slots=True)
class Preferences:
    """Checked choices; ``lang`` None: never chosen."""

    theme: str = "auto"
    font: str = "serif"
    size: str = "medium"
    lang: str | None = None
    script: str = "original"
    boards: str = "newest"


def preferences(cookies: Mapping[str, str]) -> Preferences:
    """The choices in ``cookies``; anything we never offered is ignored."""
    return Preferences(**{key: cookies[key] for key, allowed in CHOICES.items() if cookies.get(key) in allowed})


def remember(response: Response, asked: Mapping[str, str]) -> None:
    """Set a cookie for every allowed choice in ``asked``. Scripts may read them: the theme button changes one."""
    for key, allowed in CHOICES.items():
        if asked.get(key) in allowed:
            response.set_cookie(key, asked[key], max_age=YEAR, samesite="lax", path="/")


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
