"""Every guarantee of ``newsportal.store.labels``, over every store of ``conftest.STORES_UNDER_TEST``."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from factories import HOUR, NOW, article
from sqlalchemy import event

from newsportal.errors import StoreError, StoreUnavailable
from newsportal.items import content_id
from newsportal.store import open_store
from newsportal.store.labels import ImportResult, Label, NewDocument
from newsportal.store.records import BY_NAME
from newsportal.store.store import Store

BRIDGE = NewDocument("社会/民生", "河湾镇的新桥昨天通车。", "新桥通车", name="1")
MATCH = NewDocument("体育", "青河队三比一战胜了山前队。", name="2")
CORPUS = "新闻 一"


def add_documents(store: Store, *documents: NewDocument, **options: Any) -> ImportResult:
    return store.corpora.add(CORPUS, documents, **{"source": "imported", "now": NOW, **options})


def labels(store: Store) -> dict[str, str | None]:
    return {document.text: document.label.label for document in store.corpora.documents(CORPUS)}


def save(store: Store, blob: bytes = b"model", **options: Any) -> int:
    return store.corpora.save_model(CORPUS, blob, **{"algorithm": "linear", "facts": {"macro_f1": 0.5}, "now": NOW, **options})


class TestDocuments:
    def test_documents_round_trip(self, store: Store) -> None:
        assert add_documents(store, BRIDGE, MATCH, by="甲.jsonl") == ImportResult(added=2)
        found = store.corpora.document(CORPUS, BRIDGE.id)
        assert found is not None
        assert (found.id, found.title, found.text, found.name) == (BRIDGE.id, "新桥通车", "河湾镇的新桥昨天通车。", "1")
        assert (found.label, found.number, found.article_id) == (Label("社会/民生", "imported", NOW, "甲.jsonl"), 1, None)
        assert [document.id for document in store.corpora.documents(CORPUS)] == sorted((BRIDGE.id, MATCH.id))
        assert [document.id for document in store.corpora.documents(CORPUS, label="体育")] == [MATCH.id]
        assert store.corpora.document(CORPUS, "0" * 20) is None

    def test_documents_are_unique(self, store: Store) -> None:
        add_documents(store, BRIDGE)
        other = NewDocument("体育", BRIDGE.text, BRIDGE.title)
        assert add_documents(store, BRIDGE, BRIDGE, other, MATCH) == ImportResult(added=1, same=1, repeated=1, contradicted=1)
        assert labels(store) == {BRIDGE.text: "社会/民生", MATCH.text: "体育"}

    def test_more_documents_than_fit_one_statement(self, store: Store) -> None:
        many = [NewDocument(f"类{n % 3}", f"第 {n} 篇") for n in range(1203)]
        assert add_documents(store, *many, *many[:7]) == ImportResult(added=1203, repeated=7)
        assert add_documents(store, *many) == ImportResult(same=1203)
        assert len(list(store.corpora.documents(CORPUS))) == 1203
        assert [(label.label, label.documents) for label in store.corpora.count(CORPUS)] == [("类0", 401), ("类1", 401), ("类2", 401)]

    def test_unstorable_characters_are_replaced(self, store: Store) -> None:
        add_documents(store, NewDocument("a\x00b", "x\x00\ud800y", "\ud800"))
        assert labels(store) == {"x\ufffdy": "ab"}

    def test_failed_import_leaves_nothing(self, store: Store) -> None:
        def broken() -> Iterator[NewDocument]:
            yield from (NewDocument("类", str(n)) for n in range(1000))
            raise ValueError("line 1001")

        with pytest.raises(ValueError, match="line 1001"):
            store.corpora.add(CORPUS, broken(), source="imported", now=NOW)
        assert store.corpora.all() == []

    def test_others_can_write_during_an_import(self, store: Store) -> None:
        def slowly() -> Iterator[NewDocument]:
            yield BRIDGE
            store.add(article("meanwhile"), now=NOW)  # a crawl continues during an import from standard input
            yield MATCH

        assert store.corpora.add(CORPUS, slowly(), source="imported", now=NOW) == ImportResult(added=2)
        assert store.tally().articles == 1

    def test_counts_per_label(self, store: Store) -> None:
        add_documents(store, BRIDGE, MATCH)
        add_documents(store, NewDocument("体育", "比赛"), source="from-store", now=NOW + HOUR)
        sport, social = store.corpora.count(CORPUS)
        assert (sport.label, sport.documents, sport.sources) == ("体育", 2, {"imported": 1, "from-store": 1})
        assert (sport.oldest, sport.newest) == (NOW, NOW + HOUR)
        assert social.label == "社会/民生"


class TestLabels:
    def test_changed_label_keeps_the_previous_one(self, store: Store) -> None:
        add_documents(store, MATCH)
        changed = NewDocument("社会", MATCH.text)
        assert add_documents(store, changed, now=NOW + HOUR) == ImportResult(relabelled=1)
        assert labels(store) == {MATCH.text: "社会"}
        assert store.corpora.history(CORPUS, MATCH.id) == (Label("体育", "imported", NOW), Label("社会", "imported", NOW + HOUR))

    @pytest.mark.parametrize(
        ("before", "after", "wins"),
        [
            ("from-store", "imported", True),
            ("imported", "from-store", False),
            ("editor", "imported", False),
            ("from-store", "from-store", True),
        ],
    )
    def test_precedence_of_label_sources(self, store: Store, before: str, after: str, wins: bool) -> None:
        add_documents(store, MATCH, source=before)
        imported = add_documents(store, NewDocument("社会", MATCH.text), source=after)
        assert imported == (ImportResult(relabelled=1) if wins else ImportResult(outranked=1))
        assert labels(store) == {MATCH.text: "社会" if wins else "体育"}

    def test_editors_label_is_kept(self, store: Store) -> None:
        add_documents(store, MATCH)
        found = store.corpora.label(CORPUS, MATCH.id, " 社会 ", now=NOW + HOUR, by="王编辑")
        assert (found.label, found.number) == (Label("社会", "editor", NOW + HOUR, "王编辑"), 2)
        assert store.corpora.label(CORPUS, MATCH.id, "社会", now=NOW + 2 * HOUR, by="王编辑") == found
        assert add_documents(store, MATCH) == ImportResult(outranked=1)
        store.corpora.label(CORPUS, MATCH.id, "军事", now=NOW + 2 * HOUR, by="李编辑")
        assert [entry.label for entry in store.corpora.history(CORPUS, MATCH.id)] == ["体育", "社会", "军事"]

    def test_editor_confirms_a_label(self, store: Store) -> None:
        add_documents(store, MATCH, source="from-store")
        assert store.corpora.label(CORPUS, MATCH.id, "体育", now=NOW).label.source == "editor"

    def test_editor_excludes_a_document(self, store: Store) -> None:
        add_documents(store, MATCH, BRIDGE)
        assert store.corpora.label(CORPUS, MATCH.id, None, now=NOW).label.label is None
        assert list(labels(store)) == [BRIDGE.text]
        assert add_documents(store, MATCH) == ImportResult(outranked=1)
        assert [label.label for label in store.corpora.count(CORPUS)] == ["社会/民生"]

    def test_unknown_ids_and_invalid_names_are_reported(self, store: Store) -> None:
        with pytest.raises(StoreError, match="neither a stored article nor a document"):
            store.corpora.label(CORPUS, "x", "体育", now=NOW)
        assert store.corpora.all() == [], "the new corpus was rolled back"
        add_documents(store, MATCH)
        with pytest.raises(StoreError, match="must not be empty"):
            store.corpora.label(CORPUS, MATCH.id, " ", now=NOW)
        with pytest.raises(StoreError, match="a label of 256 characters; the maximum is 255"):
            store.corpora.label(CORPUS, MATCH.id, "长" * 256, now=NOW)
        with pytest.raises(StoreError, match="name of 256 characters; the maximum is 255"):
            store.corpora.create("长" * 256, now=NOW)
        with pytest.raises(StoreError, match=f"no corpus '二'; there are: {CORPUS}"):
            store.corpora.count("二")


class TestStoredArticles:
    def test_stored_articles_are_referenced(self, store: Store) -> None:
        added = store.add(article(site="青河网"), now=NOW)
        found = store.corpora.label(CORPUS, added.id, "社会", now=NOW, by="王编辑")
        assert (found.title, found.text, found.site) == ("标题 a", "第一段 a\n第二段", "青河网")
        assert (found.article_id, found.story_id) == (added.id, added.story_id)
        assert add_documents(store, NewDocument("财经", article_id=added.id), source="from-store") == ImportResult(outranked=1)
        store.add(article(text="改过了"), now=NOW + HOUR)
        assert labels(store) == {"改过了": "社会"}
        store.corpora.label(CORPUS, added.id, None, now=NOW)
        assert store.corpora.articles(CORPUS) == {added.id: None}

    def test_missing_articles_are_left_out(self, store: Store) -> None:
        add_documents(store, NewDocument("体育", article_id=content_id("gone")), MATCH)
        assert labels(store) == {MATCH.text: "体育"}


class TestCorpora:
    def test_corpora_are_listed_with_their_figures(self, store: Store) -> None:
        assert store.corpora.create("b", now=NOW, note="说明")
        assert not store.corpora.create("b", now=NOW + HOUR)
        add_documents(store, BRIDGE, MATCH)
        save(store)
        store.corpora.activate(CORPUS, 1, now=NOW)
        empty, full = store.corpora.all()
        assert (empty.name, empty.note, empty.created, empty.documents, empty.active_version) == ("b", "说明", NOW, 0, None)
        assert (full.name, full.documents, full.labels, full.versions, full.active_version) == (CORPUS, 2, 2, 1, 1)
        assert store.corpora.find(CORPUS) == full
        assert store.corpora.find("c") is None
        with pytest.raises(StoreError, match="needs a name"):
            store.corpora.create(" ", now=NOW)

    def test_deleted_corpus_loses_everything(self, store: Store) -> None:
        added = store.add(article(), now=NOW)
        store.corpora.add("other", [MATCH], source="imported", now=NOW)
        add_documents(store, BRIDGE, NewDocument("社会", article_id=added.id))
        store.corpora.label(CORPUS, BRIDGE.id, "财经", now=NOW)
        save(store)
        store.corpora.delete(CORPUS)
        assert [corpus.name for corpus in store.corpora.all()] == ["other"]
        assert store.article(added.id) is not None
        assert store.corpora.active(CORPUS) is None
        add_documents(store, BRIDGE)
        assert labels(store) == {BRIDGE.text: "社会/民生"}
        assert save(store) == 1
        with pytest.raises(StoreError, match="no corpus"):
            store.corpora.delete("none")


class TestModels:
    def test_models_round_trip(self, store: Store) -> None:
        add_documents(store, MATCH, BRIDGE)
        blob = bytes(range(256)) * 1000
        assert save(store, blob, held_out=[MATCH.id, BRIDGE.id], facts={"labels": ["体育", "社会/民生"]}) == 1
        model = store.corpora.model(CORPUS, 1)
        assert (model.corpus, model.version, model.algorithm, model.created) == (CORPUS, 1, "linear", NOW)
        assert (model.size, model.active, model.held_out) == (256_000, False, {MATCH.id, BRIDGE.id})
        assert model.facts == {"labels": ["体育", "社会/民生"]}
        assert store.corpora.blob(CORPUS, 1) == blob

    def test_one_model_is_active(self, store: Store) -> None:
        add_documents(store, MATCH)
        with pytest.raises(StoreError, match="no active model; train one"):
            store.corpora.model(CORPUS)
        assert [save(store), save(store), save(store), save(store)] == [1, 2, 3, 4]
        assert store.corpora.active(CORPUS) is None
        for version in (1, 2, 4):  # 3 was never active
            store.corpora.activate(CORPUS, version, now=NOW)
            assert store.corpora.active(CORPUS) == store.corpora.model(CORPUS).version == version
        assert [model.version for model in store.corpora.models(CORPUS) if model.active] == [4]
        assert [store.corpora.rollback(CORPUS, now=NOW), store.corpora.rollback(CORPUS, now=NOW)] == [2, 1]
        with pytest.raises(StoreError, match="no earlier version"):
            store.corpora.rollback(CORPUS, now=NOW)
        assert store.corpora.active(CORPUS) == 1

    def test_old_models_are_dropped_except_the_active_one(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("newsportal.store.models.MODELS_KEPT", 2)
        add_documents(store, MATCH)
        save(store)
        store.corpora.activate(CORPUS, 1, now=NOW)
        for _ in range(4):
            save(store)
        assert {model.version: model.size for model in store.corpora.models(CORPUS)} == {1: 5, 2: 0, 3: 0, 4: 5, 5: 5}
        assert store.corpora.models(CORPUS)[3].facts == {"macro_f1": 0.5}
        for act in (lambda: store.corpora.blob(CORPUS, 2), lambda: store.corpora.activate(CORPUS, 3, now=NOW)):
            with pytest.raises(StoreError, match="was deleted"):
                act()
        with pytest.raises(StoreError, match="no version 9; it has 1, 2, 3, 4, 5"):
            store.corpora.model(CORPUS, 9)

    def test_deleted_version_number_is_not_reused(self, store: Store) -> None:
        add_documents(store, MATCH)
        assert [save(store), save(store), save(store, held_out=[MATCH.id])] == [1, 2, 3]
        for version in (1, 2):
            store.corpora.activate(CORPUS, version, now=NOW)
        with pytest.raises(StoreError, match=r"version 2 of .* is active and cannot be deleted"):
            store.corpora.delete_model(CORPUS, 2)
        for version in (1, 3):
            store.corpora.delete_model(CORPUS, version)
        assert [model.version for model in store.corpora.models(CORPUS)] == [2]
        assert [corpus.versions for corpus in store.corpora.all()] == [1]
        for access in (store.corpora.delete_model, store.corpora.model, store.corpora.blob):
            with pytest.raises(StoreError, match="no version 3; it has 2"):
                access(CORPUS, 3)
        with pytest.raises(StoreError, match="no earlier version"):
            store.corpora.rollback(CORPUS, now=NOW)
        assert save(store) == 4
        with store.records.reading() as look:
            blobs = {row["version"]: row["model"] for row in look.rows(BY_NAME["models"])}
        assert blobs == {1: None, 2: b"model", 3: None, 4: b"model"}, "dropped models take no space"

    def test_concurrent_trainings_get_different_versions(self, store: Store) -> None:
        add_documents(store, MATCH)
        versions: list[int] = []
        threads = [threading.Thread(target=lambda: versions.append(save(store))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(versions) == list(range(1, 9))

    def test_model_needs_its_corpus(self, store: Store) -> None:
        with pytest.raises(StoreError, match="there is none yet"):
            save(store)


def test_full_disk_leaves_nothing_of_an_import(tmp_path: Path) -> None:
    """Simulated by SQLite's limit of pages, which gives the same error."""
    store = open_store(f"sqlite:///{tmp_path}/news.db")
    assert isinstance(store, Store)
    add_documents(store, MATCH)
    pages = 120
    event.listen(store._engine, "begin", lambda connection: connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}"))
    with pytest.raises(StoreUnavailable, match="disk is full; free space"):
        add_documents(store, *(NewDocument("类", f"{n}" + "字" * 2000) for n in range(1000)))
    with pytest.raises(StoreUnavailable, match="disk is full; free space"):
        save(store, bytes(1_000_000))
    assert labels(store) == {MATCH.text: "体育"}
    assert store.corpora.models(CORPUS) == []
    pages = 10_000
    assert add_documents(store, BRIDGE) == ImportResult(added=1)
    assert save(store, bytes(1_000_000)) == 1
    store.close()
