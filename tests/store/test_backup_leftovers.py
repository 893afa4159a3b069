"""Temporary files of killed backups are deleted by the next backup; those of a running backup are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from factories import NOW
from filled_store import fill
from forked import Started

from newsportal.store import open_store
from newsportal.store.backup import back_up, verify
from newsportal.store.container import leftover_files
from newsportal.store.store import Store

DATED = ("newsportal-20260301-031500.tar.zst", "newsportal-20260302-031500.tar.zst")
Under = Callable[[Path], Started]


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Store]:
    store = open_store(f"sqlite:///{tmp_path}/news.db")
    fill(store)
    yield store
    store.close()


@pytest.fixture
def under_way(source: Store, tmp_path: Path) -> Iterator[Under]:
    """Function that starts a backup in a separate process and returns once it has written its first rows."""

    with ExitStack() as stack:

        def begun(path: Path) -> Started:
            script = Path(__file__).with_name("killed_backup.py")
            process = stack.enter_context(Started(f"sqlite:///{tmp_path}/news.db", str(path), script=script, piped=True))
            assert process.stdout.readline() == "writing\n"
            return process

        yield begun


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [DATED, ("b.zip", "b.zip")])
def test_next_backup_deletes_files_of_a_killed_one(source: Store, under_way: Under, tmp_path: Path, first: str, second: str) -> None:
    backups = tmp_path / "backups"
    backups.mkdir()
    process = under_way(backups / first)
    process.kill()
    process.wait()
    assert len(leftover_files(backups / second)) == 1
    back_up(source, backups / second, sources=None, now=NOW)
    assert [path.name for path in backups.iterdir()] == [second]


@pytest.mark.slow
def test_files_of_a_running_backup_are_kept(source: Store, under_way: Under, tmp_path: Path) -> None:
    backups = tmp_path / "backups"
    backups.mkdir()
    under_way(backups / DATED[0])
    (part,) = leftover_files(backups / DATED[0])
    back_up(source, backups / DATED[1], sources=None, now=NOW)
    assert sorted(path.name for path in backups.iterdir()) == [part.name, DATED[1]]
    assert verify(backups / DATED[1]).rows > 0


def test_files_with_other_names_are_kept(source: Store, tmp_path: Path) -> None:
    backups = tmp_path / "backups"
    backups.mkdir()
    others = (".other.zip.abcdefgh.part", ".b.zip.part", "b.zip.abcdefgh.part", ".b.zip.ABCDEFGH.part", ".b.zip.abcdefgh.partial")
    for name in others:
        (backups / name).write_text("")
    (backups / ".b.zip.abcdefgh.part").write_text("")
    back_up(source, backups / "b.zip", sources=None, now=NOW)
    assert sorted(path.name for path in backups.iterdir()) == sorted((*others, "b.zip"))
