"""URIs: variables are expanded, relative paths are resolved beside the file, and secrets are masked."""

from __future__ import annotations

from pathlib import Path

import pytest

from newsportal.sources.uris import BadAddress, check_uri, check_url, expand, mask


@pytest.mark.parametrize(
    ("uri", "masked"),
    [
        ("postgresql://me:secret@db/news", "postgresql://me:***@db/news"),
        ("postgresql://me:se@cr:et@db/news", "postgresql://me:***@db/news"),
        ("https://token@a.example/", "https://***@a.example/"),
        ("mongodb://a:b@one,two/x?authSource=admin&password=c", "mongodb://a:***@one,two/x?authSource=admin&password=***"),
        ("https://a.example/feed?API_KEY=k&page=2&access_token=t", "https://a.example/feed?API_KEY=***&page=2&access_token=***"),
        ("sqlite:////srv/news.db", "sqlite:////srv/news.db"),
        ("https://a.example/@someone/1", "https://a.example/@someone/1"),
        ("no address: a:b@c", "no address: a:b@c"),
    ],
)
def test_only_secrets_are_masked(uri: str, masked: str) -> None:
    assert mask(uri) == masked


def test_variables_are_expanded() -> None:
    environ = {"A": "1", "EMPTY": ""}
    assert expand("x${A}y${B:-2}z${EMPTY:-3}", environ) == "x1y2z3"
    assert expand("${EMPTY}", environ) == ""
    assert expand("$A {A} ${} $${1}", environ) == "$A {A} ${} $${1}"
    with pytest.raises(BadAddress, match="B is not set"):
        expand("${A}${B}", environ)


def test_expansion_is_not_recursive() -> None:
    assert expand("${A}", {"A": "${B}", "B": "x"}) == "${B}"


@pytest.mark.parametrize(
    "url", ["https://a.example/", "http://127.0.0.1:8000/x?q=1#y", "https://例子.example/新闻", "http://[::1]:80/", "https://a/##QUERY##"]
)
def test_valid_urls(url: str) -> None:
    assert check_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a",
        "//a.example",
        "ftp://a.example",
        "javascript:alert(1)",
        "http://",
        "http://.",
        "http://a b/",
        "http://a\tb/",
        "http://[::1/",
        "https://u@a.example",
        "https://a.example/\u2028",
        "http://a:-1/",
        "https://a.example/" + "a" * 2000,
    ],
)
def test_invalid_urls(url: str) -> None:
    with pytest.raises(BadAddress):
        check_url(url)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("sqlite:///data/a.db", "sqlite:////srv/portal/data/a.db"),
        ("sqlite:////var/a.db", "sqlite:////var/a.db"),
        ("sqlite:///a b/新.db?timeout=5", "sqlite:////srv/portal/a b/新.db?timeout=5"),
        ("sqlite://", "sqlite://"),
        ("sqlite:///:memory:", "sqlite:///:memory:"),
        ("SQLite+pysqlite:///a.db", "sqlite+pysqlite:////srv/portal/a.db"),
        ("other://h/relative", "other://h/relative"),
    ],
)
def test_sqlite_paths_are_resolved_beside_sources(written: str, meant: str) -> None:
    assert check_uri(written, ("sqlite", "other"), Path("/srv/portal")) == meant
