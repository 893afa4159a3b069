"""Nothing but ``newsportal.egress``, the crawl's handler and the browser that it answers can open a connection to a Web server."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "newsportal"

DOORS = (PACKAGE / "egress", PACKAGE / "handlers", PACKAGE / "rendering")

CLIENTS = frozenset(
    """
    socket http.client urllib.request ftplib smtplib telnetlib poplib imaplib nntplib xmlrpc.client asyncio.streams
    httpx httpx2 httpcore requests urllib3 aiohttp httplib2 pycurl curl_cffi treq websockets tornado paramiko
    twisted.web.client twisted.internet.endpoints twisted.internet.protocol
    scrapy.core.downloader.handlers scrapy.utils.defer.deferToThread playwright scrapy_playwright
    """.split()
)
"""Modules that connect to where they are told. Drivers of databases connect to what the operator's own URI names."""

CALLS = frozenset({"open_connection", "create_connection", "urlopen", "urlretrieve", "getPage", "sock_connect"})
"""Functions that do the same from modules used for other things (asyncio)."""

LISTENING = {
    "commands/serve.py": {"socket"},
    "commands/up.py": {"socket"},
    "portal/listen.py": {"socket"},
}
"""What opens a port for readers of the portal, by file."""


def _violations(source: str, allowed: set[str]) -> Iterator[str]:
    refused = CLIENTS - allowed
    for node in ast.walk(ast.parse(source)):
        for name in _imported(node):
            if any(name == client or name.startswith(client + ".") for client in refused):
                yield f"line {node.lineno}: imports {name}"  # type: ignore[attr-defined]
        if isinstance(node, ast.Call):
            owner, name = _called(node)
            if name in CALLS:
                yield f"line {node.lineno}: calls {name}()"
            if (owner, name) == ("feedparser", "parse") and not _bytes_argument(node):
                yield f"line {node.lineno}: feedparser.parse() fetches what looks like a URL"


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    if isinstance(node, ast.Call) and _called(node)[1] in {"import_module", "__import__"} and isinstance(node.args[0], ast.Constant):
        return [str(node.args[0].value)]
    return []


def _called(call: ast.Call) -> tuple[str, str]:
    """The names before and after the dot of a call."""
    if isinstance(call.func, ast.Attribute):
        return getattr(call.func.value, "id", ""), call.func.attr
    return "", getattr(call.func, "id", "")


def _bytes_argument(call: ast.Call) -> bool:
    """``feedparser.parse`` opens strings that are URLs or paths; a stream it only reads."""
    first = call.args[0] if call.args else None
    return isinstance(first, ast.Call) and getattr(first.func, "id", getattr(first.func, "attr", "")) in {"BytesIO", "StringIO"}


def _files() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if not any(path.is_relative_to(door) for door in DOORS)]


def test_no_other_module_opens_sockets() -> None:
    found = {}
    for path in _files():
        name = path.relative_to(PACKAGE).as_posix()
        problems = list(_violations(path.read_text("utf-8"), LISTENING.get(name, set())))
        if problems:
            found[name] = problems
    assert found == {}
    assert len(_files()) > 20


@pytest.mark.parametrize(
    "source",
    [
        "import socket",
        "import urllib.request as r",
        "from urllib import request",
        "def f():\n    import httpx",
        "from httpx import get",
        "from http.client import HTTPSConnection",
        "import asyncio\nasyncio.open_connection('a', 1)",
        "loop.create_connection(f, 'a', 1)",
        "from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler",
        "import importlib\nimportlib.import_module('requests')",
        "import feedparser\nfeedparser.parse(text)",
        "from playwright.sync_api import sync_playwright",
    ],
)
def test_the_search_finds_what_it_looks_for(source: str) -> None:
    assert list(_violations(source, set()))


@pytest.mark.parametrize(
    "source", ["from urllib.parse import urlsplit", "from http import HTTPStatus", "import feedparser\nfeedparser.parse(BytesIO(b))"]
)
def test_the_search_leaves_the_rest_alone(source: str) -> None:
    assert list(_violations(source, set())) == []
