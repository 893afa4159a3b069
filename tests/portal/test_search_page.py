"""The search page."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from lxml import html as lxml_html

from newsportal.errors import SearchError
from newsportal.store.store import Store


def page_of(client: httpx.Client, **parameters: object) -> lxml_html.HtmlElement:
    answer = client.get("/search", params=parameters)  # type: ignore[arg-type]
    assert answer.status_code == 200
    return lxml_html.document_fromstring(answer.text)


def titles(page: lxml_html.HtmlElement) -> list[str]:
    return [node.text_content().strip()[:4] for node in page.xpath("//article//h2")]


@pytest.mark.parametrize(
    ("query", "first"), [("峡谷", "云岭峡谷"), ("桥", "云岭峡谷"), ("固态电池", "固态电池"), ("audit", "Open"), ("標準", "二手电动")]
)
def test_words_of_any_length_are_found_and_marked(client: httpx.Client, query: str, first: str) -> None:
    page = page_of(client, q=query)
    assert titles(page)[0] == first
    assert page.xpath("//article//mark")


def test_filters_are_removable_links(client: httpx.Client) -> None:
    page = page_of(client, q="旅游 OR 大模型 读片 机器人", topic="人工智能")
    assert page.xpath("//a[@class='chip']/@href")
    assert "topic" not in page.xpath("//a[@class='chip']/@href")[0]
    current = page.xpath("//aside//a[@aria-current]")
    assert [node.text_content() for node in current] == ["不限时间", "人工智能", "同一报道合并"]


def test_time_filter(client: httpx.Client) -> None:
    assert titles(page_of(client, q="古籍")) == ["古籍修复"]
    assert titles(page_of(client, q="古籍", when="day")) == []
    assert titles(page_of(client, q="古籍", when="week")) == ["古籍修复"]
    assert titles(page_of(client, q="古籍", when="sometime")) == ["古籍修复"]


def test_day_facet_counts_match_the_filter(client: httpx.Client) -> None:
    page = page_of(client, q="的")
    days = page.xpath("//aside//a[contains(@href, 'day=')]")
    assert days
    names = [day.text_content() for day in days]
    assert names == sorted(names, reverse=True)
    count = int(days[-1].xpath("string(following-sibling::span)"))
    narrowed = page_of(client, q="的", day=names[-1])
    assert len(titles(narrowed)) == count
    assert names[-1] in narrowed.xpath("string(//a[@class='chip'])")
    assert titles(page_of(client, q="的", day="2026-02-31")) == titles(page)


def test_date_range_filter(client: httpx.Client) -> None:
    every = titles(page_of(client, q="的"))
    form = page_of(client, q="的", topic="旅游", until="2026-05-19").xpath("//form[@class='date-range']")[0]
    assert {field.get("name"): field.get("value") for field in form.xpath(".//input")} == {
        "q": "的",
        "topic": "旅游",
        "since": "",
        "until": "2026-05-19",
    }
    old, new = titles(page_of(client, q="的", until="2026-05-19")), titles(page_of(client, q="的", since="2026-05-20"))
    assert old
    assert new
    assert not set(old) & set(new)
    assert {*old, *new} == set(every)
    assert titles(page_of(client, q="的", since="2026-02-31", until="yesterday")) == every


def test_words_that_look_like_a_date_but_are_none_are_reported(client: httpx.Client) -> None:
    for text in ("since:2026-13-45", "至:2026-02-30", "before:13"):
        notice = page_of(client, q=f"古籍 {text}").xpath("string(//p[@class='notice'])")
        assert f"「{text}」不是有效日期" in notice
    for text in ("since:2026-03", "to:Paris", "比分:2026-13", "-since:2026"):
        assert "不是有效日期" not in page_of(client, q=f"古籍 {text}").text_content()


def test_filters_without_words_list_newest_first(client: httpx.Client) -> None:
    page = page_of(client, topic="旅游", sort="relevance")
    moments = page.xpath("//article//time/@datetime")
    assert len(moments) == 5
    assert moments == sorted(moments, reverse=True)
    assert "怎样搜索" not in page.text_content()
    assert titles(page_of(client, kind="thread")) == []


def test_versions_are_folded_or_listed_separately(client: httpx.Client) -> None:
    assert len(titles(page_of(client, q="步行观景桥"))) == 1
    page = page_of(client, q="步行观景桥", folds="open")
    assert len(titles(page)) == 5
    assert page.xpath("//form[@class='search-large']//input[@name='folds']/@value") == ["open"]
    current = page.xpath("//aside/section[last()]//a[@aria-current]")
    assert [node.text for node in current] == ["逐篇列出"]


def test_kind_filter_is_offered_with_several_kinds(serve, own_store: Store, tmp_path: Path) -> None:
    from newsportal.search import open_index

    index = open_index(f"sqlite:///{tmp_path / 'index.db'}")
    index.follow(own_store)
    client = serve(own_store, index)
    found = {kind: set(page_of(client, kind=kind).xpath("//article//h2/a/@href")) for kind in ("article", "photos")}
    assert found["article"]
    assert found["photos"]
    assert not found["article"] & found["photos"]
    assert "类型" in [node.text for node in page_of(client, kind="photos").xpath("//aside//h2")]
    index.close()


def test_empty_result_suggests_a_successful_search(client: httpx.Client) -> None:
    page = page_of(client, q="峡谷", site="没有这个站")
    [link, *_] = page.xpath("//div[@class='empty']//a")
    assert link.text == "不加筛选地搜“峡谷”"
    assert titles(page_of(client, q="峡谷")) == titles(lxml_html.document_fromstring(client.get(link.get("href")).text))
    links = page_of(client, q="峡谷 +zzzz").xpath("//div[@class='empty']//a")
    assert "峡谷" in [link.text for link in links]


def test_feed_of_search_has_its_filters(client: httpx.Client) -> None:
    for filters in ({"q": "的", "site": "南江日报"}, {"topic": "旅游", "since": "2026-05-20"}, {"kind": "article", "category": "财经"}):
        page = page_of(client, **filters)
        [feed] = page.xpath("//link[@type='application/feed+json']/@href")
        entries = client.get(feed).json()["items"]
        assert {entry["id"].removeprefix("urn:newsportal:") for entry in entries} == {
            link.rsplit("/", 1)[1] for link in page.xpath("//article//h2/a/@href")
        }
        assert entries


def test_date_operators_in_query(client: httpx.Client) -> None:
    assert titles(page_of(client, q="古籍 before:2000")) == []
    assert titles(page_of(client, q="古籍 since:2000-01")) == ["古籍修复"]


def test_query_completion(client: httpx.Client) -> None:
    text, found = client.get("/search/suggest", params={"q": "峡"}).json()
    assert text == "峡"
    assert "峡谷" in found
    assert client.get("/search/suggest", params={"q": "<b>"}).json() == ["<b>", []]
    assert client.get("/search/suggest").json() == ["", []]
    assert "/search/suggest?q={searchTerms}" in client.get("/opensearch.xml").text  # search boxes of browsers
    boxes = page_of(client, q="峡").xpath("//input[@type='search']/@list")
    assert boxes == ["suggested"] * 2


def test_sort_order_is_kept_by_the_form(client: httpx.Client) -> None:
    page = page_of(client, q="的", sort="time")
    moments = page.xpath("//article//time/@datetime")
    assert moments == sorted(moments, reverse=True)
    assert page.xpath("//form[@class='search-large']//input[@name='sort']/@value") == ["time"]


def test_form_keeps_every_filter(client: httpx.Client) -> None:
    filters = {"topic": "旅游", "site": "南江日报", "category": "社会", "day": "2026-03-01", "when": "week"}
    page = page_of(client, q="的", **filters)
    sent = page.xpath("//form[@class='search-large']//input[@type='hidden']")
    assert {field.get("name"): field.get("value") for field in sent} == filters


def test_result_pages_do_not_overlap(fresh: Store, serve, newsroom, tmp_path: Path) -> None:
    from newsportal.search import open_index

    for number in range(45):
        newsroom.write(fresh, newsroom.article(f"汛期通报第{number}号", f"水位{number}米，各地加强巡查。" * 5, ago=number))
    index = open_index(f"sqlite:///{tmp_path / 'index.db'}")
    index.follow(fresh)
    client, path, seen = serve(fresh, index), "/search?q=汛期&sort=time", []
    while path:
        page = lxml_html.document_fromstring(client.get(path).text)
        seen += page.xpath("//article//h2/a/@href")
        path = next(iter(page.xpath("//a[@rel='next']/@href")), "")
    assert len(seen) == len(set(seen)) == 45
    assert not client.get("/search", params={"q": "汛期", "page": "99999"}).is_error
    index.close()


def test_empty_result_shows_help(client: httpx.Client) -> None:
    text = client.get("/search", params={"q": "zzzz不存在"}).text
    assert "没有找到与“zzzz不存在”有关的报道" in text


def test_search_without_words_shows_help(client: httpx.Client) -> None:
    assert "怎样搜索" in client.get("/search").text
    assert "怎样搜索" in client.get("/search", params={"q": " \u200b\x00 "}).text


@pytest.mark.parametrize(
    "query", ['"', "*", '( ) NEAR - " *', "title:", "-", "AND OR NOT", "峡" * 3000, "x" * 10_000, "' OR 1=1 --", "{{7*7}}", "%", "\\"]
)
def test_any_query_is_accepted(client: httpx.Client, query: str) -> None:
    answer = client.get("/search", params={"q": query})
    assert answer.status_code == 200
    assert len(answer.content) < 60_000
    assert client.get("/search/feed.rss", params={"q": query[:4000]}).status_code == 200


def test_portal_works_without_an_index(serve, store: Store) -> None:
    client = serve(store, None)
    assert "未启用搜索索引" in client.get("/search", params={"q": "峡谷"}).text
    assert client.get("/search/feed.rss", params={"q": "峡谷"}).status_code == 200
    assert client.get("/health").json()["search"] == {"status": "off"}


class BrokenIndex:
    """Index with a damaged file."""

    def __getattr__(self, name: str) -> object:
        raise SearchError("database disk image is malformed")


def test_broken_index_is_reported_and_other_pages_work(serve, store: Store) -> None:
    client = serve(store, BrokenIndex())
    assert "搜索暂时不可用" in client.get("/search", params={"q": "峡谷"}).text
    assert client.get("/").status_code == 200
    assert client.get("/search/feed.rss", params={"q": "峡谷"}).status_code == 503
    assert client.get("/search/suggest", params={"q": "峡"}).json() == ["峡", []]
    assert client.get("/health").json()["status"] == "degraded"
