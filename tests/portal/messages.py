"""Every message of the portal's templates and code, as babel finds them: what a catalog has to have."""

from __future__ import annotations

from pathlib import Path

from babel.messages.extract import extract_from_dir

KEYWORDS = {"_": None, "gettext": None, "say": None, "ngettext": (1, 2), "say_number": (1, 2)}
METHODS = [("**.py", "python"), ("**/templates/**.html", "jinja2")]
OPTIONS = {"**/templates/**.html": {"trimmed": "false", "newstyle_gettext": "true"}}


def messages(portal: Path) -> dict[str | tuple[str, ...], list[str]]:
    """Message (a pair where there is a plural) -> where it stands."""
    found: dict[str | tuple[str, ...], list[str]] = {}
    for name, line, message, _, _ in extract_from_dir(str(portal), METHODS, OPTIONS, keywords=KEYWORDS, strip_comment_tags=True):
        if message:
            found.setdefault(message, []).append(f"{name}:{line}")
    return found
