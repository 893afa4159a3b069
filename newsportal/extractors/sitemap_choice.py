"""Which entries of a sitemap are worth a request: of the site itself, young enough, articles by their address. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from newsportal.extractors.hub import HubRules
from newsportal.extractors.hub_score import BIAS, WEIGHTS
from newsportal.extractors.hub_urls import Address
from newsportal.extractors.published import url_date
from newsportal.extractors.sitemap import SitemapEntry

NO_ARTICLE = BIAS  # weight (:data:`hub_score.WEIGHTS`) below which an address, which is all there is here, is no article's
FULL = 0.99  # what an address scores before the rules of the source are asked
LEAST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Chosen:
    """``entries`` newest first, those without a date at the end in the file's order. ``left``: why how many others are not among them
    (``foreign``: of another site; ``old``; ``rules``: allow and deny; ``no-article``)."""

    entries: tuple[SitemapEntry, ...]
    left: Counter[str] = field(default_factory=Counter)


def choose(entries: Iterable[SitemapEntry], of: str, rules: HubRules, max_age: timedelta, now: datetime) -> Chosen:
    """Those of ``entries`` to look at; ``of`` is the sitemap's address.

    Another site's addresses are left out (sitemaps.org, "Sitemap file location"), unless a rule in ``allow`` names them. Where the
    sitemap tells no date, the address may.
    """
    site, oldest = Address(of).domain, now - max_age
    left: Counter[str] = Counter()
    kept: list[tuple[datetime, SitemapEntry]] = []
    for entry in entries:
        when = entry.moment
        why = "old" if when and when < oldest else _against(entry, site, rules)  # most are old, and that costs least to see
        if why is None and when is None:
            when = url_date(entry.url, now, UTC)
            why = "old" if when and when < oldest else None
        if why:
            left[why] += 1
        else:
            kept.append((when or LEAST, entry))
    kept.sort(key=lambda pair: pair[0], reverse=True)
    return Chosen(tuple(entry for _, entry in kept), left)


def children(entries: Sequence[SitemapEntry], of: str, max_age: timedelta, now: datetime, most: int) -> Chosen:
    """The sitemaps of an index to fetch, those that changed last first, ``most`` of them; ``left`` as for :func:`choose`, and ``many``.

    One day is granted to ``lastmod``: indexes are often written before their sitemaps.
    """
    site, oldest = Address(of).domain, now - max_age - timedelta(days=1)
    own = [entry for entry in entries if Address(entry.url).domain == site]
    young = [entry for entry in own if entry.changed is None or entry.changed >= oldest]
    young.sort(key=lambda entry: entry.changed or LEAST, reverse=True)
    left = Counter({"foreign": len(entries) - len(own), "old": len(own) - len(young), "many": max(0, len(young) - most)})
    return Chosen(tuple(young[:most]), +left)


def _against(entry: SitemapEntry, site: str, rules: HubRules) -> str | None:
    address = Address(entry.url)
    if rules.score(entry.url, FULL) < FULL / 2:
        return "rules"
    if rules.allow:
        return None
    if address.domain != site:
        return "foreign"
    told = entry.title or entry.published
    return None if told or sum(WEIGHTS.get(fact, 0.0) for fact in address.facts) > NO_ARTICLE else "no-article"
