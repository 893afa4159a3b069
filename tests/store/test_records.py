"""What every store guarantees about its records: all rows in the form of the SQL tables, restored unchanged."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from factories import LONG, NOW, article, empty_store
from filled_store import fill
from link_rows import waiting

from newsportal.store import dialects, open_store
from newsportal.store.columns import METADATA
from newsportal.store.copying import find_faults
from newsportal.store.dialects import chunks
from newsportal.store.link_tables import WORK_TABLES
from newsportal.store.records import BY_NAME, FORMS, PAGE, Form, canonical, digest, from_plain, plain
from newsportal.store.store import Store


def all_rows(store: Store) -> dict[str, list[dict[str, Any]]]:
    with store.records.reading() as look:
        return {form.name: list(look.rows(form)) for form in FORMS}


def write_rows(store: Store, rows: dict[str, list[dict[str, Any]]]) -> None:
    for form in FORMS:
        for page in chunks(rows[form.name], PAGE):
            assert store.records.write(form, page) == len(page)
    store.records.finish()


def sums(store: Store) -> dict[str, tuple[int, str]]:
    with store.records.reading() as look:
        found = {form.name: digest(look, form) for form in FORMS}
    return {name: (digests.count, digests.hexdigest()) for name, digests in found.items()}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A SQLite store with rows in every table, for reading only."""
    store = open_store(f"sqlite:///{tmp_path_factory.mktemp('filled')}/filled.db")
    fill(store)
    yield store
    store.close()


def test_every_table_has_its_form() -> None:
    assert {form.name for form in FORMS} == set(METADATA.tables) - {table.name for table in WORK_TABLES}
    names = [form.name for form in FORMS]
    assert all(names.index(parent) < names.index(form.name) for form in FORMS for parent in form.parents.values())


def test_filled_store_has_rows_in_every_table(filled: Store) -> None:
    assert [name for name, rows in all_rows(filled).items() if not rows] == []


def test_rows_match_their_forms(store: Store) -> None:
    fill(store)
    assert find_faults(store.records) == []
    for name, rows in all_rows(store).items():
        for row in rows:
            assert from_plain(BY_NAME[name], plain(BY_NAME[name], row)) == row
            assert list(row) == list(BY_NAME[name].columns)


def test_written_rows_equal_those_read(filled: Store, store: Store) -> None:
    """The copy serves like the original, and writing the same rows again changes nothing."""
    rows = all_rows(filled)
    write_rows(store, rows)
    assert sorted_rows(store) == sorted_rows(filled)
    _assert_copy_serves(filled, store)
    write_rows(store, rows)
    assert sums(store) == sums(filled)
    _assert_get_and_delete_by_key(store, rows)
    _assert_row_is_replaced(store, rows)
    _assert_fingerprint_is_replaced(store, rows)
    _assert_numbering_continues(store)


def sorted_rows(store: Store) -> dict[str, list[bytes]]:
    return {name: sorted(canonical(BY_NAME[name], row) for row in rows) for name, rows in all_rows(store).items()}


def _assert_copy_serves(filled: Store, store: Store) -> None:
    for stored in filled.all_articles():
        assert store.article(stored.id) == stored
        assert store.revisions(stored.id) == filled.revisions(stored.id)
        assert store.story(stored.story_id) == filled.story(stored.story_id)
        assert store.threads.posts(stored.id) == filled.threads.posts(stored.id)
        assert store.galleries.pictures(stored.id) == filled.galleries.pictures(stored.id)
    assert store.find_stored(["news.example/old", "news.example/a", "nobody"]) == {"news.example/old", "news.example/a"}
    assert store.changes() == filled.changes()
    assert store.runs() == filled.runs()
    assert waiting(store) == waiting(filled) != []
    assert store.tally() == filled.tally()
    assert store.visits.of("feed:快讯") == filled.visits.of("feed:快讯")
    assert store.corpora.model("categories") == filled.corpora.model("categories")


def _assert_numbering_continues(store: Store) -> None:
    before = store.last_seq()
    added = store.add(article("new", host="fourth.example", text=LONG), now=NOW)
    assert added.outcome == "folded"
    assert [(change.seq, change.id) for change in store.changes(before)] == [(before + 1, added.id)]


def _assert_get_and_delete_by_key(store: Store, rows: dict[str, list[dict[str, Any]]]) -> None:
    form = BY_NAME["article_topics"]
    keys = [form.key_of(row) for row in rows["article_topics"]]
    with store.records.reading() as look:
        assert look.count(form) == len(keys)
        assert look.get(form, [*keys, ("nobody", "旅游")]) == {form.key_of(row): row for row in rows["article_topics"]}
        assert look.get(form, []) == {}
    assert store.records.delete(form, keys[:1]) == 1
    assert store.records.delete(form, keys[:1]) == 0
    assert store.records.delete(form, []) == 0
    with store.records.reading() as look:
        assert look.count(form) == len(keys) - 1


def _assert_row_is_replaced(store: Store, rows: dict[str, list[dict[str, Any]]]) -> None:
    form, row = BY_NAME["articles"], dict(rows["articles"][0])
    changed = row | {"title": "另一个标题", "keywords": ["词"], "heat": None}
    del changed["heat"]
    store.records.write(form, [changed])
    with store.records.reading() as look:
        assert look.get(form, [form.key_of(row)]) == {form.key_of(row): changed}


def _assert_fingerprint_is_replaced(store: Store, rows: dict[str, list[dict[str, Any]]]) -> None:
    form, row = BY_NAME["fingerprints"], dict(rows["fingerprints"][0])
    store.records.write(form, [row | {"number": 10_000}])
    with store.records.reading() as look:
        assert look.count(form) == len(rows["fingerprints"])
        assert look.get(form, [(10_000,), (row["number"],)]) == {(10_000,): row | {"number": 10_000}}


def test_orphan_rows_are_left_out_and_many_pages_are_written(store: Store) -> None:
    form = BY_NAME["article_topics"]
    orphan = {"article_id": "0" * 20, "topic": "旅游", "by": None, "score": 0.5}
    assert store.records.write(form, [orphan]) == 0
    with store.records.reading() as look:
        assert look.count(form) == 0
    form = BY_NAME["runs"]
    rows = [
        {"id": f"运行-{number}", "started": number - 5, "report": {"n": number, "f": 0.1, "l": [None, True]}}
        for number in range(PAGE * 2 + 3)
    ]
    write_rows(store, {**{form.name: [] for form in FORMS}, "runs": rows})
    with store.records.reading() as look:
        assert sorted(look.rows(form), key=lambda row: row["started"]) == rows


def test_reading_sees_one_state(tmp_path: Path) -> None:
    store = empty_store(tmp_path / "news.db")
    store.add(article("a"), now=NOW)
    with store.records.reading() as look:
        assert look.count(BY_NAME["articles"]) == 1
        store.add(article("b", text=LONG), now=NOW)
        assert look.count(BY_NAME["articles"]) == 1
    store.close()


def test_reading_may_pause_beyond_the_servers_idle_limit(server_uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers end idle transactions; this one is exempt, and later ones are not."""
    open_store(server_uri).close()  # the tables are created without that limit
    monkeypatch.setattr(dialects, "IDLE_SECONDS", 2.0)
    store = open_store(server_uri)
    with store.records.reading() as look:
        assert look.count(BY_NAME["runs"]) == 0
        sleep(4.5)
        assert list(look.rows(BY_NAME["runs"])) == []
    store.close()


def test_digests_differ_by_content_and_not_by_order() -> None:
    form = Form("t", {"id": "text", "n": "integer"}, ("id",), frozenset(), {})

    class Look:
        def __init__(self, *rows: dict[str, Any]) -> None:
            self._rows = rows

        def rows(self, form: Form) -> Any:
            return iter(self._rows)

    first_row, second_row = {"id": "a", "n": 1}, {"id": "b", "n": 1}
    first = digest(Look(first_row, second_row), form)  # type: ignore[arg-type]
    assert digest(Look(second_row, first_row), form).hexdigest() == first.hexdigest()  # type: ignore[arg-type]
    assert digest(Look(first_row, {"id": "b", "n": 2}), form).hexdigest() != first.hexdigest()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "row",
    [
        [],
        {},
        {"id": "a", "started": 1},
        {"id": "a", "started": 1, "report": {}, "more": 1},
        {"id": 1, "started": 1, "report": {}},
        {"id": None, "started": 1, "report": {}},
        {"id": "a", "started": True, "report": {}},
        {"id": "a", "started": "1", "report": {}},
    ],
)
def test_invalid_row_is_refused(row: Any) -> None:
    with pytest.raises(ValueError, match="invalid row of runs"):
        from_plain(BY_NAME["runs"], row)


def test_invalid_base64_is_refused() -> None:
    form = replace(BY_NAME["runs"], columns={"id": "bytes"}, nullable=frozenset())
    with pytest.raises(ValueError, match=r"base64|padding"):
        from_plain(form, {"id": "*"})


def test_datetimes_are_exported_as_stored_numbers(tmp_path: Path) -> None:
    store = empty_store(tmp_path / "news.db")
    store.add(article("a"), now=NOW)
    (row,) = all_rows(store)["articles"]
    store.close()
    with closing(sqlite3.connect(tmp_path / "news.db")) as raw:
        assert raw.execute("SELECT first_seen FROM articles").fetchone() == (row["first_seen"],)
