"""Sanitise untrusted HTML: an allow-list of elements and attributes, and absolute http(s) URLs.

nh3 (ammonia, html5ever) parses as browsers do, so that mutations of SVG and MathML end as text or as nothing.
"""

from __future__ import annotations

from typing import Final

import nh3

from newsportal.text import dom

TAGS: Final = frozenset(
    "p h2 h3 h4 h5 h6 ul ol li dl dt dd blockquote pre code table caption thead tbody tfoot tr th td figure figcaption img a "
    "em strong b i br sub sup".split()
)
DROPPED_WITH_CONTENT: Final = frozenset(
    "script style noscript template iframe object embed svg math form select textarea button title".split()
)
ATTRIBUTES: Final[dict[str, set[str]]] = {
    "*": set(),  # else nh3 keeps lang and title of every element
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
}
REL: Final = "noopener noreferrer nofollow ugc"  # For third-party links: no referrer for them, no ranking from us
ADDRESSES: Final = frozenset({("a", "href"), ("img", "src")})
NUMBERS: Final = frozenset({"width", "height", "colspan", "rowspan"})
MAX_CHARS: Final = 2_000_000  # longer fragments are cut before parsing: twenty times the longest article of the development set


def sanitise(html: str, base: str) -> str:
    """Return ``html`` with allowed content only. URLs are resolved against ``base``; images in readers' own networks lose theirs
    (:func:`newsportal.net.egress.leads_inside`). Idempotent; never raises."""

    from newsportal.net.egress.addresses import points_to_internal  # loaded late: the HTTP client comes with it

    def keep(tag: str, name: str, value: str) -> str | None:
        if (tag, name) in ADDRESSES:
            url = dom.join(base, value)
            return None if url and tag == "img" and points_to_internal(url, base) else url
        if name in NUMBERS:
            return value if value.isascii() and value.isdigit() and len(value) <= 5 else None
        return value

    return nh3.clean(
        html[:MAX_CHARS],
        tags=set(TAGS),
        clean_content_tags=set(DROPPED_WITH_CONTENT),
        attributes=ATTRIBUTES,
        attribute_filter=keep,
        url_schemes={"http", "https"},
        link_rel=REL,
        strip_comments=True,
    )
