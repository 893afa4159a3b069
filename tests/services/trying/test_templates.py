"""The template library in the store and in files; concurrent changes are not lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from factories import empty_store

from newsportal.errors import LibraryError
from newsportal.extractors.papers.url_tree import write_library
from newsportal.items import Page
from newsportal.services.trying.templates import forget_site, learn_pages, library_of, load, save
from newsportal.store.store import Store

NOW = datetime(2026, 5, 20, 10, 30, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = empty_store(tmp_path / "news.db")
    yield opened
    opened.close()


def page(site: str, number: int) -> Page:
    lines = "".join(f"<p>{site}第{number}篇的第{line}段，码头上的人说了很多话。</p>" for line in range(4))
    body = f'<html><body><div><a href="/">首页</a></div><div class="text">{lines}</div></body></html>'
    return Page(f"https://{site}/news/{number}.html", body.encode(), NOW, 200, "text/html; charset=utf-8")


def train_sites(store: Store, *sites: str) -> int:
    return learn_pages(store, [page(site, number) for site in sites for number in range(2)], NOW)


def test_forgetting_one_site_keeps_the_others(store: Store) -> None:
    assert not forget_site(store, "a.example", "templates", NOW)
    assert train_sites(store, "a.example", "b.example") == 2
    assert forget_site(store, "a.example", "templates", NOW)
    assert set(library_of(store)[0].sites) == {"b.example"}
    assert not forget_site(store, "a.example", "templates", NOW)


def test_concurrent_changes_are_serialized(store: Store) -> None:
    train_sites(store, "a.example")
    other = threading.Thread(target=train_sites, args=(store, "b.example"))

    def changed(text: str | None) -> str:
        other.start()
        other.join(0.1)  # a thread that does not wait would be finished by then
        return text or ""

    store.change_learned_state("url_tree", changed, now=NOW)
    other.join()
    assert set(library_of(store)[0].sites) == {"a.example", "b.example"}


def test_unreadable_library_is_reported_and_not_overwritten(store: Store) -> None:
    store.change_learned_state("url_tree", lambda _: "{", now=NOW)
    library, trouble = library_of(store)
    assert (list(library), "no template library" in trouble) == ([], True)
    with pytest.raises(LibraryError):
        train_sites(store, "a.example")
    assert store.learned_state("url_tree") == "{"


def test_missing_file_is_reported(store: Store, tmp_path: Path) -> None:
    train_sites(store, "a.example")
    save(write_library(library_of(store)[0]), tmp_path / "news.templates")
    assert set(load(tmp_path / "news.templates").sites) == {"a.example"}
    with pytest.raises(LibraryError, match="No such file"):
        load(tmp_path / "gone.templates")
    with pytest.raises(LibraryError, match="No such file"):
        save("{}", tmp_path / "gone" / "news.templates")
