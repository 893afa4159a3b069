"""Pages with robots directives in a real crawl: refused and counted, if robots.txt is obeyed."""

from __future__ import annotations

import gzip
from typing import Any

from newsportal.crawl.middlewares import RobotsDenied

TAGS = {"newsportal.crawl.handlers.Guard": 50, "newsportal.crawl.middlewares.RobotsTagsMiddleware": 540}
NOINDEX = b'<html><head><meta name="robots" content="noindex, nofollow, noarchive"></head><body>x</body></html>'


def _crawl(crawl: Any, site: Any, **meta: Any) -> Any:
    request = {"url": site.url("/a"), "meta": {"source": "feed:x", **meta}}
    return crawl(request, ROBOTSTXT_OBEY=True, NEWSPORTAL_ALLOW_PRIVATE=site.allow, DOWNLOADER_MIDDLEWARES=TAGS)


def test_noindex_page_is_a_counted_failure(crawl: Any, site: Any, response: Any) -> None:
    for answer in (response(NOINDEX, content_type="text/html"), response(b"x", x_robots_tag="otherbot: none, newsportal: noindex")):
        site.routes["/a"] = answer
        found = _crawl(crawl, site)
        error = found.errors[site.url("/a")]
        assert isinstance(error, RobotsDenied)
        assert (error.reason, error.transient) == ("robots-noindex", False)
        assert found.stats["robots/denied/robots-noindex"] == 1


def test_list_page_may_be_noindex_but_not_nofollow(crawl: Any, site: Any, response: Any) -> None:
    site.routes["/a"] = response(b"x", x_robots_tag="noindex")
    assert _crawl(crawl, site, list_page=None).pages
    site.routes["/a"] = response(NOINDEX, content_type="text/html")
    assert _crawl(crawl, site, list_page=site.url("/a")).errors[site.url("/a")].reason == "robots-nofollow"


def test_exempt_sources_and_other_requests_ignore_directives(crawl: Any, site: Any, response: Any) -> None:
    site.routes["/a"] = response(NOINDEX, content_type="text/html")
    assert _crawl(crawl, site, obey_robots=False).pages
    assert _crawl(crawl, site, source=None).pages  # robots.txt itself, pictures
    assert _crawl(crawl, site, source="engine:baidu_web").pages
    site.routes["/a"] = response(NOINDEX, content_type="image/png")
    assert _crawl(crawl, site).pages


def test_noarchive_is_counted(crawl: Any, site: Any, response: Any) -> None:
    site.routes["/a"] = response(b"x", x_robots_tag="noarchive")
    found = _crawl(crawl, site)
    assert found.pages
    assert found.stats["robots/noarchive"] == 1


def test_directives_of_an_error_page_are_ignored(crawl: Any, site: Any, response: Any) -> None:
    site.routes["/a"] = response(NOINDEX, "404 Not Found", content_type="text/html")
    assert _crawl(crawl, site).pages[site.url("/a")].status == 404


def test_directives_in_compressed_pages_are_read(crawl: Any, site: Any, response: Any) -> None:
    site.routes["/a"] = response(gzip.compress(NOINDEX), content_type="text/html", content_encoding="gzip")
    assert _crawl(crawl, site).errors
