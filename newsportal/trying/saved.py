"""Saved pages of a site, out of the crawl's own archive: what a rule or a template is tried on before it counts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from newsportal.archive import open_index
from newsportal.egress import TooLarge, decompress
from newsportal.extractors.site import site_of
from newsportal.items import Page
from newsportal.sources import Sources

MOST: Final = 40
"""Pages of a site that are tried, the newest: a second or two of reading."""

LARGEST: Final = 1 << 30
"""Bytes of an archive that is read through while somebody waits: some ten seconds."""

MAX_PAGE: Final = 16 << 20
"""Bytes of a page, unpacked; as the crawl takes them (``politeness.max_size``)."""


def archive_of(known: Sources) -> Path | None:
    """The archive that the crawl writes, or the one that answers in place of the network, if it is there and not too large."""
    for file in (known.archive, known.replay):
        if file is not None and file.is_file() and file.stat().st_size <= LARGEST:
            return file
    return None


def saved_pages(archive: Path, sites: frozenset[str], now: datetime, most: int = MOST) -> list[Page]:
    """The newest pages of these sites (hosts without ``www.``) that are HTML. Raises ``ReplayError`` for a file that is no archive.

    ``now`` stands for the moment they were fetched: relative dates are read against it.
    """
    with open_index(archive) as index:
        found: list[Page] = []
        for url in reversed(index.urls()):
            if site_of(url) not in sites:
                continue
            recorded = index.get(url, MAX_PAGE)
            headers = {name.lower(): value for name, value in recorded.headers} if recorded else {}
            kind = headers.get("content-type", "")
            if recorded is None or recorded.status != 200 or "html" not in kind:
                continue
            try:
                body = decompress(recorded.body, headers.get("content-encoding", ""), MAX_PAGE)
            except (TooLarge, ValueError):
                continue  # nothing to try on: the crawl counted it
            found.append(Page(url, body, now, 200, kind))
            if len(found) >= most:
                break
        return found


def sites_of(addresses: Iterator[str]) -> frozenset[str]:
    """The sites of addresses."""
    return frozenset(site for address in addresses if (site := site_of(address)) is not None)
