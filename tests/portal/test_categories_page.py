"""Editing of categories: added words, a new name that sources follow, errors beside their fields; also by the API."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from factories import empty_store
from lxml import html as lxml_html

from newsportal.sources import load

TEXT = """\
# ours
feeds:
  - {name: 甲, url: "https://a.example/f", category: 航运}
categories:
  - name: 航运   # ships
    words: [港口]
"""


@pytest.fixture(scope="module")
def editor(serve: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    path = tmp_path_factory.mktemp("categories") / "sources.yaml"
    path.write_text(TEXT, "utf-8")
    store = empty_store(path.parent / "store.db")
    client: httpx.Client = serve(store, settings=load(path), role="editor", reread_every=0)
    client.path = path  # type: ignore[attr-defined]
    yield client
    store.close()


@pytest.fixture
def path(editor: httpx.Client) -> Path:
    """The file, restored before each test."""
    file: Path = editor.path  # type: ignore[attr-defined]
    file.write_text(TEXT, "utf-8")
    for enabled in ("", "yes"):  # changes by the portal make it reload the file
        editor.post("/sources/feed:甲/enable", data={"enabled": enabled})
    assert file.read_text("utf-8") == TEXT
    return file


def form(page: str) -> dict[str, str]:
    (found,) = lxml_html.document_fromstring(page).xpath("//form[@class='desk-form']")
    return dict(found.form_values())


def test_list_has_built_in_and_own_categories(editor: httpx.Client, path: Path) -> None:
    page = editor.get("/categories").text
    rows = lxml_html.document_fromstring(page).xpath("//tr/@data-category")
    assert len(rows) == 23
    assert rows[-1] == "航运"
    assert "港口" in page


def test_words_and_new_name_are_saved_and_undone(editor: httpx.Client, path: Path) -> None:
    sent = form(editor.get("/categories/航运/edit").text)
    assert sent["words"] == "港口"
    saved = editor.post(
        "/categories/航运/edit", data=sent | {"name": "海运", "words": "港口，渡轮", "hints": "码头"}, follow_redirects=True
    )
    assert "分类“海运”已保存" in saved.text
    sources = load(path)
    assert (sources.categories[0].words, sources.categories[0].hints) == (("港口", "渡轮"), ("码头",))
    assert sources.feeds[0].category == "海运"
    assert "# ships" in path.read_text("utf-8")
    (undo,) = lxml_html.document_fromstring(saved.text).xpath("//form[starts-with(@action, '/sources/undo/')]/@action")
    editor.post(undo, data={"go": "1"})
    assert path.read_text("utf-8") == TEXT


def test_built_in_category_keeps_its_name_and_is_reset(editor: httpx.Client, path: Path) -> None:
    page = editor.get("/categories/彩票/edit").text
    assert 'name="name"' not in page
    sent = form(page)
    sent.pop("enabled")
    assert editor.post("/categories/彩票/edit", data=sent | {"name": "别的"}).status_code == 303
    assert [(category.name, category.enabled) for category in load(path).categories] == [("航运", True), ("彩票", False)]
    assert "未启用" in editor.get("/categories").text
    assert editor.post("/categories/彩票/drop", data={"go": "1"}).status_code == 303
    assert path.read_text("utf-8") == TEXT


def test_error_is_beside_its_field_and_input_is_kept(editor: httpx.Client, path: Path) -> None:
    double = editor.post("/categories/new", data={"name": "航运", "words": "集装箱", "enabled": "yes"})
    assert double.status_code == 422
    assert 'id="field-name-error"' in double.text
    assert "集装箱" in double.text
    stale = form(editor.get("/categories/航运/edit").text)
    path.write_text(TEXT.replace("[港口]", "[港口, 货轮]"), "utf-8")
    clash = editor.post("/categories/航运/edit", data=stale | {"words": "渡轮"})
    assert clash.status_code == 409
    assert "渡轮" in clash.text
    assert "货轮" in clash.text, "both versions are shown"
    assert editor.post("/categories/航运/edit", data=form(clash.text)).status_code == 303
    assert load(path).categories[0].words == ("渡轮",)
    assert editor.get("/categories/没有/edit").status_code == 404


def test_api_edits_categories(editor: httpx.Client, path: Path) -> None:
    categories = editor.get("/api/v1/categories/settings").json()
    (row,) = [category for category in categories if category["name"] == "航运"]
    assert (row["packaged"], row["words"], row["enabled"]) == (None, ["港口"], True)
    sent = {"name": "海运", "words": ["渡轮"], "digest": row["digest"]}
    assert editor.put("/api/v1/categories/settings/航运", json=sent).json()["words"] == ["渡轮"]
    assert load(path).feeds[0].category == "海运"
    assert editor.put("/api/v1/categories/settings/海运", json={"digest": row["digest"]}).status_code == 409
    assert editor.put("/api/v1/categories/settings/旅游", json={"name": "游"}).json()["error"]["code"] == "fixed-name"
    assert editor.put("/api/v1/categories/settings/旅游", json={"words": ["峡谷"]}).status_code == 200
    assert editor.delete("/api/v1/categories/settings/海运").status_code == 204
    assert editor.delete("/api/v1/categories/settings/海运").status_code == 404
    assert [category.name for category in load(path).categories] == ["旅游"]
