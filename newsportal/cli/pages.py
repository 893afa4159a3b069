"""Saved pages as input: ``FILE``, ``DIR`` or ``-``, the same for every command that reads pages from a disk.

A folder holds ``<id>.html`` or ``<id>.html.gz`` (also ``.htm``, ``.xhtml``), and beside each an optional ``<id>.json`` of which
only the address (``url``, or ``base`` as list pages have it) and ``summary`` are read: gold answers may lie in the same file.
"""

from __future__ import annotations

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

MAX_BYTES = 16 * 1024 * 1024  # what the crawl would download at most (DOWNLOAD_MAXSIZE); a packed file is unpacked no further than this
MAX_SIDECAR_BYTES = 4 * 1024 * 1024  # a <id>.json beyond this is not the description of one page
WEB = ("http://", "https://")
UNKNOWN = "about:blank"  # the address of a page that nothing says the address of
PageSource = Annotated[
    str, typer.Argument(metavar="FILE|URL|DIR|-", help="A page, its address, a folder of <id>.html(.gz), or standard input.")
]
PAGE_SUFFIXES = (".html", ".htm", ".xhtml")
PAGE_ENDINGS = tuple(suffix + packed for suffix in PAGE_SUFFIXES for packed in ("", ".gz"))
PACKING_SLACK = 64 * 1024  # gzip makes what cannot be packed longer: 18 bytes, the file's name, 5 bytes a block of 16 kB
GZIP_MAGIC = b"\x1f\x8b"


class BadPage(ValueError):
    """Raised by :meth:`SavedPage.read` for a file that cannot be read or is too large. The caller writes an ``error`` line and goes on."""


@dataclass(frozen=True, slots=True)
class SavedPage:
    """One saved page. ``body`` is bytes as served; ``error`` says why there are none. The others come from ``<id>.json``.

    ``base`` is what relative links are relative to, where whoever saved the page says so: it outweighs the page's own ``<base>``,
    which may be that of the host the page was saved through.
    """

    id: str
    body: bytes = field(default=b"", repr=False)
    url: str | None = None
    summary: str | None = None
    error: str | None = None
    path: Path | None = None
    base: str | None = None


def saved_pages(path: str | Path, wanted: Callable[[str | None], bool] | None = None) -> Iterator[SavedPage]:
    """The pages of a file, of a folder (by name, not its subfolders) or of standard input (``-``) whose address is ``wanted``; bad ones
    have their ``error``. Raises ``FileNotFoundError`` when ``path`` is missing or holds no page."""
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
        if wanted is None or wanted(_address(file)):
            try:
                with file.open("rb") as stream:
                    page = _page(page_id(file), file, stream)
            except OSError as error:
                page = SavedPage(page_id(file), error=f"cannot be read: {error.strerror or error}", path=file)
            yield page


def describe(error: Exception) -> str:
    """Why a page was not read: our own errors explain themselves, others need their name."""
    return str(error) if isinstance(error, NewsportalError) else f"{type(error).__name__}: {error}"


def addresses(path: str | Path) -> Iterator[str]:
    return (address for file in page_files(path) if (address := _address(file)))


def web_address(url: str | None) -> str | None:
    """``url`` of a command line. Raises ``typer.BadParameter`` for one that no page can come from."""
    if url is not None and not url.startswith(WEB):
        raise typer.BadParameter(f"{url!r} is no address of a page: those begin with http:// or https://")
    return url


SavedFrom = Annotated[str | None, typer.Option("--url", "-u", callback=web_address, help="A saved page's address; not for a folder.")]


def require_source(source: str) -> None:
    """Ends the command with status 1 where ``source`` is neither ``-``, an address nor a path that exists."""
    if source != "-" and not source.startswith(WEB) and not Path(source).exists():
        typer.echo(f"no such file or folder: {source}; an address begins with http:// or https://", err=True)
        raise typer.Exit(1)


def refuse_for_folder(url: str | None, path: str | Path) -> None:
    """One address is not that of all pages of a folder. Raises ``typer.BadParameter``."""
    if url is not None and Path(path).is_dir():
        raise typer.BadParameter(
            f'{path} is a folder, whose pages have an address each: write it beside the page, in <id>.json, as {{"url": …}}',
            param_hint="--url",
        )


def _address(file: Path) -> str | None:
    url, base, _ = _description(file.with_name(f"{page_id(file)}.json"))
    return url or base


def page_id(file: Path) -> str:
    """``a.b.html.gz`` → ``a.b``; a name without a known ending stays as it is."""
    name = file.name
    for ending in sorted(PAGE_ENDINGS, key=len, reverse=True):
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return file.stem


def page_files(path: str | Path) -> list[Path]:
    """The file itself, or the saved pages of a folder, by name."""
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
    """The bytes of ``stream``, unpacked if they are gzip. Raises ``BadPage`` beyond ``limit`` bytes or for a broken archive."""
    body = stream.read(limit + PACKING_SLACK)
    if body.startswith(GZIP_MAGIC):
        inflate = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        try:
            body = inflate.decompress(body, limit + 1)
        except zlib.error as error:
            raise BadPage(f"broken gzip: {error}") from error
        if not inflate.eof and len(body) <= limit:
            raise BadPage("broken gzip: it ends too early")
    if len(body) > limit:
        raise BadPage(f"larger than {limit} bytes")
    return body


def _description(file: Path) -> tuple[str | None, str | None, str | None]:
    """Address, base and summary beside a page. A missing or broken file is no description, since the page can be read without one."""
    packed = file.with_name(f"{file.name}.gz")
    try:
        with gzip.open(packed, "rb") if not file.exists() and packed.exists() else file.open("rb") as stream:
            found = json.loads(stream.read(MAX_SIDECAR_BYTES))
    except (OSError, ValueError, EOFError, zlib.error, RecursionError):
        found = None
    values = [found.get(key) if isinstance(found, dict) else None for key in ("url", "base", "summary")]
    url, base, summary = (value.strip() or None if isinstance(value, str) else None for value in values)
    return url, base, summary
