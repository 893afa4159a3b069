"""An OpenAI-compatible endpoint on loopback with configurable responses, which records its requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ModelEndpoint:
    """``answers``: status, headers and body of each response; the last is repeated. ``says`` sets a model's complete response."""

    def __init__(self) -> None:
        self.got: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.answers: list[tuple[int, dict[str, str], bytes]] = []
        self.says("好的")
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                endpoint.got.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
                status, headers, answer = endpoint.answers.pop(0) if len(endpoint.answers) > 1 else endpoint.answers[0]
                self.send_response(status)
                for name, value in {**headers, "content-length": str(len(answer))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: object) -> None:
                """Log nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_port}"

    def says(self, text: object, tokens: int = 120) -> None:
        answer = {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": {"total_tokens": tokens}}
        self.answers = [(200, {}, json.dumps(answer, ensure_ascii=False).encode())]

    def fails(self, *statuses: int, **headers: str) -> None:
        """Respond with these statuses first, then as before."""
        self.answers = [*((status, headers, b"{}") for status in statuses), *self.answers]

    @property
    def settings(self) -> dict[str, Any]:
        """Keys of ``sources.yaml`` for this endpoint."""
        return {"assistant": {"url": f"http://{self.host}/v1", "model": "小模型"}, "politeness": {"allow_private": [self.host]}}


@contextmanager
def model_endpoint() -> Iterator[ModelEndpoint]:
    endpoint = ModelEndpoint()
    thread = threading.Thread(target=endpoint.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.server.shutdown()
        endpoint.server.server_close()
        thread.join()
