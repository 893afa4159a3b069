"""Extraction of an article over all its pages from a URL; a saved page lists its further pages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from newsportal.cli import extract
from newsportal.errors import EgressDenied, FetchFailed, NotApplicable
from newsportal.extractors import extractor
from newsportal.extractors.lists.pagination import MAX_FETCHED
from newsportal.items import Page

URL = "https://a.example/2026/830115{}.html"


def address(number: int) -> str:
    return URL.format("" if number == 1 else f"_{number}")


def page(number: int, last: int, url: str | None = None) -> Page:
    text = "".join(
        f"<p>山间古镇的石板路昨天重新铺好，编号{number}{line}的石头是镇上老人自己挑的，走了六十年的路终于不再积水。</p>" for line in (7, 8)
    )
    row = " ".join(f'<a href="{address(n)}">{n}</a>' for n in range(1, last + 1) if n != number)
    html = f"<meta charset=utf-8><title>古镇修路</title><h1>古镇修路</h1><div>{text}</div><p>{row}</p>"
    return Page(url or address(number), html.encode(), datetime(2026, 3, 12, tzinfo=UTC))


@pytest.fixture(autouse=True)
def no_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract, "DELAY", 0.0)


def numbers(text: str | None) -> list[str]:
    return [line.partition("编号")[2].partition("7的")[0] for line in (text or "").split("\n") if "7的" in line]


def fetcher(last: int, failing: int = 0) -> Callable[[str], Page]:
    def fetch(url: str) -> Page:
        number = int(url.rpartition("_")[2].removesuffix(".html"))
        if number == failing:
            raise FetchFailed(url, "timeout")
        return page(number, last)

    return fetch


def test_all_pages_of_a_url() -> None:
    found = extract.read_all(extractor("best"), fetcher(4), page(1, 4), None)
    assert numbers(found.text) == ["1", "2", "3", "4"]
    assert found.pages == tuple(map(address, range(1, 5)))


@pytest.mark.parametrize("algorithm", ["best", "cevc"])
def test_failing_page_ends_the_article(algorithm: str) -> None:
    assert numbers(extract.read_all(extractor(algorithm), fetcher(4, failing=3), page(1, 4), None).text) == ["1", "2"]


def test_number_of_pages_is_limited() -> None:
    requested: list[str] = []

    def fetch(url: str) -> Page:
        requested.append(url)
        return page(len(requested) + 1, 99)

    extract.read_all(extractor("best"), fetch, page(1, 99), None)
    assert len(requested) == MAX_FETCHED - 1


def test_saved_page_lists_its_further_pages() -> None:
    assert extract.read_one(extractor("best"), page(1, 3), None).pages == tuple(map(address, range(1, 4)))
    assert extract.read_one(extractor("best"), page(1, 1), None).pages == ()


def test_first_page_without_article_is_an_error() -> None:
    with pytest.raises(NotApplicable):
        extract.read_all(extractor("best"), fetcher(1), Page(address(1), b"<title>404 not found</title>", datetime.now(UTC)), None)


def test_error_status_ends_the_article() -> None:
    def fetch(url: str) -> Page:
        return Page(url, page(2, 3).body, datetime.now(UTC), status=500)

    assert numbers(extract.read_all(extractor("best"), fetch, page(1, 3), None).text) == ["1"]


def failing(error: Exception) -> Callable[[str], Page]:
    """Return a fetch function whose third page fails."""

    def fetch(url: str) -> Page:
        if url == address(3):
            raise error
        return page(2, 4)

    return fetch


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (FetchFailed(address(3), "timeout"), "timeout; try again later"),
        (EgressDenied(address(3), "loopback"), f"egress-denied; {extract.PUBLIC_ONLY}"),
        (NotApplicable("soft-404", "a\nb"), "soft-404"),
        (ValueError("a page that breaks the reader"), "error: ValueError"),
    ],
)
def test_lost_pages_are_reported_in_one_line(error: Exception, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = extract.read_all(extractor("best"), failing(error), page(1, 4), None)
    assert numbers(found.text) == ["1", "2"]
    assert capsys.readouterr() == ("", f"{address(1)}: no pages from {address(3)} on: {message}\n")


def test_pages_beyond_the_limit_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    requested: list[str] = []

    def fetch(url: str) -> Page:
        requested.append(url)
        return page(len(requested) + 1, 99)

    extract.read_all(extractor("best"), fetch, page(1, 99), None)
    assert f"pages after {address(MAX_FETCHED)} are left out: too-many; " in capsys.readouterr().err


def test_harmless_ends_are_not_reported(capsys: pytest.CaptureFixture[str]) -> None:
    def fetch(url: str) -> Page:
        return page(2, 3) if url == address(2) else Page("https://a.example/", b"<title>front</title>", datetime.now(UTC))

    assert numbers(extract.read_all(extractor("best"), fetch, page(1, 3), None).text) == ["1", "2"]
    extract.read_all(extractor("best"), fetcher(4), page(1, 4), None)
    assert capsys.readouterr() == ("", "")


def test_later_page_is_extracted_from_the_first_on() -> None:
    requested: list[str] = []

    def fetch(url: str) -> Page:
        requested.append(url)
        return page(1 if url == address(1) else 2, 3)

    found = extract.read_all(extractor("best"), fetch, page(3, 3), None)
    assert numbers(found.text) == ["1", "2", "3"]
    assert (found.canonical, found.pages) == (address(1), tuple(map(address, (1, 2, 3))))
    assert requested == [address(1), address(2)], "the given page is not fetched again"


def test_later_page_is_used_alone_if_the_first_is_lost(capsys: pytest.CaptureFixture[str]) -> None:
    def fetch(url: str) -> Page:
        return Page(url, b"", datetime.now(UTC), status=404)

    assert numbers(extract.read_all(extractor("best"), fetch, page(3, 3), None).text) == ["3"]
    assert capsys.readouterr().err == f"{address(3)}: without its first page, {address(1)}: http-404\n"
