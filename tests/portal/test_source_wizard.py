"""The source wizard on the made-up Web: findings at a URL are shown first and written when the user has chosen."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from factories import empty_store
from lxml import html as lxml_html
from madeup import MadeUpWeb

from newsportal.errors import EgressDenied, FetchFailed, NewsportalError
from newsportal.messages import render
from newsportal.portal.desk import trial_runner
from newsportal.portal.desk.trial_runner import Abandoned, SiteChecks, TooMany
from newsportal.portal.language import translations
from newsportal.services.discovery.search import NoSource
from newsportal.sources import load

TEXT = """\
# 我的来源
politeness: {allow_private: [127.0.0.0/8], delay: 0}
topics: [name: 港口]
feeds:
  - name: 老报   # 留下
    url: http://127.0.0.1:48999/feed
"""
OPML = """<?xml version="1.0"?><opml version="2.0"><body><outline text="财经">
<outline text="新报" xmlUrl="https://new.example/feed"/><outline text="老" xmlUrl="http://127.0.0.1:48999/feed"/>
</outline></body></opml>"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "sources.yaml"
    file.write_text(TEXT, "utf-8")
    return file


@pytest.fixture
def client(serve: Any, path: Path) -> Iterator[httpx.Client]:
    store = empty_store(path.parent / "store.db")
    yield serve(store, settings=load(path), role="editor", reread_every=0)
    store.close()


def finished_page(client: httpx.Client, started: httpx.Response) -> str:
    """Return the page of a check when it is done."""
    assert started.status_code == 303, started.text[:500]
    for _ in range(300):
        page = client.get(started.headers["location"])
        assert page.status_code == 200
        if "hx-trigger" not in page.text:
            return page.text
        assert 'http-equiv="refresh"' in page.text, "the page reloads without scripts"
        time.sleep(0.05)
    raise AssertionError("the look does not end")


def chosen_form(page: str) -> dict[str, Any]:
    assert "sources.yaml" in page
    assert "/sources.yaml" not in page, "the path of the file must not be shown"
    (form,) = lxml_html.document_fromstring(page).xpath("//form[contains(@action, '/sources/checks/')]")
    return {"action": form.get("action"), **dict(form.form_values())}


@pytest.mark.slow
def test_url_is_checked_and_its_source_added(client: httpx.Client, path: Path, web: MadeUpWeb) -> None:
    (feed,) = [entry["url"] for entry in web.manifest()["feeds"]][:1]
    page = finished_page(client, client.post("/sources/new", data={"addresses": feed}))
    document = lxml_html.document_fromstring(page)
    assert document.xpath("//ol[@class='desk-entries']/li")
    assert document.xpath("string(//div[@class='article-preview'])").strip(), "a sample article is shown"
    assert path.read_text("utf-8") == TEXT, "nothing is saved yet"
    sent = chosen_form(page)
    saved = client.post(sent.pop("action"), data=sent | {"name-0": "堃州", "topics-0": "港口", "category-0": "地方"}, follow_redirects=True)
    assert "已将“堃州”写入" in saved.text
    assert "/run?since=" in str(saved.url)
    assert "hx-get=" in saved.text, "the page waits for the first visit"
    sources = load(path)
    assert (sources.feeds[1].url, sources.feeds[1].name, sources.feeds[1].topics, sources.feeds[1].category) == (
        feed,
        "堃州",
        ("港口",),
        "地方",
    )
    assert "# 留下" in path.read_text("utf-8")
    assert "堃州" in client.get("/sources").text, "the change applies at once"
    repeated = finished_page(client, client.post("/sources/new", data={"addresses": feed}))
    assert "已经存在：堃州（订阅源）。" in repeated
    assert 'name="take"' not in repeated


@pytest.mark.parametrize("typed", ["堃州新闻", "https://example.org/\n新闻", "http://", "http://[", "example"])
def test_invalid_url_is_reported_and_input_kept(client: httpx.Client, typed: str) -> None:
    answer = client.post("/sources/new", data={"addresses": typed})
    assert answer.status_code == 422
    page = lxml_html.document_fromstring(answer.text)
    assert "不是网址" in page.xpath("string(//*[@id='addresses-error'])")
    assert page.xpath("string(//textarea[@id='addresses'])").strip() == typed


@pytest.mark.slow
def test_each_of_several_urls_has_its_result(client: httpx.Client, web: MadeUpWeb) -> None:
    bare = web.manifest()["feeds"][0]["url"].removeprefix("http://")  # the server has no https
    page = finished_page(client, client.post("/sources/new", data={"addresses": f"http://10.0.0.1/\n{bare}\nhttp://127.0.0.1:48999/"}))
    document = lxml_html.document_fromstring(page)
    cards = document.xpath("//section[@class='desk-card']")
    assert len(cards) == 3
    assert "不能访问" in cards[0].text_content()
    assert cards[1].xpath(".//input[@name='take']")
    assert f"http://{bare}" in cards[1].xpath("string(.//legend)")
    assert "无法获取" in cards[2].text_content()


@pytest.mark.slow
def test_source_is_tested(client: httpx.Client, path: Path, web: MadeUpWeb) -> None:
    feed = web.manifest()["feeds"][0]["url"]
    path.write_text(TEXT + f"  - {{name: 试, url: '{feed}'}}\n", "utf-8")
    client.post("/sources/feed:老报/enable", data={"enabled": ""})  # makes the portal reload the file
    page = finished_page(client, client.post("/sources/feed:试/test", data={"x": ""}))
    assert lxml_html.document_fromstring(page).xpath("//ol[@class='desk-entries']/li")
    assert "试（订阅源）" in page
    failed = finished_page(client, client.post("/sources/feed:老报/test", data={"x": ""}))
    assert 'class="desk-error"' in failed


def test_pasted_opml_is_shown_without_requests(client: httpx.Client, path: Path) -> None:
    page = finished_page(client, client.post("/sources/new", data={"addresses": OPML}))
    assert "已经存在：老报（订阅源）。" in page
    sent = chosen_form(page)
    assert (sent["name-0"], sent["category-0"]) == ("新报", "财经")
    client.post(sent.pop("action"), data=sent)
    assert [feed.name for feed in load(path).feeds] == ["老报", "新报"]
    broken = finished_page(client, client.post("/sources/new", data={"addresses": "<html>"}))
    assert "这不是 OPML 列表，而是一个网页" in broken


def test_opml_file_is_imported(client: httpx.Client, path: Path) -> None:
    feeds = "".join(f'<outline text="报{n}" xmlUrl="https://f{n}.example/feed"/>' for n in range(130))
    opml = f'<opml><body><outline text="地方">{feeds}</outline></body></opml>'
    page = finished_page(client, client.post("/sources/opml", files={"file": ("feeds.opml", opml.encode(), "text/x-opml")}))
    (form,) = lxml_html.document_fromstring(page).xpath("//form[contains(@action, '/sources/checks/')]")
    assert len(form.xpath(".//input[@name='take']")) == 100
    assert "其余 30 个" in page
    saved = client.post(form.get("action"), data=dict(form.form_values()) | {"take": ["0", "1"]})
    assert saved.status_code == 303
    sources = load(path)
    assert len(sources.feeds) == 1 + 2 + 30
    assert {feed.category for feed in sources.feeds[1:]} == {"地方"}


def test_invalid_opml_file_is_reported(client: httpx.Client, path: Path) -> None:
    large = client.post("/sources/opml", files={"file": ("big.opml", b"<opml>" + b" " * 8 * 1024 * 1024, "text/xml")})
    assert large.status_code == 413
    assert 'id="opml-error"' in large.text
    assert "最多 8 MB" in large.text
    assert "请选择文件" in client.post("/sources/opml", files={"file": ("", b"", "text/xml")}).text
    picture = finished_page(client, client.post("/sources/opml", files={"file": ("x.opml", b"\x89PNG\r\n\x1a\n\x00\x00", "image/png")}))
    assert "OPML" in picture
    assert path.read_text("utf-8") == TEXT


def test_api_imports_opml(client: httpx.Client, path: Path) -> None:
    kind = {"content-type": "text/x-opml"}
    dry = client.post("/api/v1/sources/opml?dry_run=true", content=OPML.encode(), headers=kind).json()
    assert ([feed["name"] for feed in dry["added"]], dry["changed"]) == (["新报"], False)
    imported = client.post("/api/v1/sources/opml?enabled=false", content=OPML.encode(), headers=kind).json()
    assert imported["existing"] == {"http://127.0.0.1:48999/feed": "feed:老报"}
    assert (load(path).feeds[1].category, load(path).feeds[1].enabled) == ("财经", False)
    assert client.post("/api/v1/sources/opml", content=b"<rss/>", headers=kind).json()["error"]["code"] == "invalid-opml"
    assert client.post("/api/v1/sources/opml", content=b" " * 8_400_000, headers=kind).status_code == 413


def test_form_errors_are_reported_and_input_kept(client: httpx.Client, path: Path) -> None:
    assert client.post("/sources/new", data={"addresses": " "}).status_code == 422
    many = client.post("/sources/new", data={"addresses": "a.example " * 11})
    assert many.status_code == 422
    assert "a.example a.example" in many.text
    page = finished_page(client, client.post("/sources/new", data={"addresses": OPML}))
    sent = chosen_form(page)
    action = sent.pop("action")
    assert "请至少选择一个" in client.post(action, data={key: value for key, value in sent.items() if key != "take"}).text
    double = client.post(action, data=sent | {"name-0": "老报"})
    assert double.status_code == 422
    assert "已被使用" in double.text
    assert 'value="老报"' in double.text
    assert path.read_text("utf-8") == TEXT


def wait_until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 600
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_checks_are_limited_and_private_to_their_user() -> None:
    release, running = threading.Event(), []

    def work(report: Callable[[str], None]) -> str:
        running.append(1)
        release.wait(600)
        report("on")
        return "done"

    some = SiteChecks(at_once=2, waiting=1)
    first, second, third = (some.start("me", {}, work) for _ in range(3))
    with pytest.raises(TooMany):
        some.start("me", {}, work)
    wait_until(lambda: len(running) == 2)
    assert some.get(first.id, "you") is None
    some.drop(third.id, "me")
    some.drop(second.id, "you")
    some.drop(second.id, "me")
    release.set()
    wait_until(lambda: first.done and second.done and third.done)
    assert first.found == "done"
    assert isinstance(second.error, Abandoned)
    assert isinstance(third.error, Abandoned)
    assert len(running) == 2, "an abandoned check is not started"
    assert some.start("me", {}, work).owner == "me"


def test_abandoned_check_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_runner, "PATIENCE", 0.0)
    look = SiteChecks().start("me", {}, lambda report: "never")
    wait_until(lambda: look.done)
    assert isinstance(look.error, Abandoned)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (EgressDenied("http://10.0.0.1/", "private"), "内部网络"),
        (FetchFailed("http://a.example/", "timeout"), "超时|及时"),
        (FetchFailed("http://a.example/", "robots", "robots.txt does not allow it"), "robots.txt 不允许"),
        (FetchFailed("http://a.example/", "dns", "robots.txt could not be fetched"), "域名|找不到"),
        (FetchFailed("http://a.example/", "enough", "24 requests were made"), "上限"),
        (NoSource("discovery.none-of-kind"), "没有可以定期读取"),
    ],
)
def test_every_failure_has_a_message_and_remedy(error: NewsportalError, words: str) -> None:
    translate = translations("zh").gettext
    assert re.search(words, render(error.message, translate))
    assert error.remedy
    assert render(error.remedy, translate) != str(error.remedy)
