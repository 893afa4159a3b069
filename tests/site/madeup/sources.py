"""``sources.yaml`` for the made-up Web: topics, engines declared in YAML only, feeds, a sitemap, regions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from urllib.parse import urlsplit

from madeup.engines import PATHS
from madeup.feeds import FEEDS, Feed
from madeup.hubs import ROLLING
from madeup.sitemaps import INDEX
from madeup.sites import ENGINE_KEYS, SITES, Site

TOPICS = {
    "旅游": ("旅游", "旅客", "游客", "景区", "航线", "民宿"),
    "科技": ("科技", "芯片", "算法", "卫星", "机器人", "传感器"),
    "财经": ("财经", "股市", "期货", "贷款", "成交", "投资"),
    "健康": ("健康", "流感", "医院", "门诊", "处方"),
}
"""Topic to keywords. The topic's name is the query."""

ENGINES = {
    "baixun": """
    kind: news
    wrapper:
      block: div.result
      title: h3.t a
      link: h3.t a
      site: span.pub
      summary: div.abs
      date: span.when
""",
    "wansou": "\n    # no wrapper: the list of results is found by its shape\n",
    "kuaiwen": """
    kind: news
    first: 1
    step: 1
    encoding: gb18030
    wrapper:
      block: "xpath://tr[@class='row']"
      title: a.title
      site: font.from
      summary: font.sum
      date: font.time
""",
}
LIST_PAGES = 5
"""Pages of the longest list, so that the regions alone lead to every article."""

CATEGORIES = {"qingtai": "科技", "beichen": "财经"}


def sources_yaml(addresses: Mapping[str, str], traps: bool = False) -> str:
    """Return the file's text. ``addresses`` maps site keys to URLs; ``traps`` includes the site of traps."""
    sites = [site for site in SITES.values() if traps or site.key != "maze"]
    hosts = sorted({str(urlsplit(address).hostname) for address in addresses.values()})
    parts = [
        "# A small made-up Web on loopback. Everything in it is invented.\nversion: 1",
        "portal:\n  title: 潮汐新闻\n  language: zh",
        "store: sqlite:///data/newsportal.db",
        f"politeness:\n  delay: 0\n  obey_robots: true\n  allow_private: [{', '.join(hosts)}]",
        "topics:\n" + "\n".join(_topic(name, words) for name, words in TOPICS.items()),
        "engines:\n" + "\n".join(_engine(key, addresses[key]) for key in ENGINE_KEYS),
        "feeds:\n" + "\n".join(_feeds(sites, addresses)),
        f"sitemaps:\n  - name: {SITES[INDEX[0]].name}\n    url: {addresses[INDEX[0]]}{INDEX[1]}\n    max_age: 30",
        "regions:\n" + "\n".join(_region(site, addresses[site.key]) for site in sites),
    ]
    return "\n\n".join(parts) + "\n"


def _topic(name: str, words: tuple[str, ...]) -> str:
    return f"  - name: {name}\n    keywords:\n      any: [{', '.join(words)}]\n    engines: [{', '.join(ENGINE_KEYS)}]\n    breadth: 5"


def _engine(key: str, address: str) -> str:
    return f'  - name: {key}\n    url: "{address}{PATHS[key]}"{ENGINES[key].rstrip()}'


def _feeds(sites: list[Site], addresses: Mapping[str, str]) -> list[str]:
    names = {site.key: site.name for site in sites}
    feeds = [feed for feed in FEEDS if feed.site in names]
    often = Counter(feed.site for feed in feeds)
    return [_feed(feed, names[feed.site], addresses[feed.site], often[feed.site] > 1) for feed in feeds]


def _feed(feed: Feed, site: str, address: str, several: bool) -> str:
    return f"  - name: {site}{f' {feed.quirk or feed.kind}' if several else ''}\n    url: {address}{feed.path}\n    site: {site}"


def _region(site: Site, address: str) -> str:
    seeds = f"['{address}/', '{address}{site.hub.format(slug=ROLLING)}']"
    lines = [f"name: {site.name}", f"prefix: {address}/", f"seeds: {seeds}", f"site: {site.name}", f"pages: {LIST_PAGES}"]
    if site.key in CATEGORIES:
        lines.append(f"category: {CATEGORIES[site.key]}")
    return "  - " + "\n    ".join(lines)
