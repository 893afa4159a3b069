"""A killed restore can only be continued with the same backup; the unfinished store cannot be opened otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from factories import NOW, article
from filled_store import fill
from forked import Started
from servers import OVER_SERVERS, Servers
from test_records import sums

from newsportal.errors import BackupError, StoreUnfinished
from newsportal.store import open_store
from newsportal.store.backup import back_up, restore, verify
from newsportal.store.copying import is_empty


@pytest.fixture(params=["sqlite", *OVER_SERVERS])
def uri(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URI of an empty store that exists already."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/restored.db"
        return
    servers: Servers = request.getfixturevalue("servers")
    with servers.database(request.param) as database:
        yield database.uri


@pytest.fixture(scope="module")
def backups(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("backup")
    with closing(open_store(f"sqlite:///{folder}/filled.db")) as store:
        fill(store)
        back_up(store, folder / "b.tar.zst", sources=None, now=NOW)
        store.add(article("one more"), now=NOW)
        back_up(store, folder / "later.tar.zst", sources=None, now=NOW)
    return folder


def kill_restore(file: Path, uri: str) -> None:
    open_store(uri).close()
    with Started(str(file), uri, script=Path(__file__).with_name("killed_restore.py"), piped=True) as process:
        assert process.stdout.readline() == "half\n"


@pytest.mark.slow
def test_killed_restore_continues_with_the_same_file_only(backups: Path, uri: str) -> None:
    kill_restore(backups / "b.tar.zst", uri)
    with pytest.raises(StoreUnfinished, match="run `newsportal restore` with the same file again"):
        open_store(uri)
    with closing(open_store(uri, unfinished=True)) as store:
        assert not is_empty(store.records)
        half = sums(store)
        with pytest.raises(BackupError, match="an interrupted restore of another backup"):
            restore(backups / "later.tar.zst", store, manifest=verify(backups / "later.tar.zst"))
        assert sums(store) == half
        restore(backups / "b.tar.zst", store, manifest=verify(backups / "b.tar.zst"))
    with closing(open_store(uri)) as store, closing(open_store(f"sqlite:///{backups}/filled.db")) as source:
        articles = {stored.id for stored in store.all_articles()}
        newer = [stored.id for stored in source.all_articles() if stored.id not in articles]
        assert len(newer) == 1
        before = store.last_seq()
        store.add(article("new"), now=NOW)
        assert store.last_seq() == before + 1 == source.last_seq()
        with pytest.raises(BackupError, match="not empty"):
            restore(backups / "b.tar.zst", store, manifest=verify(backups / "b.tar.zst"))


@pytest.mark.slow
def test_continued_restore_is_complete(backups: Path, uri: str, tmp_path: Path) -> None:
    kill_restore(backups / "b.tar.zst", uri)
    with closing(open_store(f"sqlite:///{tmp_path}/at-once.db")) as at_once, closing(open_store(uri, unfinished=True)) as store:
        for target in (at_once, store):
            restore(backups / "b.tar.zst", target, manifest=verify(backups / "b.tar.zst"))
        assert sums(store) == sums(at_once)
        assert store.records.restoring() is None
