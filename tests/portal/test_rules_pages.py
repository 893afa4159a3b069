"""Pages of wrappers and learned templates: tried on a page and on archived pages before they apply."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from factories import empty_store

from newsportal.extractors.article.site import SiteKnowledge, pack_page
from newsportal.net.archive import Exchange, Writer
from newsportal.sources import load
from newsportal.store.store import Store

NOW = datetime(2026, 5, 20, 10, 30, tzinfo=UTC)

SOURCES = """\
store: sqlite:///news.db
archive: crawl.warc.gz
feeds:
  # the harbour
  - {name: 海港, url: "https://port.example/rss", category: 社会}
  - {name: 江, url: "https://river.example/rss", article: {body: .text}}
"""

STORIES = ("渡轮今晨开航", "灯塔修缮完工", "鱼市搬到新址")

KEY = "feed:%E6%B5%B7%E6%B8%AF"


def page(title: str) -> str:
    lines = "".join(f"<p>{title}的消息第{number}段，码头上的人说了很多话，海风一直在吹{title}。</p>" for number in range(4))
    top = f'<div class="top"><a href="/">首页</a></div><h1>{title}</h1><div class="when">2026-05-19 08:30</div>'
    return (
        f'<html><head><title>{title}</title></head><body>{top}<div class="text">{lines}</div><div><a href="/a">关于</a></div></body></html>'
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    (tmp_path / "sources.yaml").write_text(SOURCES, "utf-8")
    with Writer(tmp_path / "crawl.warc.gz") as writer:
        for number, title in enumerate(STORIES):
            headers = (("Content-Type", "text/html; charset=utf-8"),)
            writer.write(Exchange(f"https://port.example/news/{number}.html", 200, headers, page(title).encode(), when=NOW))
    opened = empty_store(tmp_path / "news.db")
    yield opened
    opened.close()


@pytest.fixture
def editor(serve: Callable[..., httpx.Client], store: Store, tmp_path: Path) -> httpx.Client:
    return serve(store, None, load(tmp_path / "sources.yaml"), role="editor", reread_every=0)


def test_list_starts_with_sources_that_have_rules(editor: httpx.Client) -> None:
    text = editor.get("/wrappers").text
    assert text.index('data-source="feed:江"') < text.index('data-source="feed:海港"')


def test_rule_is_tried_on_archived_pages_before_saving(editor: httpx.Client, tmp_path: Path) -> None:
    answer = editor.post(f"/wrappers/{KEY}/try", data={"body": ".text", "title": "h1"})
    assert answer.status_code == 200
    assert "存档中的页面" in answer.text
    assert all(title in answer.text for title in STORIES)
    figures = re.findall(r"<dd>([^<]+)</dd>", answer.text)
    assert figures[:2] == ["3", "3"]
    assert (tmp_path / "sources.yaml").read_text("utf-8") == SOURCES
    unmatched = editor.post(f"/wrappers/{KEY}/try", data={"body": ".no-such"}).text
    assert "规则找不到正文" in unmatched
    assert 'value=".no-such"' in unmatched


def test_rule_is_tried_on_a_pasted_page(editor: httpx.Client) -> None:
    html = page("<script>alert(1)</script>桥")
    answer = editor.post(f"/wrappers/{KEY}/try", data={"body": ".text", "html": html}).text
    assert "您粘贴的页面" in answer
    assert "<script>alert" not in answer


def test_internal_url_is_not_fetched(editor: httpx.Client) -> None:
    for url in ("http://127.0.0.1:9/", "http://169.254.169.254/latest/meta-data/", "file:///etc/passwd"):
        answer = editor.post(f"/wrappers/{KEY}/try", data={"body": ".text", "url": url})
        assert answer.status_code == 422
        assert "field-error" in answer.text
        assert editor.post("/templates/try", data={"url": url}).status_code == 422


def test_rule_is_saved_and_removed(editor: httpx.Client, tmp_path: Path) -> None:
    assert editor.post(f"/wrappers/{KEY}/save", data={"body": ".text", "remove": ".ad\n.more"}).status_code == 303
    rule = load(tmp_path / "sources.yaml").feeds[0].article
    assert rule is not None
    assert (rule.body, rule.remove) == (".text", (".ad", ".more"))
    assert "# the harbour" in (tmp_path / "sources.yaml").read_text("utf-8")
    assert editor.accounts.audit_log.entries()[0].action == "wrapper.change"  # type: ignore[attr-defined]
    assert 'value=".text"' in editor.get(f"/wrappers/{KEY}").text
    assert editor.post(f"/wrappers/{KEY}/save", data={"body": ""}).status_code == 303
    assert load(tmp_path / "sources.yaml").feeds[0].article is None


def test_invalid_selector_is_reported_and_input_kept(editor: httpx.Client, tmp_path: Path) -> None:
    for action in ("try", "save"):
        answer = editor.post(f"/wrappers/{KEY}/{action}", data={"body": "div[["})
        assert answer.status_code == 422
        assert "不是有效的选择器" in answer.text
        assert 'value="div[["' in answer.text
    assert (tmp_path / "sources.yaml").read_text("utf-8") == SOURCES
    assert editor.get("/wrappers/feed:none").status_code == 404


def test_templates_are_learned_tried_and_forgotten(editor: httpx.Client) -> None:
    assert "还没有学到" in editor.get("/templates").text
    assert editor.post("/templates/learn", data={"go": "1"}).status_code == 303
    assert "新增 1 个模板" in editor.get("/templates").text
    assert 'data-site="port.example"' in editor.get("/templates").text
    site = editor.get("/templates/site?name=port.example").text
    assert "/news" in site
    assert "has-text" in site
    read = editor.post("/templates/try", data={"url": "https://port.example/news/9.html", "html": page("潮汐表更新")}).text
    assert read.count("潮汐表更新的消息第1段") >= 2, "with the template and with the general extractor"
    assert editor.post("/templates/forget", data={"site": "port.example"}).status_code == 303
    assert editor.post("/templates/learn", data={"go": "1"}, headers={"accept-language": "en"}).status_code == 303
    assert "pages read; 1 new template." in editor.get("/templates").text
    assert editor.post("/templates/forget", data={"site": "port.example"}).status_code == 303
    assert 'data-site="port.example"' not in editor.get("/templates").text
    assert editor.get("/templates/site?name=port.example").status_code == 404
    assert editor.post("/templates/forget", data={"site": "port.example"}).status_code == 404


def test_boilerplate_lines_are_shown_and_forgotten(editor: httpx.Client, store: Store) -> None:
    knowledge = SiteKnowledge()
    knowledge.learn("https://port.example/news/1.html", ["首页", "关于我们的站点", "海港网版权所有"], "题")
    store.save_site_lines({"port.example": {url: pack_page(lines) for url, lines in knowledge.pages()}}, now=NOW, max_sites=10)
    assert 'data-site="port.example"' in editor.get("/templates").text
    assert "news/1.html" in editor.get("/templates/site?name=port.example").text
    assert editor.post("/templates/forget", data={"site": "port.example", "kind": "lines"}).status_code == 303
    assert store.site_lines("port.example") == {}
    assert [entry.action for entry in editor.accounts.audit_log.entries()] == ["template.forget"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", ["/wrappers", f"/wrappers/{KEY}", "/templates", "/templates/site?name=port.example"])
def test_rules_require_an_editor(serve: Callable[..., httpx.Client], store: Store, tmp_path: Path, path: str) -> None:
    reader = serve(store, None, load(tmp_path / "sources.yaml"), role="reader", reread_every=0)
    assert reader.get(path).status_code == 403
    assert reader.post(path.partition("?")[0].rstrip("/") + "/save", data={"body": "p"}).status_code in (403, 404, 405)


def test_api_of_rules_and_templates(editor: httpx.Client, store: Store) -> None:
    api = "/api/v1"
    assert [(row["key"], row["body"]) for row in editor.get(f"{api}/wrappers").json()] == [("feed:江", ".text"), ("feed:海港", None)]
    checked = editor.post(f"{api}/wrappers/{KEY}/try", json={"body": ".text", "title": "h1"}).json()
    assert (checked["origin"], checked["read"], checked["similar"], len(checked["pages"])) == ("archive", 3, 3, 3)
    for invalid in ({"body": "div[["}, {"body": ".text", "url": "http://127.0.0.1:9/"}):
        assert editor.post(f"{api}/wrappers/{KEY}/try", json=invalid).status_code == 422, invalid
    assert editor.post(f"{api}/wrappers/feed:none/try", json={}).status_code == 404
    best, tree = editor.post(f"{api}/templates/try", json={"html": page("渡轮今晨开航")}).json()
    assert ("渡轮今晨开航" in best["text"], tree["text"], bool(tree["reason"])) == (True, None, True)
    manual = "".join(f"<h2>第{n}步</h2><p>把螺丝刀转到{n}号位，听到一声轻响，再装上后盖，然后用力按一下。</p>" for n in range(9))
    html = page("渡轮今晨开航").replace("</body>", f"<script>alert(1)</script>{manual}</body>")
    content = editor.post(f"{api}/extract", json={"url": "https://port.example/a", "html": html}).json()
    assert (content["url"], "## 第3步" in content["markdown"], "script" in content["html"]) == ("https://port.example/a", True, False)
    assert 0 < content["kind_probability"] <= 1
    for empty in ({"html": "<p>"}, {"url": "http://127.0.0.1:9/"}):
        assert editor.post(f"{api}/extract", json=empty).status_code == 422, empty
    assert editor.post(f"{api}/templates/learn", json={}).json()["pages"] == 3
    store.save_site_lines({"port.example": {"https://port.example/1": b"unreadable"}}, now=NOW, max_sites=9)
    (site,) = [row for row in editor.get(f"{api}/templates").json() if row["site"] == "port.example"]
    assert site["read_pages"] == 1
    assert editor.post(f"{api}/templates/forget", json={"site": "port.example", "kind": "lines"}).status_code == 204
    assert editor.post(f"{api}/templates/forget", json={"site": "port.example", "kind": "lines"}).status_code == 404
    assert {"template.learn", "template.forget"} <= {entry.action for entry in editor.accounts.audit_log.entries()}  # type: ignore[attr-defined]
