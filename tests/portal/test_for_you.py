"""Recommendations (为你推荐): offered to every reader with a reason, and counted for readers who allow it."""

from __future__ import annotations

import json
from datetime import timedelta
from functools import partial
from types import ModuleType

import httpx
import pytest
from lxml import html as lxml_html

from newsportal.errors import StoreUnavailable
from newsportal.portal import context
from newsportal.portal.language import translations
from newsportal.portal.reading.for_you import BECAUSE, REASONS, reason_text
from newsportal.portal.ttl_cache import TtlCache
from newsportal.recommend.base import Recommendation, View
from newsportal.services.recommending.parts import fit
from newsportal.store.store import Store

SAME_ORIGIN = {"sec-fetch-site": "same-origin", "content-type": "application/json"}
PERSON = {"user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}


@pytest.fixture
def reader(serve, own_store: Store) -> httpx.Client:
    client = serve(own_store)
    client.headers.update(PERSON)
    return client


def record_view(client: httpx.Client, article: str, places: list[int]) -> None:
    assert client.post("/seen", content=json.dumps({"article": article, "places": places}), headers=SAME_ORIGIN).status_code == 204


def items(client: httpx.Client, path: str = "/for-you", xpath: str = "//div[@class='ranked']") -> list[tuple[str, str]]:
    """Return URL and reason of each recommendation."""
    page = lxml_html.document_fromstring(client.get(path).text)
    return [
        (item.xpath(".//h2/a/@href | .//h3/a/@href")[0], " ".join(item.xpath("string(.//p[@class='reason'])").split()))
        for item in page.xpath(f"{xpath}//article")
    ]


def test_new_reader_gets_recommendations(reader: httpx.Client, own_store: Store) -> None:
    found = items(reader)
    assert 10 <= len(found) == len(set(found)) <= 30
    assert all(reason for _, reason in found)
    assert "还没有您的阅读记录" in reader.get("/for-you").text
    assert list(own_store.readers.views()) == []
    assert all(reader.get(address).status_code == 200 for address, _ in found[:3])


def test_seen_stories_are_excluded_and_used_for_reasons(reader: httpx.Client, own_store: Store, newsroom: ModuleType) -> None:
    """Ten readers viewed one story after two that this reader has seen."""
    seen = [own_store.ids["album-bridge"], own_store.ids["album-more-0"]]
    views = [
        View(f"{number:032x}", story, 3, 3, newsroom.NOW - timedelta(hours=1, minutes=number))
        for number in range(10)
        for story in (*seen, own_store.ids["album-more-1"])
    ]
    own_store.readers.import_views(views, now=newsroom.NOW)
    fit(own_store, newsroom.NOW)
    for story in seen:
        record_view(reader, story, list(range(1, 10)))
    found = items(reader)
    assert found
    assert not {f"/story/{story}" for story in seen} & {address for address, _ in found}
    assert "根据您在这里看过的内容挑选" in reader.get("/for-you").text
    reasons = dict(found)
    assert reasons[f"/story/{own_store.ids['album-more-1']}"].startswith("因为您看过《")


def test_offers_are_counted_daily_with_opened_stories(serve, reader: httpx.Client, own_store: Store) -> None:
    record_view(reader, own_store.ids["album-bridge"], [1, 2])
    for _ in range(3):
        found = items(reader)
    (month,) = own_store.readers.months(alpha=0.532)
    assert len(found) <= month.offered <= len(found) + 5
    story = found[0][0].removeprefix("/story/")
    record_view(reader, story, list(range(1, 20)))
    (month,) = own_store.readers.months(alpha=0.532)
    assert (month.opened, month.liked) == (1, 1)
    text = serve(own_store, role="editor").get("/monitor/reading").text
    assert "2026-05" in text
    assert "至少看过 53.2%" in text


@pytest.mark.parametrize("headers", [{"dnt": "1"}, {"sec-gpc": "1"}, {"cookie": "profile=off"}, {"sec-purpose": "prefetch"}])
def test_readers_who_opt_out_are_not_counted(reader: httpx.Client, own_store: Store, headers: dict[str, str]) -> None:
    record_view(reader, own_store.ids["album-bridge"], [1, 2])
    cookie = f"; reader={reader.cookies['reader']}"
    headers = {**headers, "cookie": headers["cookie"] + cookie if "cookie" in headers else cookie[2:]}
    assert reader.get("/for-you", headers=headers).status_code == 200
    (month,) = own_store.readers.months(alpha=0.532)
    assert month.offered == 0


def test_front_page_and_stories_recommend_to_known_readers(reader: httpx.Client, own_store: Store) -> None:
    for path in ("/", f"/story/{own_store.ids['bridge']}"):
        assert "for-you-name" not in reader.get(path).text
        assert "further-name" not in reader.get(path).text
    record_view(reader, own_store.ids["album-bridge"], [1, 2, 3])
    assert len(items(reader, "/", "//section[contains(@class, 'front-row')]")) == 4
    for story in ("bridge", "album-broken"):
        found = items(reader, f"/story/{own_store.ids[story]}", "//section[contains(@class, 'further')]")
        assert len(found) == 3
        assert f"/story/{own_store.ids[story]}" not in dict(found)


def test_pages_work_when_recommendation_fails(serve, own_store: Store) -> None:
    class Busy:
        def __getattr__(self, name: str) -> object:
            return getattr(own_store, name) if name != "readers" else self

        def fit(self, **_: object) -> None:
            raise StoreUnavailable("locked")

        def history(self, *_: object, **__: object) -> None:
            raise StoreUnavailable("locked")

    client = serve(Busy())
    client.headers.update(PERSON)
    cookies = {"cookie": f"reader={'0' * 32}"}
    assert client.get("/", headers=cookies).status_code == 200
    assert client.get(f"/story/{own_store.ids['bridge']}", headers=cookies).status_code == 200
    assert client.get("/for-you", headers=cookies).status_code == 503


def test_monthly_figures_are_cached_for_a_minute(serve, own_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(context, "TtlCache", partial(TtlCache, clock=lambda: clock[0]))
    client = serve(own_store, role="editor")
    client.headers.update(PERSON)
    assert 'data-month="2026-05"' not in client.get("/monitor/reading").text
    record_view(client, own_store.ids["album-bridge"], [1])
    assert 'data-month="2026-05"' not in client.get("/monitor/reading").text
    clock[0] = 61.0
    assert 'data-month="2026-05"' in client.get("/monitor/reading").text


def test_reasons_are_translated(own_store: Store) -> None:
    story = own_store.story(own_store.ids["album-bridge"])
    for language in ("zh", "en"):
        words = translations(language)
        reasons = {slug: reason_text(Recommendation("x", 1.0, slug), None, words) for slug in REASONS}
        assert len(set(reasons.values())) == len(REASONS)
        for slug in (*REASONS, *BECAUSE):
            assert "云岭峡谷" in reason_text(Recommendation("x", 1.0, slug, story.id), story, words)
    assert reason_text(Recommendation("x", 1.0, "something-else"), None, translations("zh")) == "something-else"


def test_empty_portal_has_no_recommendations(serve, fresh: Store) -> None:
    text = serve(fresh).get("/for-you").text
    assert "还没有报道" in text
    assert "您都看过了" not in text


def test_empty_monitor_names_the_command(serve, fresh: Store) -> None:
    text = serve(fresh, role="editor").get("/monitor/reading").text
    assert "newsportal recommend fit" in text
    assert "<table" not in text


def test_monitor_shows_months_and_training(serve, own_store: Store, newsroom: ModuleType) -> None:
    days = (100, 70, 69, 40, 10, 9, 8)
    views = [
        View(f"{number:032x}", own_store.ids["album-bridge"], 3, 9, newsroom.NOW - timedelta(days=age)) for number, age in enumerate(days)
    ]
    own_store.readers.import_views(views, now=newsroom.NOW)
    model = fit(own_store, newsroom.NOW)
    client = serve(own_store, role="editor")
    page = lxml_html.document_fromstring(client.get("/monitor/reading").text)
    rows = {row.get("data-month"): row.get("data-views") for row in page.xpath("//tr[@data-month]")}
    assert rows == {"2026-02": "1", "2026-03": "2", "2026-04": "1", "2026-05": "3"}
    facts = page.xpath("string(//dl[@class='facts'])")
    assert f"算作喜欢的浏览比例{model.facts['alpha']:.1%}" in " ".join(facts.split())
    assert not set("αλ") & set(facts), "parameters have descriptive labels"
    assert facts.index("用于训练的点击数") < facts.index("读者") < facts.index("计算方式")
    assert "uPlot" in client.get("/monitor/reading").text
    assert "uPlot" not in client.get("/runs").text
