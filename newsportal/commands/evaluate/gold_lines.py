"""The lines of a folder's gold files, packed or not, with the place of each for messages."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path


def gold_lines(folder: Path, name: str) -> Iterator[tuple[str, str]]:
    """Each line that is not blank of ``name``.jsonl or ``name``.jsonl.gz in ``folder``, after ``file:number``.

    Raises ``ValueError`` when there is neither file, or one that is not UTF-8; ``OSError``.
    """
    plain, packed = folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz"
    file = next((file for file in (plain, packed) if file.exists()), None)
    if file is None:
        raise ValueError(f"{folder}: there is neither {plain.name} nor {packed.name} in it")
    number = 0
    try:
        with gzip.open(file, "rt", encoding="utf-8") if file is packed else file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield f"{file}:{number}", line
    except (UnicodeDecodeError, EOFError) as error:
        raise ValueError(
            f"{file}:{number + 1}: {'it is not UTF-8' if isinstance(error, UnicodeError) else 'the file is cut off'}"
        ) from error
