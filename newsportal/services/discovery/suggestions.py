"""Suggest sites as sources: those linked from stored articles, named as origin of reposts, or found by search engines. Pure.

An open problem of the thesis (Ma 2016, conclusion, further work (1): 采集源的自动扩展). Articles are processed one by one in bounded
memory: at most :data:`MAX_SITES` sites, each with counts and one example.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from heapq import nlargest
from html import unescape
from itertools import islice

from newsportal.extractors.lists.hub_urls import Address
from newsportal.store.results import StoredArticle

MAX_SITES = 20_000
"""Sites counted at the same time; if there are more, the rarest are dropped (lossy counting, Manku and Motwani 2002)."""

LEFT = 0.9  # share kept when dropping, so that it does not happen for every further site
MAX_LINKS = 50  # per article: a page of links is not a recommendation
MAX_KEPT = 50  # linking sites, and topics, stored per site
LINK = re.compile(r"""<a\b[^>]{0,300}?\bhref=["'](https?://[^"'\s<>]{4,2000})["']""", re.IGNORECASE)
"""Stored HTML is written by our own sanitiser: attributes are quoted and escaped."""

ENGINE = "engine"
PLACES = frozenset(("feed", "sitemap", "region", "forum", "gallery", "list", "newsletter"))

NO_SOURCES = frozenset(
    "weibo.com weibo.cn weixin.qq.com twitter.com x.com facebook.com fb.com instagram.com youtube.com youtu.be tiktok.com douyin.com t.me "
    "telegram.org linkedin.com pinterest.com reddit.com whatsapp.com wikipedia.org wikimedia.org google.com goo.gl bing.com baidu.com "
    "apple.com microsoft.com amazon.com taobao.com tmall.com jd.com github.com t.co t.cn bit.ly ow.ly dwz.cn doi.org archive.org "
    "creativecommons.org gravatar.com w3.org".split()
)
"""Platforms, shops, shorteners and search engines: often linked, but not news sources themselves."""

LINKED, REPOSTED, FOUND = 1.0, 2.0, 1.5
"""Weights of the logarithms of the counts. A repost shows that its origin writes what we want; a search result that the site fits a topic;
a link may be to anything. Set by hand."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggested site. ``site``: its domain; ``linked``: articles that link to it, from ``sites`` other sites; ``reposted``: articles that
    name it as origin; ``found``: its articles found by search engines. ``url``: an example. ``name``: its name on other sites."""

    site: str
    score: float
    linked: int = 0
    sites: int = 0
    reposted: int = 0
    found: int = 0
    topics: tuple[str, ...] = ()
    url: str | None = None
    title: str | None = None
    name: str | None = None

    @property
    def address(self) -> str:
        """URL at which to look for a source: the front page of the example's host."""
        host = self.url.partition("://") if self.url else ("https", "://", self.site)
        return f"{host[0]}://{host[2].partition('/')[0]}/"


@dataclass
class _Site:
    linked: int = 0
    found: int = 0
    by: set[str] = field(default_factory=set)
    topics: Counter[str] = field(default_factory=Counter)
    url: str | None = None
    title: str | None = None

    @property
    def weight(self) -> int:
        return self.linked + self.found


class SiteCounter:
    """Counts sites in the articles passed to :meth:`add` for :meth:`suggestions`. ``visited``: URLs of existing sources."""

    def __init__(self, visited: Iterable[str] = ()) -> None:
        self.articles = 0
        self._visited = {Address(url).domain for url in visited}
        self._sites: dict[str, _Site] = {}
        self._names: dict[str, Counter[str]] = {}  # name of a site -> its domains
        self._origins: Counter[str] = Counter()

    def add(self, article: StoredArticle) -> None:
        self.articles += 1
        own_domain, family = Address(article.url).domain, article.source.partition(":")[0]
        if article.site and (article.site in self._names or len(self._names) < MAX_SITES):
            self._names.setdefault(article.site, Counter())[own_domain] += 1
        if family in PLACES:
            self._visited.add(own_domain)
        elif family == ENGINE and (site := self._site(own_domain)) is not None:
            site.found += 1
            self._add_example(site, article, article.url, article.title)
        if article.origin and article.origin != article.site and (article.origin in self._origins or len(self._origins) < MAX_SITES):
            self._origins[article.origin] += 1
        for domain, url in linked_sites(article.html or "", own_domain):
            if (site := self._site(domain)) is not None:
                site.linked += 1
                if len(site.by) < MAX_KEPT:
                    site.by.add(own_domain)
                self._add_example(site, article, url, None)

    def suggestions(self, limit: int = 50) -> list[Suggestion]:
        """Return the sites that are not sources yet, best first."""
        reposted: Counter[str] = Counter()
        site_names: dict[str, str] = {}
        for name, number in self._origins.items():
            for domain, _ in (self._names.get(name) or Counter()).most_common(1):
                reposted[domain] += number
        for name, domains in self._names.items():
            site_names.setdefault(domains.most_common(1)[0][0], name)
        candidates = (set(self._sites) | set(reposted)) - self._visited - NO_SOURCES
        found = (self._suggestion(domain, reposted[domain], site_names.get(domain)) for domain in candidates)
        return sorted(found, key=lambda suggestion: (-suggestion.score, suggestion.site))[:limit]

    def origins(self, limit: int = 20) -> list[tuple[str, int]]:
        """Return names given as origin whose domain is unknown."""
        return [(name, number) for name, number in self._origins.most_common() if name not in self._names][:limit]

    def _suggestion(self, domain: str, reposted: int, name: str | None) -> Suggestion:
        site = self._sites.get(domain) or _Site()
        score = LINKED * math.log1p(site.linked) * (1 + math.log1p(max(0, len(site.by) - 1)))
        score += REPOSTED * math.log1p(reposted) + FOUND * math.log1p(site.found) + 0.5 * math.log1p(len(site.topics))
        topics = tuple(topic for topic, _ in site.topics.most_common())
        return Suggestion(domain, round(score, 2), site.linked, len(site.by), reposted, site.found, topics, site.url, site.title, name)

    def _site(self, domain: str) -> _Site | None:
        if domain in NO_SOURCES or domain in self._visited or not domain:
            return None
        if domain not in self._sites and len(self._sites) >= MAX_SITES:
            candidates = [(name, site) for name, site in self._sites.items() if site.weight > 1]
            self._sites = dict(nlargest(int(LEFT * MAX_SITES), candidates, key=lambda item: item[1].weight))
        return self._sites.setdefault(domain, _Site())

    def _add_example(self, site: _Site, article: StoredArticle, url: str, title: str | None) -> None:
        site.url, site.title = site.url or url, site.title or title
        for topic in article.topics:
            if topic in site.topics or len(site.topics) < MAX_KEPT:
                site.topics[topic] += 1


def linked_sites(html: str, own_domain: str) -> Iterator[tuple[str, str]]:
    """Yield the domains of other sites linked from a body, each once, with the first URL."""
    first_urls: dict[str, str] = {}
    for match in islice(LINK.finditer(html), MAX_LINKS):
        url = unescape(match[1])
        address = Address(url)
        suffix = ".".join(address.host.split(".")[-3:])
        domain = suffix if suffix in NO_SOURCES else address.domain
        if domain != own_domain and "." in domain and not domain.replace(".", "").isdigit():
            first_urls.setdefault(domain, url)
    yield from first_urls.items()


def plain(suggestion: Suggestion) -> Mapping[str, object]:
    return asdict(suggestion) | {"address": suggestion.address}
