"""Is there a network? The names of a few sources' hosts are looked up; no host is asked for anything."""

from __future__ import annotations

from urllib.parse import urlsplit

from newsportal import egress
from newsportal.errors import EgressDenied
from newsportal.sources import Sources

MAX_HOSTS = 5
"""A few are enough: one with an address means that there is a network."""


def hosts(known: Sources) -> list[str]:
    """Hosts of the first sources that are visited, without repeats."""
    urls = [feed.url for feed in known.feeds if feed.enabled]
    urls += [sitemap.url for sitemap in known.sitemaps if sitemap.enabled]
    urls += [seed for region in known.regions if region.enabled for seed in region.seeds]
    urls += [forum.url for forum in known.forums if forum.enabled]
    urls += [seed for gallery in known.galleries if gallery.enabled for seed in gallery.seeds]
    return list(dict.fromkeys(host for url in urls if (host := urlsplit(url).hostname)))[:MAX_HOSTS]


def known_hosts(known: Sources) -> list[str]:
    """Those of :func:`hosts` that have an address now."""
    policy = egress.Policy(allow_private=tuple(known.politeness.allow_private))
    return [host for host in hosts(known) if _resolves(host, policy)]


def away(known: Sources) -> bool:
    """Whether none of several hosts has an address. One host alone tells nothing: it may be gone itself."""
    return len(hosts(known)) > 1 and not known_hosts(known)


def _resolves(host: str, policy: egress.Policy) -> bool:
    try:
        return bool(egress.resolve(host, policy))
    except EgressDenied:
        return True  # it has an address, if one that may not be visited
    except OSError:
        return False
