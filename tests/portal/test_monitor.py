"""The monitor: daily figures, crawls, the machine, the log without secrets, and metrics for Prometheus."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
from factories import empty_store
from lxml import html as lxml_html
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from newsportal.errors import FrontierUnavailable
from newsportal.items.report import Run, SourceReport
from newsportal.portal.monitor.process_metrics import Meter
from newsportal.portal.monitor.queues import AsideRow, QueueRow, Queues
from newsportal.portal.monitor.system import LogBuffer, find_lines, read_tail, redact
from newsportal.services.daily import DailySums
from newsportal.services.jobs.base import Job
from newsportal.services.jobs.records import Records
from newsportal.sources import Sources
from newsportal.store.store import Store


@pytest.fixture(scope="module")
def daily(store: Store, ids: dict[str, str]) -> Iterator[DailySums]:
    with closing(DailySums("sqlite://", ZoneInfo("Asia/Shanghai"))) as sums:
        sums.follow(store)
        yield sums


@pytest.fixture(scope="module")
def settings(folder: Path) -> Sources:
    values = {
        "topics": [{"name": "旅游", "engines": ["bing_news"]}],
        "store": f"sqlite:///{folder / 'store.db'}",
        "alerts": {"enabled": False},
    }
    return Sources.model_validate(values)


@pytest.fixture(scope="module")
def editor(serve: Any, store: Store, index: Any, settings: Sources, daily: DailySums) -> httpx.Client:
    client: httpx.Client = serve(store, index, settings, role="editor", daily=daily)
    return client


@pytest.mark.parametrize("days", ["7", "30", "90", "365", "", "x", "-1", "99999999999"])
def test_daily_figures_of_every_range(editor: httpx.Client, days: str) -> None:
    answer = editor.get("/monitor", params={"days": days})
    assert answer.status_code == 200
    assert answer.text.count("<rect ") == (int(days) if days in ("7", "30", "90", "365") else 30)
    assert "云岭晚报" in answer.text


def test_totals_equal_the_store(editor: httpx.Client, store: Store) -> None:
    page = editor.get("/monitor?days=365").text
    totals = page.partition('<dl class="totals">')[2].partition("</dl>")[0]
    assert f"<dd>{store.tally().articles}</dd>" in totals


def test_crawl_and_failure_figures(editor: httpx.Client) -> None:
    assert "baidu_news（搜索引擎）" in editor.get("/monitor/crawls?days=7").text
    page = editor.get("/monitor/failures?days=7").text
    assert 'data-cause="timeout"' in page
    assert "blocked: captcha" in page


def test_monitor_works_without_daily_sums(serve: Any, store: Store, index: Any, settings: Sources) -> None:
    assert serve(store, index, settings, role="editor").get("/monitor").status_code == 200


def test_health_probes_reveal_nothing(serve: Any, store: Store, settings: Sources) -> None:
    anonymous: httpx.Client = serve(store, None, settings)
    assert anonymous.get("/healthz").text == "ok\n"
    assert anonymous.get("/readyz").text == "ok\n"


def test_readiness_requires_the_store(serve: Any, tmp_path: Path, settings: Sources) -> None:
    from newsportal.errors import StoreUnavailable

    class Away:
        """Store whose server is down."""

        def __getattr__(self, name: str) -> Any:
            def refused(*_: object, **__: object) -> Any:
                raise StoreUnavailable("error")

            return refused

    with closing(empty_store(tmp_path / "x.db")) as opened:
        client: httpx.Client = serve(opened, None, settings)
        assert client.get("/readyz").status_code == 200
    assert serve(Away(), None, settings).get("/readyz").status_code == 503
    assert serve(Away(), None, settings).get("/healthz").status_code == 200


def test_metrics_are_readable_by_prometheus(editor: httpx.Client, store: Store) -> None:
    editor.get("/topic/旅游")
    editor.get("/topic/没有")
    editor.get("/story/none")
    editor.get("/no/such/page")
    answer = editor.get("/metrics")
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    (articles,) = families["newsportal_articles"].samples
    assert articles.value == store.tally().articles
    assert {sample.labels["part"]: sample.value for sample in families["newsportal_up"].samples}["store"] == 1
    routes = {sample.labels["route"] for sample in families["newsportal_http_request_duration_seconds"].samples}
    assert "none" in routes
    assert any(route.startswith("/topic/{") for route in routes)
    assert not any("旅游" in route or "such" in route for route in routes)
    links = {sample.labels["outcome"]: sample.value for sample in families["newsportal_last_run_links"].samples}
    assert links["stored"] > 0
    assert families["newsportal_disk_free_bytes"].samples[0].value > 0
    assert families["newsportal_sources_file_mistakes"].samples[0].value == 0
    assert families["process_resident_memory_bytes"].samples[0].value > 0


def test_last_run_is_a_finished_one(serve: Any, tmp_path: Path, settings: Sources) -> None:
    start = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
    with closing(empty_store(tmp_path / "x.db")) as store:
        client: httpx.Client = serve(store, None, settings, role="editor")
        store.save_run(Run("worker-0", start))
        assert client.get("/health").json()["last_run"]["ended"] is None
        store.save_run(Run("crawl", start, start + timedelta(minutes=5), "finished"))
        for number in range(1, 9):
            store.save_run(Run(f"worker-{number}", start + timedelta(minutes=number)))
        assert client.get("/health").json()["last_run"]["id"] == "crawl"
        assert "\nnewsportal_last_run_timestamp_seconds " in client.get("/metrics").text


def test_metrics_have_time_of_last_backup(serve: Any, tmp_path: Path) -> None:
    settings = Sources.model_validate({"store": f"sqlite:///{tmp_path / 'x.db'}"})
    with closing(empty_store(tmp_path / "x.db")) as store:
        client: httpx.Client = serve(store, None, settings, role="editor")
        assert "\nnewsportal_last_backup_timestamp_seconds 0.0\n" in client.get("/metrics").text
        settings.backup_mark.touch()
        os.utime(settings.backup_mark, (1772352000, 1772352000))
        assert "\nnewsportal_last_backup_timestamp_seconds 1.772352e+09\n" in client.get("/metrics").text


def test_metric_names_follow_prometheus_conventions(editor: httpx.Client) -> None:
    """prometheus.io/docs/practices/naming: the base unit is the suffix, counters end with total, every metric is documented."""
    answer = editor.get("/metrics", headers={"accept": "application/openmetrics-text; version=1.0.0"})
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    families = list(openmetrics.text_string_to_metric_families(answer.text))  # a strict parser
    assert len({family.name for family in families}) == len(families) > 15
    for family in families:
        assert re.fullmatch(r"(?:newsportal|process)(?:_[a-z]+)+", family.name), family.name
        assert family.documentation.endswith("."), family.name
        assert not re.search(r"(?:minutes|hours|days|milliseconds|megabytes)", family.name)
        assert not {"le", "quantile"} & {label for sample in family.samples for label in sample.labels} or family.type == "histogram"


@pytest.mark.parametrize(
    ("way", "role", "status"), [("open", None, 200), ("token", None, 401), ("token", "reader", 403), ("off", "editor", 404)]
)
def test_access_to_metrics(serve: Any, store: Store, index: Any, way: str, role: str | None, status: int) -> None:
    settings = Sources.model_validate({"portal": {"metrics": way}, "alerts": {"enabled": False}})
    assert serve(store, index, settings, role=role).get("/metrics").status_code == status


def test_cached_pages_are_counted(serve: Any, store: Store) -> None:
    portal = serve(store, None, role="editor")
    with httpx.Client(base_url=portal.base_url, timeout=600) as anonymous:
        for _ in range(3):
            assert anonymous.get("/latest").status_code == 200
        assert anonymous.get("/no-such-page").status_code == 404
    counts = {
        sample.labels["route"]: sample.value
        for family in text_string_to_metric_families(portal.get("/metrics").text)
        for sample in family.samples
        if sample.name == "newsportal_http_request_duration_seconds_count"
    }
    assert counts == {"/latest": 1, "shared": 2, "none": 1}


def test_number_of_metrics_is_bounded() -> None:
    meter = Meter(now=lambda: 60.0)
    for number in range(1000):
        meter.record(f"M{number}", "none", 404, 0.001)
    samples = [sample for family in meter.registry.collect() for sample in family.samples]
    assert len(samples) < 20
    assert meter.minutes()[-1] == {"4xx": 1000}


def test_system_page_shows_log_without_secrets(editor: httpx.Client) -> None:
    logging.getLogger("newsportal.something").warning("cannot reach https://me:geheim@host/x?token=geheim \x1b[31mred <script>")
    page = editor.get("/monitor/system").text
    assert "cannot reach" in page
    assert "geheim" not in page
    assert "\x1b" not in page
    assert "<script>" not in page.partition('class="log"')[2]
    assert "cannot reach" in editor.get("/monitor/log?words=REACH").text
    assert "cannot reach" not in editor.get("/monitor/log?level=ERROR").text


def test_system_page_names_the_last_backup_and_the_commands(editor: httpx.Client, settings: Sources) -> None:
    page = editor.get("/monitor/system").text
    assert "文章库从未备份" in page
    assert "newsportal restore" in page
    settings.backup_mark.parent.mkdir(parents=True, exist_ok=True)
    settings.backup_mark.touch()
    assert "最近一次备份：" in editor.get("/monitor/system").text


def test_run_page_shows_log_and_time_per_source(editor: httpx.Client, store: Store, settings: Sources) -> None:
    at = datetime(2026, 5, 20, 10, tzinfo=UTC)
    rows = (SourceReport("feed:甲", entries=1, new=1, fetched=1, parsed=1, stored=1, seconds=75.0), SourceReport("feed:乙", entries=1))
    store.save_run(Run("20260520-100000-5f1c0a2b-rss", at, at + timedelta(seconds=90), "finished", ("rss",), rows))
    records = Records(settings.jobs_folder)
    records.save(Job("5f1c0a2b", "rss", started=at))
    records.log_file("5f1c0a2b").write_text("2026-05-20 10:00:00 [scrapy] INFO: token=geheim opened\n", "utf-8")
    page = editor.get("/runs/20260520-100000-5f1c0a2b-rss").text
    document = lxml_html.document_fromstring(page)
    assert [row.xpath("string(td[last()])") for row in document.xpath("//table[@class='report']/tbody/tr")] == ["1:15", "–", "1:30"]
    assert document.xpath("//table[@class='report']/tbody/tr/th/text()")[0] == "甲（订阅源）", "named as on the monitor"
    assert "opened" in document.xpath("string(//ol[@class='log'])")
    assert "geheim" not in page
    english = editor.get("/runs/20260520-100000-5f1c0a2b-rss", headers={"accept-language": "en"}).text
    assert "Of 1 fetched page, 1 was an article (100.0%).\n  100.0% of 1 new link became an article." in english
    assert "New stories: 1; folded into a story: 0; known already: 0." in english
    assert "rss 5f1c0a2b" in editor.get("/monitor/system?file=5f1c0a2b").text
    lines = editor.get("/api/v1/runs/20260520-100000-5f1c0a2b-rss/log").json()
    assert [(line["level"], "opened" in line["text"]) for line in lines] == [("INFO", True)]
    assert editor.get("/api/v1/runs/20260520-100000-5f1c0a2b-rss/log?level=ERROR").json() == []
    other = next(run.id for run in store.runs(10) if "5f1c0a2b" not in run.id)
    assert 'class="log"' not in editor.get(f"/runs/{other}").text
    assert editor.get(f"/api/v1/runs/{other}/log").json()["error"]["code"] == "no-log"


def test_running_crawls_are_shown_with_rates(serve: Any, store: Store, index: Any, settings: Sources, newsroom: ModuleType) -> None:
    start = newsroom.NOW - timedelta(minutes=4)
    report = (SourceReport("feed:甲", fetched=50, stored=30, failed={"timeout": 2}, list_failed={"dns": 1}),)
    store.save_run(Run("20260520-100000-aaaa0001-hub", start, spiders=("hub",), sources=report))
    store.save_run(Run("20260510-100000-aaaa0002-hub", start - timedelta(days=3), spiders=("hub",)))  # crashed without ending its report
    state = Queues("queue.db", (QueueRow("hub", 7, 0, 1, 0, 1),), aside=(AsideRow("hub", "f00", "https://a.example/", "died", start),))
    client = serve(store, index, settings, role="editor", queues=lambda: state)
    text = client.get("/monitor/crawls").text
    assert "feed:甲" not in text  # sources are shown by their display names
    assert "甲（订阅源）" in text
    rows = lxml_html.document_fromstring(text).xpath("//tr[@data-run]")
    assert [[cell.text_content() for cell in row[1:]] for row in rows] == [["hub", "50", "12.5", "30", "3"]]
    (data,) = client.get("/api/v1/monitor/running").json()
    assert (data["fetched"], data["pages_per_minute"]) == (50, 12.5)
    queues = client.get("/api/v1/monitor/queues").json()
    assert (queues["queues"][0]["waiting"], queues["aside"][0]["reason"]) == (7, "died")
    machine = client.get("/api/v1/monitor/machine").json()
    assert machine["load"] >= 0
    assert machine["memory_children"] >= 0
    assert serve(store, index, settings, role="editor").get("/api/v1/monitor/queues").status_code == 404


def test_requests_set_aside_are_retried_or_dropped(serve: Any, store: Store, settings: Sources) -> None:
    requested: list[str] = []

    def settle(action: str) -> int:
        requested.append(action)
        if len(requested) > 2:
            raise FrontierUnavailable("it is away")
        return 3

    row = AsideRow("hub", "f00", "https://a.example/", "died", datetime(2026, 5, 20, tzinfo=UTC))
    options = {"queues": lambda: Queues("queue.db", (QueueRow("hub", 0, 0, 0, 1, 0),), aside=(row,)), "settle": settle}
    client = serve(store, None, settings, role="editor", **options)
    (form,) = lxml_html.document_fromstring(client.get("/monitor/queues").text).xpath("//form[@action='/monitor/aside']")
    assert [button.get("value") for button in form.xpath(".//button")] == ["again", "drop"]
    assert client.post("/monitor/aside", data={"action": "again"}).status_code == 303
    assert "3 个请求已重新排队" in client.get("/monitor/queues").text
    assert client.post("/api/v1/monitor/aside", json={"action": "drop"}).json() == {"requests": 3}
    assert client.accounts.audit_log.entries()[0].action == "queue.drop"
    assert client.post("/monitor/aside", data={"action": "burn"}).status_code == 400
    client.post("/monitor/aside", data={"action": "drop"})
    assert "it is away" in client.get("/monitor/queues").text
    assert client.post("/api/v1/monitor/aside", json={"action": "drop"}).status_code == 503
    assert requested == ["again", "drop", "drop", "drop"]
    assert serve(store, None, settings, role="editor").post("/monitor/aside", data={"action": "drop"}).status_code == 404


def test_only_log_files_are_readable(editor: httpx.Client, folder: Path) -> None:
    """Path traversal (threat group F)."""
    jobs = folder / "jobs"
    jobs.mkdir(exist_ok=True)
    (jobs / "a1.log").write_text("2026-05-20 10:00:00 [scrapy.core] ERROR: crawl failed\nTraceback: more\n", "utf-8")
    assert "crawl failed" in editor.get("/monitor/log?file=a1").text
    for name in ("../store.db", "/etc/passwd", "..%2f..%2fetc%2fpasswd", "a1.log"):
        assert "crawl failed" not in editor.get("/monitor/log", params={"file": name}).text
        assert "root:" not in editor.get("/monitor/log", params={"file": name}).text


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me:geheim-1@db/x",
        "Authorization: Bearer geheim-1-and-more",
        "{'Cookie': 'session=geheim-1'}",
        "POST https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=geheim-1",
        "https://open.feishu.cn/open-apis/bot/v2/hook/geheim-1-2-3",
        "https://api.telegram.org/bot12345678:geheim-1-2-3-4-5/sendMessage",
        "password='geheim-1'",
        "token np_geheim-1-2-3-4",
    ],
)
def test_secrets_are_redacted(text: str) -> None:
    assert "geheim-1" not in redact(text)


def test_log_buffer_is_bounded_and_has_one_line_per_record() -> None:
    ring = LogBuffer(5)
    logger = logging.Logger("x")
    logger.addHandler(ring)
    for number in range(20):
        logger.warning("line %d", number)
    logger.error("broken %s", exc_info=ValueError("inside\nout"))
    lines = ring.lines()
    assert len(lines) == 5
    assert lines[-1].text == "broken %s (ValueError: inside out)"
    assert [line.text for line in find_lines(lines, "ERROR", None, 10)] == [lines[-1].text]


def test_tail_of_large_log(tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    file.write_text("".join(f"2026-05-20 10:00:00 [scrapy] INFO: line {number}\n" for number in range(20_000)), "utf-8")
    lines = read_tail(file, 3)
    assert [line.text for line in lines] == ["line 19997", "line 19998", "line 19999"]


def test_monitor_pages_link_to_each_other(editor: httpx.Client) -> None:
    pages = ["/monitor", "/monitor/crawls", "/monitor/failures", "/monitor/reading", "/monitor/system"]
    for page in pages:
        document = lxml_html.document_fromstring(editor.get(page).text)
        links = document.xpath("//nav[@aria-label='监控']/a/@href")
        assert links[: len(pages)] == pages
        (current,) = document.xpath("//nav[@aria-label='监控']/a[@aria-current]")
        assert current.get("href") == page
        assert current.text == document.xpath("string(//h1)")
    assert "captcha" not in editor.get("/monitor").text, "failures have their own page"
