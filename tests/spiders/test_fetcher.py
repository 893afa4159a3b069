from __future__ import annotations

from datetime import UTC, datetime

import pytest
from scrapy.exceptions import CannotResolveHostError, DownloadTimeoutError, IgnoreRequest
from scrapy.http import Request, Response
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from newsportal.errors import EgressDenied
from newsportal.spiders.fetcher import outcome_of, retry_after

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)


def http(status: int, retry: str | None = None) -> Failure:
    headers = {} if retry is None else {"Retry-After": retry}
    return Failure(HttpError(Response("http://a.example/", status=status, headers=headers, request=Request("http://a.example/"))))


@pytest.mark.parametrize(
    ("failure", "reason", "transient"),
    [
        (http(404), "http-404", False),
        (http(503), "http-503", True),
        (Failure(CannotResolveHostError("x")), "dns", True),
        (Failure(DownloadTimeoutError("x")), "timeout", True),
        (Failure(EgressDenied("http://10.0.0.1/", "private")), "egress-denied", False),
        (Failure(IgnoreRequest("x")), "ignored", False),
        (Failure(IgnoreRequest("max redirections reached")), "redirects", False),
        (Failure(IgnoreRequest("its body exceeded DOWNLOAD_MAXSIZE (9 B)")), "too-large", False),
        (http(302), "redirect-denied", False),
        (Failure(KeyError("x")), "error: KeyError", False),
    ],
)
def test_failure_reason_and_whether_it_is_temporary(failure: Failure, reason: str, transient: bool) -> None:
    outcome = outcome_of(failure)
    assert (outcome.reason, outcome.transient) == (reason, transient)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("120", 120.0),
        ("315360000", 86400.0),
        ("9" * 400, 86400.0),
        ("-5", None),
        ("0", None),
        ("soon", None),
        ("²", None),
        ("Thu, 05 Mar 2026 12:10:00 +9999999999999", None),
        ("Thu, 05 Mar 2026 12:10:00 GMT", 600.0),
        ("Thu, 05 Mar 2020 12:10:00 GMT", None),
        ("Thu, 05 Mar 2036 12:10:00 GMT", 86400.0),
        (None, None),
    ],
)
def test_retry_after_is_limited_to_a_day(written: str | None, seconds: float | None) -> None:
    assert retry_after(http(503, written), NOW) == seconds
    assert retry_after(http(404, written), NOW) is None
