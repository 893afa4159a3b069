"""What a link is called before it is fetched, and whether it can be fetched at all. Pure."""

from __future__ import annotations

from urllib.parse import urlsplit

from newsportal.dedup.canonical import identity
from newsportal.items import Link, content_id

NO_ADDRESS = "bad-address"
"""The reason when a link is none: ``http://host:99999/``, ``javascript:…``."""


def name_of(link: Link) -> str:
    """The identity by which a link's article is known before it is fetched."""
    return link.identity or identity(link.url)


def id_of(link: Link) -> str:
    """The id of a link in the table of links."""
    return content_id(name_of(link))


def is_entry(link: Link) -> bool:
    """Whether a link's article is the entry of the feed itself, since its page is that of all entries."""
    return link.identity is not None and "#" in link.identity


def askable(url: str) -> bool:
    """Whether a request can be made of ``url`` at all. Sites write what they like, and Scrapy raises for what it cannot send."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def sound(link: Link) -> bool:
    """Whether the article of a link can be had: by a request, or from the entry itself."""
    return is_entry(link) or askable(link.url)
