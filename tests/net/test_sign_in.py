"""Sources with a sign-in: credentials are sent to their own hosts over https only, and never stored."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from newsportal.crawl.middlewares import ChallengePage
from newsportal.errors import SourcesError
from newsportal.services.trying.trial import source_fetcher
from newsportal.sources import Feed, Sources, json_schema, parse
from newsportal.sources.changing import new_variables

ENVIRON = {"SECRET": "s3cr3t-word", "BROKEN": "a\nb", "EMPTY": ""}
FILE = """
politeness: {allow_private: [127.0.0.0/8, localhost], obey_robots: false, delay: 0}
extraction: {processes: 0}
feeds:
  - name: 会员
    url: https://127.0.0.1:%d/feed
    verify_certificate: false
    headers: {X-Token: "Bearer ${SECRET}"}
    cookies: {session: "${SECRET}"}
"""


def sources_of(text: str) -> Sources:
    return parse(text.encode(), Path("/there/sources.yaml"), ENVIRON)


def feed_of(port: int = 443) -> Feed:
    (feed,) = sources_of(FILE % port).feeds
    return feed


def test_credentials_are_sent_to_the_sources_hosts_only() -> None:
    feed = feed_of()
    assert feed.sign_in("https://127.0.0.1/articles/1") == {"x-token": "Bearer s3cr3t-word", "cookie": "session=s3cr3t-word"}
    others = ("http://127.0.0.1/feed", "https://127.0.0.1:8443/", "https://www.127.0.0.1/", "https://img.example/a.jpg", "https://[/")
    assert [feed.sign_in(url) for url in others] == [{}] * len(others)


def test_source_with_sign_in_is_hashable() -> None:
    assert len({feed_of(), feed_of()}) == 1


def test_credentials_are_never_shown() -> None:
    sources = sources_of(FILE % 443)
    assert "s3cr3t" not in repr(sources) + str(sources) + sources.model_dump_json() + json.dumps(json_schema())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"${SECRET}"', "s3cr3t-word"), "the file contains a secret"),
        (('${SECRET}"}\n    cookies', '${SECRET:-s3cr3t-word}"}\n    cookies'), "the file contains a secret"),
        (("https:", "http:"), "credentials would be sent over http"),
        (('"${SECRET}"', '"${BROKEN}"'), "the variable is empty, or contains a line break"),
        (('"${SECRET}"', '"${EMPTY}"'), "the variable is empty, or contains a line break"),
        (('"${SECRET}"', '"${MISSING}"'), "the environment variable MISSING is not set"),
        (("X-Token", "Host"), "'Host' is not the name of a header"),
        (("session:", "'a b':"), "'a b' is not the name of a header or cookie"),
    ],
)
def test_unsafe_credentials_are_refused_and_not_shown(change: tuple[str, str], message: str) -> None:
    with pytest.raises(SourcesError, match=message) as caught:
        sources_of((FILE % 443).replace(*change))
    assert "s3cr3t" not in str(caught.value)


def test_editor_cannot_redirect_credentials() -> None:
    before = {"name": "会员", "url": "https://members.example/", "cookies": {"session": "${SECRET}"}}
    moved = {"url": "https://evil.example/", "seeds": ["https://evil.example/"], "verify_certificate": False, "interval": 30}
    assert new_variables(moved, before) == ["url", "seeds", "verify_certificate"]
    assert new_variables(moved, {"name": "会员", "url": "https://members.example/"}) == []


def test_crawl_signs_in_and_stores_no_credentials(
    crawl: Any, tls_site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SECRET", ENVIRON["SECRET"])
    file, archive = tmp_path / "sources.yaml", tmp_path / "crawl.warc.gz"
    file.write_text(FILE % tls_site.port, "utf-8")
    settings: dict[str, Any] = {"ADDONS": {"newsportal.crawl.addon.SourcesAddon": 100}, "NEWSPORTAL_SOURCES": str(file)}
    at, meta = f"https://127.0.0.1:{tls_site.port}", {"source": "feed:会员", "verify_certificate": False}
    middlewares = {
        "newsportal.crawl.middlewares.ChallengeMiddleware": 560,
        "newsportal.crawl.middlewares.RedirectMiddleware": 600,
    }
    paths = ("/a", "/moved", "/members")
    requests = [{"url": at + path, "meta": meta} for path in paths]
    requests.append({"url": f"{at}/other", "meta": {**meta, "source": "feed:别家"}})
    found = crawl(*requests, DOWNLOADER_MIDDLEWARES=middlewares, NEWSPORTAL_ARCHIVE=str(archive), **settings)
    signed = {head.split()[1].decode() for head in tls_site.requests if b"s3cr3t-word" in head}
    assert signed == set(paths)
    assert {head.split()[1].decode() for head in tls_site.requests} == {*paths, "/landed", "/other"}
    assert all(head.lower().count(b"cookie: session=s3cr3t-word") == 1 for head in tls_site.requests if b"s3cr3t" in head)
    error = found.errors[f"{at}/members"]
    assert isinstance(error, ChallengePage)
    assert (error.reason, error.transient) == ("sign-in", True)
    written = gzip.decompress(archive.read_bytes())
    assert b"/moved" in written
    assert b"s3cr3t" not in written
    assert b"s=renewed" not in b"".join(record for record in written.split(b"WARC/1.") if f"{at}/a".encode() in record)
    assert "s3cr3t" not in caplog.text


def test_trial_signs_in_like_the_crawl(tls_site: Any) -> None:
    sources = sources_of(FILE % tls_site.port)
    assert source_fetcher(sources, sources.feeds[0])(f"https://127.0.0.1:{tls_site.port}/moved").status == 200
    assert [(head.split()[1], b"s3cr3t-word" in head) for head in tls_site.requests] == [(b"/moved", True), (b"/landed", False)]
