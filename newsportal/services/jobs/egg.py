"""newsportal as an egg for scrapyd: a zip of the package, with a sources file as package data.

Made from the package that runs, whether that is a folder of sources or was installed, without setuptools, and without leaving anything
behind in the operator's folder. ``scrapyd-deploy`` makes one too, of the project's folder alone.

scrapyd runs the version that sorts last. scrapyd 1.6 writes every character but letters, digits, ``-`` and ``_`` as ``_`` and then sorts by
PEP 440 if all names are versions, else as text: ``1.10`` becomes ``1_10``, is no version any more, and comes before ``1_9``. The names of
versions made here sort rightly both ways.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo, is_zipfile

from newsportal import __version__

PACKAGE = "newsportal"
SOURCES_NAME = f"{PACKAGE}/sources.yaml"
ENTRY = "newsportal_deployed"
"""The module that scrapyd loads. No other package has one of this name: an installed newsportal comes before the egg on Python's path
(pkg_resources puts eggs last), so this module puts the egg first."""

ENTRY_SOURCE = f'''"""Settings of a deployed newsportal: those of the package in this egg, with the sources file that lies in it."""

import sys

_egg = __loader__.archive
sys.path[:] = [_egg, *(place for place in sys.path if place != _egg)]

from {PACKAGE}.settings import *  # noqa: E402, F403

NEWSPORTAL_PACKAGED_SOURCES = True
'''

LEFT_OUT = ("__pycache__", ".mypy_cache")
MOMENT = (2020, 1, 1, 0, 0, 0)
"""Of every file in the egg: the same package makes the same bytes."""

DIGITS = 4
"""Each number of a release is written with so many: numbers up to 9,999 sort as text as they do as numbers."""

RELEASE = re.compile(rf"\d{{1,{DIGITS}}}(\.\d{{1,{DIGITS}}})+")


def build(sources: bytes | None = None) -> bytes:
    """The egg; ``sources`` in place of the sources file that comes with newsportal."""
    held = BytesIO()
    with ZipFile(held, "w", ZIP_DEFLATED) as egg:
        for name, content in sorted(_contents(sources).items()):
            egg.writestr(ZipInfo(name, MOMENT), content, ZIP_DEFLATED)
    return held.getvalue()


def is_egg(content: bytes) -> bool:
    """Whether a file may be one: scrapyd takes any zip."""
    return is_zipfile(BytesIO(content))


def _contents(sources: bytes | None) -> dict[str, bytes]:
    found = dict(_walk(files(PACKAGE), PACKAGE))
    if sources is not None:
        found[SOURCES_NAME] = sources
    found[f"{ENTRY}.py"] = ENTRY_SOURCE.encode()
    found["EGG-INFO/PKG-INFO"] = f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {__version__}\n".encode()
    found["EGG-INFO/entry_points.txt"] = f"[scrapy]\nsettings = {ENTRY}\n".encode()
    found["EGG-INFO/top_level.txt"] = f"{PACKAGE}\n{ENTRY}\n".encode()
    found["EGG-INFO/zip-safe"] = b"\n"
    return found


def _walk(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for child in folder.iterdir():
        path = f"{name}/{child.name}"
        if child.name in LEFT_OUT or child.name.endswith(".pyc"):
            continue
        if child.is_dir():
            yield from _walk(child, path)
        else:
            yield path, child.read_bytes()


def stamp(now: datetime) -> str:
    """The moment in UTC, to the second, as one number: ``20260305083000``. Later than scrapyd-deploy's own (seconds since 1970)."""
    return f"{now.astimezone(UTC):%Y%m%d%H%M%S}"


def sortable(version: str) -> str:
    """``1.10.2`` as ``0001_0010_0002``; other names as scrapyd keeps them, in whatever order they sort."""
    if RELEASE.fullmatch(version):
        return "_".join(number.zfill(DIGITS) for number in version.split("."))
    return kept(version)


def kept(version: str) -> str:
    """The name under which scrapyd keeps a version (``FilesystemEggStorage._egg_path``)."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", version)
