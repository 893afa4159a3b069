"""newsportal as an egg for scrapyd: a zip of the package, with a sources file as package data.

Made from the package that runs, whether that is a folder of sources or was installed, without setuptools, and without leaving anything
behind in the operator's folder. ``scrapyd-deploy`` makes one too, of the project's folder alone.
"""

from __future__ import annotations

from collections.abc import Iterator
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
