"""Answers as JSON lines in UTF-8, whatever the terminal's encoding is: each is there as soon as it is known."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import typer


def write(rows: Iterable[dict[str, Any]], out: Path | None) -> None:
    """Write ``rows`` to ``out``, else to standard output. A file that cannot be read or written ends the command with status 1."""
    try:
        if out is None:
            _write(rows, sys.stdout.buffer)
        else:
            with out.open("wb") as stream:
                _write(rows, stream)
    except BrokenPipeError:
        raise  # the reader went away: the command line knows what that means
    except OSError as error:
        typer.echo(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error), err=True)
        raise typer.Exit(1) from error


def _write(rows: Iterable[dict[str, Any]], stream: BinaryIO) -> None:
    for row in rows:
        stream.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        stream.flush()
