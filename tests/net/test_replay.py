"""Crawls that are archived and replayed, with a real Scrapy engine."""

from __future__ import annotations

import gzip
import json
import os
import resource
from pathlib import Path
from typing import Any

import pytest
from scrapy.exceptions import DownloadCancelledError, IgnoreRequest

from newsportal.errors import ArchiveError, ReplayError
from newsportal.net.archive import Exchange, Writer, open_index


def test_archived_crawl_is_replayed(crawl: Any, site: Any, response: Any, tmp_path: Path) -> None:
    packed = gzip.compress("旅游新闻".encode("gb18030"))
    site.routes["/a"] = response(packed, content_encoding="gzip", content_type="text/html; charset=gbk", etag='"1"')
    site.routes["/old"] = response(b"", "301 Moved", location="/a")
    site.routes["/broken"] = response(b"sorry", "503 Busy")
    urls = [site.url(path) for path in ("/a", "/old", "/broken", "/none")]
    archive = tmp_path / "crawl.warc.gz"
    first = crawl(*urls, NEWSPORTAL_ALLOW_PRIVATE=site.allow, NEWSPORTAL_ARCHIVE=str(archive))
    connections = site.connections
    again = crawl(*urls, "http://elsewhere.test/", NEWSPORTAL_REPLAY=str(archive))
    assert site.connections == connections
    for url in urls:
        assert again.pages[url].status == first.pages[url].status
        assert again.pages[url].body == first.pages[url].body
    assert again.pages[site.url("/old")].url == site.url("/a")
    assert again.pages[site.url("/a")].text == "旅游新闻"
    assert again.pages[site.url("/a")].headers["ETag"] == b'"1"'
    assert again.pages["http://elsewhere.test/"].status == 404
    assert again.stats["replay/missing"] == 1
    with open_index(archive) as index:
        assert index.get(urls[0]).body == packed  # type: ignore[union-attr]


def test_archive_grows_with_each_crawl(crawl: Any, site: Any, response: Any, tmp_path: Path) -> None:
    archive = tmp_path / "crawl.warc.gz"
    for path in ("/1", "/2"):
        site.routes[path] = response(path.encode())
        crawl(site.url(path), NEWSPORTAL_ALLOW_PRIVATE=site.allow, NEWSPORTAL_ARCHIVE=str(archive))
    with open_index(archive) as index:
        assert index.urls() == (site.url("/1"), site.url("/2"))


def test_replayed_body_saved_decompressed(crawl: Any, tmp_path: Path) -> None:
    archive = tmp_path / "crawl.warc.gz"
    with Writer(archive) as writer:
        for number, name in enumerate(["gzip", "br", "deflate", "zstd"]):
            headers = (("Content-Encoding", name), ("Content-Type", "text/html"))
            writer.write(Exchange(f"http://a.test/{number}", 200, headers, b"<html>plain</html>"))
    found = crawl(*(f"http://a.test/{number}" for number in range(4)), NEWSPORTAL_REPLAY=str(archive))
    assert {page.body for page in found.pages.values()} == {b"<html>plain</html>"}
    assert len(found.pages) == 4


def test_replayed_bodies_and_bombs_stop_at_the_limit(crawl: Any, tmp_path: Path) -> None:
    archive = tmp_path / "crawl.warc.gz"
    with Writer(archive) as writer:
        writer.write(Exchange("http://a.test/long", 200, (), bytes(1_000_001)))
        writer.write(Exchange("http://a.test/bomb", 200, (("Content-Encoding", "gzip"),), gzip.compress(bytes(20_000_000))))
    found = crawl("http://a.test/long", "http://a.test/bomb", NEWSPORTAL_REPLAY=str(archive))
    assert isinstance(found.errors["http://a.test/long"], DownloadCancelledError)
    assert isinstance(found.errors["http://a.test/bomb"], IgnoreRequest)


def test_unusable_replay_or_archive_stops_the_crawl(crawl: Any, tmp_path: Path) -> None:
    bad = tmp_path / "bad.warc"
    bad.write_bytes(b"<html>")
    with pytest.raises(ReplayError, match="not a readable WARC"):
        crawl("http://a.test/", NEWSPORTAL_REPLAY=str(bad))
    bad.write_bytes(b"<html>" * 100)
    with pytest.raises(ArchiveError, match="not a gzipped WARC"):
        crawl("http://a.test/", NEWSPORTAL_ARCHIVE=str(bad))
    with pytest.raises(ArchiveError, match="cannot be replayed from the archive"):
        crawl("http://a.test/", NEWSPORTAL_ARCHIVE=str(bad), NEWSPORTAL_REPLAY=str(bad))
    with pytest.raises(ValueError, match="not a network"):
        crawl("http://a.test/", NEWSPORTAL_ALLOW_PRIVATE=["http://x/"])


def test_full_disk_stops_the_crawl_and_leaves_a_valid_archive(crawl: Any, site: Any, response: Any, tmp_path: Path) -> None:
    archive = tmp_path / "crawl.warc.gz"
    paths = [f"/{number}" for number in range(30)]
    site.routes |= {path: response(os.urandom(2000)) for path in paths}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        found = crawl(
            *(site.url(path) for path in paths),
            NEWSPORTAL_ALLOW_PRIVATE=site.allow,
            NEWSPORTAL_ARCHIVE=str(archive),
            CONCURRENT_REQUESTS=1,
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert found.stats["finish_reason"] == "archive-failed"
    assert len(site.requests) < 15
    assert any(isinstance(error, ArchiveError) for error in found.errors.values())
    with open_index(archive) as index:
        assert index.warnings == ()
        assert set(index.urls()) == set(found.pages)


@pytest.mark.data
def test_saved_web_is_replayed(crawl: Any, data: Path) -> None:
    index = json.loads((data / "web" / "dev.index.json").read_text())
    articles = [article["url"] for article in index["articles"]][::25]
    urls = [*index["feeds"][:5], *index["hubs"][:5], *articles]
    found = crawl(*urls, NEWSPORTAL_REPLAY=str(data / "web" / "dev.warc.gz"), ROBOTSTXT_OBEY=True, DOWNLOAD_MAXSIZE=1 << 24)
    assert [url for url in urls if url not in found.pages] == []
    assert {page.status for page in found.pages.values()} == {200}
    assert all(page.body for page in found.pages.values())
