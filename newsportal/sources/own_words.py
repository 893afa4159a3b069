"""Words of one's own for the segmenter: those of ``sources.yaml`` and those of a dictionary file in jieba's form."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from newsportal import text
from newsportal.errors import Problem, SourcesError
from newsportal.messages import Message
from newsportal.sources.models import Sources

MOST_BYTES = 20_000_000
"""A dictionary file larger than this is something else: jieba's own has 5 MB."""


def use_own_words(sources: Sources) -> None:
    """From now on this process cuts with the words of ``sources``. Raises ``SourcesError`` when their file cannot be read."""
    text.use_words(own_words(sources))


def own_words(sources: Sources) -> tuple[str, ...]:
    """The words of ``words`` and ``dictionary``. Raises ``SourcesError`` when the file cannot be read."""
    return (*sources.words, *(_of_file(sources.dictionary, sources.path) if sources.dictionary else ()))


def _of_file(path: Path, named_in: Path | None) -> Iterator[str]:
    """One word a line; frequency and kind behind it, as jieba's dictionaries have them, are not needed, and ``#`` begins a remark."""
    where = str(named_in or "sources.yaml")
    try:
        if path.stat().st_size > MOST_BYTES:
            message = Message("sources.dictionary-large", path=str(path), number=MOST_BYTES // 1_000_000)
            raise SourcesError([Problem(where, 1, "dictionary", message)])
        lines = path.read_text("utf-8-sig").splitlines()
    except OSError as error:
        message = Message("sources.dictionary-unreadable", path=str(path), why=error.strerror or str(error))
        problem = Problem(where, 1, "dictionary", message, Message("hint.dictionary"))
        raise SourcesError([problem]) from error
    except UnicodeDecodeError as error:
        message = Message("sources.dictionary-encoding", path=str(path))
        problem = Problem(where, 1, "dictionary", message, Message("hint.convert", command=f"iconv -f GB18030 -t UTF-8 {path.name}"))
        raise SourcesError([problem]) from error
    return (words[0] for line in lines if (words := line.split()) and not words[0].startswith("#"))
