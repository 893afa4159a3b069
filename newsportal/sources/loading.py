"""Find and load ``sources.yaml``. All mistakes are told at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path

from pydantic import ValidationError

from newsportal.errors import Problem, SourcesError
from newsportal.messages import Message
from newsportal.sources import checks, problems
from newsportal.sources.models import Sources
from newsportal.sources.reading import Mistake, Unreadable, read

FILE_NAME = "sources.yaml"
VARIABLE = "NEWSPORTAL_SOURCES"
HOME = "NEWSPORTAL_HOME"
"""The environment variable that names the folder in which the data of a packaged file lie; by default the working folder."""
WRITE_ONE = Message("hint.init")


def find(start: Path | None = None, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The file that is meant: ``$NEWSPORTAL_SOURCES``, else the nearest ``sources.yaml`` in ``start`` or above, else ``None``."""
    if environ.get(VARIABLE):
        return Path(environ[VARIABLE]).expanduser()
    folder = (start or Path.cwd()).absolute()
    return next((place / FILE_NAME for place in (folder, *folder.parents) if (place / FILE_NAME).is_file()), None)


Stamp = tuple[int, int, int]


def stamp(path: Path) -> Stamp | None:
    """What changes whenever the file is written (time, size, inode); ``None`` while it cannot be seen."""
    try:
        told = path.stat()
    except OSError:
        return None
    return told.st_mtime_ns, told.st_size, told.st_ino


def load(path: Path | None = None, environ: Mapping[str, str] = os.environ) -> Sources:
    """The sources in ``path`` (by default what :func:`find` finds, else the file within the package), checked and frozen.

    Raises ``SourcesError`` with every mistake, each with its line, also when the file is missing or cannot be read.
    """
    path = path or find(environ=environ)
    if path is None:
        return packaged(environ)
    if path.is_dir():
        path /= FILE_NAME
    try:
        content = path.read_bytes()
    except OSError as error:
        message = Message("sources.unreadable", why=error.strerror or str(error))
        raise SourcesError([Problem(str(path), 1, "(file)", message, _make_one(error))]) from error
    return parse(content, path, environ)


def _make_one(error: OSError) -> Message | None:
    return WRITE_ONE if isinstance(error, FileNotFoundError) else None


def packaged(environ: Mapping[str, str] = os.environ) -> Sources:
    """The file that comes with the package (scrapyd's eggs hold one); its relative paths start from ``$NEWSPORTAL_HOME``, by default from
    the working folder. Raises ``SourcesError`` as :func:`load` does."""
    folder = Path(environ[HOME]).expanduser() if environ.get(HOME) else Path.cwd()
    resource = files("newsportal").joinpath(FILE_NAME)
    place = folder / FILE_NAME
    if not resource.is_file():
        problem = Problem(str(place), 1, "(file)", Message("sources.no-file", name=FILE_NAME), WRITE_ONE)
        raise SourcesError([problem])
    return parse(resource.read_bytes(), place, environ)


def parse(content: bytes, path: Path, environ: Mapping[str, str] = os.environ) -> Sources:
    """The sources in ``content``; ``path`` names them in messages, and its folder is what relative paths start from.

    Raises ``SourcesError`` with every mistake.
    """
    try:
        tree = read(content)
    except Unreadable as error:
        raise _error(path, [error.mistake]) from error
    if tree.value is None and not tree.mistakes:
        raise _error(path, [Mistake(1, (), Message("sources.empty-file"), WRITE_ONE)])
    mistakes = [*tree.mistakes, *checks.check(tree)]
    context = {"folder": path.absolute().parent, "path": path.absolute(), "environ": environ, "filled": set()}
    sources = None
    try:
        sources = Sources.model_validate(tree.value, context=context)
    except ValidationError as error:
        mistakes += problems.told(error, tree)
    if sources is None or mistakes:
        raise _error(path, mistakes)
    return sources


def _error(path: Path, mistakes: Iterable[Mistake]) -> SourcesError:
    in_order = sorted(mistakes, key=lambda mistake: mistake.line)
    return SourcesError([Problem(str(path), one.line, problems.dotted(one.path), one.message, one.hint) for one in in_order])
