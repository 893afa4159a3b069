"""``newsportal source`` as a user runs it: on files, and on the made-up Web."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from factories import run_command
from typer.testing import Result

from newsportal.errors import NewsportalError
from newsportal.services.discovery.finders import common_folder
from newsportal.services.trying.proposing import free_name
from newsportal.sources import load

if TYPE_CHECKING:
    from madeup import MadeUpWeb

FILE = """\
topics:
  - name: 旅游
    engines: [bing_news]
feeds:
  - {name: "[a] 甲", url: "https://a.example/rss", category: 科技}
  - {name: 乙, url: "https://b.example/rss", enabled: false, topics: [旅游]}
regions:
  - {name: 丙, prefix: "https://c.example/news/"}
forums:
  - {name: 丁, url: "https://d.example/"}
galleries:
  - {name: 戊, seeds: "https://e.example/"}
"""

run = partial(run_command, "source")


def lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sources.yaml"
    path.write_text(FILE, "utf-8")
    return path


@pytest.fixture
def loopback(tmp_path: Path, web: MadeUpWeb) -> Path:
    """A sources file for the made-up Web."""
    web.reset()
    path = tmp_path / "sources.yaml"
    web.sources(path)
    return path


def test_list_has_every_source(file: Path) -> None:
    result = run("list", "--sources", file)
    assert result.exit_code == 0
    for text in ("topic:旅游", "feed:[a] 甲", "feed:乙", "off", "region:丙", "forum:丁", "https://a.example/rss", "科技"):
        assert text in result.stdout
    rows = lines(run("list", "--json", "--sources", file))
    assert [row["key"] for row in rows] == ["topic:旅游", "feed:[a] 甲", "feed:乙", "region:丙", "forum:丁", "gallery:戊"]
    assert rows[2] == {
        "key": "feed:乙",
        "name": "乙",
        "kind": "feed",
        "enabled": False,
        "visits": ["https://b.example/rss"],
        "topics": ["旅游"],
        "category": None,
    }


def test_check_reports_every_mistake(file: Path) -> None:
    valid = run("check", "--sources", file)
    assert (valid.exit_code, "no mistakes; 5 topics and sources enabled" in valid.stdout) == (0, True)
    file.write_text(FILE.replace("bing_news", "bing_new").replace("prefix", "prefx"), "utf-8")
    invalid = run("check", "--sources", file)
    assert invalid.exit_code == 1
    assert [line.partition("sources.yaml:")[2].partition(":")[0] for line in invalid.stdout.splitlines()] == ["3", "8", "8"]
    assert "did you mean 'prefix'?" in invalid.stdout
    assert lines(run("check", "--json", "--sources", file))[0]["key"] == "topics[0].engines[0]"


def test_schema_is_json() -> None:
    assert json.loads(run("schema").stdout)["title"] == "sources.yaml of newsportal"


def test_init_writes_a_valid_file_and_overwrites_none(tmp_path: Path) -> None:
    path = tmp_path / "new" / "sources.yaml"
    assert run("init", path).exit_code == 0
    assert load(path).feeds
    schema = path.read_text("utf-8").partition("\n")[0].partition("$schema=")[2]
    assert json.loads((path.parent / schema).read_text("utf-8"))
    path.write_text("version: 1\n", "utf-8")
    assert isinstance(run("init", path).exception, NewsportalError)
    assert path.read_text("utf-8") == "version: 1\n"
    assert run("init", path, "--force").exit_code == 0


def test_every_kind_of_source_can_be_tried(loopback: Path) -> None:
    sources = load(loopback)
    for source in (sources.feeds[0], sources.sitemaps[0], sources.regions[0]):
        (trial,) = lines(run("test", source.key, "--json", "--sources", loopback))
        assert trial["failure"] is None
        assert len(trial["links"]) >= 5
        assert trial["article"]["failure"] is None
        assert trial["article"]["title"]
        assert len(trial["article"]["text"]) > 20


def test_topic_tries_each_of_its_engines(loopback: Path) -> None:
    topic = load(loopback).topics[0]
    found = lines(run("test", topic.name, "--json", "--sources", loopback))
    assert [trial["key"] for trial in found] == [f"engine:{name}" for name in topic.engines]
    assert all(trial["links"] for trial in found)


def test_trial_as_text(loopback: Path) -> None:
    result = run("test", load(loopback).feeds[0].name, "--sources", loopback)
    assert result.exit_code == 0, result.output
    assert "one article: http://" in result.stdout
    assert "title: " in result.stdout
    assert "characters, by best" in result.stdout


def test_failing_source_gives_the_reason_and_status_1(tmp_path: Path, web: MadeUpWeb) -> None:
    host = next(iter(web.addresses.values()))
    path = tmp_path / "sources.yaml"
    text = "politeness: {allow_private: [127.0.0.0/8]}\nfeeds:\n- {name: gone, url: '%s/no/such'}\n- {name: page, url: '%s/'}\n"
    path.write_text(text % (host, host), "utf-8")
    missing, page = (run("test", name, "--sources", path) for name in ("gone", "page"))
    assert (missing.exit_code, page.exit_code) == (1, 1)
    assert "The server answers 404" in missing.stdout
    assert "not-a-feed" in page.stdout


def test_private_addresses_are_refused_unless_allowed(tmp_path: Path) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text("feeds:\n- {name: inside, url: 'http://127.0.0.1:8000/feed'}\n", "utf-8")
    result = run("test", "inside", "--sources", path)
    assert result.exit_code == 1
    assert "private" in result.stdout or "loopback" in result.stdout


@pytest.mark.parametrize(("name", "message"), [("bing_new", "did you mean 'bing_news'"), ("?", "source list")])
def test_unknown_name_is_reported(file: Path, name: str, message: str) -> None:
    assert message in str(run("test", name, "--sources", file).exception)


def test_add_feed_by_url_once(loopback: Path, tmp_path: Path) -> None:
    source = load(loopback).feeds[0]
    path = tmp_path / "own.yaml"
    path.write_text("# mine\npoliteness: {delay: 0, allow_private: [127.0.0.0/8]}\n# end\n", "utf-8")
    added = run("add", source.url, "--category", "旅游", "--sources", path)
    assert added.exit_code == 0, added.output
    (feed,) = load(path).feeds
    assert (feed.url, feed.category) == (source.url, "旅游")
    assert feed.name
    assert path.read_text("utf-8").startswith("# mine\n")
    assert "is already listed, as feed:" in str(run("add", source.url, "--sources", path).exception)


@pytest.mark.slow
def test_page_is_added_as_its_feed_or_as_a_region(loopback: Path, tmp_path: Path) -> None:
    sources = load(loopback)
    path = tmp_path / "own.yaml"
    path.write_text("politeness: {delay: 0, allow_private: [127.0.0.0/8]}\n", "utf-8")
    failed = [region for region in sources.regions if run("add", region.seeds[0], "--name", region.name, "--sources", path).exit_code]
    config = load(path)
    assert len(config.feeds) + len(config.regions) + len(failed) == len(sources.regions)
    assert len(failed) <= 1  # one front page of the made-up Web lists its articles only in a second list
    assert len(config.feeds) >= 5, "three declare theirs, others have one at a usual path"
    assert len(config.regions) >= 4


@pytest.mark.slow
def test_url_without_source_is_not_added(tmp_path: Path, web: MadeUpWeb) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("politeness: {delay: 0, allow_private: [127.0.0.0/8]}\n", "utf-8")
    before = path.read_bytes()
    for url in ("http://127.0.0.1:1/", next(iter(web.addresses.values())) + "/no/such", "javascript:alert(1)//://"):
        assert isinstance(run("add", url, "--sources", path).exception, NewsportalError)
    bare = next(iter(web.addresses.values())) + "/robots.txt"  # a page without links
    assert "(--gallery, --forum)" in str(run("add", bare, "--sources", path).exception)
    assert path.read_bytes() == before


def test_dry_run_shows_the_source_and_writes_nothing(loopback: Path, tmp_path: Path) -> None:
    source = load(loopback).feeds[0]
    path = tmp_path / "own.yaml"
    path.write_text("politeness: {delay: 0, allow_private: [127.0.0.0/8]}\n", "utf-8")
    before = path.read_bytes()
    (found,) = lines(run("add", source.url, "--dry-run", "--json", "--sources", path))
    assert path.read_bytes() == before
    assert (found["kind"], found["added"], found["values"]["url"]) == ("feed", False, source.url)
    assert found["entries"] == len(found["links"]) > 5
    assert found["newest"] is not None
    assert found["article"]["failure"] is None
    assert len(found["article"]["text"]) > 20
    result = run("add", source.url, "--dry-run", "--sources", path)
    assert "one article: http://" in result.stdout
    assert "entries; newest" in result.stdout
    assert path.read_bytes() == before


@pytest.mark.slow
def test_site_is_added_by_its_sitemap(loopback: Path, tmp_path: Path) -> None:
    source = load(loopback).sitemaps[0]
    path = tmp_path / "own.yaml"
    path.write_text("politeness: {delay: 0, allow_private: [127.0.0.0/8]}\n", "utf-8")
    front = source.url.rpartition("/")[0] + "/"
    (found,) = lines(run("add", front, "--kind", "sitemap", "--json", "--sources", path))
    assert (found["kind"], found["added"], found["article"]["failure"]) == ("sitemap", True, None)
    assert len(load(path).sitemaps) == 1


def test_conflicting_kinds_are_refused(file: Path) -> None:
    assert run("add", "https://a.example/", "--forum", "--gallery", "--sources", file).exit_code == 2
    assert run("add", "https://a.example/", "--forum", "--kind", "feed", "--sources", file).exit_code == 2


def test_free_name() -> None:
    assert free_name("甲/乙\n丙", ()) == "甲-乙 丙"
    assert free_name("甲", ("甲", "甲 2")) == "甲 3"
    assert free_name("\x00", ()) == "source"
    assert len(free_name("长" * 300, ())) <= 100


@pytest.mark.parametrize(
    ("urls", "folder"),
    [
        (["https://a.example/news/1.html", "https://a.example/news/x/2.html"], "https://a.example/news/"),
        (["https://a.example/news/1.html", "https://a.example/sport/2.html"], "https://a.example/"),
        (["https://a.example/2026/1.html", "https://a.example/2026/2.html"], "https://a.example/"),
        (["https://a.example/1.html"], "https://a.example/"),
    ],
)
def test_common_folder(urls: list[str], folder: str) -> None:
    assert common_folder(urls) == folder
