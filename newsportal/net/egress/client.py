"""HTTP for everything except the crawl: previews, checks of a source, subscriptions, pictures.

Redirects are followed here; each target is checked like the first URL, and one timeout covers all of them.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, ParamSpec, Protocol
from urllib.parse import urljoin, urlsplit

import httpcore

from newsportal.errors import EgressDenied, FetchFailed, Redirected
from newsportal.items import Page
from newsportal.net.egress.addresses import Policy, check_url, resolve, resolve_async
from newsportal.net.egress.decompress import TooLarge, decompress

MAX_BYTES = 16 * 1024 * 1024  # like Scrapy's DOWNLOAD_MAXSIZE in our settings: the largest article page known is below 10 MB
TIMEOUT = 30.0  # seconds for everything: name resolution, connection, redirects, body
CONNECT_SECONDS = 10.0  # for one of several IP addresses: the next may respond (TCP retries after 1, 3 and 7 seconds)
MAX_REDIRECTS = 5  # RFC 9309 requires five; real articles need two (http to https to www)
REDIRECTS = frozenset({301, 302, 303, 307, 308})

DEFAULT_HEADERS = {"user-agent": "newsportal", "accept": "*/*", "accept-encoding": "gzip, deflate, br, zstd"}

SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})
"""Headers that are only sent to the origin they are meant for."""

Given = ParamSpec("Given")
SignIn = Callable[[str], Mapping[str, str]]  # headers, with names in lower case, for a given URL only


def no_sign_in(url: str) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """``headers``: result of :func:`join_headers`; ``body``: decompressed."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


def join_headers(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return headers with names in lower case; repeated ones are joined by commas (``set-cookie``: by line ends)."""
    joined: dict[str, str] = {}
    for name, value in pairs:
        lower = name.lower()
        joined[lower] = f"{joined[lower]}{chr(10) if lower == 'set-cookie' else ', '}{value}" if lower in joined else value
    return joined


def _blocking(ask: Callable[Given, Coroutine[Any, Any, Page]]) -> Callable[Given, Page]:
    """Return a blocking version for callers without a running event loop."""

    def blocking(*args: Given.args, **kwargs: Given.kwargs) -> Page:
        return asyncio.run(ask(*args, **kwargs))

    blocking.__doc__ = ask.__doc__
    return blocking


async def fetch_async(
    url: str,
    policy: Policy,
    *,
    max_bytes: int = MAX_BYTES,
    timeout: float = TIMEOUT,  # noqa: ASYNC109 - it covers all redirects, and raises FetchFailed
    headers: Mapping[str, str] | None = None,
    verify: bool = True,
    follow: bool = True,
    sign_in: SignIn = no_sign_in,
) -> Page:
    """Fetch the page at ``url``, with any status, at most ``max_bytes`` both compressed and decompressed, within ``timeout`` seconds.

    ``headers`` override the defaults; ``verify=False`` accepts any certificate; with ``follow=False`` a redirect raises
    :class:`Redirected`, so that the caller can check the target's robots.txt first. ``sign_in`` returns additional headers for a URL,
    evaluated for each redirect. Raises :class:`EgressDenied` and :class:`FetchFailed`.
    """
    all_headers = DEFAULT_HEADERS | {name.lower(): value for name, value in (headers or {}).items()}
    with _translated_errors(url, timeout):
        async with asyncio.timeout(timeout), _pool(policy, verify) as pool:
            return await _follow(pool, check_url(url, policy), all_headers, policy, max_bytes, follow=follow, sign_in=sign_in)


fetch = _blocking(fetch_async)


class Exchange(Protocol):
    """Send one request within the timeout of :func:`open_exchange`, without following redirects; the body is decompressed. ``headers`` are
    sent unchanged, with names in lower case. Raises :class:`EgressDenied` and :class:`FetchFailed`."""

    async def __call__(self, method: str, url: str, headers: Mapping[str, str], body: bytes, max_bytes: int) -> HttpResponse: ...


@asynccontextmanager
async def open_exchange(
    policy: Policy,
    *,
    verify: bool = True,
    timeout: float = TIMEOUT,  # noqa: ASYNC109 - for each request
) -> AsyncIterator[Exchange]:
    """Send many requests over shared connections, for a browser, which follows redirects itself. ``timeout``: seconds per request."""
    async with _pool(policy, verify) as pool:

        async def exchange(method: str, url: str, headers: Mapping[str, str], body: bytes, max_bytes: int) -> HttpResponse:
            with _translated_errors(url, timeout):
                async with asyncio.timeout(timeout):
                    answer = await _send(pool, check_url(url, policy), headers, max_bytes, method, body)
            return replace(answer, body=_unpacked(url, answer, max_bytes))

        yield exchange


def request(
    method: str, url: str, policy: Policy, headers: Mapping[str, str], body: bytes, *, max_bytes: int = MAX_BYTES, timeout: float = TIMEOUT
) -> HttpResponse:
    """Send one request like :class:`Exchange`, for callers without a running event loop."""

    async def ask() -> HttpResponse:
        async with open_exchange(policy, timeout=timeout) as exchange:
            return await exchange(method, url, headers, body, max_bytes)

    return asyncio.run(ask())


@contextmanager
def _translated_errors(url: str, timeout: float) -> Iterator[None]:
    """Convert errors of the libraries to :class:`FetchFailed`."""
    try:
        yield
    except TimeoutError as error:
        raise FetchFailed(url, "timeout", f"no answer within {timeout:g} s") from error
    except httpcore.ConnectError as error:
        reason = "tls" if isinstance(error.__context__, ssl.SSLError) or "CERTIFICATE" in str(error) else "connection"
        raise FetchFailed(url, reason, str(error)) from error
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError) as error:
        raise FetchFailed(url, "connection", str(error)) from error


def was_not_sent(error: FetchFailed) -> bool:
    """Return whether the request was certainly not received (no name, no connection, no certificate). Otherwise it may have been."""
    return error.reason in ("dns", "tls") or isinstance(error.__cause__, httpcore.ConnectError | httpcore.ConnectTimeout)


def _pool(policy: Policy, verify: bool) -> httpcore.AsyncConnectionPool:
    return httpcore.AsyncConnectionPool(ssl_context=tls_context(verify), network_backend=CheckedBackend(policy))


@cache
def tls_context(verify: bool) -> ssl.SSLContext:
    """Return the TLS context. Created once per process, because that takes longer than many requests (25 ms); shared by threads."""
    context = httpcore.default_ssl_context()
    if verify:
        context.load_default_certs()  # an organization's own authority is in the system's store
    else:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


async def _follow(
    pool: httpcore.AsyncConnectionPool,
    url: str,
    headers: Mapping[str, str],
    policy: Policy,
    max_bytes: int,
    *,
    follow: bool,
    sign_in: SignIn,
) -> Page:
    for _ in range(MAX_REDIRECTS + 1):
        answer = await _send(pool, url, {**headers, **sign_in(url)}, max_bytes)
        target = answer.headers.get("location")
        if answer.status not in REDIRECTS or not target:
            body = _unpacked(url, answer, max_bytes)
            return Page(
                url=url, body=body, fetched=datetime.now(UTC), status=answer.status, content_type=answer.headers.get("content-type")
            )
        try:
            target = urljoin(url, target.strip())
        except ValueError as error:
            raise EgressDenied(target, "malformed") from error
        following = check_url(target, policy)
        if not follow:
            raise Redirected(url, following)
        if origin(following) != origin(url):
            headers = {name: value for name, value in headers.items() if name not in SECRET_HEADERS}
        url = following
    raise FetchFailed(url, "redirects", f"more than {MAX_REDIRECTS}")


def origin(url: str) -> tuple[str, str | None, int | None]:
    """Return scheme, host and port, to which secrets of a request are bound; empty for an invalid URL."""
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname, parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:
        return "", None, None


async def _send(
    pool: httpcore.AsyncConnectionPool, url: str, headers: Mapping[str, str], max_bytes: int, method: str = "GET", sent: bytes = b""
) -> HttpResponse:
    """Send one request. The body of a redirect is not read."""
    body = bytearray()
    netloc = urlsplit(url).netloc
    if netloc.startswith("["):  # httpcore removes the brackets
        headers = {**headers, "host": netloc}
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    async with pool.stream(method, url, headers=pairs, content=sent or None) as response:
        received = join_headers((name.decode("latin-1"), _text(value)) for name, value in response.headers)
        if response.status not in REDIRECTS:
            async for chunk in response.aiter_stream():
                body += chunk
                if len(body) > max_bytes:
                    raise FetchFailed(url, "too-large", f"more than {max_bytes} bytes")
    return HttpResponse(response.status, received, bytes(body))


def _text(raw: bytes) -> str:
    """Decode a header's value: as UTF-8 if valid (redirects to 中文 paths), else as Latin-1, the standard."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _unpacked(url: str, answer: HttpResponse, max_bytes: int) -> bytes:
    try:
        return decompress(answer.body, answer.headers.get("content-encoding", ""), max_bytes)
    except TooLarge as error:
        raise FetchFailed(url, "too-large", str(error)) from error
    except ValueError as error:
        raise FetchFailed(url, "encoding", str(error)) from error


def open_socket(host: str, port: int, policy: Policy, timeout: float | None) -> socket.socket:
    """Open a connection for a protocol other than HTTP, to an allowed IP address. Blocking. Raises ``OSError``, ``EgressDenied``."""
    failure: OSError | None = None
    for address in resolve(host, policy, port):
        try:
            return socket.create_connection((address, port), timeout)
        except OSError as error:
            failure = error
    raise failure or OSError("no address")


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """A network backend that only connects to checked IP addresses, and only by TCP."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        try:
            addresses = await resolve_async(host, self._policy, port)
        except OSError as error:
            raise FetchFailed(host, "dns", str(error)) from error
        failure: Exception | None = None
        for address in addresses:
            try:
                return await self._inner.connect_tcp(address, port, CONNECT_SECONDS, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure or FetchFailed(host, "dns", "no address")

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        raise EgressDenied(path, "scheme")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
