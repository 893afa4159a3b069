"""Which scrapyd is meant: the targets of ``scrapy.cfg`` as scrapyd-client reads them, or a URL; and who we are there.

A password comes from ``scrapy.cfg`` (``password = $SCRAPYD_PASSWORD`` takes it from the environment), from the environment's
``SCRAPYD_USERNAME`` and ``SCRAPYD_PASSWORD``, or from ``~/.netrc``; never from a command line, which others can read.
"""

from __future__ import annotations

import netrc
from collections.abc import Mapping
from configparser import ConfigParser, Error
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from urllib.parse import urlsplit

from newsportal.errors import NewsportalError

CONFIGURATION = "scrapy.cfg"
DEFAULT = "default"
PROJECT = "newsportal"


class TargetError(NewsportalError):
    """Raised for a target that is not there or not usable. The caller shows it."""


@dataclass(frozen=True, slots=True)
class Target:
    """``url`` without a closing slash. ``project`` is the one that eggs are sent as. The password is never shown."""

    url: str
    project: str = PROJECT
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    version: str | None = None


LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def exposed(found: Target) -> str | None:
    """What an operator should know of a server that others can reach too; ``None`` if nothing: its API starts processes."""
    parts = urlsplit(found.url)
    if parts.hostname in LOOPBACK:
        return None
    if not found.username:
        return f"{found.url} is asked without a password: if it takes orders so, whoever reaches it can run code there (docs/operations.md)"
    return f"{found.url}: the password goes there unencrypted; use https, or a tunnel" if parts.scheme == "http" else None


def configuration(start: Path) -> Path | None:
    """The nearest ``scrapy.cfg``, in ``start`` or above."""
    folder = start.absolute()
    return next((place / CONFIGURATION for place in (folder, *folder.parents) if (place / CONFIGURATION).is_file()), None)


def target(name: str, start: Path, environ: Mapping[str, str]) -> Target:
    """The target of this name, or at this URL. Raises ``TargetError``."""
    if "://" in name:
        return _with_credentials(Target(_checked(name)), environ)
    file = configuration(start)
    known = _known(file) if file else {}
    if file is None or name not in known:
        where = (
            f"{file} has no target {name!r}; it has: {', '.join(sorted(known)) or 'none'}" if file else f"there is no {CONFIGURATION} here"
        )
        section = "[deploy]" if name == DEFAULT else f"[deploy:{name}]"
        raise TargetError(f"{where}. Write one ({section} with url = http://127.0.0.1:6800/), or give the server's URL")
    return _with_credentials(_read(name, file, known[name], environ), environ)


def _known(file: Path) -> dict[str, dict[str, str]]:
    parser = ConfigParser(interpolation=None)
    try:
        parser.read(file, "utf-8")
    except (Error, UnicodeDecodeError) as error:
        raise TargetError(f"{file} cannot be read: {error}") from error
    base = dict(parser.items("deploy")) if parser.has_section("deploy") else {}
    rows = {DEFAULT: base} if "url" in base else {}
    for section in parser.sections():
        if section.startswith("deploy:"):
            rows[section.removeprefix("deploy:")] = base | dict(parser.items(section))
    return rows


def _read(name: str, file: Path, row: Mapping[str, str], environ: Mapping[str, str]) -> Target:
    said = {key: Template(value).safe_substitute(environ) for key, value in row.items()}
    if not said.get("url"):
        raise TargetError(f"{file}: the target {name!r} has no url; write: url = http://127.0.0.1:6800/")
    credentials = said.get("username") or None, said.get("password") or None
    return Target(_checked(said["url"]), said.get("project") or PROJECT, *credentials, said.get("version") or None)


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise TargetError(f"{_bare(url)!r} is no address of a scrapyd; allowed: http://HOST:PORT or https://HOST:PORT")
    if parts.username is not None or parts.password is not None:
        raise TargetError(
            f"{_bare(url)!r}: a password in an address ends up in lists of processes and in logs; "
            f"write it into {CONFIGURATION} (username, password), or set SCRAPYD_USERNAME and SCRAPYD_PASSWORD"
        )
    return url.rstrip("/")


def _bare(url: str) -> str:
    before, _, after = url.rpartition("@")
    return f"{before.partition('//')[0]}//{after}" if before else url


def _with_credentials(found: Target, environ: Mapping[str, str]) -> Target:
    if found.username:
        return Target(found.url, found.project, found.username, found.password or environ.get("SCRAPYD_PASSWORD"), found.version)
    if environ.get("SCRAPYD_USERNAME"):
        return Target(found.url, found.project, environ["SCRAPYD_USERNAME"], environ.get("SCRAPYD_PASSWORD"), found.version)
    try:
        known = netrc.netrc().authenticators(urlsplit(found.url).hostname or "")
    except (OSError, netrc.NetrcParseError):
        known = None  # there is none, or not for us: the server is asked without
    return Target(found.url, found.project, known[0], known[2], found.version) if known else found
