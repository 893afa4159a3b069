"""A request and its response, for the pure part of the made-up Web."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True, slots=True)
class Request:
    """``target`` is path and query as sent; ``nth`` counts the requests for this path of this site since the start, from 1."""

    site: str
    target: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    nth: int = 1

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    def parameter(self, name: str, encoding: str = "utf-8") -> str:
        """Return a parameter of the query, ``""`` if it is missing."""
        return parse_qs(urlsplit(self.target).query, encoding=encoding, errors="replace").get(name, [""])[0]

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers.items() if key.lower() == name.lower()), "")


@dataclass(frozen=True, slots=True)
class Response:
    """``stream`` is sent instead of ``body``, chunked, until it ends or the client disconnects."""

    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    stream: Iterator[bytes] | None = None
    wait: float = 0.0


def page(html: str, status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    """Return an HTML page in UTF-8."""
    return Response(status=status, body=html.encode(), headers=headers)


def redirect(location: str, status: int = 302) -> Response:
    return Response(status=status, body=b"", headers=(("Location", location),))
