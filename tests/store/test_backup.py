"""A backup is restored unchanged, and a damaged, newer or malicious one never touches a store."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from backports import zstd
from factories import NOW, article, empty_store
from filled_store import fill
from test_records import sums

from newsportal.errors import BackupError, StoreUnavailable
from newsportal.store import container, open_store
from newsportal.store.backup import back_up, restore, verify
from newsportal.store.copying import is_empty
from newsportal.store.records import BY_NAME
from newsportal.store.store import Store

YAML = "store: sqlite:///data/新闻.db\n".encode()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = open_store(f"sqlite:///{tmp_path_factory.mktemp('filled')}/filled.db")
    fill(store)
    yield store
    store.close()


@pytest.fixture(scope="module", params=["tar.zst", "zip"])
def backup_file(request: pytest.FixtureRequest, source: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of it, for reading only."""
    path = tmp_path_factory.mktemp("backups") / f"备份 一.{request.param}"
    back_up(source, path, sources=YAML, now=NOW)
    return path


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Store]:
    store = empty_store(tmp_path / "restored.db")
    yield store
    store.close()


def test_restored_store_equals_the_source(backup_file: Path, source: Store, empty: Store) -> None:
    _is_restored(backup_file, source, empty)


def test_backup_is_restored_to_any_store(source: Store, store: Store, tmp_path: Path) -> None:
    (tmp_path / "backups").mkdir()
    back_up(source, tmp_path / "backups" / "b.zip", sources=YAML, now=NOW)
    _is_restored(tmp_path / "backups" / "b.zip", source, store)


def _is_restored(backup_file: Path, source: Store, store: Store) -> None:
    manifest = verify(backup_file)
    assert manifest.sources == YAML
    assert manifest.last_change == source.last_seq()
    done = restore(backup_file, store, manifest=manifest)
    assert done.left_out == 0
    assert sums(store) == sums(source)
    before = store.last_seq()
    store.add(article("new"), now=NOW)
    assert store.last_seq() == before + 1
    assert [path.name for path in backup_file.parent.iterdir()] == [backup_file.name]


def test_nonempty_store_is_left_alone(backup_file: Path, empty: Store) -> None:
    empty.add(article("mine"), now=NOW)
    with pytest.raises(BackupError, match="not empty"):
        restore(backup_file, empty, manifest=verify(backup_file))
    assert empty.tally().articles == 1


def test_tables_in_several_pieces_are_joined(source: Store, empty: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "PIECE_BYTES", 100)
    manifest = back_up(source, tmp_path / "b.zip", sources=None, now=NOW)
    assert len(manifest.files) > len(manifest.tables)
    restore(tmp_path / "b.zip", empty, manifest=verify(tmp_path / "b.zip"))
    assert sums(empty) == sums(source)


def test_failed_restore_is_continued(backup_file: Path, source: Store, empty: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, left = empty.records.write, [9]

    def write(form: Any, rows: Any) -> int:
        left[0] -= 1
        if not left[0]:
            raise StoreUnavailable("the disk is full")
        return plain(form, rows)

    monkeypatch.setattr(empty.records, "write", write)
    with pytest.raises(BackupError, match="disk is full; then restore the same file again"):
        restore(backup_file, empty, manifest=verify(backup_file))
    assert not is_empty(empty.records)
    restore(backup_file, empty, manifest=verify(backup_file))
    assert sums(empty) == sums(source)


def test_rows_written_by_others_during_restore_are_kept(backup_file: Path, empty: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, added = empty.records.finish, []

    def finish() -> None:
        plain()
        added.append(empty.add(article("somebody else's"), now=NOW).id)

    monkeypatch.setattr(empty.records, "finish", finish)
    with pytest.raises(BackupError, match="another process writes to this store"):
        restore(backup_file, empty, manifest=verify(backup_file))
    assert empty.article(added[0])


def test_backup_file_is_private(backup_file: Path) -> None:
    """Store URIs in sources.yaml contain passwords."""
    assert backup_file.stat().st_mode & 0o777 == 0o600


def test_failed_backup_leaves_the_previous_one(source: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "b.zip"
    path.write_bytes(b"before")

    def unavailable() -> int:
        raise StoreUnavailable("away")

    monkeypatch.setattr(source, "last_seq", unavailable)
    with pytest.raises(StoreUnavailable):
        back_up(source, path, sources=None, now=NOW)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("b.zip", b"before")]


def test_unknown_ending_and_unwritable_path_are_refused(source: Store, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match=r"\.tar\.zst or \.zip"):
        back_up(source, tmp_path / "backup", sources=None, now=NOW)
    (tmp_path / "file").write_text("")
    with pytest.raises(BackupError, match="cannot be written"):
        back_up(source, tmp_path / "file" / "b.zip", sources=None, now=NOW)


def test_truncated_backup_is_refused(backup_file: Path, tmp_path: Path) -> None:
    content = backup_file.read_bytes()
    for share in (0, 4, len(content) // 3, len(content) // 2, len(content) - 30):
        (tmp_path / backup_file.name).write_bytes(content[:share])
        with pytest.raises(BackupError):
            verify(tmp_path / backup_file.name)


def test_changed_byte_is_refused_or_harmless(backup_file: Path, tmp_path: Path) -> None:
    content = bytearray(backup_file.read_bytes())
    manifest = verify(backup_file)
    for place in range(5, len(content), len(content) // 100):
        changed = bytearray(content)
        changed[place] ^= 0x5A
        (tmp_path / backup_file.name).write_bytes(changed)
        try:
            assert verify(tmp_path / backup_file.name) == manifest  # a byte without meaning: a time in a zip header
        except BackupError:
            pass


def test_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="cannot be read"):
        verify(tmp_path / "none.zip")


# Malicious backups


def parts(backup_file: Path) -> dict[str, bytes]:
    return dict(container.read_files(backup_file))


def build(path: Path, files: dict[str, bytes]) -> Path:
    with path.open("wb") as file, container.write_archive(path, file) as put:
        for name, content in files.items():
            put(name, content)
    return path


def with_manifest(files: dict[str, bytes], change: Callable[[dict[str, Any]], object] = lambda manifest: None) -> dict[str, bytes]:
    """Return ``files`` with a valid manifest, modified by ``change``."""
    manifest = json.loads(files["manifest.json"])
    others = {name: content for name, content in files.items() if name != "manifest.json"}
    manifest["files"] = {name: {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()} for name, body in others.items()}
    change(manifest)
    return {**others, "manifest.json": json.dumps(manifest).encode()}


NEWER: dict[str, Callable[[dict[str, Any]], object]] = {
    "format 2": lambda manifest: manifest.update(version=2),
    "tables holograms": lambda manifest: manifest["tables"].update(holograms={"rows": 0, "digest": "0", "columns": []}),
    "articles with smell": lambda manifest: manifest["tables"]["articles"]["columns"].append("smell"),
}


@pytest.mark.parametrize("kind", NEWER)
def test_backup_of_later_version_is_refused(backup_file: Path, tmp_path: Path, kind: str) -> None:
    with pytest.raises(BackupError, match=f"later newsportal.*{kind}"):
        verify(build(tmp_path / backup_file.name, with_manifest(parts(backup_file), NEWER[kind])))


def test_backup_of_earlier_version_may_lack_columns_and_tables(backup_file: Path, source: Store, empty: Store, tmp_path: Path) -> None:
    files = parts(backup_file)
    rows = [json.loads(line) for line in files["records/articles/000000.jsonl"].splitlines()]
    for row in rows:
        del row["category_reason"]
    files["records/articles/000000.jsonl"] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    del files["records/visits/000000.jsonl"]

    def older(manifest: dict[str, Any]) -> None:
        manifest["tables"]["articles"]["columns"].remove("category_reason")
        manifest["tables"]["articles"]["digest"] = "of other columns"
        del manifest["tables"]["visits"]

    path = build(tmp_path / backup_file.name, with_manifest(files, older))
    restore(path, empty, manifest=verify(path))
    assert empty.tally() == source.tally()
    assert empty.visits.of("feed:快讯") == []


def test_invalid_rows_are_refused_with_their_line(backup_file: Path, tmp_path: Path) -> None:
    for bad in (b"[]", b"{", b"[" * 100_000, b'{"id": "x"}', b"\xff", b'{"id":"r\\u0000","started":1,"report":{}}', b"NaN"):
        files = parts(backup_file) | {"records/runs/000000.jsonl": bad + b"\n"}
        with pytest.raises(BackupError, match=r"records/runs/000000\.jsonl, line 1"):
            verify(build(tmp_path / backup_file.name, with_manifest(files)))


def test_rows_of_millions_of_values_are_refused_early(backup_file: Path, tmp_path: Path) -> None:
    """Four megabytes of such rows take eighty in memory, and a backup of 300 kB may hold 250 megabytes of them."""
    files = parts(backup_file) | {"records/runs/000000.jsonl": b'{"id":"r","started":1,"report":[' + b"[]," * 1_400_000 + b"0]}"}
    with pytest.raises(BackupError, match=r"line 1: too many values for a row"):
        verify(build(tmp_path / backup_file.name, with_manifest(files)))


def test_text_may_contain_many_commas(backup_file: Path, tmp_path: Path) -> None:
    row = {"id": "r", "started": 1, "report": '\\",' * 400_000}
    files = parts(backup_file) | {"records/runs/000000.jsonl": json.dumps(row).encode()}
    with pytest.raises(BackupError, match="the rows of runs do not match the manifest"):  # the row is read and counted
        verify(build(tmp_path / backup_file.name, with_manifest(files)))


WRONG: dict[str, Callable[[dict[str, Any]], object]] = {
    "no rows": lambda manifest: manifest["tables"]["articles"].pop("rows"),
    "no digest": lambda manifest: manifest["tables"]["articles"].pop("digest"),
    "rows not a number": lambda manifest: manifest["tables"]["articles"].update(rows="many"),
    "files not a mapping": lambda manifest: manifest.update(files=5),
    "infinite last change": lambda manifest: manifest.update(last_change=float("inf")),
}


@pytest.mark.parametrize("defect", WRONG)
def test_incomplete_manifest_is_refused(backup_file: Path, tmp_path: Path, defect: str) -> None:
    files = with_manifest(parts(backup_file))
    manifest = json.loads(files["manifest.json"])
    WRONG[defect](manifest)
    with pytest.raises(BackupError, match="its manifest is invalid"):
        verify(build(tmp_path / backup_file.name, files | {"manifest.json": json.dumps(manifest).encode()}))


def test_wrong_number_of_rows_is_refused(backup_file: Path, tmp_path: Path) -> None:
    files = parts(backup_file)
    for content in (b"", files["records/runs/000000.jsonl"] + b'{"id":"more","started":1,"report":{}}\n'):
        with pytest.raises(BackupError, match="rows of runs"):
            verify(build(tmp_path / backup_file.name, with_manifest(files | {"records/runs/000000.jsonl": content})))


@pytest.mark.parametrize(
    "manifest", [b"", b"[]", b"{}", b"[" * 100_000, b'{"format": "other", "version": 1}', b'{"format": "newsportal-backup"}']
)
def test_malformed_manifest_is_refused(backup_file: Path, tmp_path: Path, manifest: bytes) -> None:
    with pytest.raises(BackupError, match="manifest"):
        verify(build(tmp_path / backup_file.name, parts(backup_file) | {"manifest.json": manifest}))


def test_missing_manifest_is_refused(backup_file: Path, tmp_path: Path) -> None:
    files = parts(backup_file)
    del files["manifest.json"]
    with pytest.raises(BackupError, match="no manifest"):
        verify(build(tmp_path / backup_file.name, files))


@pytest.mark.parametrize(
    "name",
    [
        "../sources.yaml",
        "/etc/passwd",
        "records/../../x",
        "records\\..\\x",
        "C:evil",
        "records/runs/000000.jsonl/",
        "records/runs/1.jsonl",
        "a\n",
    ],
)
def test_unsafe_file_names_are_refused(backup_file: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(BackupError, match="which is not allowed in a backup"):
        verify(build(tmp_path / backup_file.name, parts(backup_file) | {name: b"x"}))


def test_links_and_special_files_are_refused(backup_file: Path, tmp_path: Path) -> None:
    for kind in (
        tarfile.SYMTYPE,
        tarfile.LNKTYPE,
        tarfile.DIRTYPE,
        tarfile.CHRTYPE,
        tarfile.FIFOTYPE,
        tarfile.XHDTYPE,
        tarfile.GNUTYPE_LONGNAME,
    ):
        header = tarfile.TarInfo("sources.yaml")
        header.type, header.linkname, header.size = kind, "/etc/passwd", 10**12
        path = tmp_path / "link.tar.zst"
        path.write_bytes(zstd.compress(header.tobuf(tarfile.GNU_FORMAT)))
        with pytest.raises(BackupError, match="which is not allowed in a backup"):
            verify(path)
    entry = zipfile.ZipInfo("sources.yaml")
    entry.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as packed:
        packed.writestr(entry, "/etc/passwd")
    with pytest.raises(BackupError, match="which is not allowed in a backup"):
        verify(tmp_path / "link.zip")


def test_duplicate_file_names_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as packed:
        packed.writestr("sources.yaml", "a")
        with pytest.warns(UserWarning, match="Duplicate"):
            packed.writestr("sources.yaml", "b")
    with pytest.raises(BackupError, match="twice"):
        verify(tmp_path / "b.zip")


def test_decompression_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "ALWAYS_ALLOWED", 1000)
    monkeypatch.setattr(container, "MAX_RATIO", 10)
    for name in ("bomb.zip", "bomb.tar.zst"):
        with pytest.raises(BackupError, match="more than a backup of this size"):
            verify(build(tmp_path / name, {"records/runs/000000.jsonl": bytes(1_000_000)}))


def test_false_sizes_allocate_no_memory(tmp_path: Path) -> None:
    """A header that declares 200 MB, without any content."""
    header = tarfile.TarInfo("sources.yaml")
    header.size = 200 * 1024 * 1024
    file = io.BytesIO(zstd.compress(header.tobuf(tarfile.USTAR_FORMAT) + b"x"))
    (tmp_path / "lie.tar.zst").write_bytes(file.getvalue())
    with pytest.raises(BackupError, match="more than a backup"):
        verify(tmp_path / "lie.tar.zst")


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "MAX_FILES", 3)
    path = build(tmp_path / "b.zip", {f"records/runs/{number:06d}.jsonl": b"" for number in range(5)})
    with pytest.raises(BackupError, match="more than a backup"):
        verify(path)


def test_backups_of_one_state_are_identical(backup_file: Path, source: Store, tmp_path: Path) -> None:
    """Rows are ordered by their keys, so backups of one state can be compared."""
    shutil.copy(backup_file, tmp_path / backup_file.name)
    back_up(source, tmp_path / f"again-{backup_file.name}", sources=YAML, now=NOW)
    assert parts(tmp_path / f"again-{backup_file.name}") == parts(tmp_path / backup_file.name)


def test_every_table_is_saved(backup_file: Path) -> None:
    assert set(verify(backup_file).tables) == set(BY_NAME)
