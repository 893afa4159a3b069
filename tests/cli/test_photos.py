"""Photo stories on the command line: listed, shown, exported, tried and added."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from factories import empty_store
from typer.testing import CliRunner, Result

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "spiders"))  # import picture_site
from picture_site import PictureSite, serving, write_sources

from newsportal import cli
from newsportal.items import Gallery, Image, Link
from newsportal.sources import load

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, arguments, catch_exceptions=False)


def lines(*arguments: str) -> list[dict[str, Any]]:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def gallery(number: int, title: str, *read: int, source: str = "gallery:图站") -> Gallery:
    url = f"https://pic.example/{number}_1.html"
    images = tuple(Image(f"https://pic.example/{number}/{page}.jpg", f"{title}的第{page}张", 900, 600, "jpeg") for page in read)
    logo = Image("https://pic.example/logo.png", dropped="seen-often")
    missing = tuple(page for page in (1, 2, 3) if page not in read)
    return Gallery(
        url,
        title,
        Link(url, source),
        NOW,
        (logo, *images),
        NOW - timedelta(hours=number),
        not missing,
        url,
        pages=tuple(f"https://pic.example/{number}_{page}.html" for page in read),
        total=3,
        missing=missing,
        failure="http-503" if missing else None,
        topics=("城市",) if number == 1 else (),
    )


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three photo stories; a page of the second is missing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sources.yaml").write_text("store: sqlite:///news.db\ntopics: [{name: 城市, engines: [bing_news]}]\n", "utf-8")
    store = empty_store(tmp_path / "news.db")
    titles = ("老桥的一天", "[b]候鸟过境", "夜市\x1b[31m灯火")
    pages = ((1, 2, 3), (1, 3), (1, 2, 3))
    ids = [store.galleries.save(gallery(n, title, *read), now=NOW).id for n, (title, read) in enumerate(zip(titles, pages, strict=True), 1)]
    store.close()
    return ids


def test_photo_stories_are_listed(stored: list[str]) -> None:
    assert [row["id"] for row in lines("photos", "--json")] == [stored[0], stored[2], stored[1]]
    assert [row["id"] for row in lines("photos", "--json", "--order", "newest", "--limit", "2")] == stored[:2]
    assert [row["id"] for row in lines("photos", "--json", "--topic", "城市")] == stored[:1]
    assert len(lines("photos", "--json", "--source", "图站")) == 3
    assert lines("photos", "--json", "--source", "别处") == []
    output = run("photos").stdout
    assert "3 pictures on 3 pages" in output
    assert "\x1b[31m" not in output


def test_incomplete_stories_are_listed_with_missing_pages(stored: list[str]) -> None:
    (row,) = lines("photos", "--incomplete", "--json", "--source", "gallery:图站")
    assert (row["id"], row["missing"], row["failure"], row["pages"], row["total"]) == (stored[1], [2], "http-503", 2, 3)
    assert lines("photos", "--incomplete", "--json", "--topic", "城市") == []
    output = run("photos", "--incomplete").stdout
    assert "[b]候鸟过境" in output
    assert "2 pictures on 2 of 3 pages, incomplete (page 2): http-503" in output


def test_store_without_photo_stories(stored: list[str]) -> None:
    assert "newsportal crawl gallery" in run("photos", "--topic", "没有").stdout
    assert "no photo story has missing pages" in run("photos", "--incomplete", "--topic", "没有").stdout


def test_story_shows_its_pictures_and_pages(stored: list[str]) -> None:
    (found,) = lines("story", "show", stored[1], "--json")
    photos = found["versions"][0]["photos"]
    assert (photos["complete"], photos["missing"]) == (False, [2])
    assert photos["page_urls"] == ["https://pic.example/2_1.html", "https://pic.example/2_3.html"]
    assert [(image["place"], image.get("dropped")) for image in photos["images"]] == [(1, None), (2, None), (3, "seen-often")]
    assert photos["images"][0]["caption"] == "[b]候鸟过境的第1张"
    output = run("story", "show", stored[1]).stdout
    for text in ("incomplete (page 2): http-503", "900×600 jpeg", "[b]候鸟过境的第3张", "seen-often"):
        assert text in output


def test_export_has_all_pictures_with_captions(stored: list[str]) -> None:
    rows = {row["id"]: row for row in lines("export")}
    full, part = rows[stored[0]], rows[stored[1]]
    assert [image["caption"] for image in full["images"]] == [f"老桥的一天的第{page}张" for page in (1, 2, 3)]
    assert (full["complete"], "missing" in full) == (True, False)
    assert (part["complete"], part["missing"], len(part["images"])) == (False, [2], 2)


@pytest.fixture
def site() -> Iterator[PictureSite]:
    with serving() as site:
        for id in (11, 12, 13):
            for number in (1, 2, 3):
                site.page(f"/photo/2026/{id}_{number}.html", f"第{id}号桥", number)
        site.index("/photo/", *(f"/photo/2026/{id}_1.html" for id in (11, 12, 13)), "/photo/about.html")
        yield site


@pytest.mark.slow
def test_try_a_gallery_channel(site: PictureSite, tmp_path: Path) -> None:
    sources = write_sources(tmp_path, site, "  seed: /photo/2026/\n  pattern: '{id}_{n}.html'\n")
    (trial,) = lines("source", "test", "图站", "--sources", str(sources), "--json")
    assert len(trial["links"]) == 3
    assert trial["article"]["note"]["code"] == "trial.pictures"
    assert trial["article"]["note"]["text"].startswith("3 pictures on 3 pages, all of them")
    assert trial["article"]["text"].startswith("第11号桥的第1张照片")
    text = run("source", "test", "gallery:图站", "--sources", str(sources)).stdout
    assert "3 photo stories" in text
    assert "one photo story: http://" in text
    assert "3 pictures on 3 pages, all of them" in text
    empty = write_sources(tmp_path, site, "  seed: /nowhere/\n")
    found = run("source", "test", "图站", "--sources", str(empty))
    assert found.exit_code == 1
    assert "No link contains '/nowhere/'. (seed-not-found)" in found.stdout


@pytest.mark.slow
def test_add_gallery_channel_by_url(site: PictureSite, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("politeness: {allow_private: [127.0.0.1]}\n", "utf-8")
    added = run("source", "add", f"{site.at}/photo/", "--gallery", "--name", "桥", "--sources", str(path))
    assert added.exit_code == 0, added.output
    assert "gallery:桥 added" in added.stdout
    assert load(path).galleries[0].seeds == (f"{site.at}/photo/",)
    repeated = CliRunner().invoke(cli.app, ["source", "add", f"{site.at}/photo/", "--gallery", "--sources", str(path)])
    assert "is already listed, as gallery:桥" in str(repeated.exception)
    none = CliRunner().invoke(cli.app, ["source", "add", f"{site.at}/photo/2026/11_1.html", "--gallery", "--sources", str(path)])
    assert "Only 0 links look like photo stories" in str(none.exception)
