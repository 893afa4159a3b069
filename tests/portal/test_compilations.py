"""Compilations of hundreds of stories: cached, computed one at a time, and limited for each visitor."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi import HTTPException

from newsportal.portal.access import RateLimit
from newsportal.portal.ttl_cache import Compilations

NOW = datetime(2026, 5, 20, 8, tzinfo=UTC)


def refusal_status(compilations: Compilations, visitor: str, day: int = 0) -> int:
    with pytest.raises(HTTPException) as error:
        compilations.get(visitor, lambda: day, NOW - timedelta(days=day), "briefing")
    return error.value.status_code


def test_computed_results_are_limited_and_cached() -> None:
    compilations = Compilations(RateLimit(2, 0))
    for day in (1, 2, 1, 2):
        assert compilations.get("192.0.2.1", lambda day=day: day, NOW - timedelta(days=day), "briefing") == day  # type: ignore[misc]
    assert refusal_status(compilations, "192.0.2.1", 3) == 429
    assert compilations.get("192.0.2.2", lambda: 3, NOW - timedelta(days=3), "briefing") == 3
    assert compilations.get("192.0.2.1", lambda: 4, NOW - timedelta(days=3), "briefing") == 3


def test_one_computation_at_a_time_does_not_block_cached_results() -> None:
    compilations = Compilations(patience=0)
    compilations.get("192.0.2.1", lambda: "kept", NOW, "briefing")

    def slow() -> str:
        assert compilations.get("192.0.2.2", lambda: "anew", NOW, "briefing") == "kept"
        return f"{refusal_status(compilations, '192.0.2.2', 2)}"

    assert compilations.get("192.0.2.1", slow, NOW - timedelta(days=1), "briefing") == "503"


def test_failed_computation_releases_its_slot() -> None:
    compilations = Compilations(patience=0)
    with pytest.raises(ZeroDivisionError):
        compilations.get("192.0.2.1", lambda: 1 / 0, NOW)
    assert compilations.get("192.0.2.1", lambda: 1, NOW) == 1


def test_page_reports_when_to_retry(client: Any) -> None:
    client.app.state.portal.compilations._pace = RateLimit(0, 0)
    answer = client.get("/briefing/2026-05-19")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "60")
    assert "请求过于频繁" in answer.text
    assert client.get("/api/v1/briefing", params={"day": "2026-05-19"}).json()["error"]["code"] == "too-many"
