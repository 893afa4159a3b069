"""Adding, changing and scheduling sources in a browser: with and without scripts, on a phone, in dark mode."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from madeup import MadeUpWeb

from newsportal.sources import load

SCRIPTS = pytest.mark.parametrize("options", [{}, {"java_script_enabled": False}], ids=["scripts", "no-script"])


@pytest.fixture
def site(steered_site: Any) -> Any:
    return steered_site


@SCRIPTS
def test_source_is_added_by_url_and_undone(visit: Any, violations: Any, site: Any, web: MadeUpWeb, options: dict[str, Any]) -> None:
    feed = web.manifest()["feeds"][0]["url"]
    page = visit("editor", **options).go("/sources")
    page.get_by_role("link", name="添加来源").first.click()
    page.get_by_label("网址", exact=True).fill(feed)
    page.get_by_role("button", name="查看").click()
    page.get_by_label("来源名称").wait_for()
    assert page.locator(".desk-entries li").count() > 1
    if not options:
        assert violations(page) == []
        assert page.evaluate("performance.getEntriesByType('navigation')[0].type") == "navigate", "the page was not loaded again"
    page.get_by_label("来源名称").fill("堃州早报")
    page.get_by_label("港口").check()
    page.get_by_role("button", name="添加所选来源").click()
    page.get_by_text("已将“堃州早报”写入").wait_for()
    added = load(site.file).feeds[2]
    assert (added.name, added.url, added.topics) == ("堃州早报", feed, ("港口",))
    page.get_by_role("button", name="撤销").click()
    page.get_by_text("已撤销更改").wait_for()
    assert len(load(site.file).feeds) == 2
    assert "# 不要动" in Path(site.file).read_text("utf-8")


@SCRIPTS
def test_invalid_field_is_shown_fixed_and_change_undone(visit: Any, violations: Any, site: Any, options: dict[str, Any]) -> None:
    visitor = visit("editor", **options)
    page = visitor.go("/sources/feed:老报")
    page.locator("summary", has_text="访问方式").click()
    page.get_by_label("访问间隔（分钟）").fill("很久")
    page.get_by_role("button", name="保存").click()
    page.get_by_text("不是数字").wait_for()
    field = page.get_by_label("访问间隔（分钟）")
    assert field.is_visible(), "its group is expanded"
    assert field.input_value() == "很久"
    assert field.get_attribute("aria-invalid") == "true"
    if not options:
        assert violations(page) == []
    field.fill("45")
    page.get_by_role("button", name="保存").click()
    page.get_by_text("已保存“老报”").wait_for()
    assert load(site.file).feeds[0].interval == 45
    page.get_by_role("button", name="撤销").click()
    page.get_by_text("已撤销更改").wait_for()
    assert load(site.file).feeds[0].interval is None
    visitor.faults[:] = [fault for fault in visitor.faults if "422" not in fault]  # browsers log the refused form


def test_source_is_disabled_and_enabled_by_keyboard(visit: Any, site: Any) -> None:
    page = visit("editor").go("/sources?q=老报")
    page.get_by_role("button", name="停用“老报”").focus()
    page.keyboard.press("Enter")
    page.get_by_text("已停用“老报”").wait_for()
    assert not load(site.file).feeds[0].enabled
    assert page.url.endswith("/sources?q=%E8%80%81%E6%8A%A5"), "redirected to the same list"
    page.get_by_role("button", name="启用“老报”").click()
    page.get_by_text("已启用“老报”").wait_for()


@SCRIPTS
def test_selected_sources_are_disabled_and_restored(visit: Any, site: Any, options: dict[str, Any]) -> None:
    page = visit("editor", **options).go("/sources?sort=name")
    boxes = page.locator("input[name='key']")
    for place in range(boxes.count()):
        boxes.nth(place).check()
    page.get_by_role("button", name="停用", exact=True).click()
    page.get_by_text("已停用 2 个来源").wait_for()
    assert [feed.enabled for feed in load(site.file).feeds] == [False, False]
    assert page.url.endswith("/sources?sort=name")
    page.get_by_role("button", name="撤销").click()
    page.get_by_text("已撤销更改").wait_for()
    assert [feed.enabled for feed in load(site.file).feeds] == [True, True]


@SCRIPTS
def test_category_with_own_words(visit: Any, site: Any, options: dict[str, Any]) -> None:
    page = visit("editor", **options).go("/categories")
    page.get_by_role("link", name="新建分类").click()
    page.get_by_label("分类名称").fill("航运")
    page.get_by_label("强特征词").fill("集装箱，渡轮")
    page.get_by_role("button", name="保存").click()
    page.get_by_text("分类“航运”已保存").wait_for()
    assert load(site.file).categories[0].words == ("集装箱", "渡轮")
    page.get_by_role("button", name="撤销").click()
    page.get_by_text("已撤销更改").wait_for()
    assert load(site.file).categories == ()


def test_invalid_file_is_reported_and_fixed_on_desk(visit: Any, violations: Any, site: Any) -> None:
    text = site.file.read_text("utf-8")
    site.file.write_text(text.replace("    url: https://old", "    uri: https://old"), "utf-8")
    page = visit("admin").go("/schedule")
    deadline = monotonic() + 600
    while not page.get_by_text("sources.yaml 有错误").count():  # the portal reloads the file periodically
        assert monotonic() < deadline
        page.wait_for_timeout(100)
        page.reload()
    assert violations(page) == []
    page.get_by_role("link", name="去修改").click()
    page.get_by_label("整个文件").fill(text.replace("晨报", "晚报"))
    page.get_by_role("button", name="保存").click()
    page.get_by_text("已保存 sources.yaml").wait_for()
    assert page.get_by_text("sources.yaml 有错误").count() == 0
    assert page.get_by_role("link", name="晚报").count() == 1
