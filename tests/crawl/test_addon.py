"""``sources.yaml`` as Scrapy settings: above the project's, below the command line's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from scrapy.crawler import Crawler

from newsportal.errors import SourcesError

FILE = """\
politeness:
  {user_agent: reader/1.0, delay: 2.5, concurrency: 7, per_domain: 3, timeout: 11, obey_robots: false, max_size: 1000000,
   allow_private: [10.1.0.0/16]}
archive: 存档.warc.gz
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sources.yaml"
    path.write_text(FILE, "utf-8")
    return path


def test_sources_file_becomes_settings(file: Path, crawler_for: Callable[..., Crawler]) -> None:
    settings = crawler_for().settings
    assert settings.getfloat("DOWNLOAD_DELAY") == 2.5
    assert settings.getint("CONCURRENT_REQUESTS") == 7
    assert settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") == 3
    assert settings.getfloat("DOWNLOAD_TIMEOUT") == 11
    assert settings.getint("DOWNLOAD_MAXSIZE") == 1_000_000
    assert settings.getlist("NEWSPORTAL_ALLOW_PRIVATE") == ["10.1.0.0/16"]
    assert settings.getbool("ROBOTSTXT_OBEY") is False
    assert settings["USER_AGENT"] == "reader/1.0"
    assert settings["NEWSPORTAL_ARCHIVE"] == str(file.with_name("存档.warc.gz"))
    assert settings["NEWSPORTAL_REPLAY"] is None


def test_priority_of_command_line_file_and_project(file: Path, crawler_for: Callable[..., Crawler]) -> None:
    settings = crawler_for().settings
    settings.set("DOWNLOAD_DELAY", 9, priority="cmdline")
    settings.set("CONCURRENT_REQUESTS", 99, priority="project")
    assert (settings.getfloat("DOWNLOAD_DELAY"), settings.getint("CONCURRENT_REQUESTS")) == (9, 7)


def test_replay_has_no_delay_and_no_retries(file: Path, crawler_for: Callable[..., Crawler]) -> None:
    settings = crawler_for(NEWSPORTAL_REPLAY="crawl.warc.gz").settings
    assert settings.getfloat("DOWNLOAD_DELAY") == 0
    assert settings.getbool("RETRY_ENABLED") is False
    assert settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") > 3


def test_broken_file_is_refused_with_all_errors(file: Path, crawler_for: Callable[..., Crawler]) -> None:
    file.write_text("fedes: []\npoliteness: {delay: -1}\n", "utf-8")
    with pytest.raises(SourcesError) as caught:
        crawler_for()
    assert len(caught.value.problems) == 2


def test_disabled_components_are_not_loaded(file: Path, crawler_for: Callable[..., Crawler]) -> None:
    off, on = crawler_for(COOKIES_ENABLED=False, REMOTE_CONTROL_ENABLED=False), crawler_for(COOKIES_ENABLED=True)
    cookies = "scrapy.downloadermiddlewares.cookies.CookiesMiddleware"
    assert cookies not in off.settings.getwithbase("DOWNLOADER_MIDDLEWARES")  # Scrapy imports every component listed there, even with None
    assert on.settings.getwithbase("DOWNLOADER_MIDDLEWARES")[cookies] == 700
    assert "scrapy.extensions.remote_control.RemoteControl" not in off.settings.getwithbase("EXTENSIONS")
