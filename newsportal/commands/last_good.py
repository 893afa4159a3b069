"""What those who crawl again and again go by while ``sources.yaml`` has mistakes: a copy beside it of what it said before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from newsportal.errors import SourcesError
from newsportal.sources import Sources, load

ENDING = ".last-good"
"""What the copy is called: ``.sources.yaml.last-good``."""


class LastGood:
    """``known`` is what ``file`` said last without mistakes. ``say`` tells people of mistakes once, and when they are mended."""

    def __init__(self, file: Path | None, known: Sources, say: Callable[[str], None]) -> None:
        self._file = file
        self.known = known
        self._say = say
        self._good = _content(known)
        self._broken: str | None = None

    def file(self) -> Path | None:
        """The file to crawl by: as it is; while it has mistakes, the copy."""
        try:
            self.known = load(self._file)
        except SourcesError as error:
            return self._kept(error)
        if self._broken is not None:
            self._say("sources.yaml is mended, and read anew")
        self._broken, self._good = None, _content(self.known)
        return self._file

    def forget(self) -> None:
        """Take the copy away: nobody crawls by it any more."""
        if self.known.path is not None and self._broken is not None:
            _copy_of(self.known.path).unlink(missing_ok=True)

    def _kept(self, error: SourcesError) -> Path | None:
        path = self.known.path
        if path is None or self._good is None:
            return self._file
        if str(error) != self._broken:
            self._say(f"{error}\nthe crawl goes on with the sources as they were before")
        self._broken = str(error)
        kept = _copy_of(path)
        try:
            kept.touch(mode=0o600)
            kept.write_bytes(self._good)
        except OSError as reason:
            self._say(f"{kept} cannot be written: {reason.strerror or reason}")
            return self._file
        return kept


def _copy_of(path: Path) -> Path:
    return path.with_name(f".{path.name}{ENDING}")


def _content(known: Sources) -> bytes | None:
    """What the file held when it was loaded; ``None`` where there is none."""
    try:
        return known.path.read_bytes() if known.path is not None else None
    except OSError:
        return None
