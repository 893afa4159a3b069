"""The start page of the desk: problems and open tasks with links; alerts of other users are not shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from factories import empty_store
from lxml import html as lxml_html

from newsportal.items.report import Run, SourceReport
from newsportal.items.visits import Visit
from newsportal.services.accounts.alerts import Alert, Message
from newsportal.sources import Sources, load
from newsportal.store.store import Store


@pytest.fixture(scope="module")
def newsdesk(folder: Path) -> Iterator[Store]:
    with closing(empty_store(folder / "desk.db")) as opened:
        yield opened


@pytest.fixture(scope="module")
def settings(folder: Path) -> Sources:
    """Settings of a portal that requires nearly the whole disk to be free."""
    return Sources.model_validate({"store": f"sqlite:///{folder / 'desk.db'}", "alerts": {"enabled": False, "disk_free": 99.99}})


@pytest.fixture(scope="module")
def editor(serve: Any, newsdesk: Store, settings: Sources) -> httpx.Client:
    client: httpx.Client = serve(newsdesk, None, settings, role="editor")
    return client


def tasks(client: httpx.Client) -> dict[str, str]:
    """Return texts of the tasks by their links."""
    rows = lxml_html.document_fromstring(client.get("/desk").text).xpath("//ul[@class='todo']/li")
    return {row.xpath(".//a/@href")[0]: " ".join(row.text_content().split()) for row in rows}


def test_low_disk_space_is_a_task(editor: httpx.Client) -> None:
    assert "磁盘剩余空间" in tasks(editor)["/monitor/system"]


def test_articles_to_review_are_counted(editor: httpx.Client, newsdesk: Store, newsroom: ModuleType) -> None:
    assert "/articles?show=undated" not in tasks(editor)
    newsroom.write(newsdesk, newsroom.article("没有日期的报道", "正文。" * 30, published=None, ago=30))
    newsroom.write(newsdesk, newsroom.article("去年的报道，也没有日期", "正文。" * 40, published=None, ago=60 * 24 * 30))
    doubtful = newsroom.article("拿不准的报道", "正文。" * 50, category="科技", category_by="model of-a-test", category_score=0.3)
    newsroom.write(newsdesk, doubtful)
    found = tasks(editor)
    assert found["/articles?show=unsure"] == "1 篇本周文章分类存疑"
    assert found["/articles?show=undated"].startswith("2 "), "both arrived this week"


def add_failed_alert(client: httpx.Client, person_id: str, id: str, now: datetime, when: datetime) -> None:
    alerts = client.accounts.alerts  # type: ignore[attr-defined]
    alerts.add(Alert(id, person_id, id, "disk", "", "webhook", {}, created=now))
    alerts.insert([Message(id, "a thing", "", "t", found=when, due=when, changed=when, state="failed", reason="no")])


def test_only_own_failed_alerts_of_this_week_are_shown(editor: httpx.Client, newsroom: ModuleType) -> None:
    now, people = newsroom.NOW, editor.accounts.people  # type: ignore[attr-defined]
    [me] = people.all()
    other = people.add("别人", "correct horse battery staple", me.role, now=now)
    add_failed_alert(editor, other.id, "theirs", now, now)
    add_failed_alert(editor, me.id, "former", now, now - timedelta(days=30))
    assert "/alerts" not in tasks(editor)
    add_failed_alert(editor, me.id, "mine", now, now)
    assert tasks(editor)["/alerts"] == "1 条提醒未能送达"


def test_reports_and_suggestions_have_the_desk_menu(editor: httpx.Client) -> None:
    for path in ("/runs", "/suggestions", "/monitor"):
        [current] = lxml_html.document_fromstring(editor.get(path).text).xpath("//nav[@class='desk-nav']//a[@aria-current='page']/@href")
        assert current == path


def test_reports_of_idle_crawls_are_collapsed(editor: httpx.Client, newsdesk: Store, newsroom: ModuleType) -> None:
    now = newsroom.NOW
    busy = SourceReport("feed:甲报", list_pages=1, entries=5, new=5, fetched=5, parsed=5, stored=3)
    newsdesk.save_run(Run("busy", now - timedelta(hours=1), now, "finished", ("rss",), (busy,)))
    newsdesk.save_run(
        Run("idle", now - timedelta(minutes=9), now - timedelta(minutes=9), "finished", ("hub",), (SourceReport("region:乙"),))
    )
    newsdesk.save_run(Run("stopped", now - timedelta(minutes=5), now, "shutdown", ("sitemap",)))

    def linked(path: str) -> list[str]:
        return [str(link) for link in lxml_html.document_fromstring(editor.get(path).text).xpath("//tbody//th/a/@href")]

    assert linked("/runs") == ["/runs/stopped", "/runs/busy"], "interrupted crawls are listed"
    assert linked("/runs?all=1") == ["/runs/stopped", "/runs/idle", "/runs/busy"]
    page = editor.get("/runs").text
    assert "另有 1 次采集" in page
    assert ">订阅源<" in page
    assert "新增 0 条报道" in editor.get("/desk").text
    newsdesk.save_run(Run("stopped", now - timedelta(minutes=5), now, "finished", ("sitemap",)))
    assert "新增 3 条报道" in editor.get("/desk").text, "of the last crawl that visited a source"
    for spider in ("rss", "hub"):
        newsdesk.save_run(Run(f"20260520-103000-one-{spider}", now, now, "finished", (spider,), (busy,)))
    assert "新增 6 条报道" in editor.get("/desk").text, "of all its spiders"


def test_desk_lists_failing_sources_with_reason_and_actions(serve: Any, folder: Path) -> None:
    (folder / "failing.yaml").write_text('feeds: [{name: 坏报, url: "https://bad.example/feed"}]\n', "utf-8")
    with closing(empty_store(folder / "failing.db")) as store:
        now = datetime(2026, 5, 20, 10, 30, tzinfo=UTC)
        for number in range(4):
            store.visits.add(Visit("feed:坏报", now - number * timedelta(hours=5), list_failed={"http-404": 1}))
        editor = serve(store, None, load(folder / "failing.yaml"), role="editor", reread_every=0)
        page = lxml_html.document_fromstring(editor.get("/desk").text)
    (row,) = page.xpath("//ul[contains(@class, 'failing-sources')]/li")
    assert "坏报（订阅源）" in row.text_content()
    assert "404" in row.text_content()
    assert row.xpath(".//form/@action") == ["/sources/feed:%E5%9D%8F%E6%8A%A5/run", "/sources/feed:%E5%9D%8F%E6%8A%A5/enable"]
