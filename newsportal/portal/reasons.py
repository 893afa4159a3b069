"""Reasons for failures in words. The run report keeps short stable slugs; readers get a sentence, and the slug beside it."""

from __future__ import annotations

import re
from gettext import NullTranslations

from newsportal.portal.language import _

EXPLAINED: tuple[tuple[str, str], ...] = (
    (r"robots-unreachable", _("the site's robots.txt could not be read, so nothing is fetched there for now")),
    (r"robots-noindex", _("the page asks robots not to keep it")),
    (r"robots-nofollow", _("the list page asks robots not to follow its links")),
    (r"front-page", _("the link led to the site's front page, not to an article")),
    (r"soft-404", _("the page says that the article is gone")),
    (r"list-page|no-articles", _("the page is a list in which no article was found")),
    (r"no-posts", _("no posts were found on the page of a forum's thread")),
    (r"no-threads", _("the page of a forum has neither boards nor threads that could be recognised")),
    (r"not-a-sitemap", _("there is no sitemap at its address")),
    (r"no-galleries", _("no link of the index page looks like a photo story")),
    (r"index-page", _("the page is a list, not a photo story")),
    (r"no-pictures", _("no pictures of a story were found on the page")),
    (r"missing-pages", _("pages of the photo story are missing")),
    (r"too-slow", _("it took too long; the next visit goes on")),
    (r"error-page", _("the page tells of an error instead of the news")),
    (r"store", _("it could not be stored; the next crawl asks again")),
    (r"dns|resol|name-or-service", _("the name was not found: no network, or a mistake in the address")),
    (r"no-network|network|unreachable|offline", _("the network could not be reached")),
    (r"refused|connect", _("the server did not accept the connection")),
    (r"time-?out|timed", _("the server did not answer in time")),
    (r"tls|ssl|certificate", _("the certificate of the server is not valid")),
    (r"robots", _("the site's robots.txt does not allow it")),
    (r"egress|denied|private", _("the address is not one the crawl may fetch")),
    (r"blocked|captcha|login|challenge", _("the site asked for a captcha or a login; it rests for a while")),
    (r"bad-address", _("the link is not an address of the Web")),
    (r"http-?404|http-?410|gone", _("the page is gone")),
    (r"http-?429|rate", _("the site asked for fewer visits")),
    (r"http-?4\d\d", _("the site did not give the page out")),
    (r"http-?5\d\d", _("the site had an error of its own")),
    (r"not-in-archive|replay", _("the page is not in the replayed archive")),
    (r"no-body|too-short|no-text|empty", _("no article text was found in the page")),
    (r"no-title", _("no title was found in the page")),
    (r"not-html|content-type|binary", _("it is not a web page")),
    (r"too-large|maxsize|size", _("the page is larger than allowed")),
    (r"^redirects", _("the page sends its readers around in a circle")),
    (r"layout|no-entries|no-links|no-results", _("nothing was found in the list page: its layout may have changed")),
    (r"feed|xml|parse", _("the feed could not be read")),
)
"""The first pattern found in a slug explains it. Order matters: the particular before the general."""


def explain(reason: str, words: NullTranslations) -> str | None:
    """``reason`` as a sentence, or None where we know no better words than the slug itself."""
    return next((words.gettext(sentence) for pattern, sentence in EXPLAINED if re.search(pattern, reason, re.IGNORECASE)), None)


FOLDED = {
    "same-text": _("the same text"),
    "edited-text": _("nearly the same text"),
    "part-of-text": _("a part of the text"),
    "contains-text": _("contains the text"),
    "same-title": _("the same title"),
    "same-pictures": _("the same pictures"),
    "same-words": _("the same title and first sentence"),
    "by-hand": _("put together by an editor"),
}
"""Why a version stands in a story, by the slug of its fold key."""


def folded(reason: str, words: NullTranslations) -> str:
    """The reason of a fold in words; one we do not know stays as it is."""
    return words.gettext(FOLDED[reason]) if reason in FOLDED else reason


ENDED = {
    "finished": _("finished"),
    "shutdown": _("interrupted"),
    "cancelled": _("cancelled"),
    "killed": _("killed"),
    "store-unavailable": _("broken off: the store failed"),
    "archive-failed": _("broken off: the archive could not be written"),
}
"""How a run ends, by Scrapy's finish reason."""


def ended(reason: str | None, words: NullTranslations) -> str:
    """The finish reason in words; one we do not know stays as it is."""
    return words.gettext(ENDED[reason]) if reason in ENDED else reason or "–"
