"""Our extraction in other code: ``newsportal.extract``, and the page objects of a Scrapy project (``docs/scrapy-project``)."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING, Any

import pytest
from forked import run
from itemadapter import ItemAdapter

import newsportal
from newsportal.crawl.addon import NewsItemAdapter, register
from newsportal.errors import NotApplicable
from newsportal.extractors.pages import make_page, read_list

if TYPE_CHECKING:
    from madeup import MadeUpWeb

PROJECT = Path(__file__).resolve().parents[2] / "docs" / "scrapy-project"
URL = "https://quoted.example/2024/0305/1.html"
LINE = "今天早上六点，新线的首班列车从东站出发，车厢里坐满了赶早的市民。"
HTML = f"<title>新线今晨通车</title><h1>新线今晨通车</h1><p class=byline>林远</p><p>2024-03-05 08:30</p><div>{f'<p>{LINE}</p>' * 4}</div>"
FEED = "<rss version='2.0'><channel><title>甲</title><item><title>一</title><link>https://a.example/1.html</link></item></channel></rss>"


def test_extract_an_article_in_one_line() -> None:
    article = newsportal.extract(HTML, URL)
    assert (article.url, article.title) == (URL, "新线今晨通车")
    assert LINE in (article.text or "")
    assert article.published is not None
    assert newsportal.extract(HTML.encode("gb18030"), URL).title == article.title
    assert newsportal.extract(f"<meta charset=gbk>{HTML}", URL).title == article.title
    assert newsportal.extract(HTML, URL, "cetd").algorithm == "cetd"
    with pytest.raises(TypeError, match="bytes-like object is required, not 'NoneType'"):
        newsportal.extract(None, URL)  # type: ignore[arg-type] - a download that failed
    with pytest.raises(NotApplicable):
        newsportal.extract("<title>404 Not Found</title><p>404 Not Found</p>", URL)


def test_feed_is_read_as_list_page() -> None:
    found = read_list(make_page(FEED, "https://a.example/rss"))
    assert [(link.url, link.title) for link in found.links] == [("https://a.example/1.html", "一")]


def test_item_adapter_fields_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ItemAdapter, "ADAPTER_CLASSES", ItemAdapter.ADAPTER_CLASSES)
    register()
    register()
    assert list(ItemAdapter.ADAPTER_CLASSES).count(NewsItemAdapter) == 1
    adapter = ItemAdapter(newsportal.extract(HTML, URL))
    adapter["category"] = "交通"
    assert (adapter["url"], adapter["category"], adapter["source"], len(adapter)) == (URL, "交通", "page", len(adapter.asdict()))
    for field in ("page", "source"):
        with pytest.raises(KeyError):
            adapter[field] = None
    with pytest.raises(KeyError):
        adapter["page"]
    with pytest.raises(KeyError):
        del adapter["title"]


def test_page_object_of_a_site_overrides_one_field(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("scrapy_poet")
    from web_poet import HttpResponse

    monkeypatch.syspath_prepend(str(PROJECT))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    from sample.spiders import QuotedPage  # type: ignore[import-not-found]

    article: Any = asyncio.run(QuotedPage(HttpResponse(URL, HTML.encode())).to_item())
    assert (article.author, article.title) == ("林远", "新线今晨通车")


def crawl(folder: Path, spider: str, url: str) -> list[dict[str, Any]]:
    done = run("crawl", spider, "-a", f"url={url}", "-O", f"{spider}.jsonl", module="scrapy", cwd=folder)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr[-3000:]
    return [json.loads(line) for line in (folder / f"{spider}.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.slow
def test_sample_project_runs(web: MadeUpWeb, tmp_path: Path) -> None:
    pytest.importorskip("scrapy_poet")
    from madeup.forums import MadeUpForums
    from madeup.photos import MadeUpPhotos

    folder = Path(copytree(PROJECT, tmp_path / "project"))
    gold = {article["url"]: article for article in web.manifest()["articles"]}
    found = [row for row in crawl(folder, "news", f"{web.addresses['kunzhou']}/rss/news.xml") if row["url"] in gold]
    assert len(found) > 5
    assert [row["url"] for row in found if row["title"] != gold[row["url"]]["title"] or not row["text"]] == []
    with MadeUpForums() as forums:
        threads = [thread for thread in forums.gold("discuz") if sum(post["day"] == 0 for post in thread["posts"]) > 3]
        thread = min(threads, key=lambda gold: gold["number"])
        (row,) = crawl(folder, "thread", forums.url("discuz", f"/thread-{thread['number']}-1-1.html"))
        assert row["title"] == thread["title"]
        assert len(row["posts"]) > 3
        assert row["posts"][0]["text"].startswith(thread["posts"][0]["lines"][0][:20])
    with MadeUpPhotos() as photos:
        story = photos.gold("guanlan")[0]
        (row,) = crawl(folder, "gallery", story.url)
        assert row["title"] == story.title
        assert row["image_urls"] == [picture.url for picture in story.pictures[0]]
