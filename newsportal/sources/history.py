"""Earlier versions of ``sources.yaml``, kept beside it: what stood there before each change, to look at and to go back to.

They lie in ``.sources.yaml.versions``, readable by whoever may read the file, the latest :data:`KEPT` of them.
"""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

from newsportal.errors import NewsportalError

KEPT = 50  # versions. A file of a thousand sources has some 100 kB, so all of them are about 5 MB.
FOLDER_SUFFIX = ".versions"
STAMP = "%Y%m%dT%H%M%S%fZ"
NAMED = re.compile(r"(?P<stamp>\d{8}T\d{12}Z)-(?P<digest>[0-9a-f]{32})\.yaml")


class NoVersion(NewsportalError):
    """Raised by :func:`content_of` and :func:`earlier` for a version that is not there (any more). The caller shows which there are."""


@dataclass(frozen=True, slots=True)
class Version:
    """What the file held until ``at`` (aware, UTC). ``id`` names it; ``digest`` is that of its content; ``size`` in bytes."""

    id: str
    at: datetime
    digest: str
    size: int


def digest_of(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def versions(path: Path) -> list[Version]:
    """The earlier versions of the file at ``path``, the latest first; none where none can be read."""
    found = []
    try:
        names = sorted(os.listdir(_folder(path)), reverse=True)
    except OSError:
        return []
    for name in names:
        if match := NAMED.fullmatch(name):
            with contextlib.suppress(OSError):  # forgotten meanwhile
                size = (_folder(path) / name).stat().st_size
                at = datetime.strptime(match["stamp"], STAMP).replace(tzinfo=UTC)
                found.append(Version(name.removesuffix(".yaml"), at, match["digest"], size))
    return found


def content_of(path: Path, id: str) -> bytes:
    """What a version holds. Raises ``NoVersion``, also for one that was not written whole (a crash, a full disk)."""
    named = NAMED.fullmatch(f"{id}.yaml")
    if named is None:
        raise NoVersion(f"{path.name} has no version {id!r}")
    try:
        content = (_folder(path) / f"{id}.yaml").read_bytes()
    except OSError as error:
        raise NoVersion(f"{path.name} has no version {id!r} any more") from error
    if digest_of(content) != named["digest"]:
        raise NoVersion(f"{path.name}: version {id!r} is damaged")
    return content


def earlier(path: Path, steps: int = 1) -> Version:
    """What the file held before its last ``steps`` changes. Raises ``NoVersion``."""
    known = versions(path)
    if not 1 <= steps <= len(known):
        raise NoVersion(f"{path.name} has {len(known)} earlier versions: nothing was changed")
    return known[steps - 1]


def keep(path: Path, content: bytes) -> str:
    """Remember ``content`` as what the file held until now, and forget the oldest versions; answers its id. Raises ``OSError``."""
    folder = _folder(path)
    folder.mkdir(mode=0o700, exist_ok=True)
    named = folder / f"{datetime.now(UTC).strftime(STAMP)}-{digest_of(content)}.yaml"
    named.touch(mode=path.stat().st_mode & 0o666)
    named.write_bytes(content)
    for old in versions(path)[KEPT:]:
        (folder / f"{old.id}.yaml").unlink(missing_ok=True)
    return named.stem


def _folder(path: Path) -> Path:
    return path.with_name(f".{path.name}{FOLDER_SUFFIX}")
