"""Retries that respect the server's Retry-After."""

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


def process(middleware: PatientRetryMiddleware, status: int, retry_after: str | None = None) -> Request | Response:
    request = Request("https://a.example/1")
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return middleware.process_response(request, Response(request.url, status=status, headers=headers))


DAY = timedelta(days=1)
IN_A_DAY = pytest.param(format_datetime(datetime.now(UTC) + DAY, usegmt=True), id="in a day")
A_DAY_AGO = pytest.param(format_datetime(datetime.now(UTC) - DAY, usegmt=True), id="a day ago")
"""Fixed ids: parallel processes collect the tests in different seconds and must see the same ids."""


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("written", ["1", "120", "315360000", IN_A_DAY])
def test_response_with_retry_after_is_not_retried_at_once(middleware: PatientRetryMiddleware, status: int, written: str) -> None:
    assert isinstance(process(middleware, status, written), Response)


@pytest.mark.parametrize("written", [None, "0", "-5", "", "soon", "²", A_DAY_AGO])
def test_response_without_valid_wait_is_retried(middleware: PatientRetryMiddleware, written: str | None) -> None:
    again = process(middleware, 503, written)
    assert isinstance(again, Request)
    assert again.meta["retry_times"] == 1


def test_retry_after_counts_only_with_429_and_503(middleware: PatientRetryMiddleware) -> None:
    assert isinstance(process(middleware, 500, "120"), Request)
    assert isinstance(process(middleware, 200, "120"), Response)
    assert isinstance(process(middleware, 404, "120"), Response)


def test_retries_are_limited(middleware: PatientRetryMiddleware) -> None:
    request = Request("https://a.example/1", meta={"retry_times": 2})
    response = Response(request.url, status=503)
    assert middleware.process_response(request, response) is response
