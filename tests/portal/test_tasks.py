"""The desk's first page: what is broken and what waits, each with the way to where it is done; nothing of others' alerts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from blank import blank_store
from lxml import html as lxml_html

from newsportal.accounts.alerts import Alert, Message
from newsportal.sources import Sources
from newsportal.storage.base import Store


@pytest.fixture(scope="module")
def newsdesk(folder: Path) -> Iterator[Store]:
    with closing(blank_store(folder / "desk.db")) as opened:
        yield opened


@pytest.fixture(scope="module")
def settings(folder: Path) -> Sources:
    """Of a portal that wants nearly the whole disk to be free."""
    return Sources.model_validate({"store": f"sqlite:///{folder / 'desk.db'}", "alerts": {"enabled": False, "disk_free": 99.99}})


@pytest.fixture(scope="module")
def editor(serve: Any, newsdesk: Store, settings: Sources) -> httpx.Client:
    made: httpx.Client = serve(newsdesk, None, settings, role="editor")
    return made


def tasks(client: httpx.Client) -> dict[str, str]:
    """Where each task leads -> what the page says of it."""
    rows = lxml_html.document_fromstring(client.get("/desk").text).xpath("//ul[@class='todo']/li")
    return {row.xpath(".//a/@href")[0]: " ".join(row.text_content().split()) for row in rows}


def test_a_disk_that_is_fuller_than_sources_yaml_allows(editor: httpx.Client) -> None:
    assert "磁盘剩余空间" in tasks(editor)["/monitor/system"]


def test_articles_to_look_at_are_counted(editor: httpx.Client, newsdesk: Store, newsroom: ModuleType) -> None:
    assert "/articles?show=undated" not in tasks(editor)
    newsroom.write(newsdesk, newsroom.article("没有日期的报道", "正文。" * 30, published=None, ago=30))
    newsroom.write(newsdesk, newsroom.article("去年的报道，也没有日期", "正文。" * 40, published=None, ago=60 * 24 * 30))
    doubtful = newsroom.article("拿不准的报道", "正文。" * 50, category="科技", category_by="model of-a-test", category_score=0.3)
    newsroom.write(newsdesk, doubtful)
    found = tasks(editor)
    assert found["/articles?show=unsure"] == "1 篇本周文章分类存疑"
    assert found["/articles?show=undated"].startswith("2 "), "both came in this week"


def failed(client: httpx.Client, person_id: str, id: str, now: datetime, when: datetime) -> None:
    alerts = client.accounts.alerts  # type: ignore[attr-defined]
    alerts.add(Alert(id, person_id, id, "disk", "", "webhook", {}, created=now))
    alerts.keep([Message(id, "a thing", "", "t", found=when, due=when, changed=when, state="failed", reason="no")])


def test_only_alerts_of_ones_own_and_of_this_week(editor: httpx.Client, newsroom: ModuleType) -> None:
    now, people = newsroom.NOW, editor.accounts.people  # type: ignore[attr-defined]
    [me] = people.all()
    other = people.add("别人", "correct horse battery staple", me.role, now=now)
    failed(editor, other.id, "theirs", now, now)
    failed(editor, me.id, "former", now, now - timedelta(days=30))
    assert "/alerts" not in tasks(editor)
    failed(editor, me.id, "mine", now, now)
    assert tasks(editor)["/alerts"] == "1 条提醒未能送达"


def test_the_reports_and_suggestions_stand_in_the_desks_frame(editor: httpx.Client) -> None:
    for path in ("/runs", "/suggestions", "/monitor"):
        [chosen] = lxml_html.document_fromstring(editor.get(path).text).xpath("//nav[@class='desk-ways']//a[@aria-current='page']/@href")
        assert chosen == path
