"""Only ``newsportal.net.egress``, the crawl's handler and the browser that it serves may connect to Web servers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "newsportal"
LAB = PACKAGE.with_name("newsportal_lab")

DOORS = (PACKAGE / "net" / "egress", PACKAGE / "crawl" / "handlers", PACKAGE / "net" / "rendering")

CLIENTS = frozenset(
    """
    socket _socket http.client urllib.request urllib.robotparser ftplib smtplib telnetlib poplib imaplib nntplib xmlrpc.client
    asyncio.streams asyncio.open_connection asyncio.open_unix_connection multiprocessing.connection socketserver http.server
    httpx httpx2 httpcore requests urllib3 aiohttp httplib2 pycurl curl_cffi treq websockets tornado paramiko
    trio.socket trio.open_tcp_stream anyio.connect_tcp anyio.create_udp_socket h11 h2 wsproto hyperlink.fetch niquests
    twisted.web.client twisted.internet.endpoints twisted.internet.protocol
    selenium pyppeteer mechanize requests_html trafilatura.fetch_url trafilatura.downloads newspaper goose3 pip._vendor
    scrapy.core.downloader.handlers scrapy.utils.defer.deferToThread playwright scrapy_playwright
    """.split()
)
"""Modules that connect to a given address. Database drivers connect only to the operator's URI."""

CALLS = frozenset(
    """
    open_connection open_unix_connection create_connection create_unix_connection create_datagram_endpoint sock_connect
    urlopen urlretrieve getPage get_server_certificate connectTCP connectSSL connectUNIX open_tcp_stream connect_tcp
    """.split()
)
"""Functions with the same effect in modules that are used for other things (asyncio)."""

DRIVERS = {
    "redis": ("crawl/",),
    "scrapy_redis": ("crawl/",),
    "sqlalchemy": ("store/", "crawl/queues/", "search/", "services/publishing/", "services/accounts/", "services/daily.py"),
    "pymysql": ("store/",),
    "psycopg": ("store/",),
    "pymongo": ("services/publishing/",),
    "elasticsearch": ("search/", "services/publishing/"),
    "elastic_transport": ("search/", "services/publishing/"),
    "pyspark": ("services/spark.py",),
    "apprise": ("services/alerts/services.py",),  # the operator's own mail server, and addresses that only an administrator may set
    "uvicorn": ("portal/listen.py", "portal/app.py"),  # serves; and decides whose X-Forwarded-For counts
    "scrapyd": (),
    "scrapyd_client": ("cli/deploy.py",),
    "subprocess": ("services/jobs/local.py", "net/rendering/"),
    "asyncio.subprocess": ("net/rendering/",),
    "multiprocessing": ("crawl/reader_pool.py", "processing/mapping.py"),  # pipes to our own processes: see PIPES
}
"""Modules that connect to the operator's URI or start programs, and the folders or files that may use them."""

PROGRAMS = (
    "curl",
    "wget",
    "aria2c",
    "nc",
    "ncat",
    "socat",
    "ssh",
    "scp",
    "rsync",
    "ftp",
    "telnet",
    "lynx",
    "w3m",
    "git",
    "openssl",
    "pip",
    "uv",
)
"""Programs that fetch: none may be the first word of a command in our strings."""

STARTING = frozenset(
    {"run", "Popen", "call", "check_call", "check_output", "system", "popen", "create_subprocess_exec", "create_subprocess_shell"}
)

LISTENING = {
    "cli/serve.py": {"socket"},
    "cli/up.py": {"socket"},
    "portal/listen.py": {"socket"},
}
"""Modules for opening the portal's port, by file."""

PIPES = {"crawl/reader_pool.py": {"multiprocessing.connection"}}
"""Modules for talking to forked processes, by file: only :data:`PIPE_NAMES`, which take no address."""

PIPE_NAMES = {"Connection", "Pipe"}


def _violations(source: str, allowed: set[str]) -> Iterator[str]:
    refused = CLIENTS - allowed
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Import | ast.ImportFrom | ast.Call):
            continue
        for name in _imported(node):
            if any(name == client or name.startswith(client + ".") for client in refused):
                yield f"line {node.lineno}: imports {name}"
        if isinstance(node, ast.Call):
            owner, name = _called(node)
            if name in CALLS:
                yield f"line {node.lineno}: calls {name}()"
            if name in STARTING and (program := _program(node)) in PROGRAMS:
                yield f"line {node.lineno}: starts {program}"
            if (owner, name) in {("os", "system"), ("os", "popen")} or name == "create_subprocess_shell":
                yield f"line {node.lineno}: {name}() starts any program"
            if (owner, name) == ("feedparser", "parse") and not _bytes_argument(node):
                yield f"line {node.lineno}: feedparser.parse() fetches what looks like a URL"


def _program(call: ast.Call) -> str:
    """Return the first word of a literal command."""
    first = call.args[0] if call.args else None
    if isinstance(first, ast.List | ast.Tuple) and first.elts:
        first = first.elts[0]
    return (
        Path(first.value.split()[0]).name
        if isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value.split()
        else ""
    )


def _misplaced_drivers(source: str, name: str) -> Iterator[str]:
    """Yield imports of drivers outside their folders."""
    for node in ast.walk(ast.parse(source)) if any(driver in source for driver in DRIVERS) else ():
        for imported in _imported(node):
            for driver, rooms in DRIVERS.items():
                if (imported == driver or imported.startswith(driver + ".")) and not name.startswith(rooms):
                    yield f"line {node.lineno}: imports {imported}"  # type: ignore[attr-defined]


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    if isinstance(node, ast.Call) and _called(node)[1] in {"import_module", "__import__"} and isinstance(node.args[0], ast.Constant):
        return [str(node.args[0].value)]
    return []


def _called(call: ast.Call) -> tuple[str, str]:
    """Return the names before and after the dot of a call."""
    if isinstance(call.func, ast.Attribute):
        return getattr(call.func.value, "id", ""), call.func.attr
    return "", getattr(call.func, "id", "")


def _bytes_argument(call: ast.Call) -> bool:
    """Return whether ``feedparser.parse`` gets a stream: it opens strings that are URLs or paths."""
    first = call.args[0] if call.args else None
    return isinstance(first, ast.Call) and getattr(first.func, "id", getattr(first.func, "attr", "")) in {"BytesIO", "StringIO"}


def _name(path: Path) -> str:
    """Return the path within the package; for a file of the lab, with the lab's name."""
    return path.relative_to(PACKAGE if path.is_relative_to(PACKAGE) else LAB.parent).as_posix()


def _files() -> list[Path]:
    paths = [path for folder in (PACKAGE, LAB) for path in sorted(folder.rglob("*.py"))]
    return [path for path in paths if not any(path.is_relative_to(door) for door in DOORS)]


@pytest.mark.slow
def test_no_other_module_opens_sockets() -> None:
    found = {}
    for path in _files():
        name = _name(path)
        problems = list(_violations(path.read_text("utf-8"), LISTENING.get(name, set()) | PIPES.get(name, set())))
        if problems:
            found[name] = problems
    assert found == {}
    assert len(_files()) > 20


@pytest.mark.parametrize("name", PIPES)
def test_pipe_modules_take_no_address(name: str) -> None:
    trees = ast.walk(ast.parse((PACKAGE / name).read_text("utf-8")))
    imports = [node for node in trees if isinstance(node, ast.ImportFrom) and node.module in PIPES[name]]
    assert {alias.name for node in imports for alias in node.names} <= PIPE_NAMES


def test_drivers_are_used_in_their_folders_only() -> None:
    found = {_name(path): list(_misplaced_drivers(path.read_text("utf-8"), _name(path))) for path in _files()}
    assert {name: problems for name, problems in found.items() if problems} == {}


@pytest.mark.parametrize(
    "source", ["import redis", "from redis.asyncio import Redis", "import subprocess", "from multiprocessing import Process"]
)
def test_check_finds_drivers_elsewhere(source: str) -> None:
    assert list(_misplaced_drivers(source, "portal/reading/front_page.py"))
    assert list(_misplaced_drivers("import redis", "crawl/queues/redis_queue.py")) == []


def test_network_modules_use_checked_connections_only() -> None:
    """Connections come from the checked backend, the checked endpoint, or the browser's own pipe."""
    for door in DOORS:
        for path in sorted(door.rglob("*.py")):
            found = [row for row in _violations(path.read_text("utf-8"), set(CLIENTS)) if "calls" in row]
            name = _name(path)
            assert found == [] or name in CONNECTING, (name, found)


CONNECTING = {"net/egress/client.py"}
"""``CheckedBackend.connect_tcp`` passes an address checked by the resolver to the backend it wraps."""


@pytest.mark.parametrize(
    "source",
    [
        "import socket",
        "from asyncio import open_connection",
        "from urllib.robotparser import RobotFileParser",
        "loop.create_datagram_endpoint(f, remote_addr=('a', 1))",
        "reactor.connectTCP('a', 1, f)",
        "import ssl\nssl.get_server_certificate(('a', 443))",
        "subprocess.run(['curl', url])",
        "subprocess.Popen('/usr/bin/wget -q a', shell=True)",
        "import os\nos.system(command)",
        "await asyncio.create_subprocess_exec('nc', 'a')",
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
def test_check_finds_violations(source: str) -> None:
    assert list(_violations(source, set()))


@pytest.mark.parametrize(
    "source", ["from urllib.parse import urlsplit", "from http import HTTPStatus", "import feedparser\nfeedparser.parse(BytesIO(b))"]
)
def test_check_accepts_harmless_code(source: str) -> None:
    assert list(_violations(source, set())) == []
