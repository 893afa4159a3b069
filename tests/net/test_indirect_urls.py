"""Other inputs that contain URLs: none may reach an address that the crawl may not."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from forked import run
from typer.testing import CliRunner

from newsportal.cli import app
from newsportal.errors import EgressDenied, NewsportalError
from newsportal.services.jobs.scrapyd import Server, Target


@pytest.fixture
def private(make_site: Any, response: Any) -> Any:
    """A private server that the policy does not allow."""
    return make_site({"/feed": response(b"<rss version='2.0'><channel><item><link>http://a.example/1</link></item></channel></rss>")})


@pytest.fixture
def file(tmp_path: Path, site: Any) -> Path:
    path = tmp_path / "sources.yaml"
    path.write_text(f'feeds: []\npoliteness: {{delay: 0, allow_private: ["127.0.0.1:{site.port}"]}}\n', "utf-8")
    return path


@pytest.mark.slow
def test_source_add_follows_nothing_to_private_addresses(file: Path, site: Any, private: Any, response: Any) -> None:
    page = f"<html><head><link rel='alternate' type='application/rss+xml' href='{private.url('/feed')}'></head><body>x</body></html>"
    site.routes |= {
        "/": response(page.encode(), content_type="text/html"),
        "/robots.txt": response(f"Sitemap: {private.url('/sitemap.xml')}\n".encode()),
        "/feed": response(b"", "302 Found", location=private.url("/feed")),
        "/sitemap.xml": response(f"<sitemapindex><sitemap><loc>{private.url('/s.xml')}</loc></sitemap></sitemapindex>".encode()),
    }
    done = CliRunner().invoke(app, ["source", "add", site.url("/"), "--sources", str(file)])
    assert isinstance(done.exception, NewsportalError | SystemExit)
    assert done.exit_code == 1
    assert "/" in site.paths()
    assert private.connections == 0
    assert str(private.port) not in file.read_text("utf-8")


@pytest.mark.slow
def test_source_add_obeys_robots_txt_of_a_redirect_target(tmp_path: Path, make_site: Any, response: Any) -> None:
    other = make_site({"/robots.txt": response(b"User-agent: *\nDisallow: /\n"), "/feed": response(b"<rss/>")}, host="127.0.0.2")
    site = make_site({"/": response(b"", "302 Found", location=other.url("/feed", "127.0.0.2"))})
    path = tmp_path / "sources.yaml"
    path.write_text('feeds: []\npoliteness: {delay: 0, allow_private: ["127.0.0.0/8"]}\n', "utf-8")
    done = CliRunner().invoke(app, ["source", "add", site.url("/"), "--sources", str(path)])
    assert done.exit_code == 1
    assert "robots.txt does not allow it" in str(done.exception)
    assert other.paths() == ["/robots.txt"]


def test_redirects_of_scrapyd_are_not_followed(site: Any, private: Any, response: Any) -> None:
    site.routes["/daemonstatus.json"] = response(b"", "302 Found", location=private.url("/daemonstatus.json"))
    with pytest.raises(NewsportalError):
        Server(Target(site.url("").rstrip("/"))).get("daemonstatus")
    assert site.paths() == ["/daemonstatus.json"]
    assert private.connections == 0


def test_opml_import_fetches_nothing(file: Path, tmp_path: Path, private: Any) -> None:
    outlines = tmp_path / "list.opml"
    outlines.write_text(
        f'<?xml version="1.0"?><opml version="2.0"><body><outline text="内部" type="rss" xmlUrl="{private.url("/feed")}"/></body></opml>',
        "utf-8",
    )
    done = CliRunner().invoke(app, ["source", "import", str(outlines), "--sources", str(file)])
    assert done.exit_code == 0, done.exception
    assert "内部" in file.read_text("utf-8")
    assert private.connections == 0


def test_opml_list_at_private_address_is_refused(file: Path, site: Any, private: Any, response: Any) -> None:
    site.routes |= {"/robots.txt": response(b"", "404 Not Found"), "/list.opml": response(b"", "302 Found", location=private.url("/feed"))}
    for url in (private.url("/feed"), site.url("/list.opml")):
        done = CliRunner().invoke(app, ["source", "import", url, "--sources", str(file)])
        assert isinstance(done.exception, EgressDenied), done.exception
    assert "/list.opml" in site.paths()
    assert private.connections == 0


STARTS = """
import sys
from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.settings import Settings


class Plain(Spider):
    name = "plain"
    start_urls = sys.argv[2:]

    def make_request_from_data(self, data):
        return Request(data.decode(), dont_filter=True)

    def parse(self, response):
        print("READ", response.url, response.text[:50])


settings = Settings()
settings.setmodule("newsportal.settings")
settings.set("NEWSPORTAL_SOURCES", sys.argv[1])
process = CrawlerProcess(settings)
process.crawl(Plain)
process.start()
"""


@pytest.mark.slow
def test_start_urls_are_checked(file: Path, site: Any, private: Any, response: Any) -> None:
    """With the project's settings, as in ``scrapy crawl``: only the allowed URL is read."""
    site.routes["/a"] = response(b"plain", content_type="text/plain")
    bad = ["file:///etc/passwd", "data:text/plain,x", "http://169.254.169.254/latest", private.url("/feed"), "ftp://127.0.0.1/x"]
    done = run(str(file), *bad, site.url("/a"), script=STARTS, cwd=file.parent)
    assert done.stdout.split() == ["READ", site.url("/a"), "plain"], done.stderr[-2000:]
    assert "root:" not in done.stderr
    assert private.connections == 0


@pytest.mark.slow
def test_start_urls_pushed_to_redis_are_checked(file: Path, site: Any, private: Any, response: Any, slowly: Any, redis_server: Any) -> None:
    """Whoever may push to Redis chooses public URLs to fetch, and nothing else."""
    from redis import Redis

    file.write_text(file.read_text("utf-8") + f"frontier: {{redis: {redis_server.url}}}\n", "utf-8")
    site.routes |= {
        "/slow": lambda request: chain(slowly(b"", 4.0, 1), [response(b"late", content_type="text/plain")]),
        "/a": response(b"plain", content_type="text/plain"),
    }
    bad = ["file:///etc/passwd", "http://169.254.169.254/latest", private.url("/feed")]
    with Redis.from_url(redis_server.url) as client:
        client.lpush("plain:start_urls", *bad, site.url("/a"))
        done = run(str(file), site.url("/slow"), script=STARTS, cwd=file.parent)
        assert client.llen("plain:start_urls") == 0
    assert f"READ {site.url('/a')} plain" in done.stdout, done.stderr[-2000:]
    assert done.stdout.count("READ") == 2
    assert "root:" not in done.stdout + done.stderr
    assert private.connections == 0
