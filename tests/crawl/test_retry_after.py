"""Responses that pause a host, and for how long."""

from __future__ import annotations

from newsportal.crawl.middlewares.retry import MAX_HOSTS, MAX_PAUSE, RetryAfter


def test_429_pauses_the_host_at_once() -> None:
    assert RetryAfter().pause_for("a", "/1", 429, 30.0, 0.0) == 30.0


def test_503_pauses_the_host_after_three_different_pages() -> None:
    found = RetryAfter()
    assert [found.pause_for("a", url, 503, 120.0, 0.0) for url in ("/1", "/1", "/2")] == [None, None, None]
    assert found.pause_for("b", "/3", 503, 120.0, 0.0) is None
    assert found.pause_for("a", "/3", 503, 50.0, 10.0) == 50.0


def test_successful_response_resets_the_count() -> None:
    found = RetryAfter()
    for url in ("/1", "/2"):
        found.pause_for("a", url, 503, 120.0, 0.0)
    found.clear("a")
    assert found.pause_for("a", "/3", 503, 120.0, 0.0) is None


def test_expired_retry_after_does_not_count() -> None:
    found = RetryAfter()
    for url in ("/1", "/2"):
        found.pause_for("a", url, 503, 10.0, 0.0)
    assert found.pause_for("a", "/3", 503, 10.0, 10.0) is None


def test_consecutive_pauses_grow_and_late_responses_do_not_count() -> None:
    found = RetryAfter()
    assert found.pause_for("a", "/1", 429, 50.0, 0.0) == 50.0
    assert found.pause_for("a", "/2", 429, 50.0, 1.0) == 50.0
    assert found.pause_for("a", "/3", 429, 50.0, 52.0) == 100.0
    assert found.pause_for("a", "/4", 503, 5.0, 160.0) == 200.0
    assert found.pause_for("a", "/5", 429, MAX_PAUSE, 400.0) == MAX_PAUSE
    found.clear("a")
    assert found.pause_for("a", "/6", 429, 50.0, 500.0) == 50.0


def test_number_of_remembered_hosts_is_limited() -> None:
    found = RetryAfter()
    for number in range(MAX_HOSTS + 2):
        found.pause_for(str(number), "/", 503, 5.0, 0.0)
    assert len(found._pauses) == MAX_HOSTS
