"""A crawl of a mailbox: each mail is stored once, and the portal shows mails without a Web URL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from factories import empty_accounts
from forked import crawl, run
from imap_server import PASSWORD, ImapServer, imap_server
from starlette.testclient import TestClient

from newsportal.portal.app import create_app
from newsportal.sources import parse
from newsportal.store import open_store

pytestmark = pytest.mark.slow

SOURCES = """
store: "sqlite:///news.db"
politeness: {{allow_private: ["127.0.0.1:{port}"]}}
newsletters:
  - {{name: 早报, imap: "imap://me@b.example@127.0.0.1:{port}/INBOX", password: "${{MAIL_PASSWORD}}"}}
"""
HEAD = "From: 编辑部 <a@b.example>\r\nSubject: {0}\r\nMessage-ID: <{1}@b.example>\r\n"
MAIL = HEAD + "Content-Type: text/html; charset=utf-8\r\n\r\n<p>{0}，这是正文。</p>"


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ImapServer, Path]]:
    monkeypatch.setenv("MAIL_PASSWORD", PASSWORD)
    with imap_server() as server:
        server.mails = {1: MAIL.format("高铁提速", 1).encode(), 2: MAIL.format("地铁开通", 2).encode()}
        file = tmp_path / "sources.yaml"
        file.write_text(SOURCES.format(port=server.port), "utf-8")
        yield server, file


def test_mailbox_from_crawl_to_portal(sources: tuple[ImapServer, Path]) -> None:
    server, file = sources
    (row,) = crawl(file)["sources"]
    assert (row["entries"], row["stored"]) == (2, 2)
    server.mails[3] = MAIL.format("公交改线", 3).encode()
    (row,) = crawl(file, "newsletter")["sources"]
    assert (row["entries"], row["stored"]) == (1, 1)
    with (
        closing(open_store(f"sqlite:///{file.parent}/news.db", create=False)) as store,
        closing(empty_accounts(file.with_name("people.db"))) as accounts,
    ):
        found = {article.title: article for article in store.all_articles()}
        assert found["高铁提速"].url == "mid:1@b.example"
        app = create_app(store, None, parse(b"portal: {title: x}", file), accounts=accounts)
        with TestClient(app, base_url="http://127.0.0.1") as client:
            page = client.get(f"/story/{found['高铁提速'].story_id}")
            assert page.status_code == 200
            assert "这是正文" in page.text
            assert "mid:" not in page.text
            assert "高铁提速" in client.get("/feed.rss").text
            assert client.get(f"/api/v1/articles/{found['高铁提速'].id}").json()["url"] == "mid:1@b.example"
    tested = run("source", "test", "早报", "--sources", str(file))
    assert "公交改线" in tested.stdout
    assert not any(PASSWORD in path.read_bytes().decode("latin-1") for path in file.parent.rglob("*") if path.is_file())
