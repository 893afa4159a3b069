"""Where a browser's launcher and profile lie while it runs, and the end of those that killed crawls left."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import time
from typing import Final

FOLDER: Final = "newsportal-browser-"  # How the names of such folders begin
NEVER_STARTED: Final = 3600.0  # seconds; a browser writes its process number within a minute


def candidates() -> Iterator[Path]:
    """Folders in which ours may lie, the system's own for temporary files first. Some machines let no program run there (noexec)."""
    yield Path(tempfile.gettempdir())
    cache = os.environ.get("XDG_CACHE_HOME")
    with suppress(RuntimeError):  # nobody's home
        yield Path(cache) if cache else Path.home() / ".cache"
    yield Path("/var/tmp")  # noqa: S108 - the folder within is made by mkdtemp, and ours alone


def runs_programs(folder: Path) -> bool:
    """Whether a program that lies in ``folder`` may be started, as far as the system tells."""
    noexec = getattr(os, "ST_NOEXEC", 0)  # Linux alone has it
    try:
        return not noexec or not os.statvfs(folder).f_flag & noexec
    except OSError:
        return False


def new_folder() -> Path:
    """A folder for a browser, in the first place where it can be made and its launcher run. Raises ``OSError``, with what helps."""
    why = None
    for place in candidates():
        try:
            place.mkdir(parents=True, exist_ok=True)
            if runs_programs(place):
                return Path(tempfile.mkdtemp(prefix=FOLDER, dir=place))
        except OSError as error:
            why = error
    tried = ", ".join(map(str, candidates()))
    raise OSError(f"no folder for the browser: none of {tried} can be written and lets programs run; name one in TMPDIR") from why


def sweep() -> None:
    for place in dict.fromkeys(candidates()):
        for folder in place.glob(f"{FOLDER}*"):
            with suppress(OSError):  # another user's, or gone meanwhile
                if _abandoned(folder):
                    shutil.rmtree(folder, ignore_errors=True)


def _abandoned(folder: Path) -> bool:
    try:
        pid = int((folder / "pid").read_text().split()[0])
    except (FileNotFoundError, ValueError, IndexError):
        return time() - folder.stat().st_mtime > NEVER_STARTED
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False  # also one of another user's, which has its number now: swept when that ends
