"""Why pages fail: each reason in a run report (a stable code) has a sentence and a cause, which has a remedy.

A reason may have a detail after a colon (``blocked: captcha``, ``error: KeyError``), which is ignored. HTTP statuses without a row of their
own are ``http-4xx`` or ``http-5xx``.
"""

from collections.abc import Mapping
from typing import Final

UNREAD: Final = "unread"  # the cause of pages that an extractor cannot read, and of unlisted reasons
_ROWS: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    ("local", "it could not be stored; the next crawl tries it again", ("store-unavailable",)),
    ("local", "the network is unreachable", ("no-network",)),
    ("local", "this machine cannot do it at present; see newsportal doctor", ("archive", "no-browser", "no-disk", "render-memory")),
    ("local", "the crawl was interrupted; the next one tries it again", ("shutdown",)),
    ("robots", "the site's robots.txt does not allow it", ("robots",)),
    ("robots", "the page asks robots not to index it", ("robots-noindex",)),
    ("robots", "the robots directives of the list page forbid following its links", ("robots-nofollow",)),
    ("robots-unreachable", "the site's robots.txt could not be fetched, so crawling is not allowed (RFC 9309)", ("robots-unreachable",)),
    ("denied", "the crawl must not request this URL", ("egress-denied", "redirect-denied", "proxy")),
    (
        "denied",
        "the URL is malformed or unusual and must not be fetched",
        ("scheme", "malformed", "control-character", "too-long", "backslash", "odd-address", "host"),
    ),
    (
        "denied",
        "the URL is in a private or reserved network and must not be fetched",
        (
            "mixed-answers", "loopback", "private", "shared", "benchmark", "metadata", "unspecified", "link-local", "multicast", "reserved",
            "documentation", "tunnel",
        ),
    ),
    ("denied", "this port must not be used", ("port",)),
    ("denied", "URLs with a user name or a password must not be fetched", ("userinfo",)),
    ("denied", "the link is not a URL of the Web", ("bad-address",)),
    ("dns", "the host name could not be resolved: no network, or a wrong URL", ("dns",)),
    ("tls", "the certificate of the server is not valid", ("tls",)),
    ("timeout", "the server did not respond in time", ("timeout", "render-timeout")),
    ("timeout", "time limit reached; the next visit continues", ("too-slow",)),
    ("login", "only members may read it", ("login", "http-401")),
    ("sign-in", "the sign-in of the source is no longer valid", ("sign-in",)),
    ("mail-login", "the mail server refused the user's name or the password", ("mail-login",)),
    ("mail-folder", "the folder of mails does not exist or is not readable", ("mail-folder",)),
    ("connection", "the mail server closed the connection, or its answer could not be parsed", ("mail-server",)),
    ("blocked", "the site requires a captcha or a login; it is paused for a while", ("blocked", "captcha", "challenge")),
    ("blocked", "the site denies access to the page", ("http-403", "http-451")),
    ("busy", "the site asks for fewer visits", ("http-429",)),
    ("busy", "the site is overloaded or under maintenance", ("http-503",)),
    ("gone", "the page no longer exists", ("http-404", "http-410", "gone")),
    ("gone", "the page says that the article no longer exists", ("soft-404",)),
    ("gone", "the page redirects in a loop", ("redirects",)),
    ("http-4xx", "the site refused the request", ("http-4xx",)),
    ("http-5xx", "the site had a server error", ("http-5xx",)),
    ("too-large", "the page is larger than allowed", ("too-large",)),
    ("connection", "the server did not accept the connection", ("connection-refused",)),
    ("connection", "the server sent only a part of the page", ("http-206",)),
    ("connection", "the connection to the server failed", ("connection", "encoding", "ignored")),
    ("broken", "the extractor crashes on the page: please report it", ("error",)),
    (UNREAD, "the browser could not show the page", ("render-crashed", "render-lost", "render-too-large")),
    (UNREAD, "the search ended: its maximum number of requests was reached", ("enough",)),
    (UNREAD, "the page is not in the replayed archive", ("not-in-archive", "replay-missing", "no-crawl")),
    (UNREAD, "the link led to the site's front page, not to an article", ("front-page",)),
    (UNREAD, "the link redirects to another page", ("elsewhere",)),
    (UNREAD, "the page is a list in which no article was found", ("list-page", "listing-page", "collection-page", "no-articles")),
    (UNREAD, "the page offers a product: it is not an article", ("product-page",)),
    (UNREAD, "the page presents a service or an organisation: it is not an article", ("service-page",)),
    (UNREAD, "nothing was found in the list page: its layout may have changed", ("no-entries",)),
    (UNREAD, "the feed could not be read", ("not-a-feed", "broken-feed")),
    (UNREAD, "there is no sitemap at its URL", ("not-a-sitemap",)),
    (UNREAD, "no posts were found on the page of a forum's thread", ("no-posts",)),
    (UNREAD, "no boards or threads were recognised on the forum's page", ("no-threads",)),
    (UNREAD, "no link of the index page looks like a photo story", ("no-galleries",)),
    (UNREAD, "the page is a list, not a photo story", ("index-page",)),
    (UNREAD, "no pictures of a story were found on the page", ("no-pictures",)),
    (UNREAD, "pages of the photo story are missing", ("missing-pages",)),
    (UNREAD, "the page shows an error instead of the news", ("error-page",)),
    (UNREAD, "no article text was found in the page", ("no-body", "no-text", "too-short", "empty", "no-summary", "summary-not-found")),
    (UNREAD, "it waits for another page of its directory to learn the template", ("waits-for-sibling",)),
    (UNREAD, "no title was found in the page", ("no-title",)),
    (UNREAD, "it is not a web page", ("not-html",)),
    (UNREAD, "the mail has more parts than allowed", ("mail-parts",)),
    (UNREAD, "the mail is malformed and cannot be read", ("mail-broken",)),
    (UNREAD, "the mail is larger than allowed, and its text is not at its start", ("mail-too-large",)),
    (UNREAD, "the page has more tags than allowed", ("too-many-tags",)),
    (UNREAD, "the page has more attributes than allowed", ("too-many-attributes",)),
    (UNREAD, "the page takes too much memory to read", ("reading-memory",)),
    (UNREAD, "the page takes too long to read", ("reading-time",)),
    (UNREAD, "the process that read the page crashed: please report it", ("reading-crash",)),
)  # fmt: skip
"""Cause, sentence, and the reasons with both."""

SENTENCES: Final[Mapping[str, str]] = {f"reason.{code}": sentence for _, sentence, codes in _ROWS for code in codes}
CAUSES: Final[Mapping[str, str]] = {code: cause for cause, _, codes in _ROWS for code in codes}


def code_of(reason: str) -> str | None:
    """Return the code under which ``reason`` is listed; ``None`` if it is not."""
    head = reason.partition(":")[0]
    if head in CAUSES:
        return head
    return {"http-4": "http-4xx", "http-5": "http-5xx"}.get(head[:6])


def cause_of(reason: str) -> str:
    """Return the cause of a reason (``http-503`` → ``busy``, ``no-entries`` → ``unread``)."""
    code = code_of(reason)
    return UNREAD if code is None else CAUSES[code]
