"""为你推荐: every reader gets an answer, with the reason why; what was offered is kept of those who want it."""

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
from newsportal.portal.reading.for_you import BECAUSE, WHY, reason_text
from newsportal.portal.ttl_cache import TtlCache
from newsportal.recommend.base import Recommendation, View
from newsportal.services.recommending.parts import fit
from newsportal.store.store import Store

OWN = {"sec-fetch-site": "same-origin", "content-type": "application/json"}
PERSON = {"user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}


@pytest.fixture
def reader(serve, shelf: Store) -> httpx.Client:
    client = serve(shelf)
    client.headers.update(PERSON)
    return client


def look(client: httpx.Client, article: str, places: list[int]) -> None:
    assert client.post("/seen", content=json.dumps({"article": article, "places": places}), headers=OWN).status_code == 204


def items(client: httpx.Client, path: str = "/for-you", where: str = "//div[@class='ranked']") -> list[tuple[str, str]]:
    """Address and reason of what is recommended."""
    page = lxml_html.document_fromstring(client.get(path).text)
    return [
        (item.xpath(".//h2/a/@href | .//h3/a/@href")[0], " ".join(item.xpath("string(.//p[@class='because'])").split()))
        for item in page.xpath(f"{where}//article")
    ]


def test_a_new_reader_gets_a_sensible_page(reader: httpx.Client, shelf: Store) -> None:
    found = items(reader)
    assert 10 <= len(found) == len(set(found)) <= 30
    assert all(reason for _, reason in found)
    assert "还没有您的阅读记录" in reader.get("/for-you").text
    assert list(shelf.readers.views()) == []
    assert all(reader.get(address).status_code == 200 for address, _ in found[:3])


def test_what_was_seen_is_not_recommended_and_speaks_for_others(reader: httpx.Client, shelf: Store, newsroom: ModuleType) -> None:
    """Ten readers looked at one story after two that this reader knows."""
    seen = [shelf.made["album-bridge"], shelf.made["album-more-0"]]
    views = [
        View(f"{number:032x}", story, 3, 3, newsroom.NOW - timedelta(hours=1, minutes=number))
        for number in range(10)
        for story in (*seen, shelf.made["album-more-1"])
    ]
    shelf.readers.bring(views, now=newsroom.NOW)
    fit(shelf, newsroom.NOW)
    for story in seen:
        look(reader, story, list(range(1, 10)))
    found = items(reader)
    assert found
    assert not {f"/story/{story}" for story in seen} & {address for address, _ in found}
    assert "根据您在这里看过的内容挑选" in reader.get("/for-you").text
    reasons = dict(found)
    assert reasons[f"/story/{shelf.made['album-more-1']}"].startswith("因为您看过《")


def test_what_was_offered_is_counted_once_a_day_and_what_was_opened_of_it(serve, reader: httpx.Client, shelf: Store) -> None:
    look(reader, shelf.made["album-bridge"], [1, 2])
    for _ in range(3):
        found = items(reader)
    (month,) = shelf.readers.months(alpha=0.532)
    assert len(found) <= month.offered <= len(found) + 5
    story = found[0][0].removeprefix("/story/")
    look(reader, story, list(range(1, 20)))
    (month,) = shelf.readers.months(alpha=0.532)
    assert (month.opened, month.liked) == (1, 1)
    text = serve(shelf, role="editor").get("/monitor/reading").text
    assert "2026-05" in text
    assert "至少看过 53.2%" in text


@pytest.mark.parametrize("headers", [{"dnt": "1"}, {"sec-gpc": "1"}, {"cookie": "profile=off"}, {"sec-purpose": "prefetch"}])
def test_nothing_is_counted_of_one_who_does_not_want_it(reader: httpx.Client, shelf: Store, headers: dict[str, str]) -> None:
    look(reader, shelf.made["album-bridge"], [1, 2])
    kept = f"; reader={reader.cookies['reader']}"
    headers = {**headers, "cookie": headers["cookie"] + kept if "cookie" in headers else kept[2:]}
    assert reader.get("/for-you", headers=headers).status_code == 200
    (month,) = shelf.readers.months(alpha=0.532)
    assert month.offered == 0


def test_front_page_and_stories_recommend_to_those_who_have_read(reader: httpx.Client, shelf: Store) -> None:
    for path in ("/", f"/story/{shelf.made['bridge']}"):
        assert "for-you-name" not in reader.get(path).text
        assert "further-name" not in reader.get(path).text
    look(reader, shelf.made["album-bridge"], [1, 2, 3])
    assert len(items(reader, "/", "//section[contains(@class, 'chosen-for')]")) == 4
    for story in ("bridge", "album-broken"):
        found = items(reader, f"/story/{shelf.made[story]}", "//section[contains(@class, 'further')]")
        assert len(found) == 3
        assert f"/story/{shelf.made[story]}" not in dict(found)


def test_pages_stand_when_nothing_can_be_recommended(serve, shelf: Store) -> None:
    class Busy:
        def __getattr__(self, name: str) -> object:
            return getattr(shelf, name) if name != "readers" else self

        def fit(self, **_: object) -> None:
            raise StoreUnavailable("locked")

        def history(self, *_: object, **__: object) -> None:
            raise StoreUnavailable("locked")

    client = serve(Busy())
    client.headers.update(PERSON)
    cookies = {"cookie": f"reader={'0' * 32}"}
    assert client.get("/", headers=cookies).status_code == 200
    assert client.get(f"/story/{shelf.made['bridge']}", headers=cookies).status_code == 200
    assert client.get("/for-you", headers=cookies).status_code == 503


def test_months_are_counted_once_a_minute(serve, shelf: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(context, "TtlCache", partial(TtlCache, clock=lambda: clock[0]))
    client = serve(shelf, role="editor")
    client.headers.update(PERSON)
    assert 'data-month="2026-05"' not in client.get("/monitor/reading").text
    look(client, shelf.made["album-bridge"], [1])
    assert 'data-month="2026-05"' not in client.get("/monitor/reading").text
    clock[0] = 61.0
    assert 'data-month="2026-05"' in client.get("/monitor/reading").text


def test_every_reason_has_words_in_every_language(shelf: Store) -> None:
    story = shelf.story(shelf.made["album-bridge"])
    for language in ("zh", "en"):
        words = translations(language)
        told = {slug: reason_text(Recommendation("x", 1.0, slug), None, words) for slug in WHY}
        assert len(set(told.values())) == len(WHY)
        for slug in (*WHY, *BECAUSE):
            assert "云岭峡谷" in reason_text(Recommendation("x", 1.0, slug, story.id), story, words)
    assert reason_text(Recommendation("x", 1.0, "something-else"), None, translations("zh")) == "something-else"


def test_a_portal_without_stories_says_so(serve, fresh: Store) -> None:
    assert "暂时没有可推荐的" in serve(fresh).get("/for-you").text


def test_an_empty_monitor_says_what_to_do(serve, fresh: Store) -> None:
    text = serve(fresh, role="editor").get("/monitor/reading").text
    assert "newsportal recommend fit" in text
    assert "<table" not in text


def test_the_monitor_tells_months_and_what_was_learnt(serve, shelf: Store, newsroom: ModuleType) -> None:
    days = (100, 70, 69, 40, 10, 9, 8)
    views = [
        View(f"{number:032x}", shelf.made["album-bridge"], 3, 9, newsroom.NOW - timedelta(days=ago)) for number, ago in enumerate(days)
    ]
    shelf.readers.bring(views, now=newsroom.NOW)
    made = fit(shelf, newsroom.NOW)
    client = serve(shelf, role="editor")
    page = lxml_html.document_fromstring(client.get("/monitor/reading").text)
    rows = {row.get("data-month"): row.get("data-views") for row in page.xpath("//tr[@data-month]")}
    assert rows == {"2026-02": "1", "2026-03": "2", "2026-04": "1", "2026-05": "3"}
    facts = page.xpath("string(//dl[@class='facts'])")
    assert f"看过多少算喜欢{made.facts['alpha']:.1%}" in " ".join(facts.split())
    assert not set("αλ") & set(facts), "in words"
    assert facts.index("学习的点击数") < facts.index("读者") < facts.index("计算方式")
    assert "uPlot" in client.get("/monitor/reading").text
    assert "uPlot" not in client.get("/runs").text
