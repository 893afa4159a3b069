"""The sources file of a process that goes on for long: read again when it changes; while it has mistakes, a copy of what it said before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from newsportal.errors import SourcesError
from newsportal.sources import Sources, load
from newsportal.sources.loading import stamp

ENDING = ".last-good"  # what the copy is called: `.sources.yaml.last-good`


class SourcesReloader:
    """``known`` is what ``file`` said last without mistakes, ``path`` what jobs are to read. ``say`` is told of mistakes once, and when
    they are mended. ``copies`` False: no copy is written."""

    def __init__(self, file: Path | None, known: Sources, say: Callable[[str], None], *, copies: bool = True) -> None:
        self._file = file
        self.known = known
        self.path = file
        self._say = say
        self._good = _content(known) if copies else None
        self._copies = copies
        self._stamp = stamp(known.path) if known.path else None
        self._broken: str | None = None

    def reread(self) -> bool:
        """Read the file if it was changed; answers whether ``known`` is new."""
        now = stamp(self.known.path) if self.known.path else None
        if now is None or now == self._stamp:  # none: an editor is just about to put the new one in place
            return False
        self._stamp = now
        try:
            self.known = load(self._file)
        except SourcesError as error:
            self.path = self._write_copy(error)
            return False
        if self._broken is not None:
            self._say("sources.yaml is mended, and read anew")
        self.path, self._broken, self._good = self._file, None, _content(self.known) if self._copies else None
        return True

    def remove_copy(self) -> None:
        """Nobody reads it any more."""
        if self.known.path is not None and self._broken is not None:
            _copy_of(self.known.path).unlink(missing_ok=True)

    def _write_copy(self, error: SourcesError) -> Path | None:
        if str(error) != self._broken:
            self._say(f"{error}\nthe crawl goes on with the sources as they were before")
        self._broken, path = str(error), self.known.path
        if path is None or self._good is None:
            return self._file
        copy = _copy_of(path)
        try:
            copy.touch(mode=0o600)
            copy.write_bytes(self._good)
        except OSError as reason:
            self._say(f"{copy} cannot be written: {reason.strerror or reason}")
            return self._file
        return copy


def _copy_of(path: Path) -> Path:
    return path.with_name(f".{path.name}{ENDING}")


def _content(known: Sources) -> bytes | None:
    """What the file held when it was loaded; ``None`` where there is none."""
    try:
        return known.path.read_bytes() if known.path is not None else None
    except OSError:
        return None
