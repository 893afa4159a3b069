"""Pages of topics: the list, a form with a preview of matches, changes of the file, and jobs that update articles."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copy
from types import ModuleType, SimpleNamespace
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from lxml import html as lxml_html

from newsportal.services.accounts.alerts import Alert
from newsportal.services.jobs.local import Busy
from newsportal.sources import editing, load
from newsportal.store import open_store
from newsportal.store.results import SourceState, StoryFilter
from newsportal.store.store import Store

SOURCES = """\
# ours
store: sqlite:///news.db
topics:
  - {name: 旅游, keywords: [旅游, 峡谷]}   # the first one
  - {name: 汽车, keywords: {any: [电池], not: [手机]}}
feeds:
  - {name: 晨光网, url: "https://a.example/rss", topics: [旅游]}
"""

HTMX = {"hx-request": "true"}
CONFIRM = {"go": "1"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sources.yaml"
    path.write_text(SOURCES, "utf-8")
    return path


@pytest.fixture
def store(file: Path, filled: Any) -> Iterator[Store]:
    copy(filled.store, file.with_name("news.db"))
    opened = open_store(load(file).store)
    yield opened
    opened.close()


@pytest.fixture
def editor(serve: Callable[..., httpx.Client], store: Store, file: Path) -> httpx.Client:
    return serve(store, None, load(file), role="editor", reread_every=0)


def fields(page: str) -> dict[str, str]:
    """Return the hidden fields of the form."""
    return dict(re.findall(r'<input type="hidden" name="(old_name|digest)" value="([^"]*)"', page))


def test_list_shows_topics_in_order_with_keywords(editor: httpx.Client) -> None:
    page = editor.get("/topics").text
    assert page.index("/topics/%E6%97%85%E6%B8%B8/edit") < page.index("/topics/%E6%B1%BD%E8%BD%A6/edit")
    assert "峡谷" in page
    assert "排除：手机" in page


def test_failing_engines_are_shown_to_editors_only(serve: Callable[..., httpx.Client], store: Store, file: Path) -> None:
    file.write_text(SOURCES.replace("{name: 旅游, ", "{name: 旅游, engines: [bing_news, baidu_news], "), "utf-8")
    past = datetime(2026, 3, 1, 2, tzinfo=UTC)
    retry = datetime.now(UTC) + timedelta(hours=4)
    state = SourceState("engine:bing_news", rest_until=retry, last_error="blocked: captcha", failures_in_row=2, last_success=past)
    store.save_source_state(state)
    store.save_source_state(SourceState("engine:baidu_news", last_success=past))
    editor, reader = (serve(store, None, load(file), role=role, reread_every=0) for role in ("editor", "reader"))
    for page in (editor.get("/topics").text, editor.get("/topic/旅游").text):
        assert "bing_news 自 2026-03-01 10:00 起没有应答（" in page
        assert "baidu_news 自" not in page
    assert "bing_news 自" not in reader.get("/topic/旅游").text


def test_preview_shows_matching_stories(editor: httpx.Client) -> None:
    part = editor.post("/topics/preview", data={"name": "桥", "any": "观景桥，杜鹃"}, headers=HTMX)
    assert "<html" not in part.text
    assert "<mark>观景桥</mark>" in part.text
    assert "最近 7 天" in part.text
    page = editor.post("/topics/preview", data={"name": "桥", "any": "观景桥"})
    assert "<html" in page.text
    assert 'value="桥"' in page.text, "the input is kept"
    assert "<mark>观景桥</mark>" in page.text
    empty = editor.post("/topics/preview", data={"name": "", "any": ""}, headers=HTMX)
    assert "填入关键词后" in empty.text


def test_new_topic_is_saved_and_applies_at_once(editor: httpx.Client, file: Path) -> None:
    form = fields(editor.get("/topics/new").text)
    sent = {**form, "name": "桥", "any": "观景桥 大桥，Golden Gate", "engines": ["bing_news", "baidu_news"], "enabled": "1"}
    answer = editor.post("/topics/save", data=sent)
    assert answer.status_code == 303
    topic = load(file).topic("桥")
    assert topic is not None
    assert (topic.keywords.any, topic.engines) == (("观景桥", "大桥", "Golden Gate"), ("bing_news", "baidu_news"))
    assert file.read_text("utf-8").startswith(SOURCES.split("feeds:")[0])
    page = editor.get("/topics").text
    assert "话题“桥”已保存" in page
    assert 'href="/topic/%E6%A1%A5"' in page
    assert editor.accounts.audit_log.entries()[0].action == "topic.add"  # type: ignore[attr-defined]


def test_new_topic_preselects_working_engines(serve: Callable[..., httpx.Client], store: Store, file: Path) -> None:
    past = datetime(2026, 3, 1, 2, tzinfo=UTC)
    store.save_source_state(SourceState("engine:bing_news", last_error="blocked: captcha", failures_in_row=2, last_success=past))
    store.save_source_state(SourceState("engine:baidu_news", last_success=past))
    page = lxml_html.document_fromstring(serve(store, None, load(file), role="editor", reread_every=0).get("/topics/new").text)
    assert page.xpath("//input[@name='engines' and @checked]/@value") == ["baidu_news"]
    labels = {node.get("value"): " ".join(node.getparent().text_content().split()) for node in page.xpath("//input[@name='engines']")}
    assert labels["baidu_news"] == "baidu_news 2026-03-01 10:00 有应答"
    assert "没有应答（" in labels["bing_news"]
    assert labels["so360_news"] == "so360_news 尚未使用"
    assert "每天约请求 48 次" in page.text_content()


def test_new_topic_preselects_engines_of_other_topics(serve: Callable[..., httpx.Client], store: Store, file: Path) -> None:
    file.write_text(SOURCES.replace("{name: 旅游, ", "{name: 旅游, engines: [sogou_news], "), "utf-8")
    editor = serve(store, None, load(file), role="editor", reread_every=0)
    page = lxml_html.document_fromstring(editor.get("/topics/new").text)
    assert page.xpath("//input[@name='engines' and @checked]/@value") == ["sogou_news"]
    page = lxml_html.document_fromstring(editor.get("/topics/汽车/edit").text)
    assert page.xpath("//input[@name='engines' and @checked]") == [], "a topic saved without engines keeps none"


def test_new_topic_immediately_has_previewed_stories(editor: httpx.Client, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*args: Any) -> None:
        raise Busy(SimpleNamespace(kind="assign", subject="桥"))  # type: ignore[arg-type]

    monkeypatch.setattr("newsportal.portal.desk.topics.begin_job", busy)
    sent = {**fields(editor.get("/topics/new").text), "name": "桥", "any": "观景桥", "enabled": "1", "follow": "1"}
    page = editor.post("/topics/save", data=sent, follow_redirects=True).text
    assert "最近一周已有 1 条报道归入该话题" in page
    assert "观景桥" in editor.get("/topic/桥").text
    assert marks(store, "桥") == {"keywords"}


def test_stories_and_alerts_follow_a_renamed_topic_and_its_undo(
    editor: httpx.Client, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TALLY_SECONDS", "TALLY_SPARE"):
        monkeypatch.setattr(f"newsportal.portal.context.{name}", 0.0)

    def stories(topic: str) -> set[str]:
        return {story.id for story in store.stories(StoryFilter(topic)).stories}

    accounts: Any = editor.accounts  # type: ignore[attr-defined]
    before, alerts = stories("旅游"), accounts.alerts
    alerts.add(Alert("a1", accounts.people.all()[0].id, "旅游", "topic", "旅游", "webhook", {}, datetime.now(UTC)))
    editor.post("/searches", data={"query": "topic=旅游", "name": "保存的"})
    editor.post("/marks/all?topic=旅游")
    page = editor.post("/topics/save", data={**fields(editor.get("/topics/旅游/edit").text), "name": "出行 & 度假", "any": "峡谷"})
    assert (stories("旅游"), stories("出行 & 度假"), alerts.alert("a1").of) == (set(), before, "出行 & 度假")
    notice = lxml_html.document_fromstring(editor.get(page.headers["location"]).text)
    (undo,) = notice.xpath("//form[contains(@action, '/sources/undo/')]/@action")
    for path in ("", "/feed.rss"):
        moved = editor.get(f"/topic/旅游{path}")
        assert (moved.status_code, unquote(moved.headers["location"])) == (302, f"/topic/出行 & 度假{path}")
    assert editor.get("/topic/无").status_code == 404
    saved = lxml_html.document_fromstring(editor.get("/searches").text).xpath("//ul[@class='saved-searches']//h2/a/@href")
    assert [unquote(address) for address in saved] == ["/search?topic=出行+&+度假"]
    for path in ("search/feed", "photos/feed", "briefing/feed"):
        assert "出行 &amp; 度假" in editor.get(f"/{path}.rss?topic=旅游").text, path
    person = accounts.people.all()[0].id
    assert [*accounts.marks.of(person, []).read_until] == ["出行 & 度假"], "what was marked as read stays read"
    editor.post(undo)
    assert (stories("旅游"), stories("出行 & 度假"), alerts.alert("a1").of) == (before, set(), "旅游")


def test_error_is_beside_its_field_and_input_is_kept(editor: httpx.Client, file: Path) -> None:
    sent = {**fields(editor.get("/topics/new").text), "name": "a/b", "any": "观景桥", "engines": "no_such", "pages": "many", "enabled": "1"}
    answer = editor.post("/topics/save", data=sent)
    assert answer.status_code == 422
    assert 'id="name-error"' in answer.text
    assert 'id="engines-error"' in answer.text
    assert 'id="pages-error"' in answer.text
    assert 'value="a/b"' in answer.text
    assert 'value="many"' in answer.text
    assert file.read_text("utf-8") == SOURCES
    renamed = editor.post("/topics/save", data={**sent, **fields(editor.get("/topics/旅游/edit").text), "engines": "", "pages": ""}).text
    assert renamed.count("a/b&#39; 含有斜杠") == 1, "not again for each source of the topic"
    double = editor.post("/topics/save", data={**sent, "name": "旅游", "engines": "", "pages": ""})
    assert double.status_code == 422
    assert 'id="name-error"' in double.text


def test_conflicting_change_is_not_overwritten(editor: httpx.Client, file: Path) -> None:
    sent = {**fields(editor.get("/topics/旅游/edit").text), "name": "旅游", "any": "海岛", "enabled": "1"}
    file.write_text(SOURCES + "# another was here\n", "utf-8")
    answer = editor.post("/topics/save", data=sent)
    assert answer.status_code == 409
    assert "海岛" in answer.text
    assert "在此期间已被修改" in answer.text
    resent = editor.post("/topics/save", data={**sent, **fields(answer.text)})
    assert resent.status_code == 303
    assert "another was here" in file.read_text("utf-8")
    found = load(file).topic("旅游")
    assert found is not None
    assert found.keywords.any == ("海岛",)


def test_topics_are_moved_and_deleted(editor: httpx.Client, file: Path) -> None:
    assert editor.post("/topics/汽车/up", data=CONFIRM).status_code == 303
    assert [topic.name for topic in load(file).topics] == ["汽车", "旅游"]
    assert "晨光网" in editor.get("/topics/旅游/delete").text
    assert editor.post("/topics/旅游/delete", data=CONFIRM).status_code == 303
    assert [topic.name for topic in load(file).topics] == ["汽车"]
    assert load(file).feeds[0].topics == ()
    assert editor.get("/topics/旅游/edit").status_code == 404
    assert editor.get("/topics/旅游/delete").status_code == 404
    assert editor.post("/topics/旅游/delete", data=CONFIRM).status_code == 303, "the list reports that the topic does not exist"


@pytest.mark.parametrize("path", ["/topics", "/topics/new", "/topics/旅游/edit", "/topics/旅游/delete", "/jobs"])
def test_topics_require_an_editor(serve: Callable[..., httpx.Client], store: Store, file: Path, path: str) -> None:
    reader = serve(store, None, load(file), role="reader", reread_every=0)
    assert reader.get(path).status_code == 403
    reader.cookies.clear()
    assert reader.get(path).status_code == 303
    assert reader.post("/topics/save", data={"name": "x"}).status_code in (303, 401, 403)
    assert "x" not in [topic.name for topic in load(file).topics]


def test_cross_site_change_is_refused(editor: httpx.Client, file: Path) -> None:
    for path in ("/topics/save", "/topics/旅游/delete", "/topics/旅游/up", "/topics/assign"):
        assert editor.post(path, data={"name": "x"}, headers={"origin": "https://evil.example"}).status_code == 403
    assert file.read_text("utf-8") == SOURCES


def test_input_is_escaped(editor: httpx.Client) -> None:
    attack = '"><script>alert(1)</script>'
    page = editor.post("/topics/preview", data={"name": attack, "any": attack, "old_name": attack}).text
    assert "<script>alert" not in page


@pytest.mark.slow
def test_stored_articles_are_assigned_by_a_job(editor: httpx.Client, store: Store) -> None:
    assert editor.post("/topics/assign", data={"name": "汽车", "days": "365"}).status_code == 303
    assert "hx-get=" in editor.get("/topics").text
    until = time.monotonic() + 600
    while 'data-state="running"' in (page := editor.get("/topics").text) and time.monotonic() < until:
        time.sleep(0.2)
    assert 'data-state="done"' in page, page
    assert "查看了" in page
    marked = [
        article for article in store.all_articles() if any(mark.topic == "汽车" and mark.by == "keywords" for mark in article.topic_marks)
    ]
    assert marked
    assert all("电池" in article.title + article.text + (article.summary or "") for article in marked)


def page_when_idle(editor: httpx.Client) -> str:
    """Return the page of topics when no job is running."""
    until = time.monotonic() + 600
    while 'data-state="running"' in (page := editor.get("/topics").text) and time.monotonic() < until:
        time.sleep(0.2)
    return page


TODAYS_TITLE = "观景桥昨夜亮灯"
"""Title of an article of today; by the system clock all others are older than what the command covers."""


def marks(store: Store, topic: str, title: str = "") -> set[str]:
    return {mark.by for article in store.all_articles() if title in article.title for mark in article.topic_marks if mark.topic == topic}


@pytest.mark.slow
def test_saved_renamed_and_deleted_topics_update_articles(editor: httpx.Client, store: Store, newsroom: ModuleType) -> None:
    today = datetime.now(UTC) - timedelta(hours=1)  # the command uses the system clock
    newsroom.write(store, newsroom.article(TODAYS_TITLE, "江上的观景桥昨夜亮灯，市民在桥头合影。" * 3, published=today))
    new = editor.get("/topics/new").text
    assert 'name="follow" value="1" checked' in new
    sent = {**fields(new), "name": "桥", "any": "观景桥", "enabled": "1", "follow": "1"}
    assert "正在更新最近 30 天" in editor.post("/topics/save", data=sent, follow_redirects=True).text
    assert 'data-state="done"' in page_when_idle(editor)
    assert marks(store, "桥", TODAYS_TITLE) == {"keywords"}
    renamed = {**fields(editor.get("/topics/桥/edit").text), "name": "大桥", "any": "观景桥", "enabled": "1", "follow": "1"}
    editor.post("/topics/save", data=renamed)
    page_when_idle(editor)
    assert (marks(store, "桥", TODAYS_TITLE), marks(store, "大桥", TODAYS_TITLE)) == (set(), {"keywords"})
    editor.post("/topics/大桥/delete", data=CONFIRM)
    until = time.monotonic() + 600
    while "<option>大桥</option>" not in editor.get("/topics").text and time.monotonic() < until:
        time.sleep(0.2)  # the store's totals are cached for some seconds
    assert "已删除或改名" in editor.get("/topics").text
    assert editor.post("/topics/assign", data={"name": "大桥", "days": "30"}).status_code == 303
    page_when_idle(editor)
    assert marks(store, "大桥", TODAYS_TITLE) == set()
    assert editor.post("/topics/assign", data={"name": "从未有过", "days": "30"}).status_code == 400


@pytest.mark.slow
def test_one_job_at_a_time_which_can_be_cancelled(editor: httpx.Client) -> None:
    assert editor.post("/topics/assign", data={"days": "7"}).status_code == 303
    assert editor.post("/topics/assign", data={"days": "7"}).status_code == 303
    assert "另一个任务正在运行" in editor.get("/topics").text
    id = re.findall(r'id="job-(\w+)"', editor.get("/jobs").text)[0]
    assert editor.post(f"/jobs/{id}/cancel", data={"back": "//evil.example"}).headers["location"] == "/"
    assert 'data-state="cancelled"' in editor.get("/jobs").text
    assert editor.get("/jobs/nothing").status_code == 404


def test_invalid_file_is_reported_when_read(editor: httpx.Client, file: Path) -> None:
    file.write_text(SOURCES.replace("keywords: [旅游, 峡谷]", "keyword: [旅游]"), "utf-8")
    page = editor.get("/topics/旅游/edit")
    assert (page.status_code, "sources.yaml 有错误" in page.text) == (409, True)
    answer = editor.get("/api/v1/topics/settings")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "sources-invalid")
    assert "topics[0]" in answer.json()["error"]["message"]


def test_unwritable_file_is_reported_and_input_kept(editor: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(editing, "replace_file", full)
    page = editor.post("/topics/save", data={**fields(editor.get("/topics/new").text), "name": "台风", "any": "台风 登陆"})
    assert page.status_code == 503
    assert "No space left on device" in page.text
    assert "台风 登陆" in page.text
    answer = editor.post("/topics/汽车/up", data=CONFIRM)
    assert "No space left on device" in editor.get(answer.headers["location"]).text
    page = editor.post("/wrappers/feed:晨光网/save", data={"body": ".article"})
    assert (page.status_code, "No space left on device" in page.text, ".article" in page.text) == (503, True, True)
