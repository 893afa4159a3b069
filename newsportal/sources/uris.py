"""URLs in ``sources.yaml``: expand environment variables, validate, and mask secrets for display."""

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from newsportal.messages import Message, nearest_word

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}")  # ${NAME} or ${NAME:-default when it is unset}
UNSAFE = re.compile(r"[\x00-\x20\x7f-\xa0\\\u2028\u2029]")
"""White space, control characters and the backslash: browsers and libraries interpret them differently within a URL."""

USER = re.compile(r"(?<=://)([^/?#\s:]*:)?[^/?#\s]*@")
SECRET = re.compile(r"(?i)([?&;](?:[a-z0-9_.-]*(?:password|passwd|pwd|secret|token|key|signature))=)[^&#;\s]*")
MASK = "***"
MAX_URL_CHARS = 2000  # accepted by every browser, proxy and database column


class BadAddress(ValueError):
    """Raised for an invalid URL. ``message`` has the value and what is allowed, without secrets."""

    def __init__(self, message: Message, hint: Message | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def mask(uri: str) -> str:
    """Return ``uri`` for display: the password (or a lone user name, which may be a token) and secret parameters replaced by ``***``."""
    return SECRET.sub(rf"\g<1>{MASK}", USER.sub(rf"\g<1>{MASK}@", uri))


def expand(value: str, environ: Mapping[str, str]) -> str:
    """Return ``value`` with its ``${NAME}`` expanded from ``environ``. Raises ``BadAddress`` for an unset variable."""

    def filled(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        if name in environ and (environ[name] or default is None):
            return environ[name]
        if default is None:
            raise BadAddress(
                Message("sources.variable-not-set", name=name), Message("hint.variable", name=name, example=f"${{{name}:-a default}}")
            )
        return default

    return VARIABLE.sub(filled, value)


def literal(url: str) -> str:
    """Escape a URL from elsewhere for the file: a ``${NAME}`` in it must not be expanded."""
    return url.replace("${", "$%7B")


def check_url(url: str) -> str:
    """Return ``url`` if it is an absolute http or https URL with a host, without user name and password. Raises ``BadAddress``."""
    if len(url) > MAX_URL_CHARS:
        raise BadAddress(Message("sources.url-too-long", found=len(url), limit=MAX_URL_CHARS))
    if UNSAFE.search(url):
        raise BadAddress(Message("sources.unsafe-url", found=repr(mask(url))), Message("hint.space"))
    try:
        parts = urlsplit(url)
        _ = parts.port  # accessing an invalid port raises
    except ValueError as error:
        raise BadAddress(Message("sources.invalid-url", found=repr(mask(url)))) from error
    if parts.scheme not in ("http", "https"):
        raise BadAddress(Message("sources.not-a-url", found=repr(mask(url))), _web_hint(url, parts))
    if not parts.hostname or parts.hostname.strip(".") == "":
        raise BadAddress(Message("sources.url-without-host", found=repr(mask(url))))
    if parts.username is not None or parts.password is not None:
        raise BadAddress(Message("sources.url-with-user", found=repr(mask(url))))
    return url


def _web_hint(url: str, parts: SplitResult) -> Message | None:
    if url.startswith("//"):
        return Message("hint.near", near=f"'https:{mask(url)}'")
    looks_like_host = "." in url.partition("/")[0] and (not parts.scheme or "." in parts.scheme)
    return Message("hint.near", near=f"'https://{mask(url)}'") if looks_like_host else None


def check_uri(uri: str, schemes: tuple[str, ...], folder: Path) -> str:
    """Check a store or index URI with one of ``schemes``; a relative SQLite file starts from ``folder``. Raises ``BadAddress``."""
    scheme, colon, rest = uri.partition("://")
    base = scheme.lower()
    if not colon or base.partition("+")[0] not in {name.partition("+")[0] for name in schemes}:
        allowed = ", ".join(f"{name}://…" for name in schemes)
        raise BadAddress(Message("sources.unsupported-url", found=repr(mask(uri)), allowed=allowed), _scheme_hint(uri, schemes))
    if re.search(r"[\x00-\x1f\x7f]", uri):
        raise BadAddress(Message("sources.url-control-character"))
    return _anchored(base, rest, folder) if base.partition("+")[0] == "sqlite" else uri


def _scheme_hint(uri: str, schemes: tuple[str, ...]) -> Message | None:
    if "://" not in uri:
        return Message("hint.near", near=f"'sqlite:///{mask(uri)}'") if uri.endswith((".db", ".sqlite", ".sqlite3")) else None
    near = nearest_word(uri.partition("://")[0].lower(), schemes)
    return Message("hint.near", near=f"'{near}://'") if near else None


def _anchored(scheme: str, rest: str, folder: Path) -> str:
    """Return ``sqlite:///FILE`` with an absolute path; ``sqlite://`` and ``sqlite:///:memory:`` are in memory and unchanged."""
    path, question, query = rest.removeprefix("/").partition("?")
    if not path or path == ":memory:" or path.startswith("file:"):
        return f"{scheme}://{rest}"
    return f"{scheme}:///{(folder / Path(path).expanduser()).absolute()}{question}{query}"
