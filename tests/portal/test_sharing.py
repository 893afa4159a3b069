"""Sharing: Open Graph cards of stories, oEmbed, and URLs shared from other apps."""

from __future__ import annotations

from types import ModuleType
from urllib.parse import unquote

import httpx
from lxml import html as lxml_html

from newsportal.sources import load
from newsportal.store.store import Store


def card(client: httpx.Client, path: str) -> dict[str, str]:
    page = lxml_html.document_fromstring(client.get(path).content.decode())
    names = ((node.get("property") or node.get("name"), node.get("content")) for node in page.xpath("//meta[@content]"))
    return {name: content for name, content in names if name and name.startswith(("og:", "twitter:", "article:"))}


def test_story_card_names_its_source(client: httpx.Client, ids: dict[str, str]) -> None:
    path = f"/story/{ids['bridge']}"
    found, page = card(client, path), lxml_html.document_fromstring(client.get(path).content.decode())
    assert found["og:title"] == "云岭峡谷步行观景桥今日开放，首日八千张门票全部约满"
    assert found["og:url"] == str(client.base_url.join(path))
    assert found["twitter:data1"] == "云岭晚报"
    assert found["og:image"].startswith("https://")
    assert found["twitter:card"] == "summary_large_image"
    assert found["og:description"]
    [canonical] = page.xpath("//link[@rel='canonical']/@href")
    assert canonical == found["og:see_also"]
    assert not canonical.startswith(str(client.base_url))


def test_card_escapes_the_title(fresh: Store, serve, newsroom: ModuleType) -> None:
    written = newsroom.write(fresh, newsroom.article('一"><script>x</script>', "正文。" * 30))
    client = serve(fresh)
    found = card(client, f"/story/{fresh.article(written[0]).story_id}")
    assert found["og:title"] == '一"><script>x</script>'
    assert found["twitter:card"] == "summary"


def test_oembed_of_a_story(client: httpx.Client, ids: dict[str, str]) -> None:
    page = lxml_html.document_fromstring(client.get(f"/story/{ids['bridge']}").content.decode())
    [address] = page.xpath("//link[@type='application/json+oembed']/@href")
    data = client.get(address).json()
    assert data["version"] == "1.0"
    assert (data["type"], data["author_name"], data["width"]) == ("rich", "云岭晚报", 600)
    quoted = lxml_html.fragment_fromstring(data["html"])
    assert quoted.xpath(".//a/@href") == [f"{str(client.base_url).rstrip('/')}/story/{ids['bridge']}", data["author_url"]]


def test_oembed_of_other_urls_is_not_found(client: httpx.Client, ids: dict[str, str]) -> None:
    path = f"/story/{ids['bridge']}"
    for url in (f"https://elsewhere.example{path}", f"{client.base_url}latest", "https://[", "", path):
        assert client.get("/oembed", params={"url": url}).status_code == 404
    assert client.get("/oembed", params={"url": f"{client.base_url}{path}", "format": "xml"}).status_code == 501


def test_shared_url_is_entered_in_the_source_form(serve, fresh: Store, tmp_path) -> None:
    file = tmp_path / "sources.yaml"
    file.write_text("topics: [{name: 旅游}]\n", "utf-8")
    editor = serve(fresh, settings=load(file), role="editor")

    def filled(**params: str) -> str:
        page = lxml_html.document_fromstring(editor.get("/sources/new", params=params).content.decode())
        assert str(editor.base_url).rstrip("/") in unquote(page.xpath("//a[@data-bookmarklet]/@href")[0])
        return page.xpath("string(//textarea)").strip()

    assert filled(url="https://a.example/?x=1&y=2") == "https://a.example/?x=1&y=2"
    assert filled(title="晨报", text="晨报 https://a.example/news 来自浏览器") == "https://a.example/news"
    assert filled(text="没有网址") == ""
