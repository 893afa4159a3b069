"""``newsportal serve`` as a process: prints its URL, serves without a network, and stops cleanly."""

from __future__ import annotations

import json
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from forked import Started, run

from newsportal.cli import main
from newsportal.portal.listen import listen


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sources.yaml").write_text("portal:\n  title: 测试门户\ntopics:\n  - name: 旅游\n    keywords: {must: [旅游]}\n", "utf-8")
    return tmp_path


@contextmanager
def served(folder: Path, *options: str) -> Iterator[tuple[Started, str]]:
    """Yield the process and the line with its URL."""
    with Started("serve", *options, cwd=folder, piped=True, merged=True, PYTHONUNBUFFERED="1", COLUMNS="200") as process:
        yield process, next((text for text in process.stdout if "http://" in text), "")


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_serve_prints_its_url_and_stops_cleanly(folder: Path, stop: signal.Signals) -> None:
    with served(folder, "--port", "0") as (process, line):
        found = re.search(r"测试门户: (http://127\.0\.0\.1:\d+)", line)
        assert found, line
        response = httpx.get(found[1], timeout=600)
        assert response.status_code == 200
        assert "newsportal crawl --once" in response.text
        assert httpx.get(f"{found[1]}/health", timeout=600).json()["status"] == "ok"
        process.send_signal(stop)
        rest, _ = process.communicate(timeout=600)
        assert process.returncode == 0
        assert "Traceback" not in rest


SIGNALLED = """
import os, signal, uvicorn
from newsportal.portal.listen import listen, serve_forever

def signalled(server, **how):
    os.kill(os.getpid(), signal.SIGTERM)
    served(server, **how)

async def app(scope, receive, send):
    raise NotImplementedError

served, uvicorn.Server.run = uvicorn.Server.run, signalled
serve_forever(app, listen("127.0.0.1", 0))
"""


@pytest.mark.slow
def test_signal_before_serving_ends_it(folder: Path) -> None:
    assert run(script=SIGNALLED, cwd=folder).returncode == 0


@pytest.mark.slow
def test_port_in_use_is_reported_before_anything_starts(folder: Path) -> None:
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        result = run("serve", "--port", str(port), cwd=folder)
    assert result.returncode != 0
    assert f"port {port} is in use" in result.stdout + result.stderr
    assert not (folder / "data").exists()


@pytest.mark.slow
def test_first_start_creates_an_administrator_and_prints_the_password_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Into a pipe, like a service's log: nothing may stay in a buffer."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    with Started("serve", "--port", "0", cwd=folder, piped=True) as process:
        line = next(text for text in process.stdout if "sign in at" in text)
        found = re.search(r"sign in at (http://127\.0\.0\.1:\d+)/login as admin with the password (\S+)", line)
        assert found, line
        sent = {"name": "admin", "password": found[2]}
        response = httpx.post(f"{found[1]}/login", data=sent, headers={"origin": found[1]}, timeout=600)
        assert (response.status_code, "session=" in response.headers["set-cookie"]) == (303, True)
        process.send_signal(signal.SIGTERM)
        process.wait(600)
    with served(folder, "--port", "0") as (process, _):
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=600)
        assert "password" not in rest


@pytest.mark.slow
def test_json_log_has_a_line_for_each_request(folder: Path) -> None:
    log = folder / "portal.log"
    with served(folder, "--port", "0", "--log-format", "json", "--log-file", str(log), "--access-log") as (process, line):
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        assert found, line
        response = httpx.get(f"{found[0]}/health?who=me", timeout=600)
        with socket.create_connection(("127.0.0.1", int(found[1]))) as raw:
            raw.sendall(b"nonsense\r\n\r\n")  # the server's own warning is logged in the same format
            raw.recv(100)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=600)
    rows = [json.loads(text) for text in log.read_text("utf-8").splitlines()]
    (request,) = (row for row in rows if row.get("status"))
    assert (request["url"], request["status"], request["request"]) == ("/health", 200, response.headers["x-request-id"])
    assert [row["level"] for row in rows if row["logger"] == "uvicorn.error"] == ["WARNING"]


def test_invalid_log_options_prevent_the_start(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--log-file", str(folder / "missing" / "portal.log")])
    assert "name another file with --log-file" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["serve", "--log-format", "xml"])
    assert "'xml' is not one of 'text', 'json'" in " ".join(capsys.readouterr().err.replace("│", "").split())
    assert not (folder / "data").exists()
