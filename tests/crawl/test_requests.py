"""Requests are serialised and restored; unserialisable and foreign ones are refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import FormRequest, Request, Spider
from scrapy.crawler import Crawler
from scrapy.spidermiddlewares.start import StartSpiderMiddleware
from scrapy.utils.request import RequestFingerprinter
from scrapy.utils.test import get_crawler

from newsportal.crawl.leases import LEASE, PARENT
from newsportal.crawl.queues.base import Task
from newsportal.crawl.requests import DupeFilter, UnreadableTask, UnserializableRequest, id_of, request_of, task_of
from newsportal.errors import FrontierRefused
from newsportal.extractors.forum.kinds import Listed
from newsportal.items import Link

LINK = Link("http://a.example/1", "feed:甲", "标题 \ud800", published=datetime(2024, 5, 1, tzinfo=UTC), identity="a.example/1")
LISTED = Listed("http://b.example/t/1", "b.example#1", "主题", replies=3, last=datetime(2024, 5, 1, tzinfo=UTC), sticky=True)


class KnownSource:
    """A source as spiders use them."""


SOURCE = KnownSource()


class Reads(Spider):
    name = "reads"
    title = "no method"

    def read(self, response: Any, **kwargs: Any) -> None: ...

    def failed(self, failure: Any) -> None: ...

    def reference_to(self, value: object) -> tuple[str, str] | None:
        return ("source", "feed:甲") if value is SOURCE else None

    def resolve_reference(self, kind: str, name: str) -> object:
        return {"feed:甲": SOURCE}[name]


@pytest.fixture(scope="module")
def spider() -> Reads:
    return Reads()


def round_trip(request: Request, spider: Spider) -> Request:
    return request_of(task_of(request, spider), spider)


def test_request_round_trip(spider: Reads) -> None:
    meta: dict[Any, Any] = {"depth": 2, "lane": "region:甲", "many": (1, {"x": None}), 5: "five", "$": "dollar"}
    request = Request(
        "http://a.example/?q=%E4%BD%A0",
        spider.read,
        method="POST",
        headers={"Accept": ["text/html", "*/*"], "If-None-Match": '"1"'},
        body=b"\xff\x00",
        cookies={"a": "b"},
        meta=meta,
        encoding="gb18030",
        priority=7,
        dont_filter=True,
        errback=spider.failed,
        flags=["seen"],
        cb_kwargs={"link": LINK, "listed": LISTED, "source": SOURCE, "read": spider.read, "page": 2},
    )
    found = round_trip(request, spider)
    for name in ("url", "method", "headers", "body", "cookies", "meta", "encoding", "priority", "dont_filter", "flags", "cb_kwargs"):
        assert getattr(found, name) == getattr(request, name), name
    assert (found.callback, found.errback) == (spider.read, spider.failed)
    assert found.cb_kwargs["source"] is SOURCE


def test_form_request_round_trip(spider: Reads) -> None:
    found = round_trip(FormRequest("http://a.example/", formdata={"q": "新闻"}, callback=spider.read), spider)
    assert (found.method, found.body) == ("POST", b"q=%E6%96%B0%E9%97%BB")
    assert found.headers[b"Content-Type"] == b"application/x-www-form-urlencoded"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text() | st.binary() | st.just(LINK),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.just("$"), inner)
        | st.dictionaries(st.integers(), inner)
    ),
    max_leaves=10,
)


@given(value=VALUES)
def test_any_value_round_trips(value: Any) -> None:
    spider = Reads()
    assert round_trip(Request("http://a.example/", spider.read, cb_kwargs={"value": value}), spider).cb_kwargs == {"value": value}


@pytest.mark.parametrize(
    "options",
    [
        {"callback": lambda response: None},
        {"callback": print},
        {"meta": {"item": object()}},
        {"cb_kwargs": {"page": float("nan")}},
        {"cb_kwargs": {"link": KnownSource()}},
    ],
)
def test_unserialisable_request_is_refused(spider: Reads, options: dict[str, Any]) -> None:
    with pytest.raises(UnserializableRequest):
        task_of(Request("http://a.example/", **options), spider)


@pytest.mark.parametrize(
    "body",
    [
        "no JSON",
        "[]",
        "{}",
        '{"url": "nowhere"}',
        '{"url": 5}',
        '{"url": "http://a.example/", "callback": "title"}',
        '{"url": "http://a.example/", "callback": "missing"}',
        '{"url": "http://a.example/", "callback": "__init__"}',
        '{"url": "http://a.example/", "callback": "crawler.stop"}',
        '{"url": "http://a.example/", "command": "rm"}',
        '{"url": "http://a.example/", "meta": []}',
        '{"url": "http://a.example/", "cb_kwargs": {"link": {"$": "Link", "url": 5, "source": "feed:甲"}}}',
        '{"url": "http://a.example/", "cb_kwargs": {"link": {"$": "Link", "url": "http://a.example/"}}}',
        '{"url": "http://a.example/", "cb_kwargs": {"link": {"$": "Link", "url": "http://a.example/", "source": "x", "more": 1}}}',
        '{"url": "http://a.example/", "cb_kwargs": {"link": {"$": "Popen", "of": "ls"}}}',
        '{"url": "http://a.example/", "cb_kwargs": {"at": {"$": "time", "of": "2024-05-01T00:00:00"}}}',
        '{"url": "http://a.example/", "cb_kwargs": {"source": {"$": "named", "of": ["source", "feed:gone"]}}}',
        "[" * 100_000,
    ],
)
def test_invalid_task_is_refused(spider: Reads, body: str) -> None:
    with pytest.raises(UnreadableTask, match="task 7"):
        request_of(Task("7", "a.example", body), spider)


def test_resumed_link_has_the_same_task_id(spider: Reads) -> None:
    marks = StartSpiderMiddleware(Crawler(Reads))
    taken_up = marks.get_processed_request(Request(LINK.url, spider.read, cb_kwargs={"link": LINK}), None)
    assert taken_up is not None
    assert taken_up.meta, "Scrapy marks the requests of start()"
    listing = Request(LINK.url, spider.read, cb_kwargs={"link": LINK}, meta={"depth": 1})
    assert task_of(taken_up, spider).id == task_of(listing, spider).id


def test_task_id_depends_on_the_request_only(spider: Reads) -> None:
    def name(**options: Any) -> str:
        return task_of(Request(options.pop("url", LINK.url), options.pop("callback", spider.read), **options), spider).id

    same = name()
    assert name(meta={"depth": 3, "source": "feed:乙"}, headers={"If-None-Match": "1"}, priority=5) == same
    different = [
        name(callback=spider.failed),
        name(cb_kwargs={"page": 2}),
        name(url="http://a.example/2"),
        name(method="POST"),
        name(meta={"variant": 2}),
    ]
    assert len({same, *different}) == 6


def test_task_id_of_a_link_is_independent_of_its_request(spider: Reads) -> None:
    def task(link: Link, **options: Any) -> Task:
        return task_of(Request(options.pop("url", LINK.url), spider.read, cb_kwargs={"link": link}, **options), spider, "seen")

    other = Link(LINK.url, LINK.source, "another title", identity=LINK.identity)
    assert task(other, url="http://a.example/2", meta={"variant": 2}).id == task(LINK).id == id_of(LINK)
    assert (task(LINK).link, task(LINK).fingerprint) == (True, None)
    assert task(Link(LINK.url, LINK.source, identity="a.example/1#2")).id != id_of(LINK)


def test_task_has_the_fields_of_the_queue(spider: Reads) -> None:
    meta = {"lane": "region:甲", "not_before": 5.0, "source": "region:甲", LEASE: "1", PARENT: "2", "download_slot": "x"}
    task = task_of(Request("http://A.example:8080/x", spider.read, meta=meta, priority=3), spider, "seen")
    assert (task.host, task.priority, task.at, task.lane, task.source, task.fingerprint) == (
        "a.example",
        3,
        5.0,
        "region:甲",
        "region:甲",
        "seen",
    )
    assert json.loads(task.body)["meta"] == {"source": "region:甲"}


class AllPages(DupeFilter):
    """A project's filter that refuses nothing."""

    def seen_name(self, request: Request) -> str | None:
        return None


def test_settings_select_the_dupe_filter() -> None:
    def name_by(filter_class: str | None) -> str | None:
        crawler = get_crawler(settings_dict={"SCHEDULER_DUPEFILTER_CLASS": filter_class})
        crawler.request_fingerprinter = RequestFingerprinter(crawler)
        return DupeFilter.from_crawler(crawler).seen_name(Request("https://a.example/"))

    assert name_by(None) == name_by("scrapy_redis.dupefilter.RFPDupeFilter") is not None
    assert name_by(f"{AllPages.__module__}.AllPages") is None
    with pytest.raises(FrontierRefused, match=r"name a subclass of newsportal.*DupeFilter"):
        name_by("collections.deque")
