"""What a look at a source and a crawl's report note, in the reader's language; what has no translation stays as it comes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from gettext import NullTranslations
from typing import Final

from newsportal.messages import SENTENCES, explain
from newsportal.messages.reasons import cause_of
from newsportal.portal.language import _

LOOKS: Final[tuple[tuple[str, str], ...]] = (
    (r"(?P<number>\d+) requests", _("%(number)s requests were made")),
    (r"(?P<number>\d+) requests were made", _("%(number)s requests were made")),
    (
        r"left out: \w+ (?P<url>\S+), since better ones list (?P<again>\d+) of its (?P<number>\d+) entries",
        _("%(url)s is left out: better ones list %(again)s of its %(number)s entries"),
    ),
    (
        r"(?P<url>\S+) looks like one article: its site's front page is looked at",
        _("%(url)s looks like one article: its site's front page is looked at"),
    ),
    (r"(?P<format>[\w .]+), (?P<number>\d+) entries", _("%(format)s, %(number)s entries")),
    (r"(?P<number>\d+) entries", _("%(number)s entries")),
    (r"(?P<number>\d+) sitemaps are named in (?P<url>\S+)", _("%(number)s sitemaps are named in %(url)s")),
    (r"of them: (?P<url>\S+)", _("of them: %(url)s")),
    (r"(?P<number>\d+) left out: old", _("%(number)s entries are older than max_age")),
    (r"(?P<number>\d+) left out: rules", _("%(number)s entries are excluded by allow and deny")),
    (r"(?P<number>\d+) left out: foreign", _("%(number)s addresses of other sites are left out")),
    (r"(?P<number>\d+) left out: no-article", _("%(number)s addresses do not look like articles")),
    (r"(?P<number>\d+) links, (?P<more>\d+) of them to further list pages", _("%(number)s links, %(more)s of them to further list pages")),
    (
        r"the layout changed: the wrapper finds nothing, .*",
        _("the layout changed: the wrapper finds nothing, the results were found by their shape"),
    ),
    (r"read by (?P<way>.*)", _("read by: %(way)s")),
    (r"(?P<number>\d+) boards: (?P<names>.*)", _("%(number)s boards: %(names)s")),
    (r"(?P<name>.*): (?P<number>\d+) threads", _("%(name)s: %(number)s threads")),
    (r"(?P<name>.*): for members only", _("%(name)s: for members only")),
    (r"(?P<number>\d+) photo stories", _("%(number)s photo stories")),
    (r"(?P<number>\d+) posts, the first of them: (?P<text>.*)", _("%(number)s posts, the first of them: %(text)s")),
    (
        r"(?P<number>\d+) pictures? on (?P<pages>\d+) pages?(?: of \d+)?; that is all\. (?P<text>.*)",
        _("%(number)s pictures on %(pages)s pages, all that there are. %(text)s"),
    ),
    (
        r"(?P<number>\d+) pictures? on (?P<pages>\d+) pages?(?: of \d+)?; [^.]*\. (?P<text>.*)",
        _("%(number)s pictures on the first %(pages)s pages. %(text)s"),
    ),
)
"""Notes of looks and trials, as patterns, and the same as messages."""

NOTHING: Final[tuple[tuple[str, str], ...]] = (
    (r"(?:(?P<url>\S+): )?the server answers (?P<status>\d+)", _("The server answers %(status)s.")),
    (
        r"(?P<url>\S+) is no feed, names none, and has fewer than (?P<few>\d+) links to articles of its own; .*",
        _(
            "It is no feed, names none, and has fewer than %(few)s links to articles of its own. "
            "If it is a list of photo stories or a forum, choose that as its kind."
        ),
    ),
    (r"(?:.* cannot be read as a forum: )?only members may read it", _("Only members may read it.")),
    (
        r"(?:.* cannot be read as a forum: )?neither boards nor threads (?:are )?found(?: there)?",
        _("Neither boards nor threads are found."),
    ),
    (r"\S+ has only (?P<number>\d+) links that look like photo stories; .*", _("Only %(number)s links look like photo stories.")),
    (r"no \w+ is found at (?P<url>\S+)", _("Nothing of this kind is found there.")),
    (r"no articles found", _("No articles are found.")),
    (r"no link contains (?P<seed>'.*')", _("No link contains %(seed)s.")),
    (r"no link looks like a photo story; .*", _("No link looks like a photo story. Say under “seed” what their addresses contain.")),
)
"""Why nothing is found."""

CORPORA: Final[tuple[tuple[str, str], ...]] = ((r"from stored articles", _("from stored articles")),)
"""Where a corpus comes from."""

COMPILED: Final = tuple((re.compile(pattern, re.DOTALL), message) for pattern, message in (*LOOKS, *NOTHING, *CORPORA))

AWAY: Final = re.compile(r"(?P<reason>[\w-]+): '(?P<url>[^']*)'(?: \((?P<detail>.*)\))?", re.DOTALL)
"""An address that could not be had, as its error says it."""

PARTICULAR: Final[Mapping[str, str]] = {
    "enough": _("so many requests were made that the search ended"),
    "port": _("this port may not be asked"),
    "userinfo": _("an address with a user name or a password may not be asked"),
}
"""Reasons of which more can be said than their cause."""

ROBOTS: Final = re.compile(r"robots\.txt cannot be had \((?P<reason>[\w-]+)\)")


def noted(text: str, words: NullTranslations) -> str:
    """A note, or why nothing was found, in the reader's language."""
    if (match := AWAY.fullmatch(text)) is not None:
        return _away(match, words)
    for pattern, message in COMPILED:
        if (found := pattern.fullmatch(text)) is not None:
            return words.gettext(message) % _values(found.groupdict(""), words)
    return text


def failure(text: str, words: NullTranslations) -> str:
    """Why a page of a look could not be read: as a note, else as the reports explain it."""
    said = noted(text, words)
    return said if said != text else explain(text, words.gettext) or text


def _away(match: re.Match[str], words: NullTranslations) -> str:
    unasked = ROBOTS.search(match["detail"] or "")
    reason = unasked["reason"] if unasked else match["reason"]
    cause = cause_of(reason)  # what no cause is for is a reason of EgressDenied
    why = PARTICULAR.get(reason) or SENTENCES[f"cause.{'denied' if cause == 'unread' else cause}"]
    return words.gettext(_("%(url)s cannot be had: %(why)s")) % {"url": match["url"], "why": words.gettext(why)}


def _values(found: Mapping[str, str], words: NullTranslations) -> dict[str, str]:
    """The parts of a note; a reason among them in the reader's language, too."""
    told = {name: explain(value, words.gettext) or value if name == "reason" else value for name, value in found.items()}
    return told | {
        name: words.gettext(SENTENCES[f"state.{told[name]}"]) for name in ("before", "after") if f"state.{told.get(name)}" in SENTENCES
    }
