"""Commands and options that Scrapy users know, in a folder made by ``newsportal source init``."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import TYPE_CHECKING, Any

import pytest
from forked import run

from newsportal.store import open_store

if TYPE_CHECKING:
    from madeup import MadeUpWeb

pytestmark = pytest.mark.slow

SPIDERS = ["forum", "gallery", "hub", "lists", "metasearch", "newsletter", "rss", "sitemap"]
SOURCE = "溪峰在线"  # a feed and a region of the made-up Web
OTHER = "海棠都市网"
COMPONENTS = """\
import asyncio
import os
import signal

from itemadapter import ItemAdapter
from scrapy import signals

class Mark:
    def process_item(self, item):
        adapter = ItemAdapter(item)
        adapter["keywords"] = ["marked"]
        return item

class Interrupt:
    @classmethod
    def from_crawler(cls, crawler):
        crawler.signals.connect(cls.interrupt, signal=signals.spider_opened)
        return cls()

    async def interrupt():
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(100):  # Scrapy stops what is running
            await asyncio.sleep(0)
"""


@pytest.fixture(scope="module")
def other_sites() -> Iterator[dict[str, Any]]:
    """Entries of sources.yaml for a made-up forum, its list of threads and a made-up gallery site, and their hosts."""
    from madeup.forums import MadeUpForums
    from madeup.photos import MadeUpPhotos

    with MadeUpForums() as forums, MadeUpPhotos() as photos:
        entries = f"\nforums:\n  - name: 论坛\n    url: {forums.url('phpbb')}\ngalleries:\n{photos.entries('guanlan')}\n"
        rules = "format: html, items: body, title: a, link: a"
        entries += f"lists:\n  - {{name: 热帖, url: '{forums.url('phpbb')}', {rules}}}\n"
        entries += "newsletters:\n  - {name: 通讯, folder: 邮件}\n"
        yield {"entries": entries, "hosts": [url.split("/")[2].split(":")[0] for url in (forums.url("phpbb"), photos.url("guanlan"))]}


@pytest.fixture(scope="module")
def folder(web: MadeUpWeb, other_sites: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new project: ``newsportal source init``, then sources on loopback instead of the template's."""
    web.reset()
    folder = tmp_path_factory.mktemp("项目")
    assert run("source", "init", cwd=folder).returncode == 0
    text = web.sources(folder / "sources.yaml").read_text("utf-8") + other_sites["entries"]
    (folder / "sources.yaml").write_text(text.replace("allow_private: [", f"allow_private: [{', '.join(other_sites['hosts'])}, "), "utf-8")
    (folder / "mine.py").write_text(COMPONENTS, "utf-8")
    (folder / "邮件").mkdir()
    (folder / "邮件" / "1.eml").write_bytes("Subject: 本周通讯\n\n这封邮件里只有一句话。".encode())
    return folder


def scrapy(folder: Path, *words: str) -> CompletedProcess[str]:
    done = run(*words, module="scrapy", cwd=folder)
    assert "Traceback" not in done.stderr, done.stderr[-3000:]
    return done


def stored(folder: Path) -> set[str]:
    opened = open_store(f"sqlite:///{folder}/data/newsportal.db", create=False)
    try:
        return {article.url for article in opened.all_articles()}
    finally:
        opened.close()


@pytest.fixture(scope="module")
def exported(folder: Path) -> list[dict[str, Any]]:
    """Output of ``-O`` from a crawl that fills the store."""
    done = scrapy(folder, "crawl", "rss", "-a", f"source={SOURCE}", "-O", "out.jsonl")
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in (folder / "out.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def customised(folder: Path, exported: list[dict[str, Any]]) -> CompletedProcess[str]:
    """A crawl with settings that Scrapy users know."""
    settings = {
        "FEEDS": json.dumps({"feed.csv": {"format": "csv"}}),
        "ITEM_PIPELINES": json.dumps({"mine.Mark": 950}),
        "TELNETCONSOLE_ENABLED": "1",
        "TELNETCONSOLE_PORT": "0",
        "JOBDIR": "job",
        "STATS_DUMP": "1",
    }
    words = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    return scrapy(folder, "crawl", "rss", "-a", f"source={OTHER}", *words)


def test_source_init_makes_a_scrapy_project(folder: Path) -> None:
    assert scrapy(folder, "list").stdout.split() == SPIDERS
    assert scrapy(folder, "settings", "--get", "BOT_NAME").stdout.strip() == "newsportal"


def test_existing_scrapy_cfg_is_kept(tmp_path: Path) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = mine\n", "utf-8")
    assert run("source", "init", cwd=tmp_path).returncode == 0
    assert "mine" in (tmp_path / "scrapy.cfg").read_text("utf-8")


def test_output_has_every_stored_article_with_its_fields(web: MadeUpWeb, folder: Path, exported: list[dict[str, Any]]) -> None:
    gold = {article["url"]: article for article in web.manifest()["articles"]}
    assert len(exported) > 5
    assert {row["url"] for row in exported} <= stored(folder)
    for row in exported:
        assert row["title"] == gold[row["url"]]["title"]
        assert row["text"]
        assert row["published"][-6:] == "+08:00"
        assert (row["source"], row["site"]) == (f"feed:{SOURCE}", SOURCE)
        assert row["image_urls"] == [image["url"] for image in row["images"]]
        assert {"author", "topics", "category", "keywords", "language"} <= set(row)
        assert not {"page", "link", "extraction", "keys"} & set(row)
    assert "\\u" not in (folder / "out.jsonl").read_text("utf-8")


def test_configured_feeds_and_pipelines_are_used(folder: Path, customised: Any) -> None:
    with (folder / "feed.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 5
    assert {row["source"] for row in rows} == {f"feed:{OTHER}"}
    assert {row["keywords"] for row in rows} == {"marked"}
    assert {row["url"] for row in rows} <= stored(folder)


def test_log_shows_telnet_stats_and_ignored_jobdir(customised: CompletedProcess[str]) -> None:
    assert customised.returncode == 0
    assert "Telnet console listening on 127.0.0.1" in customised.stderr
    assert "'finish_reason': 'finished'" in customised.stderr
    assert "JOBDIR is not used for requests: they are in the store" in customised.stderr


def test_unknown_argument_error_suggests_a_name(folder: Path) -> None:
    done = scrapy(folder, "crawl", "rss", "-a", f"sourc={SOURCE}")
    assert done.returncode == 2
    assert "the spider rss has no argument 'sourc'; did you mean 'source'? it has: source, sources, due" in done.stderr
    assert "argument due='soon' of the spider hub" in scrapy(folder, "crawl", "hub", "-a", "due=soon").stderr


@pytest.mark.parametrize(("spider", "argument"), [("rss", "source=NOSUCH"), ("metasearch", "topic=NOSUCH")])
def test_unknown_source_or_topic_is_an_error(folder: Path, spider: str, argument: str) -> None:
    done = scrapy(folder, "crawl", spider, "-a", argument)
    assert done.returncode == 1
    assert "'NOSUCH'; it has: " in done.stderr


def test_parse_command_reads_pages_and_stores_nothing(web: MadeUpWeb, folder: Path, exported: list[dict[str, Any]]) -> None:
    before, begin = stored(folder), web.addresses["kunzhou"]
    output = scrapy(folder, "parse", "--spider", "hub", f"{begin}/", "--nocolour").stdout
    assert output.count(f"<GET {begin}/") > 5
    feed = scrapy(folder, "parse", "--spider", "rss", f"{begin}/rss/news.xml", "--nocolour").stdout
    assert feed.count(f"<GET {begin}/") > 5
    row = exported[0]
    item = scrapy(folder, "parse", "--spider", "rss", row["url"], "--nocolour").stdout
    assert f"'title': {row['title']!r}" in item
    deep = scrapy(
        folder, "parse", "--spider", "sitemap", "-d", "2", f"{web.addresses['harbour']}/sitemap_index.xml", "--nocolour", "--noitems"
    )
    assert deep.stdout.count(f"<GET {web.addresses['harbour']}/") > 5
    assert stored(folder) == before


def test_check_command_tries_every_spider(folder: Path) -> None:
    done = scrapy(folder, "check", "-v")
    assert [spider for spider in SPIDERS if f"[{spider}] parse (@returns post-hook) ... ok" not in done.stderr] == []
    assert done.returncode == 0, done.stderr[-3000:]


def test_check_command_fails_for_unreadable_source(folder: Path) -> None:
    done = run("check", "rss", "-a", "source=深院网", module="scrapy", cwd=folder)  # its robots.txt responds with 500
    assert (done.returncode, "FAILED" in done.stderr) == (1, True)


def test_shell_has_our_readers(folder: Path, exported: list[dict[str, Any]]) -> None:
    row = exported[0]
    assert scrapy(folder, "shell", row["url"], "-c", "(article().title, response.status)").stdout.strip() == str((row["title"], 200))
    output = scrapy(folder, "shell", "--spider", "hub", row["url"].partition("/20")[0], "-c", "len(links().links)").stdout
    assert int(output) >= 0


def test_fetch_command_prints_a_page(web: MadeUpWeb, folder: Path) -> None:
    assert "Disallow: /private/" in scrapy(folder, "fetch", "--nolog", f"{web.addresses['kunzhou']}/robots.txt").stdout


def test_new_spider_is_created_and_runs(web: MadeUpWeb, folder: Path) -> None:
    begin = web.addresses["kunzhou"]
    assert scrapy(folder, "genspider", "own", f"{begin}/").returncode == 0
    text = (folder / "own.py").read_text("utf-8").replace("pass", "yield {'title': response.css('title::text').get()}")
    (folder / "own.py").write_text(text.replace("allowed_domains", "no_domains"), "utf-8")
    assert scrapy(folder, "runspider", "own.py", "-O", "own.jsonl").returncode == 0
    assert json.loads((folder / "own.jsonl").read_text("utf-8")) == {"title": "堃州新闻网"}


def test_bench_command_runs(folder: Path) -> None:
    done = scrapy(folder, "bench", "-s", "CLOSESPIDER_PAGECOUNT=20", "-s", "STATS_DUMP=1")
    assert "'finish_reason': 'closespider_pagecount'" in done.stderr, done.stderr[-3000:]


def test_closespider_ends_a_crawl_with_status_0(folder: Path) -> None:
    done = scrapy(folder, "crawl", "hub", "-a", "source=The Harbour Ledger", "-s", "CLOSESPIDER_ITEMCOUNT=2")
    assert (done.returncode, "Closing spider (closespider_itemcount)" in done.stderr) == (0, True)


def test_crawl_interrupted_while_its_spider_opens_ends_properly(folder: Path) -> None:
    from newsportal.settings import EXTENSIONS

    done = scrapy(folder, "crawl", "rss", "-s", f"EXTENSIONS={json.dumps({**EXTENSIONS, 'mine.Interrupt': 1})}")
    assert (done.returncode, "Spider closed (shutdown)" in done.stderr) == (0, True), done.stderr[-3000:]


@pytest.mark.parametrize("spider", SPIDERS)
def test_spider_arguments_have_a_schema(spider: str) -> None:
    from scrapy.settings import Settings
    from scrapy.spiderloader import SpiderLoader

    found: Any = SpiderLoader.from_settings(Settings({"SPIDER_MODULES": ["newsportal.spiders"]})).load(spider)
    schema = found.metadata["param_schema"]
    assert set(schema["properties"]) == {"source", "sources", "due"} | ({"topic"} if spider == "metasearch" else set())
    assert all(value["description"] for value in schema["properties"].values())
    assert schema["additionalProperties"] is False
    assert found.metadata["title"] == spider
    assert found.metadata["description"]
    assert found(due="1", sources='["a"]', _job="17").args.due
