"""The library of templates that the desk keeps: whoever changes it, nobody's change is lost."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from newsportal.errors import LibraryError
from newsportal.extractors.papers.url_tree import write_library
from newsportal.items import Page
from newsportal.services.trying.templates import forget, library_at, save, teach
from newsportal.sources.editing import lock_file

NOW = datetime(2026, 5, 20, 10, 30, tzinfo=UTC)


def page(site: str, number: int) -> Page:
    lines = "".join(f"<p>{site}第{number}篇的第{line}段，码头上的人说了很多话。</p>" for line in range(4))
    body = f'<html><body><div><a href="/">首页</a></div><div class="text">{lines}</div></body></html>'
    return Page(f"https://{site}/news/{number}.html", body.encode(), NOW, 200, "text/html; charset=utf-8")


def learnt(file: Path, *sites: str) -> str:
    """What a library of these sites says."""
    teach(file, [page(site, number) for site in sites for number in range(2)])
    return write_library(library_at(file))


def test_a_site_is_forgotten_and_the_others_stay(tmp_path: Path) -> None:
    file = tmp_path / "news.templates"
    learnt(file, "a.example", "b.example")
    assert forget(file, "a.example")
    assert set(library_at(file).sites) == {"b.example"}
    assert not forget(file, "a.example")
    assert not forget(tmp_path / "none.templates", "a.example")


def test_two_who_change_the_library_at_once_do_so_in_turns(tmp_path: Path) -> None:
    file = tmp_path / "news.templates"
    more = learnt(tmp_path / "more.templates", "a.example", "b.example")
    learnt(file, "a.example")
    with lock_file(file):
        other = threading.Thread(target=forget, args=(file, "a.example"))
        other.start()
        other.join(0.1)  # who does not wait for his turn is done by then
        save(more, file)
    other.join()
    assert set(library_at(file).sites) == {"b.example"}


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match="No such file"):
        teach(tmp_path / "gone" / "news.templates", [])
