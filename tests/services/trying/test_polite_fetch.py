"""Trying a site is polite: robots.txt is obeyed, one request at a time, and few of them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from newsportal.errors import EgressDenied, FetchFailed, Redirected
from newsportal.items import Page
from newsportal.services.discovery.search import FetchRefused
from newsportal.services.trying.polite_fetch import MAX_WAIT, PoliteFetcher

SITE = "https://news.example"


def pages(robots: str | int) -> tuple[list[str], object]:
    requested: list[str] = []

    def get(url: str) -> Page:
        requested.append(url)
        if url.endswith("/robots.txt"):
            if robots == 0:
                raise FetchFailed(url, "timeout")
            status, body = (200, robots) if isinstance(robots, str) else (robots, "")
            return Page(url, body.encode(), datetime.now(UTC), status)
        return Page(url, b"x", datetime.now(UTC))

    return requested, get


def test_robots_txt_is_read_once_and_obeyed() -> None:
    requested, get = pages("User-agent: *\nDisallow: /private/\nSitemap: /s.xml")
    visit = PoliteFetcher(get)  # type: ignore[arg-type]
    visit(f"{SITE}/a")
    with pytest.raises(FetchRefused, match="does not allow"):
        visit(f"{SITE}/private/b")
    assert visit.robots(SITE).endswith(b"/s.xml")
    assert requested == [f"{SITE}/robots.txt", f"{SITE}/a"]
    assert visit.requests == 2


@pytest.mark.parametrize("robots", [0, 503])
def test_unreadable_robots_txt_forbids_requests(robots: int) -> None:
    requested, get = pages(robots)
    with pytest.raises(FetchRefused):
        PoliteFetcher(get)(f"{SITE}/a")  # type: ignore[arg-type]
    assert requested == [f"{SITE}/robots.txt"]


def test_missing_or_ignored_robots_txt_allows_requests() -> None:
    requested, get = pages(404)
    PoliteFetcher(get)(f"{SITE}/a")  # type: ignore[arg-type]
    _, closed = pages("User-agent: *\nDisallow: /")
    PoliteFetcher(closed, obey=False)(f"{SITE}/a")  # type: ignore[arg-type]
    assert requested[-1] == f"{SITE}/a"


def test_delay_between_requests_to_one_host() -> None:
    waited: list[float] = []
    _, get = pages("User-agent: *\nCrawl-delay: 5")
    visit = PoliteFetcher(get, delay=1.0, sleep=waited.append)  # type: ignore[arg-type]
    for path in ("/a", "/b"):
        visit(SITE + path)
    visit("https://other.example/a")
    assert len(waited) == 1
    assert 4.5 < waited[0] <= 5.0


def test_too_long_crawl_delay_stops_the_visit() -> None:
    _, get = pages(f"User-agent: *\nCrawl-delay: {MAX_WAIT * 3}")
    visit = PoliteFetcher(get)  # type: ignore[arg-type]
    visit(f"{SITE}/a")
    with pytest.raises(FetchRefused, match="between requests"):
        visit(f"{SITE}/b")


def test_requests_are_limited() -> None:
    requested, get = pages(404)
    visit = PoliteFetcher(get, max_requests=3)  # type: ignore[arg-type]
    visit(f"{SITE}/a")
    visit(f"{SITE}/b")
    with pytest.raises(FetchRefused, match="3 requests"):
        visit(f"{SITE}/c")
    with pytest.raises(FetchRefused):
        visit("https://other.example/")
    assert len(requested) == 3


def redirecting(**targets: str) -> tuple[list[str], object]:
    """A Web whose URLs redirect as ``targets`` says; inside.example is forbidden."""
    requested: list[str] = []

    def get(url: str) -> Page:
        requested.append(url)
        if url == "https://inside.example/robots.txt":
            raise EgressDenied("inside.example (10.0.0.1)", "private")
        if (target := targets.get(url.partition("://")[2].replace(".example", "").replace("/", "_").replace(".", "_"))) is not None:
            raise Redirected(url, target)
        body = b"User-agent: *\nDisallow: /shut" if url.endswith("/robots.txt") else b"x"
        return Page(url, body, datetime.now(UTC))

    return requested, get


def test_robots_txt_of_redirect_target_is_obeyed() -> None:
    requested, get = redirecting(news_a="https://other.example/shut/a", news_b="https://other.example/b")
    visit = PoliteFetcher(get)  # type: ignore[arg-type]
    with pytest.raises(FetchRefused, match="does not allow") as refused:
        visit(f"{SITE}/a")
    assert refused.value.url == "https://other.example/shut/a"
    assert visit(f"{SITE}/b").url == "https://other.example/b"
    assert requested == [f"{SITE}/robots.txt", f"{SITE}/a", "https://other.example/robots.txt", f"{SITE}/b", "https://other.example/b"]
    assert visit.requests == len(requested)


def test_robots_txt_of_redirect_target_is_ignored_without_obey() -> None:
    requested, get = redirecting(news_a="https://other.example/shut/a")
    assert PoliteFetcher(get, obey=False)(f"{SITE}/a").url == "https://other.example/shut/a"  # type: ignore[arg-type]
    assert not any(url.endswith("/robots.txt") for url in requested)


def test_redirect_loop_ends() -> None:
    requested, get = redirecting(news_a=f"{SITE}/a")
    with pytest.raises(FetchFailed, match="redirects"):
        PoliteFetcher(get)(f"{SITE}/a")  # type: ignore[arg-type]
    assert requested.count(f"{SITE}/a") == 6


def test_redirects_of_robots_txt() -> None:
    _, get = redirecting(news_robots_txt=f"{SITE}/robots.txt")
    assert PoliteFetcher(get)(f"{SITE}/shut")  # type: ignore[arg-type]
    requested, get = redirecting(news_robots_txt="https://inside.example/robots.txt")
    visit = PoliteFetcher(get)  # type: ignore[arg-type]
    for path in ("/a", "/b"):
        with pytest.raises(FetchRefused, match="forbidden address"):
            visit(SITE + path)
    assert len(requested) == 2
    with pytest.raises(EgressDenied):
        visit("https://inside.example/a")
