"""A backup of an earlier version is restored into every store, and the result is fully usable.

``schema-0009.tar.zst`` is a backup of the store made by ``filled``, written by the last version in which editors could not correct or hide
articles.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from factories import article
from filled_store import LATER

from newsportal.store.backup import current_row, restore, verify
from newsportal.store.lists import ArticleFilter
from newsportal.store.records import BY_NAME, Digest
from newsportal.store.results import StoryFilter
from newsportal.store.store import Store

OLD: Final = Path(__file__).with_name("schema-0009.tar.zst")
FORMER_ACTIONS: Final = {"publish": "there", "withdraw": "gone"}


def test_older_backup_is_restored_completely(store: Store) -> None:
    manifest = verify(OLD)
    assert "hidden" not in manifest.tables["articles"]["columns"]
    done = restore(OLD, store, manifest=manifest)
    assert (done.rows, done.left_out) == (manifest.rows, 0)
    with store.records.reading() as look:
        for name, table in manifest.tables.items():
            form, found = BY_NAME[name], Digest()
            former = {current: column for column in table["columns"] for current in current_row(name, {column: None})}
            then = replace(form, columns={old: form.columns[current] for current, old in former.items()})
            for row in look.rows(form):
                found.add(then, {old: FORMER_ACTIONS[row[current]] if old == "wanted" else row[current] for current, old in former.items()})
            assert (found.count, found.hexdigest()) == (table["rows"], table["digest"]), name
        since = [row for row in look.rows(BY_NAME["articles"]) if row["hidden"] is not None or row["corrected"] is not None]
    assert since == []


def test_editing_works_after_restoring_an_older_backup(store: Store) -> None:
    restore(OLD, store, manifest=verify(OLD))
    before = store.tally()
    assert [article.title for article in store.select_articles(ArticleFilter(hidden=True)).articles] == []
    edited = next(article for article in store.all_articles() if article.category == "文化")
    store.correct(edited.id, {"title": "改过的题"}, by="编辑", now=LATER)
    other = next(article for article in store.select_articles(ArticleFilter(hidden=False)).articles if article.id != edited.id)
    assert store.hide([other.id], by="编辑", reason="", now=LATER) == [other.id]
    assert [found.id for found in store.select_articles(ArticleFilter(corrected=True)).articles] == [edited.id]
    assert [found.id for found in store.select_articles(ArticleFilter(hidden=True)).articles] == [other.id]
    assert store.tally().articles == before.articles - 1
    store.show([other.id], now=LATER)
    new = store.add(article("new"), now=LATER)
    assert new.story_id in {story.id for story in store.stories(StoryFilter()).stories}
    assert store.tally().articles == before.articles + 1
