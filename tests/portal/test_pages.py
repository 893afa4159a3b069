"""Pages for readers."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from urllib.parse import quote

import httpx
import pytest
from lxml import html as lxml_html
from sqlalchemy import Engine, event

from newsportal.items.report import Run
from newsportal.sources import load
from newsportal.store.store import Store


def tree(answer: httpx.Response, status: int = 200) -> lxml_html.HtmlElement:
    assert answer.status_code == status, answer.text[:300]
    return lxml_html.document_fromstring(answer.content.decode("utf-8"))


def texts(page: lxml_html.HtmlElement, path: str) -> list[str]:
    return [" ".join(node.text_content().split()) for node in page.xpath(path)]


def test_front_page_has_top_story_boards_topics_and_stream(client: httpx.Client, newsroom: ModuleType) -> None:
    page = tree(client.get("/"))
    assert texts(page, "//section[@class='lead']//h2") == ["今年首个台风生成，预计周五夜间影响东部沿海"]
    assert [name.split(" ")[0] for name in texts(page, "//section[@class='board']/h2")] == ["旅游", "人工智能", "新能源汽车"]
    assert "今天" in texts(page, "//h2[@class='day-name']")
    assert texts(tree(client.get("/latest")), "//h2[@class='day-name']")[:2] == ["今天", "昨天"]
    assert "另有 4 家报道" in texts(page, "//a[@class='others']")
    assert page.get("lang") == "zh-CN"


def test_every_story_appears_once_in_the_stream(client: httpx.Client, newsroom: ModuleType) -> None:
    titles = texts(tree(client.get("/latest")), "//*[contains(@class,'headline')]")
    assert len(titles) == len(set(titles)) == len(newsroom.STORIES) + 1


def test_topic_page_lists_stories_by_day(client: httpx.Client) -> None:
    page = tree(client.get("/topic/旅游"))
    assert texts(page, "//h1") == ["旅游"]
    assert texts(page, "//h2[@class='day-name']") == ["今天", "昨天"]
    assert [title[:4] for title in texts(page, "//*[contains(@class,'headline')]")] == [
        "沿江三省",
        "海岛航线",
        "云岭峡谷",
        "山城夜市",
        "草原列车",
    ]


def test_hottest_order_starts_with_most_reported_story(client: httpx.Client) -> None:
    page = tree(client.get("/topic/旅游", params={"order": "hottest"}))
    assert texts(page, "//*[contains(@class,'headline')]")[0].startswith("云岭峡谷")
    assert not texts(page, "//h2[@class='day-name']")


@pytest.mark.parametrize(
    "path", ["/topic/没有", "/topic/", "/story/none", "/story/none/none", "/story/a/b/revisions", "/runs/none", "/nope", "/feed.pdf"]
)
def test_unknown_page_is_a_helpful_404(editor: httpx.Client, path: str) -> None:
    page = tree(editor.get(path), 404)
    assert texts(page, "//h1") == ["没有这个页面"]
    assert page.xpath("//main//a[@href='/']")


def test_filters_narrow_a_list_and_are_removable(client: httpx.Client) -> None:
    page = tree(client.get("/latest", params={"site": "南江日报", "category": "财经"}))
    assert texts(page, "//*[contains(@class,'headline')]") == ["二手电动车怎么估价？行业首个电池健康标准征求意见"]
    assert [node.get("href") for node in page.xpath("//a[@class='chip']")] == [
        "/latest?category=%E8%B4%A2%E7%BB%8F",
        "/latest?site=%E5%8D%97%E6%B1%9F%E6%97%A5%E6%8A%A5",
    ]
    assert "去掉后也许会有" in client.get("/latest", params={"site": "没有这个站"}).text
    assert texts(tree(client.get("/latest", params={"source": "feed:晨光网"})), "//a[@class='chip']")[0].startswith("晨光网（订阅源）")


def test_paging_covers_every_story_once(fresh: Store, serve, newsroom: ModuleType) -> None:
    for number in range(67):
        newsroom.write(fresh, newsroom.article(f"第{number}号快讯", f"正文{number}" * 20, ago=number * 10))
    client, path, titles = serve(fresh), "/latest", []
    for _ in range(3):
        page = tree(client.get(path))
        titles += texts(page, "//*[contains(@class,'headline')]")
        following = page.xpath("//a[@rel='next']/@href")
        path = following[0] if following else ""
    assert titles == [f"第{number}号快讯" for number in range(67)]
    assert not path


def test_invalid_cursor_is_ignored(client: httpx.Client) -> None:
    assert client.get("/latest", params={"before": "' OR 1=1 --"}).status_code == 200


def test_story_page_content(client: httpx.Client, ids: dict[str, str]) -> None:
    page = tree(client.get(f"/story/{ids['bridge']}"))
    assert texts(page, "//article//h1") == ["云岭峡谷步行观景桥今日开放，首日八千张门票全部约满"]
    meta = texts(page, "//header[@class='story-head']//p[@class='meta']")[0]
    assert meta == "云岭晚报 2026-05-20 16:00 本报记者 约 1 分钟读完 另有 4 家报道 原文"
    assert len(page.xpath("//div[@class='body']/p")) == 5
    assert texts(page, "//figure/figcaption") == ["清晨的云岭峡谷步行观景桥。本报记者 摄", "游客在停留平台上辨认鸟类"]
    assert page.xpath("//article//img/@loading") == ["lazy"] * 2
    assert page.xpath("//a[@class='button']/@href")[0].startswith("https://")


def test_keywords_link_to_search(fresh: Store, serve, newsroom: ModuleType) -> None:
    story = replace(newsroom.article("桥通车了", "今天通车。"), keywords=("青溪大桥", "<b>R&D</b>"))
    id = fresh.article(newsroom.write(fresh, story)[0]).story_id
    page = tree(serve(fresh).get(f"/story/{id}"))
    assert texts(page, "//ul[@class='keywords']/li") == ["青溪大桥", "<b>R&D</b>"]
    assert page.xpath("//ul[@class='keywords']//a/@href") == [f"/search?q={quote(word, safe='')}" for word in story.keywords]


def test_versions_are_listed_with_fold_reason(client: httpx.Client, ids: dict[str, str]) -> None:
    page = tree(client.get(f"/story/{ids['bridge']}"))
    rows = texts(page, "//section[@id='versions']//li/p[@class='meta']")
    assert rows[0] == "云岭晚报 2026-05-20 16:00 首发 正在阅读"
    assert rows[1] == "北地新闻 2026-05-20 16:30 正文相同"
    assert len(rows) == 5
    assert texts(page, "//section[@id='versions']/h2") == ["另有 4 家报道"]
    assert texts(page, "//section[@id='versions']/p[@class='meta']") == ["5 家媒体 · 均在 2 小时内"]


def test_each_version_has_a_page_linking_to_the_original(client: httpx.Client, ids: dict[str, str]) -> None:
    page = tree(client.get(f"/story/{ids['bridge']}/{ids['repost']}"))
    assert texts(page, "//header[@class='story-head']//p[@class='meta']")[0].startswith("北地新闻")
    assert page.xpath("//p[@class='note']/a/@href") == [f"/story/{ids['bridge']}"]
    assert len(page.xpath("//div[@class='body']/p")) == 6  # without stored HTML the text is shown in paragraphs


def test_version_under_wrong_story_redirects(client: httpx.Client, ids: dict[str, str]) -> None:
    answer = client.get(f"/story/elsewhere/{ids['repost']}")
    assert answer.headers["location"] == f"/story/{ids['bridge']}/{ids['repost']}"
    assert client.get(f"/story/{ids['repost']}").headers["location"] == f"/story/{ids['bridge']}"


def test_next_and_previous_links_walk_through_a_topic(client: httpx.Client) -> None:
    path, titles = tree(client.get("/topic/旅游")).xpath("//*[contains(@class,'headline')]/a/@href")[0], []
    while path:
        page = tree(client.get(path))
        titles.append(texts(page, "//article//h1")[0][:4])
        path = next(iter(page.xpath("//nav[contains(@class,'neighbours')]/a[@rel='next']/@href")), None)
    assert titles == ["沿江三省", "海岛航线", "云岭峡谷", "山城夜市", "草原列车"]
    previous = page.xpath("//nav[contains(@class,'neighbours')]/a[@rel='prev']/@href")[0]
    assert texts(tree(client.get(previous)), "//article//h1")[0].startswith("山城夜市")


def test_next_links_cover_stories_of_the_same_time(fresh: Store, serve, newsroom: ModuleType) -> None:
    for number in range(5):
        newsroom.write(fresh, newsroom.article(f"同刻{number}", f"正文{number}" * 20, ago=60))
    client = serve(fresh)
    path = tree(client.get("/latest")).xpath("//*[contains(@class,'headline')]/a/@href")[0]
    titles: list[str] = []
    while path and len(titles) < 9:
        page = tree(client.get(path))
        titles += texts(page, "//article//h1")
        path = next(iter(page.xpath("//nav[contains(@class,'neighbours')]/a[@rel='next']/@href")), None)
    assert sorted(titles) == [f"同刻{number}" for number in range(5)]


def test_earlier_revisions_are_shown_with_differences(fresh: Store, serve, newsroom: ModuleType) -> None:
    first = newsroom.article("初稿标题", "初稿的正文" * 20, url="https://a.example/1")
    [id] = newsroom.write(fresh, first)
    newsroom.write(fresh, replace(first, title="改后标题", text="改后的正文" * 20))
    client = serve(fresh)
    assert "此前 1 稿" in client.get(f"/story/{id}").text
    page = tree(client.get(f"/story/{id}/{id}/revisions"))
    assert texts(page, "//details//h2") == ["[删去：初稿][加入：改后]标题", "初稿标题"]
    assert texts(page, "//details[2]//div[@class='compared']") == ["初稿的正文" * 20]


def test_empty_portal_names_the_command(fresh: Store, serve) -> None:
    text = serve(fresh).get("/").text
    assert "newsportal crawl --once" in text
    assert "人工智能" in text


def test_empty_portal_without_sources_offers_to_add_one(fresh: Store, serve, newsroom: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "sources.yaml"
    file.write_text("portal: {title: 晨报}\n", "utf-8")
    fresh.save_run(Run("done", newsroom.NOW, ended=newsroom.NOW))
    page = tree(serve(fresh, settings=load(file), role="editor").get("/"))
    assert page.xpath("//main//a/@href") == ["/sources/new", "/topics/new"]
    assert "sources.yaml 中还没有来源。" in texts(page, "//main//p")
    assert texts(tree(serve(fresh, settings=load(file)).get("/")), "//main//code") == ["newsportal source add https://…"]


def test_empty_portal_reports_a_running_crawl(fresh: Store, serve, newsroom: ModuleType) -> None:
    fresh.save_run(Run("now", newsroom.NOW - timedelta(minutes=1), spiders=("rss",)))
    text = serve(fresh).get("/").text
    assert "首次采集正在进行" in text
    assert "newsportal crawl" not in text


def test_old_unfinished_crawl_does_not_count_as_running(fresh: Store, serve, newsroom: ModuleType) -> None:
    fresh.save_run(Run("dead", newsroom.NOW - timedelta(days=1)))
    assert "newsportal crawl --once" in serve(fresh).get("/").text


def test_crawl_without_network_is_reported(fresh: Store, serve, newsroom: ModuleType) -> None:
    fresh.save_run(newsroom.failed_run())
    client = serve(fresh)
    assert "找不到该域名：没有网络，或地址有误" in client.get("/").text
    newsroom.write(fresh, newsroom.article("旧闻", "此前保存的正文" * 10, ago=3000))
    assert "上次采集没有连上任何来源" in client.get("/").text


def test_run_report_has_consistent_totals(editor: httpx.Client, newsroom: ModuleType) -> None:
    [link] = tree(editor.get("/runs")).xpath("//tbody//th/a/@href")
    page = tree(editor.get(link))
    assert "抓取 108 个页面，其中 101 个读出了正文（93.5%）" in texts(page, "//p[@class='plain']")[0]
    assert texts(page, "//tr[@class='total']/*") == [
        "合计",
        "10",
        "0",
        "222",
        "90",
        "19",
        "113",
        "108",
        "101",
        "65",
        "35",
        "1",
        "14",
        "93.5%",
        "89.4%",
        "3:38",
    ]
    assert texts(page, "//ul[@class='failures']/li")[0] == "4 × 页面中没有找到正文 too-short"


def test_language_is_chosen_by_header_query_and_cookie(client: httpx.Client) -> None:
    assert "Hottest" in client.get("/", headers={"accept-language": "en-GB,en;q=0.9"}).text
    answer = client.get("/", params={"lang": "en"})
    assert "Front page" in answer.text
    assert answer.headers["set-cookie"].startswith("lang=en;")
    assert 'lang="en"' in client.get("/latest", headers={"cookie": "lang=en"}).text


def test_preferences_are_stored_in_cookies(client: httpx.Client) -> None:
    answer = client.get("/settings", params={"theme": "dark", "next": "/latest?order=hottest"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/latest?order=hottest"
    assert answer.headers["set-cookie"].startswith("theme=dark;")
    page = tree(client.get("/settings", headers={"cookie": "theme=dark; size=large; font=comic"}))
    assert (page.get("data-theme"), page.get("data-size"), page.get("data-font")) == ("dark", "large", "serif")
    assert texts(page, "//button[@aria-pressed='true']") == ["深色", "宋体", "大", "中文", "原文", "最新"]


def test_health_reports_index_lag(client: httpx.Client, store: Store) -> None:
    data = client.get("/health").json()
    assert data["status"] == "ok"
    assert data["stories"] == 15
    assert data["search"] == {"status": "ok", "behind": 0}


def test_pages_use_few_database_queries(client: httpx.Client, ids: dict[str, str]) -> None:
    """Counts statements of a page with warm caches; benchmarks/portal.py measures its time."""
    statements: list[str] = []

    def count(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        statements.append(statement)

    counts = {}
    event.listen(Engine, "before_cursor_execute", count)
    try:
        for path in ("/", "/latest", "/topic/旅游", f"/story/{ids['bridge']}", "/search?q=%E5%B3%A1%E8%B0%B7", "/runs", "/feed.rss"):
            client.get(path)
            statements.clear()
            client.get(path)
            counts[path] = len(statements)
    finally:
        event.remove(Engine, "before_cursor_execute", count)
    assert max(counts.values()) <= 20, counts
