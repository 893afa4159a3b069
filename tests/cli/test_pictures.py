"""``newsportal pictures``: known, dropped and kept pictures, and manual changes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from newsportal.cli import app
from newsportal.errors import NewsportalError
from newsportal.extractors.images.filter import StoryPictures, key
from newsportal.items import Gallery, Image, Link, content_id
from newsportal.portal.reading.picture_cache import PictureCache
from newsportal.store import open_store
from newsportal.store.pictures import Picture
from newsportal.store.store import Store

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
LOGO = "https://static.example/mark.png?v={}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sources.yaml").write_text("store: sqlite:///news.db\npictures: {cache: 缓存, cache_size: 4 MB}\n", "utf-8")
    store = open_store(f"sqlite:///{tmp_path}/news.db")
    for number in range(3):
        save(store, number)
    store.pictures.mark({key(LOGO): "frequent"}, now=NOW)
    store.close()
    return tmp_path


def save(store: Store, number: int) -> None:
    page = f"https://photo.example/s/{number}.html"
    images = (Image(f"https://pics.example/{number}.jpg"), Image(LOGO.format(number), dropped="frequent"))
    store.galleries.save(Gallery(page, "组图", Link(page, "gallery:甲"), NOW, images, complete=True, identity=page), now=NOW)
    pictures = [Picture(key(image.url), image.url, 300, 250, "png", fetched=NOW) for image in images]
    story = StoryPictures(content_id(page), "photo.example", str(number), frozenset(picture.key for picture in pictures))
    store.pictures.record_story(story, pictures, now=NOW)


def run(folder: Path, *options: str) -> str:
    result = CliRunner().invoke(app, ["pictures", "--sources", str(folder / "sources.yaml"), *options], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def run_json(folder: Path, *options: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(run(folder, "--json", *options))
    return result


def dropped_urls(folder: Path) -> list[str]:
    store = open_store(f"sqlite:///{folder}/news.db")
    every = [picture for article in store.all_articles() for picture in store.galleries.pictures(article.id, dropped=True)]
    store.close()
    return sorted(picture.image.url for picture in every if picture.hidden_reason)


def test_frequent_pictures_are_listed_with_their_reason(folder: Path) -> None:
    result = run_json(folder, "--limit", "1")
    assert (result["pictures"], result["stories"], result["fetched"], result["left_out"]) == (4, 3, 4, 1)
    (first,) = result["often"]
    assert (first["url"], first["stories"], first["sites"], first["left_out"]) == (LOGO.format(0), 3, 1, "frequent")
    assert result["cache"] == {"folder": str(folder / "缓存"), "files": 0, "bytes": 0, "limit": 4 * 1024**2}
    output = run(folder)
    assert "frequent" in output
    assert LOGO.format(0) in output


def test_editor_keeps_and_drops_pictures(folder: Path) -> None:
    result = run_json(folder, "--keep", LOGO.format(2))
    assert (result["changed"], result["often"][0]["kept"], result["often"][0]["left_out"]) == (3, True, None)
    assert dropped_urls(folder) == []
    assert run_json(folder)["left_out"] == 0
    assert run_json(folder, "--leave-out", "https://pics.example/1.jpg")["changed"] == 1
    assert dropped_urls(folder) == ["https://pics.example/1.jpg"]
    assert "kept by hand" in run(folder)


def test_unknown_picture_is_reported(folder: Path) -> None:
    with pytest.raises(NewsportalError, match="no photo story has this picture"):
        run(folder, "--keep", "https://pics.example/other.jpg")


def test_cache_is_cleared(folder: Path) -> None:
    assert PictureCache(folder / "缓存", 4_000_000).put("ab.full.jpg", b"x" * 1000)
    assert run_json(folder)["cache"]["files"] == 1
    assert run_json(folder, "--clear-cache")["cleared"] == {"files": 1, "bytes": 1000}
    assert "0 pictures" in run(folder, "--clear-cache")


def test_clear_cache_without_cache_is_refused(folder: Path) -> None:
    (folder / "sources.yaml").write_text("store: sqlite:///news.db\n", "utf-8")
    assert run_json(folder)["cache"] is None
    with pytest.raises(NewsportalError, match="there is no cache"):
        run(folder, "--clear-cache")
