"""Missing or invalid files: all problems are reported at once, exit status 1, no traceback, no requests."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from forked import run

if TYPE_CHECKING:
    from madeup import MadeUpWeb


def test_missing_sources_file_is_reported(portal: Any) -> None:
    portal.sources.unlink()
    done = portal.run_crawl()
    assert (done.returncode, done.stdout) == (1, "")
    assert str(portal.sources) in done.stderr


def test_all_mistakes_of_sources_file_are_reported_at_once(portal: Any, web: MadeUpWeb) -> None:
    portal.sources.write_text("topcs: []\nfeeds:\n  - {name: 甲, url: 'ftp://a.example/'}\n  - {name: 乙}\n", "utf-8")
    done = portal.run_crawl()
    assert (done.returncode, done.stdout) == (1, "")
    for line in (1, 3, 4):
        assert f"{portal.sources}:{line}:" in done.stderr, done.stderr
    assert web.requests == []


@pytest.mark.parametrize("spider", [(), ("rss",)])
def test_unknown_source_error_lists_sources(portal: Any, spider: tuple[str, ...]) -> None:
    done = run(*portal.command(*spider, "--source", "溪峰"), COLUMNS="1000")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr, done.stderr[-3000:]
    assert "溪峰在线" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "No such file"), (b"", ""), (b"no archive at all\n" * 20, ""), (gzip.compress(b"WARC/1.0\r\n", mtime=0)[:15], "")],
    ids=["missing", "empty", "not a WARC", "truncated"],
)
def test_unreadable_warc_file_is_reported(portal: Any, tmp_path: Path, web: MadeUpWeb, content: bytes | None, says: str) -> None:
    warc = tmp_path / "一份 存档.warc.gz"
    if content is not None:
        warc.write_bytes(content)
    done = portal.run_crawl("rss", "--replay", str(warc))
    assert done.returncode == 1
    assert str(warc) in done.stderr
    assert says in done.stderr
    assert web.requests == []
    assert portal.identities() == []
