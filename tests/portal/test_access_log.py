"""Request ids in answers and logs, and the optional access log with one line for each request."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from newsportal import logs
from newsportal.errors import StoreUnavailable
from newsportal.portal import access_log
from newsportal.store.store import Store

Lines = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def lines(tmp_path: Path) -> Iterator[Lines]:
    """Return the log lines of a request id, waiting for them: an answer is sent before it is logged."""
    file = tmp_path / "portal.log"
    handler = logs.install("json", file)
    access_log.enable(handler)

    def wait_for_lines(id: str, *, more_than: int = 0) -> list[dict[str, Any]]:
        until = time.monotonic() + 600
        while time.monotonic() < until:
            found = [row for row in map(json.loads, file.read_text("utf-8").splitlines()) if row.get("request") == id]
            if len(found) > more_than:
                return found
            time.sleep(0.01)
        raise AssertionError(f"no line of request {id}: {file.read_text('utf-8')}")

    yield wait_for_lines
    access_log.log.removeHandler(handler)
    access_log.log.propagate = True
    access_log.log.setLevel(logging.NOTSET)
    logging.getLogger().removeHandler(handler)
    handler.close()


@pytest.mark.parametrize("path", ["/", "/nowhere", "/health", "/static/portal.css", "/api/v1/nowhere", "/feed.rss"])
def test_every_answer_has_a_unique_request_id(client: httpx.Client, path: str) -> None:
    answers = [client.get(path), client.head(path), client.post(path), client.get(path, headers={"host": "stranger.example"})]
    ids = {answer.headers["x-request-id"] for answer in answers}
    assert len(ids) == len(answers)


def test_request_is_logged_without_its_query(client: httpx.Client, lines: Lines) -> None:
    answer = client.get("/search?q=秘密", headers={"accept-encoding": "identity"})
    refused = client.get("/%E6%B2%A1%0A", headers={"host": "stranger.example"})
    (first,), (second,) = (lines(response.headers["x-request-id"]) for response in (answer, refused))
    assert (first["method"], first["url"], first["status"], first["client"]) == ("GET", "/search", 200, "127.0.0.1")
    assert (first["level"], first["bytes"]) == ("INFO", len(answer.content))
    assert 0 < first["seconds"] < 600
    assert "秘密" not in json.dumps(first, ensure_ascii=False)
    assert (second["status"], second["url"]) == (400, "/%E6%B2%A1%0A")


def test_errors_are_logged_with_request_id(
    serve: Callable[..., httpx.Client], store: Store, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = serve(store)
    server = logging.getLogger("uvicorn.error")  # logs exceptions of pages; in tests only
    monkeypatch.setattr(logging.getLogger("uvicorn"), "propagate", True)
    server.setLevel(logging.ERROR)

    def broken(self: object) -> Any:
        raise failure

    monkeypatch.setattr("newsportal.portal.context.Portal.tally", broken)
    failure: Exception = StoreUnavailable("it is away")
    unavailable = client.get("/?size=7")
    failure = RuntimeError("broken")
    crash = client.get("/?size=8")
    assert (unavailable.status_code, crash.status_code) == (503, 500)
    assert "it is away" in lines(unavailable.headers["x-request-id"])[0]["text"]
    traces = [row.get("trace", "") for row in lines(crash.headers["x-request-id"], more_than=1)]
    server.setLevel(logging.CRITICAL)
    assert any("RuntimeError: broken" in trace for trace in traces)


def test_access_log_is_off_by_default(client: httpx.Client, caplog: pytest.LogCaptureFixture) -> None:
    client.get("/")
    assert not [record for record in caplog.records if record.name == access_log.__name__]
