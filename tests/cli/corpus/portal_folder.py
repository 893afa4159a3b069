"""A portal's folder in which commands run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from newsportal import cli
from newsportal.errors import NewsportalError
from newsportal.store import open_store
from newsportal.store.store import Store

SOURCES = """
store: sqlite:///news.db
feeds:
  - {name: 体育甲, url: "https://a.example/rss", category: 体育}
  - {name: 财经乙, url: "https://b.example/rss", category: 财经}
  - {name: 综合, url: "https://c.example/rss"}
regions:
  - {name: 自动, prefix: "https://d.example/", category: 社会, auto_classify: true}
"""


@dataclass(frozen=True)
class Done:
    """Result of a command: exit status, lines of JSON, and complete output."""

    code: int
    rows: list[dict[str, Any]]
    text: str


@dataclass(frozen=True)
class Portal:
    """A folder with sources.yaml; called with a command's arguments, it runs the command there."""

    folder: Path

    def __call__(self, *words: str, stdin: bytes = b"") -> Done:
        result = CliRunner().invoke(cli.app, list(words), input=stdin, env={"COLUMNS": "200"})
        text = result.output
        code = result.exit_code
        if isinstance(result.exception, NewsportalError):  # as ``cli.main`` reports it in one line
            text, code = f"{text}{result.exception}", 1
        elif result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Done(code, [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")], text)

    def store(self) -> Store:
        return open_store(f"sqlite:///{self.folder}/news.db")

    def write(self, name: str, rows: list[dict[str, Any]]) -> str:
        path = self.folder / name
        path.write_bytes(b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows))
        return str(path)


DIES = """
import os, signal
from pathlib import Path
from sqlalchemy import Engine, event
from newsportal.classify import base
from newsportal.cli import main

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def die_after(beginning, times=1):
    found = []
    def count(connection, cursor, statement, *_):
        found.extend([statement] * statement.startswith(beginning))
        if len(found) == times:
            die()
    event.listen(Engine, "after_cursor_execute", count)

{moment}
main()
"""
"""A script that runs the command line and kills itself at ``moment``, independent of other load."""
