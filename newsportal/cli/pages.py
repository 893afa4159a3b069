"""Saved pages as input: ``FILE``, ``DIR`` or ``-``, the same for all commands that read saved pages.

A folder contains ``<id>.html`` or ``<id>.html.gz`` (also ``.htm``, ``.xhtml``), and optionally ``<id>.json`` beside each, of which
only the URL (``url``, or ``base`` for list pages) and ``summary`` are read: gold answers may be in the same file.
"""

import gzip
import json
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from newsportal.errors import NewsportalError

MAX_BYTES = 16 * 1024 * 1024  # the crawl's download limit (DOWNLOAD_MAXSIZE); compressed files are unpacked up to this size
MAX_SIDECAR_BYTES = 4 * 1024 * 1024  # a larger <id>.json does not describe one page
WEB = ("http://", "https://")
UNKNOWN = "about:blank"  # the URL of a page whose URL is unknown
PageSource = Annotated[
    str, typer.Argument(metavar="FILE|URL|DIR|-", help="A page, its URL, a folder of <id>.html(.gz), or standard input.")
]
PAGE_SUFFIXES = (".html", ".htm", ".xhtml")
PAGE_ENDINGS = tuple(suffix + packed for suffix in PAGE_SUFFIXES for packed in ("", ".gz"))
PACKING_SLACK = 64 * 1024  # gzip expands incompressible data: 18 bytes, the file's name, 5 bytes per block of 16 kB
GZIP_MAGIC = b"\x1f\x8b"


class BadPage(ValueError):
    """Raised by :meth:`SavedPage.read` for a file that is unreadable or too large. The caller writes an ``error`` line and continues."""


@dataclass(frozen=True, slots=True)
class SavedPage:
    """A saved page. ``body``: bytes as served; ``error``: why there are none. The others come from ``<id>.json``.

    ``base``: the base URL of relative links, if recorded; it overrides the page's own ``<base>``,
    which may be that of the host the page was saved through.
    """

    id: str
    body: bytes = field(default=b"", repr=False)
    url: str | None = None
    summary: str | None = None
    error: str | None = None
    path: Path | None = None
    base: str | None = None


def saved_pages(path: str | Path, match: Callable[[str | None], bool] | None = None) -> Iterator[SavedPage]:
    """Yield the pages of a file, of a folder (by name, no subfolders) or of standard input (``-``) whose URL fulfils ``match``; unreadable
    ones with ``error``. Raises ``FileNotFoundError`` if ``path`` is missing or has no page."""
    if str(path) == "-":
        yield _page("-", None, sys.stdin.buffer)
        return
    start = Path(path)
    if not start.exists():
        raise FileNotFoundError(f"no such file or folder: {start}")
    files = page_files(start)
    if not files:
        raise FileNotFoundError(f"no page in {start}; pages are <id>.html or <id>.html.gz (also .htm, .xhtml), not in subfolders")
    for file in files:
        if match is None or match(_address(file)):
            try:
                with file.open("rb") as stream:
                    page = _page(page_id(file), file, stream)
            except OSError as error:
                page = SavedPage(page_id(file), error=f"cannot be read: {error.strerror or error}", path=file)
            yield page


def describe(error: Exception) -> str:
    """Describe why a page was not read: our own errors by their message, others also by their class."""
    return str(error) if isinstance(error, NewsportalError) else f"{type(error).__name__}: {error}"


def page_urls(path: str | Path) -> Iterator[str]:
    return (address for file in page_files(path) if (address := _address(file)))


def check_web_url(url: str | None) -> str | None:
    """Check a ``url`` of the command line. Raises ``typer.BadParameter`` for other schemes."""
    if url is not None and not url.startswith(WEB):
        raise typer.BadParameter(f"{url!r} is not the URL of a page: URLs begin with http:// or https://")
    return url


SavedFrom = Annotated[str | None, typer.Option("--url", "-u", callback=check_web_url, help="URL of a saved page; not for a folder.")]


def require_source(source: str) -> None:
    """End the command with status 1 if ``source`` is neither ``-``, a URL nor an existing path."""
    if source != "-" and not source.startswith(WEB) and not Path(source).exists():
        typer.echo(f"no such file or folder: {source}; a URL begins with http:// or https://", err=True)
        raise typer.Exit(1)


def reject_url_of_folder(url: str | None, path: str | Path) -> None:
    """Reject a URL for a folder of pages. Raises ``typer.BadParameter``."""
    if url is not None and Path(path).is_dir():
        raise typer.BadParameter(f'{path} is a folder: give the URL of each page in <id>.json, as {{"url": …}}', param_hint="--url")


def _address(file: Path) -> str | None:
    url, base, _ = _description(file.with_name(f"{page_id(file)}.json"))
    return url or base


def page_id(file: Path) -> str:
    """Return the id of a file: ``a.b.html.gz`` → ``a.b``; other endings are kept."""
    name = file.name
    for ending in sorted(PAGE_ENDINGS, key=len, reverse=True):
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return file.stem


def page_files(path: str | Path) -> list[Path]:
    """Return the file itself, or the saved pages of a folder, by name."""
    start = Path(path)
    if start.is_file():
        return [start]
    return sorted(file for file in start.iterdir() if file.is_file() and file.name.lower().endswith(PAGE_ENDINGS))


def _page(name: str, file: Path | None, stream: BinaryIO) -> SavedPage:
    url, base, summary = _description(file.with_name(f"{name}.json")) if file else (None, None, None)
    page = SavedPage(name, url=url or base, summary=summary, path=file, base=base)
    try:
        return replace(page, body=read_bounded(stream))
    except BadPage as error:
        return replace(page, error=str(error))


def read_bounded(stream: BinaryIO, limit: int = MAX_BYTES) -> bytes:
    """Return the bytes of ``stream``, decompressed if gzip. Raises ``BadPage`` beyond ``limit`` bytes or for a broken archive."""
    body = stream.read(limit + PACKING_SLACK)
    if body.startswith(GZIP_MAGIC):
        inflate = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        try:
            body = inflate.decompress(body, limit + 1)
        except zlib.error as error:
            raise BadPage(f"broken gzip: {error}") from error
        if not inflate.eof and len(body) <= limit:
            raise BadPage("broken gzip: truncated")
    if len(body) > limit:
        raise BadPage(f"larger than {limit} bytes")
    return body


def _description(file: Path) -> tuple[str | None, str | None, str | None]:
    """Return URL, base and summary of a page from its ``.json``. A missing or broken file is ignored: the page can be read anyway."""
    packed = file.with_name(f"{file.name}.gz")
    try:
        with gzip.open(packed, "rb") if not file.exists() and packed.exists() else file.open("rb") as stream:
            found = json.loads(stream.read(MAX_SIDECAR_BYTES))
    except (OSError, ValueError, EOFError, zlib.error, RecursionError):
        found = None
    values = [found.get(key) if isinstance(found, dict) else None for key in ("url", "base", "summary")]
    url, base, summary = (value.strip() or None if isinstance(value, str) else None for value in values)
    return url, base, summary
