"""The states in words: why, and what to do. The portal has the same sentences in its catalogues."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

HOUR, DAY = 3600.0, 86400.0

QUARANTINE_NOTE = "in quarantine: visited seldom until it answers again"

SAID: Mapping[str, tuple[str, str | None]] = {
    "off": ("It is switched off in sources.yaml.", None),
    "new": ("Visits so far: {visits}, too few to judge.", None),
    "healthy": ("It answers, and what it brings can be read.", None),
    "quiet": ("Nothing new for {silence}, longer than ever before ({longest}).", None),
    "silent": (
        "Nothing new for {silence}; usually something comes every {usual}, and the longest silence was {longest}.",
        "Open its page: does it still publish there? Else look for its new address: newsportal source add ADDRESS-OF-THE-SITE",
    ),
    "empty": (
        "Its list page can be read, but has shown no entry in {visits} visits in a row.",
        "Its layout may have changed: try newsportal source test NAME, and mend or remove the rules of the source",
    ),
    "resting": ("It rests until {until} ({reason}).", None),
    "moved": ("Its address has gone for ever to {url}.", "Write the new address into sources.yaml"),
    "shaky": (
        "{bad} of its last {pages} pages could not be read, or only with little confidence.",
        "Look at some of them: newsportal source test NAME; a rule for its articles (article:) helps",
    ),
    "garbled": (
        "{garbled} of its last {pages} articles have characters that were not understood.",
        "Look at the pages: do they say another encoding than they use?",
    ),
    "duplicate": (
        "{repeats} of its last {pages} articles repeat what other sources brought.",
        "It costs visits and adds nothing; a longer interval, or enabled: false, may do",
    ),
    "duplicate-entries": (
        "None of the entries of its last {visits} visits was new: other sources had brought them before.",
        "It costs visits and adds nothing; a longer interval, or enabled: false, may do",
    ),
}

CAUSES: Mapping[str, tuple[str, str]] = {
    "ours": ("the fault is here", "See newsportal doctor"),
    "robots": ("its robots.txt forbids it", "Ask its owner; with leave, obey_robots: false on this source"),
    "articles-robots": ("its robots.txt forbids its articles", "Ask its owner; with leave, obey_robots: false on this source"),
    "robots-unreachable": ("its robots.txt cannot be had, which means no", "Nothing: it is asked for again"),
    "denied": ("its address is one that may not be fetched", "Mend the address, or list the network under politeness.allow_private"),
    "dns": ("its name has no address", "Mend the name, if the site has another one now"),
    "tls": ("its certificate is not valid", "Wait for its owner, or verify_certificate: false on this source"),
    "timeout": ("it does not answer in time", "Nothing, or a longer politeness.timeout"),
    "login": ("it asks for a login", "Look for a feed of it that is open"),
    "blocked": (
        "it asks who we are, or shuts us out",
        "Fewer visits (interval), a contact in politeness.contact, or its feed in place of its pages",
    ),
    "busy": ("it asks for fewer visits", "A longer interval"),
    "gone": ("its page is gone", "Look for its new address: newsportal source add ADDRESS-OF-THE-SITE"),
    "http-4xx": ("it refuses the page", "Open the address in a browser, and mend it"),
    "http-5xx": ("its server has an error", "Nothing: it is asked again"),
    "too-large": ("its page is larger than allowed", "Raise politeness.max_size, if the page is right"),
    "connection": ("no connection to it comes about", "Nothing: it is asked again"),
    "broken": ("its page breaks the reader", "Please report it, with the page"),
    "unread": ("its page cannot be read as a list", "Try newsportal source test NAME: is it still a feed, or a list of articles?"),
}


def in_words(state: str, cause: str | None, values: Mapping[str, object]) -> tuple[str, str | None]:
    """Reason and remedy of a state."""
    said = {name: _plain(name, value) for name, value in values.items()}
    if state not in ("failing", "quarantined"):
        reason, remedy = SAID[f"{state}-{cause}" if cause else state]
        return reason.format_map(said), remedy
    why, remedy = CAUSES[cause or "unread"]
    if "pages" in values:
        return f"Its list answers, but {said['pages']} of its last articles could not be had: {why} ({said['reason']}).", remedy
    if state == "failing":
        often = "The last visit" if values["visits"] == 1 else f"{said['visits']} visits in a row"
        return f"{often} failed: {why} ({said['reason']}).", remedy
    return (
        f"For {said['days']} days every visit failed: {why} ({said['reason']}). It is visited every {said['wait']} days until it answers.",
        remedy,
    )


def _plain(name: str, value: object) -> str:
    if isinstance(value, datetime):
        return f"{value.astimezone():%Y-%m-%d %H:%M}"
    return span(value) if isinstance(value, float) else str(value)


def span(seconds: float) -> str:
    """A length of time in rough words: ``5 minutes``, ``7 hours``, ``12 days``."""
    if seconds < 2 * HOUR:
        return f"{max(1, round(seconds / 60))} minutes"
    if seconds < 2 * DAY:
        return f"{round(seconds / HOUR)} hours"
    return f"{round(seconds / DAY)} days"
