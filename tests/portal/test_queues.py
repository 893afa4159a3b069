"""The monitor shows workers, queues and requests set aside, as provided by the process that starts the portal."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from lxml import html as lxml_html

from newsportal.errors import FrontierUnavailable
from newsportal.portal.monitor.queues import AsideRow, BusyHost, QueueRow, Queues, WorkerRow, cached, longest
from newsportal.store.store import Store

NOW = datetime(2026, 5, 20, 4, tzinfo=UTC)
FULL = Queues(
    "Redis at localhost",
    (QueueRow("rss", 12, 3, 2, 1, 1),),
    (WorkerRow("甲:7:1", "rss", NOW - timedelta(hours=2), NOW, 2, 1, "spider: rss"),),
    (BusyHost("a.example", "rss", 12, "甲:7:1", 0.25),),
    (AsideRow("rss", "0af1", "https://a.example/<b>毒</b>", "6 workers died", NOW),),
)


def cells(page: str, row: str) -> list[str]:
    return [cell.text_content() for cell in lxml_html.document_fromstring(page).xpath(f"//tr[@{row}]/*")]


@pytest.mark.parametrize(("language", "heading"), [("zh", "采集进程与队列"), ("en", "Workers and queues")])
def test_workers_and_queues_are_shown(serve, fresh: Store, language: str, heading: str) -> None:  # type: ignore[no-untyped-def]
    page = serve(fresh, queues=lambda: FULL, role="editor").get(f"/monitor/queues?lang={language}").text
    assert heading in page
    assert cells(page, 'data-queue="rss"') == ["rss", "12", "3", "2", "1", "1"]
    assert cells(page, 'data-worker="甲:7:1"')[-3:] == ["2", "1", "spider: rss"]
    assert cells(page, 'data-aside="0af1"')[0] == "https://a.example/<b>毒</b>"
    assert cells(page, 'data-aside="0af1"')[-1] == "6 workers died"
    assert "newsportal frontier again" in page


def test_unavailable_queue_is_reported(serve, fresh: Store) -> None:  # type: ignore[no-untyped-def]
    def away() -> Queues:
        raise FrontierUnavailable("Redis at localhost does not answer")

    answer = serve(fresh, queues=away, role="editor").get("/monitor/queues")
    assert answer.status_code == 200
    assert "Redis at localhost does not answer" in answer.text


def test_portal_without_queues_shows_none(serve, fresh: Store) -> None:  # type: ignore[no-untyped-def]
    client = serve(fresh, role="editor")
    assert "采集进程与队列" not in client.get("/monitor?lang=zh").text
    assert client.get("/monitor/queues").status_code == 404


def test_queue_status_is_cached() -> None:
    calls: list[int] = []

    def ask() -> Queues:
        calls.append(1)
        return FULL

    status = cached(ask)
    assert [status(), status()] == [FULL, FULL]
    assert len(calls) == 1


def test_hosts_are_ordered_by_waiting_requests() -> None:
    hosts = [BusyHost(name, "rss", number, None, 0.0) for name, number in (("a", 1), ("b", 5), ("c", 5), ("d", 3))]
    assert [row.host for row in longest(hosts, 3)] == ["b", "c", "d"]
