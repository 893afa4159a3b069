"""Sites suggested as sources because stored articles link to or name them, and their order."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from newsportal.services.discovery import suggestions
from newsportal.services.discovery.suggestions import SiteCounter, linked_sites
from newsportal.store.results import StoredArticle

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def article(url: str, html: str = "", source: str = "feed:甲", **fields: object) -> StoredArticle:
    return StoredArticle(url, url, url, url, "题", NOW, NOW, source, html=html, **fields)  # type: ignore[arg-type]


def refs(*urls: str) -> str:
    return "".join(f'<p><a href="{url}">原文</a></p>' for url in urls)


def test_sites_linked_from_many_sites_come_first() -> None:
    counting = SiteCounter()
    for n in range(6):
        counting.add(article(f"https://site{n}.example/a/{n}", refs("https://www.wide.example/x", "https://www.wide.example/y")))
        counting.add(article("https://site0.example/b", refs("https://narrow.example/x"), topics=("航运",)))
    first, second = counting.suggestions()
    assert (first.site, first.linked, first.sites) == ("wide.example", 6, 6)
    assert (second.site, second.linked, second.sites, second.topics) == ("narrow.example", 6, 1, ("航运",))
    assert first.address == "https://www.wide.example/"


def test_known_sources_platforms_and_own_site_are_not_suggested() -> None:
    counting = SiteCounter(["https://rss.known.example/feed"])
    links = (
        "https://www.known.example/1",
        "https://m.own.example/2",
        "https://weibo.com/3",
        "https://mp.weixin.qq.com/s/4",
        "http://10.0.0.1/5",
    )
    counting.add(article("https://www.own.example/1", refs(*links, "https://news.qq.com/6")))
    assert [suggestion.site for suggestion in counting.suggestions()] == ["qq.com"]


def test_site_of_stored_articles_is_not_suggested() -> None:
    counting = SiteCounter()
    counting.add(article("https://a.example/1", refs("https://later.example/x")))
    counting.add(article("https://later.example/1"))
    assert counting.suggestions() == []


def test_search_results_and_origins_are_counted() -> None:
    counting = SiteCounter()
    for n in range(3):
        counting.add(article(f"https://found.example/{n}", source="engine:bing_news", site="发现报", topics=("旅游",)))
    for n in range(4):
        counting.add(article(f"https://a.example/{n}", origin="发现报", site="甲报"))
        counting.add(article(f"https://a.example/x{n}", origin="无名社", site="甲报"))
        counting.add(article(f"https://a.example/y{n}", origin="甲报", site="甲报"))
    (found,) = counting.suggestions()
    assert (found.site, found.found, found.reposted, found.name, found.topics) == ("found.example", 3, 4, "发现报", ("旅游",))
    assert counting.origins() == [("无名社", 4)]


def test_links_are_counted_once_per_article_and_limited() -> None:
    many = refs(*(f"https://s{n}.example/" for n in range(500)))
    assert len(list(linked_sites(many, "own.example"))) == suggestions.MAX_LINKS
    twice = refs("https://b.example/1?a=1&amp;b=2", "https://b.example/2")
    assert list(linked_sites(twice, "own.example")) == [("b.example", "https://b.example/1?a=1&b=2")]
    assert (
        list(linked_sites('<a href="javascript:alert(1)">x</a><a href="/local">y</a><a title="https://c.example/">z</a>', "own.example"))
        == []
    )


def test_counters_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggestions, "MAX_SITES", 20)
    counting = SiteCounter()
    for n in range(200):
        counting.add(
            article(f"https://own.example/{n}", refs(f"https://once{n}.example/", "https://often.example/"), origin=f"社{n}", site=f"站{n}")
        )
    assert len(counting._sites) <= 20
    assert len(counting._names) <= 20
    assert counting.suggestions()[0].site == "often.example"


def test_rarest_sites_are_evicted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggestions, "MAX_SITES", 20)
    counting = SiteCounter()
    for n in range(20):
        for time in range(2 + n):
            counting.add(article(f"https://own.example/{n}/{time}", refs(f"https://site{n}.example/")))
    counting.add(article("https://own.example/x", refs("https://new.example/")))
    assert len(counting._sites) == 19
    left = {suggestion.site for suggestion in counting.suggestions()}
    assert "new.example" in left
    assert not {"site0.example", "site1.example"} & left
