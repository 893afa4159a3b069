"""HTTP for everything that is not the crawl: previews, checks of a source, subscriptions, pictures.

Redirects are followed here, each target is checked like a first address, and one clock runs over all of it.
"""

from __future__ import annotations

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

MAX_BYTES = 16 * 1024 * 1024  # as Scrapy's DOWNLOAD_MAXSIZE in our settings: the largest article page known is below 10 MB
TIMEOUT = 30.0  # seconds for everything: name, connection, redirects, body
CONNECT_SECONDS = 10.0  # for one address of several: the next may answer (TCP asks again after 1, 3 and 7 seconds)
MAX_REDIRECTS = 5  # RFC 9309 asks for five; real articles need two (http to https to www)
REDIRECTS = frozenset({301, 302, 303, 307, 308})

OURS = {"user-agent": "newsportal", "accept": "*/*", "accept-encoding": "gzip, deflate, br, zstd"}

SECRETS = frozenset({"authorization", "cookie", "proxy-authorization"})
"""Headers that go to the origin they were meant for, and to no other."""

Given = ParamSpec("Given")
SignIn = Callable[[str], Mapping[str, str]]  # the headers, names in lower case, that an address alone may have


def no_sign_in(url: str) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Answer:
    """``headers`` as :func:`joined_headers` writes them; ``body`` unpacked."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


def joined_headers(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Names in lower case; of repeated ones all values, joined by commas (``set-cookie``: by line ends)."""
    found: dict[str, str] = {}
    for name, value in pairs:
        lower = name.lower()
        found[lower] = f"{found[lower]}{chr(10) if lower == 'set-cookie' else ', '}{value}" if lower in found else value
    return found


def _blocking(ask: Callable[Given, Coroutine[Any, Any, Page]]) -> Callable[Given, Page]:
    """The same for callers that have no event loop running."""

    def blocking(*args: Given.args, **kwargs: Given.kwargs) -> Page:
        return asyncio.run(ask(*args, **kwargs))

    blocking.__doc__ = ask.__doc__
    return blocking


async def fetch_async(
    url: str,
    policy: Policy,
    *,
    max_bytes: int = MAX_BYTES,
    timeout: float = TIMEOUT,  # noqa: ASYNC109 - it spans every redirect, and its end is a FetchFailed
    headers: Mapping[str, str] | None = None,
    verify: bool = True,
    follow: bool = True,
    sign_in: SignIn = no_sign_in,
) -> Page:
    """The page at ``url`` whatever its status, at most ``max_bytes`` as sent and as unpacked, within ``timeout`` seconds.

    ``headers`` replace ours; ``verify=False`` takes any certificate; with ``follow=False`` a redirect raises :class:`Redirected`, for
    one who asks the target's robots.txt first. ``sign_in`` says what further headers an address gets, each of a redirect anew. Raises
    :class:`EgressDenied` and :class:`FetchFailed`.
    """
    wanted = OURS | {name.lower(): value for name, value in (headers or {}).items()}
    with _translated_errors(url, timeout):
        async with asyncio.timeout(timeout), _pool(policy, verify) as pool:
            return await _follow(pool, check_url(url, policy), wanted, policy, max_bytes, follow=follow, sign_in=sign_in)


fetch = _blocking(fetch_async)


class Exchange(Protocol):
    """One request within the time of :func:`exchanges`, its redirect not followed, its body unpacked; ``headers`` are sent as they are,
    names in lower case. Raises :class:`EgressDenied` and :class:`FetchFailed`."""

    async def __call__(self, method: str, url: str, headers: Mapping[str, str], body: bytes, max_bytes: int) -> Answer: ...


@asynccontextmanager
async def exchanges(
    policy: Policy,
    *,
    verify: bool = True,
    timeout: float = TIMEOUT,  # noqa: ASYNC109 - of each request
) -> AsyncIterator[Exchange]:
    """Many requests over the same connections, for one who follows redirects himself: a browser's page. ``timeout``: seconds for each."""
    async with _pool(policy, verify) as pool:

        async def exchange(method: str, url: str, headers: Mapping[str, str], body: bytes, max_bytes: int) -> Answer:
            with _translated_errors(url, timeout):
                async with asyncio.timeout(timeout):
                    answer = await _ask(pool, check_url(url, policy), headers, max_bytes, method, body)
            return replace(answer, body=_unpacked(url, answer, max_bytes))

        yield exchange


def request(
    method: str, url: str, policy: Policy, headers: Mapping[str, str], body: bytes, *, max_bytes: int = MAX_BYTES, timeout: float = TIMEOUT
) -> Answer:
    """One request as :class:`Exchange` makes it, for callers that have no event loop running."""

    async def ask() -> Answer:
        async with exchanges(policy, timeout=timeout) as exchange:
            return await exchange(method, url, headers, body, max_bytes)

    return asyncio.run(ask())


@contextmanager
def _translated_errors(url: str, timeout: float) -> Iterator[None]:
    """What the libraries raise, in our words."""
    try:
        yield
    except TimeoutError as error:
        raise FetchFailed(url, "timeout", f"no answer within {timeout:g} s") from error
    except httpcore.ConnectError as error:
        reason = "tls" if isinstance(error.__context__, ssl.SSLError) or "CERTIFICATE" in str(error) else "connection"
        raise FetchFailed(url, reason, str(error)) from error
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError) as error:
        raise FetchFailed(url, "connection", str(error)) from error


def never_sent(error: FetchFailed) -> bool:
    """Whether nothing can have arrived: no name, no connection, no certificate. Else perhaps it did, and only the answer is missing."""
    return error.reason in ("dns", "tls") or isinstance(error.__cause__, httpcore.ConnectError | httpcore.ConnectTimeout)


def _pool(policy: Policy, verify: bool) -> httpcore.AsyncConnectionPool:
    return httpcore.AsyncConnectionPool(ssl_context=trust(verify), network_backend=CheckedBackend(policy))


@cache
def trust(verify: bool) -> ssl.SSLContext:
    """Whose certificates are believed. Read once a process, since it takes longer than many a request (25 ms); threads may share it."""
    context = httpcore.default_ssl_context()
    if verify:
        context.load_default_certs()  # an organisation's own authority lives in the system's store
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
        answer = await _ask(pool, url, {**headers, **sign_in(url)}, max_bytes)
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
            headers = {name: value for name, value in headers.items() if name not in SECRETS}
        url = following
    raise FetchFailed(url, "redirects", f"more than {MAX_REDIRECTS}")


def origin(url: str) -> tuple[str, str | None, int | None]:
    """Scheme, host and port: what a request's secrets are bound to. An address that cannot be read has none of them."""
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname, parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:
        return "", None, None


async def _ask(
    pool: httpcore.AsyncConnectionPool, url: str, headers: Mapping[str, str], max_bytes: int, method: str = "GET", sent: bytes = b""
) -> Answer:
    """One exchange. A redirect's body is not read."""
    body = bytearray()
    netloc = urlsplit(url).netloc
    if netloc.startswith("["):  # httpcore takes the brackets off
        headers = {**headers, "host": netloc}
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    async with pool.stream(method, url, headers=pairs, content=sent or None) as response:
        found = joined_headers((name.decode("latin-1"), _text(value)) for name, value in response.headers)
        if response.status not in REDIRECTS:
            async for chunk in response.aiter_stream():
                body += chunk
                if len(body) > max_bytes:
                    raise FetchFailed(url, "too-large", f"more than {max_bytes} bytes")
    return Answer(response.status, found, bytes(body))


def _text(raw: bytes) -> str:
    """A header's value: UTF-8 where it is that (redirects to 中文 paths), else Latin-1 as the standard has it."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _unpacked(url: str, answer: Answer, max_bytes: int) -> bytes:
    try:
        return decompress(answer.body, answer.headers.get("content-encoding", ""), max_bytes)
    except TooLarge as error:
        raise FetchFailed(url, "too-large", str(error)) from error
    except ValueError as error:
        raise FetchFailed(url, "encoding", str(error)) from error


def open_socket(host: str, port: int, policy: Policy, timeout: float | None) -> socket.socket:
    """A connection for another protocol than HTTP, to an address that is allowed. Blocking. Raises ``OSError``, ``EgressDenied``."""
    failure: OSError | None = None
    for address in resolve(host, policy, port):
        try:
            return socket.create_connection((address, port), timeout)
        except OSError as error:
            failure = error
    raise failure or OSError("no address")


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """Connects to checked addresses only, and to nothing but TCP."""

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
