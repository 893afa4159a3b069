"""A look at a site is polite: robots.txt obeyed, one request after another, not many."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from newsportal.commands.looking import MAX_WAIT, Visitor
from newsportal.discovery.search import NotAsked
from newsportal.errors import FetchFailed
from newsportal.items import Page

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
    with pytest.raises(NotAsked, match="does not allow"):
        visit(f"{SITE}/private/b")
    assert visit.robots(SITE).endswith(b"/s.xml")
    assert asked == [f"{SITE}/robots.txt", f"{SITE}/a"]
    assert visit.requests == 2


@pytest.mark.parametrize("robots", [0, 503])
def test_without_readable_robots_nothing_is_asked(robots: int) -> None:
    asked, get = pages(robots)
    with pytest.raises(NotAsked):
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
    with pytest.raises(NotAsked, match="between requests"):
        visit(f"{SITE}/b")


def test_enough_is_enough() -> None:
    asked, get = pages(404)
    visit = Visitor(get, most=3)  # type: ignore[arg-type]
    visit(f"{SITE}/a")
    visit(f"{SITE}/b")
    with pytest.raises(NotAsked, match="3 requests"):
        visit(f"{SITE}/c")
    with pytest.raises(NotAsked):
        visit("https://other.example/")
    assert len(asked) == 3
