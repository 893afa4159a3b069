"""Articles converted to the Chinese script chosen by the reader."""

from __future__ import annotations

import httpx
import pytest
from lxml import html as lxml_html

from newsportal.store.store import Store


def choose(client: httpx.Client, path: str, script: str) -> str:
    return client.get(path, headers={"cookie": f"script={script}"}).text


def test_story_text_is_converted_but_not_urls(client: httpx.Client, ids: dict[str, str]) -> None:
    path = f"/story/{ids['bridge']}"
    original, converted = choose(client, path, "original"), choose(client, path, "traditional")
    page = lxml_html.document_fromstring(converted)
    assert page.xpath("string(//h1)") == "雲嶺峽谷步行觀景橋今日開放，首日八千張門票全部約滿"
    assert "橫跨雲嶺峽谷" in page.xpath("string(//div[@class='body'])")
    assert "清晨的雲嶺峽谷步行觀景橋" in page.xpath("string(//figcaption)")
    assert page.xpath("//article/@lang") == ["zh-Hant"]
    assert page.xpath("//nav[@class='topics']//a")[0].text_content() == "首页"  # the interface is not converted
    before = lxml_html.document_fromstring(original)
    assert page.xpath("//@href") == before.xpath("//@href")
    assert page.xpath("//@src") == before.xpath("//@src")
    assert choose(client, path, "simplified").count("峡谷") == original.count("峡谷")


def test_lists_and_search_hits_are_converted(client: httpx.Client) -> None:
    assert "雲嶺峽谷" in choose(client, "/topic/旅游", "traditional")
    hits = lxml_html.document_fromstring(choose(client, "/search?q=峡谷", "traditional"))
    assert "峽谷" in hits.xpath("//article//mark/text()")
    assert hits.xpath("//input[@id='query']/@value") == ["峡谷"]


@pytest.mark.parametrize(("language", "expected"), [("ja", "国会"), ("zh", "國會"), (None, "國會")])
def test_other_languages_are_not_converted(fresh: Store, serve, newsroom, language: str | None, expected: str) -> None:
    newsroom.write(fresh, newsroom.article("国会", "国会" * 60, language=language))
    page = lxml_html.document_fromstring(choose(serve(fresh), "/latest", "traditional"))
    [link] = page.xpath("//*[contains(@class, 'headline')]/a")
    assert link.text == expected
    assert link.get("lang") == ("ja" if language == "ja" else "zh-Hant")


def test_chosen_script_is_stored_in_a_cookie(client: httpx.Client) -> None:
    answer = client.get("/settings?script=traditional&next=/latest")
    assert answer.headers["location"] == "/latest"
    assert "script=traditional" in answer.headers["set-cookie"]
    assert "set-cookie" not in client.get("/settings?script=klingon").headers
