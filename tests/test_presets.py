"""The system of each paper, as written by ``source init --preset``, crawls the made-up Web (of photo stories) to the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from forked import crawl
from ruamel.yaml import YAML
from typer.testing import CliRunner

from newsportal.cli import app
from newsportal.cli.source import PRESETS
from newsportal.sources import load
from newsportal.sources.models import KINDS
from newsportal.store import open_store
from newsportal.store.store import Store


def init(*words: str) -> Any:
    return CliRunner().invoke(app, ["source", "init", *words])


@pytest.mark.parametrize("preset", PRESETS)
def test_preset_is_valid_and_cites_paper_sections(tmp_path: Path, preset: str) -> None:
    path = tmp_path / "sources.yaml"
    assert init(str(path), "--preset", preset).exit_code == 0
    assert list(load(path, environ={}).all())
    text = path.read_text("utf-8")
    others = ("version:", *(f"{kind}:" for kind in KINDS))
    choices = [line for line in text.splitlines() if line[:1].isalpha() and not line.startswith(others)]
    assert len(choices) >= 4
    assert [line for line in choices if "#" not in line] == []
    assert "paper" in text.splitlines()[1]


def test_existing_file_is_kept_and_unknown_preset_corrected(tmp_path: Path) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text("version: 1\n", "utf-8")
    assert init(str(path), "--preset", "news-system").exit_code == 1
    assert path.read_text("utf-8") == "version: 1\n"
    assert init(str(path), "--preset", "news-system", "--force").exit_code == 0
    assert load(path, environ={}).extractor.method == "cevc"
    refused = init(str(path), "--preset", "news-sistem")
    assert refused.exit_code == 2
    assert "did you mean 'news-system'" in " ".join(refused.output.replace("│", " ").split())


def crawled(folder: Path, preset: str, made_up_sources: Path, **changed: list[Any]) -> tuple[Path, dict[str, Any]]:
    """Write the preset's settings with the made-up Web's sources of its kinds; return the file and the report of its first crawl."""
    path, yaml = folder / "sources.yaml", YAML(typ="safe", pure=True)
    made_up = yaml.load(made_up_sources.read_text("utf-8"))
    assert init(str(path), "--preset", preset).exit_code == 0
    preset_settings = yaml.load(path.read_text("utf-8"))
    settings = {key: value for key, value in preset_settings.items() if key not in KINDS} | {"store": "sqlite:///data/newsportal.db"}
    settings["politeness"] = settings.get("politeness", {}) | made_up["politeness"]
    with path.open("w", encoding="utf-8") as file:
        yaml.dump(settings | {kind: made_up[kind] for kind in KINDS if kind in preset_settings} | changed, file)
    return path, crawl_again(path)


def crawl_again(path: Path) -> dict[str, Any]:
    report = crawl(path)
    for row in report["sources"]:
        assert row["entries"] == row["known"] + row["repeated"] + row["new"], row
        assert row["new"] == row["parsed"] + sum(row["failed"].values()) + row["left"], row
    return report


def reasons(path: Path) -> set[str | None]:
    """Return the stored reasons for folding articles."""
    with opened(path) as store:
        return {article.fold_reason for article in store.all_articles()} - {None}


@contextmanager
def opened(path: Path) -> Iterator[Store]:
    store = open_store(f"sqlite:///{path.parent}/data/newsportal.db", create=False)
    yield store
    store.close()


@pytest.fixture(scope="module")
def made_up_sources(web: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    web.reset()
    return Path(web.sources(tmp_path_factory.mktemp("web") / "sources.yaml"))


def lists(made_up_sources: Path) -> dict[str, Any]:
    found: dict[str, Any] = YAML(typ="safe", pure=True).load(made_up_sources.read_text("utf-8"))
    return found


@pytest.mark.slow
def test_metasearch_portal_crawls(web: Any, made_up_sources: Path, tmp_path: Path) -> None:
    path, first = crawled(tmp_path, "metasearch-portal", made_up_sources, engines=lists(made_up_sources)["engines"])
    assert first["total"]["precision"] > 0.7
    assert first["total"]["left"] == 0
    assert set(first["total"]["failed"]) <= {"no-body", "no-summary", "summary-not-found"}
    assert reasons(path) == {"title-words"}
    topics = [row for row in first["topics"] if row["source"] == "total"]
    for column in ("list_pages", "entries", "known", "repeated", "new", "fetched", "parsed", "stored", "folded"):
        assert sum(row[column] for row in topics) == first["total"][column], f"{column}: every result was found for a topic"
    with opened(path) as store:
        assert b"127.0.0." in store.site_lines("extractor:summary_anchor")[""], "blocks are saved for the next crawl"
    before = len(web.requests)
    second = crawl_again(path)
    notes = [note for row in second["sources"] for note in row["notes"] if note["code"] == "note.known-titles"]
    number = sum(note["params"]["number"] for note in notes)
    assert 0 < number <= second["total"]["known"]
    assert len(web.requests) - before < second["total"]["entries"], "links with known titles are not requested"


@pytest.mark.slow
def test_region_crawler_crawls(made_up_sources: Path, tmp_path: Path) -> None:
    path, first = crawled(tmp_path, "region-crawler", made_up_sources, regions=lists(made_up_sources)["regions"][:3])
    assert first["total"]["stored"] > 20
    assert 0 < first["total"]["failed"]["waits-for-sibling"] < first["total"]["parsed"]
    assert reasons(path) <= {"feature-string"}
    second = crawl_again(path)
    assert second["total"]["parsed"] > 0, "waiting pages have siblings now"
    assert second["total"]["failed"].get("waits-for-sibling", 0) < first["total"]["failed"]["waits-for-sibling"]


@pytest.mark.slow
def test_photo_stories_crawl(tmp_path: Path) -> None:
    from madeup.photos import MadeUpPhotos
    from madeup.photos.sites import STATIC

    with MadeUpPhotos() as photos:
        found = photos.sources(tmp_path / "made-up.yaml", *STATIC[:3])
        path, report = crawled(tmp_path, "photo-stories", found)
    assert report["total"]["stored"] > 5
    assert report["total"]["left"] == 0
    assert reasons(path) <= {"same-words"}
    assert load(path).recommendation.method == "paper"


@pytest.mark.slow
def test_table_statistics_crawls(made_up_sources: Path, tmp_path: Path) -> None:
    topics = [{"name": "旅游", "keywords": ["旅游"]}]
    path, report = crawled(tmp_path, "table-statistics", made_up_sources, topics=topics, regions=lists(made_up_sources)["regions"][:2])
    assert report["total"]["stored"] > 20
    assert report["total"]["left"] == 0
    assert reasons(path) == set(), "only equal URLs are duplicates"


@pytest.mark.slow
def test_news_system_crawls(made_up_sources: Path, tmp_path: Path) -> None:
    web = lists(made_up_sources)
    kinds = {"topics": web["topics"][:1], "engines": web["engines"], "feeds": web["feeds"][:3], "regions": web["regions"][:1]}
    path, report = crawled(tmp_path, "news-system", made_up_sources, **kinds)
    assert {row["source"].partition(":")[0] for row in report["sources"]} == {"engine", "feed", "region"}
    assert report["total"]["stored"] > 20
    assert report["total"]["left"] == 0
    assert reasons(path) == set()
