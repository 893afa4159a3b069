"""All messages in the portal's templates and code, as found by Babel: the entries each catalogue must have."""

from __future__ import annotations

from pathlib import Path

from babel.messages.extract import extract_from_dir

KEYWORDS = {"_": None, "gettext": None, "say": None}
METHODS = [("**.py", "python"), ("**/templates/**.html", "jinja2")]
OPTIONS = {"**/templates/**.html": {"trimmed": "false", "newstyle_gettext": "true"}}


def messages(portal: Path) -> dict[str, list[str]]:
    """Return places by message."""
    found: dict[str, list[str]] = {}
    for name, line, message, _, _ in extract_from_dir(str(portal), METHODS, OPTIONS, keywords=KEYWORDS, strip_comment_tags=True):
        if message:
            found.setdefault(message, []).append(f"{name}:{line}")
    return found
