"""Navigation: the account menu, the bottom bar on phones, the menu of the desk."""

from __future__ import annotations

from typing import Any

import pytest

PHONE = {"viewport": {"width": 390, "height": 844}}
WIDTHS = {"phone": PHONE, "tablet": {"viewport": {"width": 768, "height": 900}}, "desktop": {}}


@pytest.mark.parametrize("options", [*WIDTHS.values(), {**PHONE, "java_script_enabled": False}], ids=[*WIDTHS, "no-script"])
def test_account_menu_is_in_header_at_every_width(visit: Any, options: dict[str, Any]) -> None:
    anonymous = visit(**options).go("/")
    anonymous.get_by_role("banner").get_by_role("link", name="登录").click()
    assert "/login" in anonymous.url
    page = visit(role="editor", **options).go("/")
    menu = page.get_by_role("banner").get_by_role("navigation", name="我的账号")
    assert menu.is_hidden()
    page.locator(".user-name").click()
    labels = [link.inner_text() for link in menu.get_by_role("link").all()]
    assert [*labels, menu.get_by_role("button").inner_text()] == [
        *("收藏", "保存的搜索", "提醒", "阅读记录", "设置", "我的账号", "编辑台", "退出登录")
    ]
    menu.get_by_role("link", name="收藏").click()
    assert page.url.endswith("/starred")
    page.locator(".user-name").click()
    menu.get_by_role("button", name="退出登录").click()
    assert page.get_by_role("banner").get_by_role("link", name="登录").is_visible()


@pytest.mark.parametrize("options", [{}, {**PHONE, "color_scheme": "dark"}], ids=["wide", "phone"])
def test_open_menu_is_accessible(visit: Any, violations: Any, options: dict[str, Any]) -> None:
    page = visit(role="editor", **options).go("/feeds")
    page.locator(".user-name").click()
    found = [(rule, nodes) for rule, nodes in violations(page) if rule != "target-size"]  # the menu covers what is below it
    assert found == []
    heights = [node.bounding_box()["height"] for node in page.locator(".account li > a, .account button").all()]
    assert min(heights) >= 44


def test_menu_closes_by_escape_and_outside_click(visit: Any) -> None:
    page = visit(role="reader").go("/")
    menu = page.get_by_role("banner").get_by_role("navigation", name="我的账号")
    for close in (lambda: page.keyboard.press("Escape"), lambda: page.locator("h1").first.dispatch_event("click")):
        page.locator(".user-name").click()
        menu.wait_for()
        close()
        menu.wait_for(state="hidden")


def test_phone_has_bottom_bar(visit: Any) -> None:
    page = visit(role="reader", **PHONE).go("/latest")
    bar = page.get_by_role("navigation", name="主要页面")
    assert [link.inner_text() for link in bar.get_by_role("link").all()] == ["首页", "最新", "搜索", "为你推荐", "收藏"]
    assert bar.locator("[aria-current]").inner_text() == "最新"
    sizes = [link.bounding_box() for link in bar.get_by_role("link").all()]
    assert all(size["height"] >= 44 and size["width"] >= 44 and size["y"] + size["height"] <= 844 for size in sizes), sizes
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    last = page.locator("footer .fine").bounding_box()
    assert last["y"] + last["height"] <= sizes[0]["y"], "the footer is not covered"
    page.set_viewport_size({"width": 1280, "height": 900})
    assert bar.is_hidden()


def test_desk_menu_opens_without_details_content_support(visit: Any) -> None:
    visitor = visit(role="editor")
    visitor.page.add_init_script("CSS.supports = () => false")
    page = visitor.go("/runs")  # a page of the desk
    assert page.locator(".desk-menu").get_attribute("open") is not None
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    assert page.locator(".desk-menu").get_attribute("open") is None
