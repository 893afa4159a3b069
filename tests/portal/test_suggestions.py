"""``/suggestions`` and ``/opml``: suggested sources, and the export of existing ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from factories import empty_store
from lxml import html as lxml_html

from newsportal.services.discovery.opml import read
from newsportal.sources import load

SOURCES = """\
feeds:
  - {name: 甲 & 报, url: "https://a.example/feed?x=1&y=2", category: 财经}
  - {name: 密报, url: "https://b.example/feed?token=secret"}
  - {name: 停报, url: "https://c.example/feed", enabled: false}
"""
TEXT = "海港新航线今晨开通，首班渡轮满载旅客离开码头，预计傍晚抵达对岸。" * 3


@pytest.fixture(scope="module")
def client(serve: Any, newsroom: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder: Path = tmp_path_factory.mktemp("suggestions")
    (folder / "sources.yaml").write_text(SOURCES, "utf-8")
    store = empty_store(folder / "store.db")
    body = '<p><a href="https://new.example/story/1?q=%3Cb%3E">原文</a> <a href="https://a.example/2">自家</a></p>'
    newsroom.write(store, newsroom.article("渡轮今晨开航", TEXT, html=body, origin="<b>怪社"))
    yield serve(store, settings=load(folder / "sources.yaml"), role="editor")
    store.close()


def test_sites_are_suggested_with_their_command(client: httpx.Client) -> None:
    page = client.get("/suggestions")
    assert page.status_code == 200
    rows = lxml_html.document_fromstring(page.text).xpath("//tr[@data-site]")
    assert [row.get("data-site") for row in rows] == ["new.example"]
    assert "newsportal source add https://new.example/" in rows[0].text_content()
    assert "<b>怪" not in page.text
    assert "建议添加的来源" in page.text
    assert "Suggested sources" in client.get("/suggestions", headers={"accept-language": "en"}).text
    assert '"/suggestions"' in client.get("/sources").text


def test_opml_omits_feeds_with_secrets(client: httpx.Client) -> None:
    answer = client.get("/opml")
    assert answer.headers["content-type"].startswith("text/x-opml")
    assert "secret" not in answer.text
    (only,) = read(answer.content).feeds
    assert (only.url, only.title, only.folder) == ("https://a.example/feed?x=1&y=2", "甲 & 报", "财经")
