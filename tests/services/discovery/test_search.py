"""Sources found behind a URL, their order, and the number of requests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from html import escape

import pytest

from newsportal.errors import FetchFailed
from newsportal.items import Link, Page
from newsportal.messages import Message
from newsportal.services.discovery import finders
from newsportal.services.discovery.finders import Proposal, cadence, is_comments, rate
from newsportal.services.discovery.search import MAX_REQUESTS, NoSource, find

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SITE = "https://news.example"
TITLES = (
    "港口新航线今晨正式开通运营",
    "市民排队体验跨海渡轮首航班次",
    "气象台提醒今夜大风降温明显",
    "中学生机器人大赛本周末开幕",
    "旧城改造首批居民喜迁新居",
)


class Web:
    """Pages by path; records the requested URLs. A missing page answers 404."""

    def __init__(self, **pages: str) -> None:
        self.pages: dict[str, str] = {}
        self.requested: list[str] = []

    def __call__(self, url: str) -> Page:
        self.requested.append(url)
        if url.endswith("/hangs"):
            raise FetchFailed(url, "timeout")
        body = self.pages.get(url) or self.pages.get(url.removeprefix(SITE))
        return Page(url, (body or "<html>404</html>").encode(), NOW, 200 if body else 404)


def rss(days: float = 0.1, number: int = 8, title: str = "要闻") -> str:
    items = "".join(
        f"<item><title>第{n}条：{TITLES[n % 5]}</title><link>{SITE}/a/{1000 + n}.html</link>"
        f"<pubDate>{(NOW - timedelta(days=days + n / 4)).strftime('%a, %d %b %Y %H:%M:%S')} +0000</pubDate></item>"
        for n in range(number)
    )
    return f'<rss version="2.0"><channel><title>{title}</title><link>{SITE}/</link>{items}</channel></rss>'


def urlset(days: float = 0.1, number: int = 8) -> str:
    items = "".join(
        f"<url><loc>{SITE}/a/20{n:04}.html</loc><lastmod>{(NOW - timedelta(days=days + n / 4)).isoformat()}</lastmod></url>"
        for n in range(number)
    )
    return f"<urlset>{items}</urlset>"


def html(head: str = "", body: str = "", title: str = "潮汐新闻") -> str:
    return f"<!DOCTYPE html><html><head><meta charset=utf-8><title>{escape(title)}</title>{head}</head><body>{body}</body></html>"


def articles(number: int = 12, folder: str = "/news/2026/1119") -> str:
    return "".join(
        f'<li><a href="{folder}/30{n:04}.html">{TITLES[n % 5]}，第{n}篇</a><span>11-19 10:{n:02}</span></li>' for n in range(number)
    )


def declared(*paths: str) -> str:
    return "".join(f'<link rel="alternate" type="application/rss+xml" href="{path}">' for path in paths)


@pytest.fixture
def web() -> Web:
    return Web()


def kinds(found: list[Proposal]) -> list[str]:
    return [proposal.family for proposal in found]


def test_feed_url_costs_one_request(web: Web) -> None:
    web.pages["/x"] = rss()
    (found,), _ = find(f"{SITE}/x", web)
    assert (found.kind, found.entries, found.values) == ("feeds", 8, {"name": "要闻", "url": f"{SITE}/x"})
    assert found.newest == NOW - timedelta(days=0.1)
    assert found.per_day == pytest.approx(4.0)
    assert found.links[0].title == "第0条：港口新航线今晨正式开通运营"
    assert web.requested == [f"{SITE}/x"]


def test_first_good_declared_feed_ends_the_search(web: Web) -> None:
    web.pages |= {"/": html(declared("/comments/feed", "/news.xml", "/other.xml")), "/news.xml": rss()}
    web.pages["/comments/feed"] = rss(title="评论").replace("/a/", "/comment/")
    found, _ = find(f"{SITE}/", web)
    assert [proposal.values["url"] for proposal in found] == [f"{SITE}/news.xml", f"{SITE}/comments/feed"]
    assert web.requested == [f"{SITE}/", f"{SITE}/comments/feed", f"{SITE}/news.xml"]


@pytest.mark.parametrize("words", ["RSS", "订阅", "RSS订阅", "Atom"])
def test_link_text_names_page_of_feeds(web: Web, words: str) -> None:
    web.pages |= {
        "/": html("", f'<a href="/channels.html">{words}</a>'),
        "/channels.html": html("", '<a href="/c/1.rss">要闻</a>'),
        "/c/1.rss": rss(),
    }
    (found,), _ = find(f"{SITE}/", web)
    assert found.values["url"] == f"{SITE}/c/1.rss"


def test_usual_feed_paths_are_tried(web: Web) -> None:
    web.pages |= {"/": html("", articles()), "/atom.xml": rss()}
    found, _ = find(f"{SITE}/", web)
    assert kinds(found) == ["feed"]
    assert "usual URL" in str(found[0].reasons[0])


def test_soft_404_page_is_not_a_feed(web: Web) -> None:
    everywhere = html(declared("/feed"), articles())
    web.pages |= dict.fromkeys(("/", *finders.USUAL_FEEDS, *finders.USUAL_SITEMAPS), everywhere)
    found, _ = find(f"{SITE}/", web)
    assert kinds(found) == ["region"]


def test_robots_txt_sitemaps_prefer_news_and_newest_child(web: Web) -> None:
    robots = b"Sitemap: https://news.example/all.xml\nSitemap: https://news.example/index-news.xml\n"
    web.pages |= {
        "/": html(),
        "/index-news.xml": "<sitemapindex><sitemap><loc>/old.xml</loc><lastmod>2026-10-01</lastmod></sitemap>"
        "<sitemap><loc>/new.xml</loc><lastmod>2026-11-20</lastmod></sitemap></sitemapindex>",
        "/new.xml": urlset(),
    }
    (found,), _ = find(f"{SITE}/", web, lambda url: robots)
    assert (found.kind, found.values["url"], found.entries) == ("sitemaps", f"{SITE}/index-news.xml", 8)
    assert web.requested[-2:] == [f"{SITE}/index-news.xml", f"{SITE}/new.xml"]


def test_robots_txt_is_read_after_redirect(web: Web) -> None:
    web.pages |= {"/": html(), "https://news.example/map.xml": urlset()}
    requested: list[str] = []

    def robots(url: str) -> bytes:
        requested.append(url)
        return b"Sitemap: /map.xml"

    def redirect(url: str) -> Page:
        return web(f"{SITE}/" if url == "https://old.example/" else url)

    (found,), _ = find("https://old.example/", redirect, robots)
    assert found.address == f"{SITE}/map.xml"
    assert requested == [f"{SITE}/"]


def test_sitemaps_are_skipped_without_robots_txt(web: Web) -> None:
    web.pages |= {"/": html(), "/sitemap.xml": urlset()}

    def robots(url: str) -> bytes:
        raise FetchFailed(url, "enough", "24 requests were made")

    with pytest.raises(NoSource):
        find(f"{SITE}/", web, robots)
    assert f"{SITE}/sitemap.xml" not in web.requested


def test_sitemap_index_is_followed(web: Web) -> None:
    web.pages |= {
        "/i.xml": "<sitemapindex><sitemap><loc>/i.xml</loc></sitemap><sitemap><loc>/s.xml</loc></sitemap></sitemapindex>",
        "/s.xml": urlset(),
    }
    (found,), _ = find(f"{SITE}/i.xml", web)
    assert (found.address, found.entries, found.links[0].url) == (f"{SITE}/i.xml", 8, f"{SITE}/a/200000.html")
    web.pages["/i.xml"] = "<sitemapindex><sitemap><loc>/gone.xml</loc></sitemap></sitemapindex>"
    assert find(f"{SITE}/i.xml", web)[0][0].entries == 1


def test_list_page_becomes_region_with_article_prefix(web: Web) -> None:
    web.pages["/list/"] = html("", articles())
    (found,), _ = find(f"{SITE}/list/", web)
    assert found.kind == "regions"
    assert found.values == {"name": "潮汐新闻", "prefix": f"{SITE}/news/", "seeds": f"{SITE}/list/"}
    assert found.newest is not None


def test_article_url_leads_to_sources_of_its_site(web: Web) -> None:
    web.pages |= {"/news/2026/1119/300001.html": html("", "<p>正文</p>"), "/": html(declared("/news.xml")), "/news.xml": rss()}
    (found,), notes = find(f"{SITE}/news/2026/1119/300001.html", web)
    assert found.values["url"] == f"{SITE}/news.xml"
    assert any(note.code == "trial.article" for note in notes)


def test_find_everything_ranks_all_kinds_within_request_limit(web: Web) -> None:
    menu = "".join(f'<a href="/{name}/">{text}</a>' for name, text in (("sport", "体育"), ("world", "国际"), ("tech", "科技")))
    web.pages |= {
        "/": html(declared("/old.xml", "/news.xml"), f"<nav>{menu}</nav><ul>{articles()}</ul>"),
        "/old.xml": rss(days=400).replace("/a/", "/old/"),
        "/news.xml": rss(),
        "/sitemap.xml": urlset(),
        "/sport/": html("", articles(folder="/sport/2026/1119"), title="体育"),
    }
    found, _ = find(f"{SITE}/", web, everything=True)
    assert kinds(found)[0] == "feed"
    assert found[0].values["url"] == f"{SITE}/news.xml"
    assert {"feed", "sitemap", "region"} == set(kinds(found))
    assert any(proposal.values.get("prefix") == f"{SITE}/sport/" for proposal in found), "a channel in the navigation"
    assert [proposal.score for proposal in found] == sorted((proposal.score for proposal in found), reverse=True)
    old = next(proposal for proposal in found if proposal.address.endswith("/old.xml"))
    assert Message("found.stale", days=400) in old.reasons
    assert len(web.requested) == len(set(web.requested)) <= MAX_REQUESTS


def test_source_with_same_links_as_better_one_is_left_out(web: Web) -> None:
    web.pages |= {
        "/": html(declared("/a.xml", "/b.xml", "/c.xml")),
        "/a.xml": rss(number=10),
        "/b.xml": rss(number=8),
        "/c.xml": rss(number=20),
    }
    found, notes = find(f"{SITE}/", web, everything=True)
    assert [proposal.address for proposal in found] == [f"{SITE}/c.xml"]
    assert sum(note.code == "trial.duplicate-list" for note in notes) == 2


def test_forum_is_recognised_by_its_urls(web: Web) -> None:
    boards = "".join(f'<a href="/forum-{n}-1.html">第{n}版块</a>' for n in range(1, 7))
    threads = "".join(f'<a href="/thread-{n}00-1-1.html">{TITLES[n % 5]}</a>' for n in range(1, 5))
    web.pages["/"] = html("", boards + threads)
    assert kinds(find(f"{SITE}/", web)[0]) == ["forum"]
    web.pages["/"] = html("", articles())
    assert kinds(find(f"{SITE}/", web)[0]) == ["region"]


def test_gallery_channel_is_recognised(web: Web) -> None:
    cards = "".join(f'<li><a href="/photo/2026/40{n:04}.html"><img src="/{n}.jpg" alt="{TITLES[n % 5]}"></a></li>' for n in range(9))
    web.pages["/photo/"] = html("", f"<ul>{cards}</ul>", title="图片频道")
    found, _ = find(f"{SITE}/photo/", web)
    assert kinds(found)[0] == "gallery"


def test_failed_request_is_noted_and_search_continues(web: Web) -> None:
    web.pages |= {"/": html(declared("/hangs", "/news.xml")), "/news.xml": rss()}
    found, notes = find(f"{SITE}/", web)
    assert kinds(found) == ["feed"]
    assert notes == [FetchFailed("https://news.example/hangs", "timeout").message]


def test_errors_when_nothing_is_found(web: Web) -> None:
    web.pages["/"] = html("", "<p>hello</p>")
    with pytest.raises(NoSource, match="--gallery"):
        find(f"{SITE}/", web)
    with pytest.raises(NoSource, match="answers 404"):
        find(f"{SITE}/gone", web)
    with pytest.raises(FetchFailed):
        find(f"{SITE}/hangs", web)


def test_score_depends_on_entries_freshness_and_titles() -> None:
    def scored(number: int, days: float | None, title: str | None = "题", name: str = "要闻") -> float:
        links = tuple(Link(f"{SITE}/{n}", "", title, published=None if days is None else NOW - timedelta(days=days)) for n in range(number))
        return rate(Proposal("feeds", {"name": name, "url": SITE}, number, links), NOW).score

    assert scored(20, 0.1) > scored(5, 0.1) > scored(5, 60)
    assert scored(20, 0.1) > scored(20, None) > scored(20, 300)
    assert scored(20, 1) > scored(20, 1, title=None)
    assert scored(20, 1) > scored(20, 1, name="某文 的评论")
    assert scored(0, None) < 0.1
    assert is_comments(Proposal("feeds", {"name": "x", "url": f"{SITE}/comments/feed"}, 1))
    assert cadence([NOW, NOW]) is None
    assert cadence([NOW, NOW - timedelta(days=2), NOW - timedelta(days=4)]) == 0.5
