"""The health of sources in the reader's language. The command line has the same sentences in English (``newsportal.monitor.words``)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from babel.dates import format_timedelta

from newsportal.monitor import Health
from newsportal.monitor.causes import cause_of
from newsportal.portal.language import _
from newsportal.portal.moments import Clock

NAMES: Mapping[str, str] = {
    "off": _("switched off"),
    "new": _("new source"),
    "healthy": _("healthy"),
    "quiet": _("quiet"),
    "silent": _("silent"),
    "empty": _("no entries"),
    "failing": _("failing"),
    "quarantined": _("in quarantine"),
    "resting": _("resting"),
    "moved": _("moved"),
    "shaky": _("read badly"),
    "garbled": _("garbled characters"),
    "duplicate": _("nothing of its own"),
}

COSTS = _("It costs visits and adds nothing; a longer interval, or switching it off, may do.")

SAID: Mapping[str, tuple[str, str | None]] = {
    "off": (_("It is switched off in sources.yaml."), None),
    "new": (_("Visits so far: %(visits)s, too few to judge."), None),
    "healthy": (_("It answers, and what it brings can be read."), None),
    "quiet": (_("Nothing new for %(silence)s, longer than ever before (%(longest)s)."), None),
    "silent": (
        _("Nothing new for %(silence)s; usually something comes every %(usual)s, and the longest silence was %(longest)s."),
        _("Open its page: does it still publish there? Else look for its new address."),
    ),
    "empty": (
        _("Its list page can be read, but has shown no entry in %(visits)s visits in a row."),
        _("Its layout may have changed: try it, and mend or remove the rules of the source."),
    ),
    "resting": (_("It rests until %(until)s: %(why)s."), None),
    "moved": (_("Its address has gone for ever to %(url)s."), _("Write the new address into sources.yaml.")),
    "shaky": (
        _("%(bad)s of its last %(pages)s pages could not be read, or only with little confidence."),
        _("Look at some of them; a rule for its articles helps."),
    ),
    "garbled": (
        _("%(garbled)s of its last %(pages)s articles have characters that were not understood."),
        _("Look at the pages: do they say another encoding than they use?"),
    ),
    "duplicate": (_("%(repeats)s of its last %(pages)s articles repeat what other sources brought."), COSTS),
    "duplicate-entries": (
        _("None of the entries of its last %(visits)s visits was new: other sources had brought them before."),
        COSTS,
    ),
    "failing": (_("%(visits)s visits in a row failed: %(why)s (%(reason)s)."), None),
    "failing-once": (_("The last visit failed: %(why)s (%(reason)s)."), None),
    "failing-articles": (_("Its list answers, but %(pages)s of its last articles could not be had: %(why)s (%(reason)s)."), None),
    "quarantined": (
        _("For %(days)s days every visit failed: %(why)s (%(reason)s). It is visited every %(wait)s days until it answers."),
        None,
    ),
}

ASK = _("Ask its owner; with leave, obey_robots: false on this source.")
WAIT = _("Nothing: it is asked again.")

CAUSES: Mapping[str, tuple[str, str]] = {
    "ours": (_("the fault is here"), _("See newsportal doctor.")),
    "robots": (_("its robots.txt forbids it"), ASK),
    "articles-robots": (_("its robots.txt forbids its articles"), ASK),
    "robots-unreachable": (_("its robots.txt cannot be had, which means no"), WAIT),
    "denied": (_("its address is one that may not be fetched"), _("Mend the address, or list the network under politeness.allow_private.")),
    "dns": (_("its name has no address"), _("Mend the name, if the site has another one now.")),
    "tls": (_("its certificate is not valid"), _("Wait for its owner, or verify_certificate: false on this source.")),
    "timeout": (_("it does not answer in time"), _("Nothing, or a longer politeness.timeout.")),
    "login": (_("it asks for a login"), _("Look for a feed of it that is open.")),
    "blocked": (
        _("it asks who we are, or shuts us out"),
        _("Fewer visits (interval), a contact in politeness.contact, or its feed in place of its pages."),
    ),
    "busy": (_("it asks for fewer visits"), _("A longer interval.")),
    "gone": (_("its page is gone"), _("Look for its new address.")),
    "http-4xx": (_("it refuses the page"), _("Open the address in a browser, and mend it.")),
    "http-5xx": (_("its server has an error"), WAIT),
    "too-large": (_("its page is larger than allowed"), _("Raise politeness.max_size, if the page is right.")),
    "connection": (_("no connection to it comes about"), WAIT),
    "broken": (_("its page breaks the reader"), _("Please report it, with the page.")),
    "unread": (_("its page cannot be read as a list"), _("Try it: is it still a feed, or a list of articles?")),
}


def explained(health: Health, clock: Clock) -> tuple[str, str | None]:
    """Reason and remedy for a reader; ``None`` where nothing is to be done."""
    words = clock.words
    values = {name: _plain(value, clock) for name, value in health.values.items()}
    if health.state not in ("failing", "quarantined"):
        reason, remedy = SAID[f"{health.state}-{health.cause}" if health.cause else health.state]
        if health.state == "resting":
            values["why"] = words.gettext(CAUSES[_rests_for(str(health.values.get("reason", "")))][0])
        return words.gettext(reason) % values, words.gettext(remedy) if remedy else None
    why, remedy = CAUSES[health.cause or "unread"]
    once = health.state == "failing" and health.values.get("visits") == 1
    sentence = SAID["failing-articles" if "pages" in values else "failing-once" if once else health.state][0]
    return words.gettext(sentence) % {**values, "why": words.gettext(why)}, words.gettext(remedy)


def _rests_for(reason: str) -> str:
    """The cause of a rest: an engine that asked who we are, or else a server that named a time."""
    return "blocked" if cause_of(reason) == "blocked" else "busy"


def _plain(value: object, clock: Clock) -> str:
    if isinstance(value, datetime):
        return clock.full(value)
    if isinstance(value, float):
        return str(format_timedelta(timedelta(seconds=value), locale=clock.language, threshold=1.5))
    return str(value)
