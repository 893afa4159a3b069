"""A look at a site is polite: robots.txt obeyed, one request after another, not many."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from newsportal.errors import EgressDenied, FetchFailed, Redirected
from newsportal.items import Page
from newsportal.services.discovery.search import FetchRefused
from newsportal.services.trying.polite_fetch import MAX_WAIT, Visitor

SITE = "https://news.example"


def pages(robots: str | int) -> tuple[list[str], object]:
    asked: list[str] = []

    def get(url: str) -> Page:
        asked.append(url)
        if url.endswith("/robots.txt"):
            if robots == 0:
                raise FetchFailed(url, "timeout")
            status, body = (200, robots) if isinstance(robots, str) else (robots, "")
            return Page(url, body.encode(), datetime.now(UTC), status)
        return Page(url, b"x", datetime.now(UTC))

    return asked, get


def test_robots_are_read_once_and_obeyed() -> None:
    asked, get = pages("User-agent: *\nDisallow: /private/\nSitemap: /s.xml")
    visit = Visitor(get)  # type: ignore[arg-type]
    visit(f"{SITE}/a")
    with pytest.raises(FetchRefused, match="does not allow"):
        visit(f"{SITE}/private/b")
    assert visit.robots(SITE).endswith(b"/s.xml")
    assert asked == [f"{SITE}/robots.txt", f"{SITE}/a"]
    assert visit.requests == 2


@pytest.mark.parametrize("robots", [0, 503])
def test_without_readable_robots_nothing_is_asked(robots: int) -> None:
    asked, get = pages(robots)
    with pytest.raises(FetchRefused):
        Visitor(get)(f"{SITE}/a")  # type: ignore[arg-type]
    assert asked == [f"{SITE}/robots.txt"]


def test_a_site_without_robots_is_open_and_the_operator_may_say_otherwise() -> None:
    asked, get = pages(404)
    Visitor(get)(f"{SITE}/a")  # type: ignore[arg-type]
    _, closed = pages("User-agent: *\nDisallow: /")
    Visitor(closed, obey=False)(f"{SITE}/a")  # type: ignore[arg-type]
    assert asked[-1] == f"{SITE}/a"


def test_requests_to_one_host_keep_their_distance() -> None:
    waited: list[float] = []
    _, get = pages("User-agent: *\nCrawl-delay: 5")
    visit = Visitor(get, delay=1.0, sleep=waited.append)  # type: ignore[arg-type]
    for path in ("/a", "/b"):
        visit(SITE + path)
    visit("https://other.example/a")
    assert len(waited) == 1
    assert 4.5 < waited[0] <= 5.0


def test_a_site_that_asks_for_long_waits_is_looked_at_no_further() -> None:
    _, get = pages(f"User-agent: *\nCrawl-delay: {MAX_WAIT * 3}")
    visit = Visitor(get)  # type: ignore[arg-type]
    visit(f"{SITE}/a")
    with pytest.raises(FetchRefused, match="between requests"):
        visit(f"{SITE}/b")


def test_enough_is_enough() -> None:
    asked, get = pages(404)
    visit = Visitor(get, most=3)  # type: ignore[arg-type]
    visit(f"{SITE}/a")
    visit(f"{SITE}/b")
    with pytest.raises(FetchRefused, match="3 requests"):
        visit(f"{SITE}/c")
    with pytest.raises(FetchRefused):
        visit("https://other.example/")
    assert len(asked) == 3


def leading(**targets: str) -> tuple[list[str], object]:
    """A Web whose addresses lead on as ``targets`` says, ``denied`` for one that nobody may fetch."""
    asked: list[str] = []

    def get(url: str) -> Page:
        asked.append(url)
        if url == "https://inside.example/robots.txt":
            raise EgressDenied("inside.example (10.0.0.1)", "private")
        if (target := targets.get(url.partition("://")[2].replace(".example", "").replace("/", "_").replace(".", "_"))) is not None:
            raise Redirected(url, target)
        body = b"User-agent: *\nDisallow: /shut" if url.endswith("/robots.txt") else b"x"
        return Page(url, body, datetime.now(UTC))

    return asked, get


def test_where_a_redirect_leads_robots_are_asked_first() -> None:
    asked, get = leading(news_a="https://other.example/shut/a", news_b="https://other.example/b")
    visit = Visitor(get)  # type: ignore[arg-type]
    with pytest.raises(FetchRefused, match="does not allow") as caught:
        visit(f"{SITE}/a")
    assert caught.value.url == "https://other.example/shut/a"
    assert visit(f"{SITE}/b").url == "https://other.example/b"
    assert asked == [f"{SITE}/robots.txt", f"{SITE}/a", "https://other.example/robots.txt", f"{SITE}/b", "https://other.example/b"]
    assert visit.requests == len(asked)


def test_a_site_of_another_name_that_shuts_itself_is_open_to_who_may_ask() -> None:
    asked, get = leading(news_a="https://other.example/shut/a")
    assert Visitor(get, obey=False)(f"{SITE}/a").url == "https://other.example/shut/a"  # type: ignore[arg-type]
    assert not any(url.endswith("/robots.txt") for url in asked)


def test_redirects_in_a_circle_end() -> None:
    asked, get = leading(news_a=f"{SITE}/a")
    with pytest.raises(FetchFailed, match="redirects"):
        Visitor(get)(f"{SITE}/a")  # type: ignore[arg-type]
    assert asked.count(f"{SITE}/a") == 6


def test_robots_txt_that_leads_in_a_circle_is_none_and_one_that_leads_inside_means_no() -> None:
    _, get = leading(news_robots_txt=f"{SITE}/robots.txt")
    assert Visitor(get)(f"{SITE}/shut")  # type: ignore[arg-type]
    asked, get = leading(news_robots_txt="https://inside.example/robots.txt")
    visit = Visitor(get)  # type: ignore[arg-type]
    for path in ("/a", "/b"):
        with pytest.raises(FetchRefused, match="forbidden address"):
            visit(SITE + path)
    assert len(asked) == 2
    with pytest.raises(EgressDenied):
        visit("https://inside.example/a")
