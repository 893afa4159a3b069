"""Destinations are created, tested and removed on pages for administrators; a test publishes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from factories import empty_store
from lxml import html as lxml_html

from newsportal.sources import load
from newsportal.store.store import Store

SOURCES = """\
# ours
topics:
  - name: 旅游
publish:
  - name: 旧目标   # stays
    to: folder:old
    only: {topics: [旅游], min_chars: 100}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sources.yaml"
    path.write_text(SOURCES, "utf-8")
    return path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(empty_store(tmp_path / "news.db")) as opened:
        yield opened


@pytest.fixture
def admin(serve: Any, store: Store, file: Path) -> httpx.Client:
    client: httpx.Client = serve(store, None, load(file), role="admin", reread_every=0)
    return client


def page(answer: httpx.Response) -> Any:
    return lxml_html.document_fromstring(answer.text)


def fields(answer: httpx.Response) -> dict[str, Any]:
    """Return what the form of the page sends."""
    form = page(answer).xpath("//form[contains(@class, 'desk-form')]")[0]
    return {name: value for name, value in form.form_values() if name != "step"}


def test_destination_is_tested_then_saved(admin: httpx.Client, file: Path, tmp_path: Path) -> None:
    sent = {**fields(admin.get("/publishing/new")), "name": "新目标", "to": "folder:out", "format": "html", "step": "try"}
    trial = admin.post("/publishing/new", data=sent)
    assert trial.status_code == 200
    assert "可以发布" in trial.text
    assert "一篇样稿" in trial.text or page(trial).xpath("//*[@data-trial]//code"), "the rendered article is shown"
    assert not (tmp_path / "out").exists(), "nothing is published"
    assert file.read_text("utf-8") == SOURCES, "the file is unchanged"
    assert page(trial).xpath("//input[@name='name']/@value") == ["新目标"], "the input is kept"
    saved = admin.post("/publishing/new", data={name: value for name, value in sent.items() if name != "step"}, follow_redirects=True)
    assert "已保存发布目标“新目标”" in saved.text
    assert [(target.name, target.way, target.format) for target in load(file).publish][1:] == [("新目标", "folder", "html")]
    assert file.read_text("utf-8").startswith(SOURCES.split("publish:")[0])
    assert page(saved).xpath("//tr[@data-target='新目标']//a[@href='/publishing/targets/%E6%96%B0%E7%9B%AE%E6%A0%87']")


def test_error_is_beside_its_field(admin: httpx.Client, file: Path) -> None:
    for step in ({"step": "try"}, {}):
        answer = admin.post("/publishing/new", data={"name": "甲", "to": "ftp://a.example/x", "enabled": "yes", **step})
        assert answer.status_code == 422
        assert page(answer).xpath("//p[@id='field-to-error']/text()")
    refused = admin.post("/publishing/new", data={"name": "甲", "to": "https://hooks.example/x", "enabled": "yes"})
    assert (refused.status_code, "secret" in refused.text) == (422, True)
    assert file.read_text("utf-8") == SOURCES


def test_destination_is_changed_and_removed(admin: httpx.Client, file: Path) -> None:
    place = "/publishing/targets/旧目标"
    sent = fields(admin.get(place))
    assert (sent["to"], sent["only.topics"], sent["only.min_chars"]) == ("folder:old", "旅游", "100")
    admin.post(place, data={**sent, "only.min_chars": "", "only.categories": "财经\n体育"})
    (target,) = load(file).publish
    assert (target.only.topics, target.only.categories, target.only.min_chars) == (("旅游",), ("财经", "体育"), 0)
    assert "# stays" in file.read_text("utf-8")
    form = fields(admin.get(place))
    assert admin.post(place, data=sent).status_code == 409, "an outdated form must not overwrite a newer change"
    admin.post(f"{place}/drop", data={"digest": form["digest"]})
    assert load(file).publish == ()
    assert admin.get(place).status_code == 404


def test_table_columns_are_entered_one_per_line(admin: httpx.Client, file: Path) -> None:
    sent = {
        "name": "库",
        "to": "sqlite:///theirs.db",
        "table": "posts",
        "columns": 'headline: title\ncat: {"lookup": {"旅游": 3}}',
        "enabled": "yes",
    }
    admin.post("/publishing/new", data=sent)
    place = "/publishing/targets/库"
    assert fields(admin.get(place))["columns"] == sent["columns"]
    admin.post(place, data={**fields(admin.get(place)), "columns": "body: text"})
    assert {name: column.field for name, column in load(file).publish[1].columns.items()} == {"body": "text"}


def test_secret_is_not_in_audit_log(admin: httpx.Client) -> None:
    admin.post("/publishing/new", data={"name": "钩", "to": "https://hooks.example/x", "secret": "hush-hush", "enabled": "yes"})
    assert "钩" in admin.get("/audit").text
    assert "hush-hush" not in admin.get("/audit").text


@pytest.mark.parametrize("role", ["reader", "editor"])
def test_destinations_require_an_administrator(serve: Any, store: Store, file: Path, role: str) -> None:
    client = serve(store, None, load(file), role=role, reread_every=0)
    assert client.get("/publishing/new").status_code == 403
    assert client.post("/publishing/new", data={"name": "x", "to": "folder:x"}).status_code == 403
    assert file.read_text("utf-8") == SOURCES
