"""Retries, but not against the server's word."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from newsportal.crawl.middlewares import PatientRetryMiddleware


@pytest.fixture
def middleware() -> PatientRetryMiddleware:
    crawler = get_crawler(Spider)
    crawler.spider = Spider.from_crawler(crawler, name="test")
    return PatientRetryMiddleware.from_crawler(crawler)


def answered(middleware: PatientRetryMiddleware, status: int, retry_after: str | None = None) -> Request | Response:
    request = Request("https://a.example/1")
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return middleware.process_response(request, Response(request.url, status=status, headers=headers))


DAY = timedelta(days=1)
IN_A_DAY = pytest.param(format_datetime(datetime.now(UTC) + DAY, usegmt=True), id="in a day")
A_DAY_AGO = pytest.param(format_datetime(datetime.now(UTC) - DAY, usegmt=True), id="a day ago")
"""Named: parallel processes that collect the tests in different seconds must see the same ones."""


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("written", ["1", "120", "315360000", IN_A_DAY])
def test_who_asks_to_wait_is_not_asked_again(middleware: PatientRetryMiddleware, status: int, written: str) -> None:
    assert isinstance(answered(middleware, status, written), Response)


@pytest.mark.parametrize("written", [None, "0", "-5", "", "soon", "²", A_DAY_AGO])
def test_who_asks_for_no_wait_is_asked_again(middleware: PatientRetryMiddleware, written: str | None) -> None:
    again = answered(middleware, 503, written)
    assert isinstance(again, Request)
    assert again.meta["retry_times"] == 1


def test_a_wait_counts_with_the_statuses_that_may_carry_one_only(middleware: PatientRetryMiddleware) -> None:
    assert isinstance(answered(middleware, 500, "120"), Request)
    assert isinstance(answered(middleware, 200, "120"), Response)
    assert isinstance(answered(middleware, 404, "120"), Response)


def test_retries_end(middleware: PatientRetryMiddleware) -> None:
    request = Request("https://a.example/1", meta={"retry_times": 2})
    response = Response(request.url, status=503)
    assert middleware.process_response(request, response) is response
