"""Names of versions for scrapyd, which runs the one that sorts last.

scrapyd 1.6 writes every character but letters, digits, ``-`` and ``_`` as ``_`` and then sorts by PEP 440 if all names are versions, else
as text: ``1.10`` becomes ``1_10``, is no version any more, and comes before ``1_9``. The names made here sort rightly both ways.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

DIGITS = 4
"""Each number of a release is written with so many: numbers up to 9,999 sort as text as they do as numbers."""

RELEASE = re.compile(rf"\d{{1,{DIGITS}}}(\.\d{{1,{DIGITS}}})+")


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
