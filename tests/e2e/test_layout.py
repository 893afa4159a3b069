"""Visibility: actions of tables, button sizes for touch, the active toggle, collapsed charts."""

from __future__ import annotations

from typing import Any

import pytest

PHONE = {"viewport": {"width": 390, "height": 844}}
SIZES = """() => [...document.querySelectorAll("button, .button, select, .orders a, .chip, .bar a")]
    .filter((one) => one.checkVisibility() && !one.closest("[hidden], .body"))
    .map((one) => [one.outerHTML.slice(0, 90), one.getBoundingClientRect().height]).filter(([, height]) => height < 44)"""

LINES = """(one) => { const range = document.createRange(); range.selectNodeContents(one);
    return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size }"""
HEADLINE = "<span>青苔实验室发布低功耗河流水质芯片</span> <span>一节电池可用六年</span>"


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_source_actions_are_visible(visit: Any, editors_site: Any, site: Any, language: str) -> None:
    page = visit("editor", locale=language).page
    page.context.add_cookies([editors_site.session("editor")])
    page.goto(f"{editors_site.address}/sources")
    assert page.locator(".scroll").first.evaluate("box => box.scrollWidth <= box.clientWidth"), "nothing overflows"
    rows = page.locator("tr[data-source]").all()
    assert rows
    assert all(row.bounding_box()["height"] < 110 for row in rows)
    assert all(button.is_visible() for button in page.locator("tr[data-source] button").all())


def test_bulk_actions_appear_after_selection(visit: Any, steered_site: Any, site: Any) -> None:
    page = visit("editor").page
    page.context.add_cookies([steered_site.session("editor")])
    page.goto(f"{steered_site.address}/sources")
    many = page.locator("#bulk")
    assert many.is_hidden()
    page.locator(".select-cell input").first.check()
    assert many.is_visible()
    page.locator(".select-cell input").first.uncheck()
    assert many.is_hidden()


@pytest.mark.parametrize("path", ["/", "/latest", "/topic/旅游", "/settings", "/desk"])
def test_buttons_are_large_enough_for_touch(visit: Any, path: str) -> None:
    page = visit("editor", **PHONE).go(path)
    assert page.evaluate(SIZES) == []


def test_lines_break_between_topics_and_at_spaces(visit: Any) -> None:
    page = visit(viewport={"width": 240, "height": 844}).go("/briefing")
    assert set(page.locator(".orders a").evaluate_all(f"topics => topics.map({LINES})")) == {1}
    page.set_viewport_size({"width": 1280, "height": 900})
    page.locator("h1").evaluate("(one, html) => { one.innerHTML = html; one.style.width = '17em' }", HEADLINE)
    assert page.locator("h1").evaluate(LINES) == 2
    assert page.locator("h1 span").evaluate_all(f"parts => parts.map({LINES})") == [1, 1]


@pytest.mark.parametrize(("path", "name"), [("/feeds", "main th"), ("/articles", "#topic")])
def test_long_topic_does_not_widen_the_page(visit: Any, path: str, name: str) -> None:
    page = visit("editor", **PHONE).go(path)
    long = "'超长的话题名称'.repeat(14)"
    page.locator(name).first.evaluate(f"one => {{ one.options ? one.add(new Option({long})) : one.textContent = {long} }}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_long_names_leave_actions_and_menus_in_view(visit: Any) -> None:
    page = visit("admin", viewport={"width": 1280, "height": 900}).go("/people")
    for name in ("tbody th", ".topics a"):
        page.locator(name).last.evaluate("one => { one.textContent = 'W'.repeat(64) }")
    assert page.locator(".scroll").evaluate("one => one.scrollWidth <= one.clientWidth")
    assert page.locator(".topics a").last.evaluate("one => one.offsetWidth <= 256")


def test_active_toggle_is_visible_in_dark_mode(visit: Any) -> None:
    page = visit(color_scheme="dark").go("/")
    ring = page.locator(".orders [aria-pressed=true]").evaluate("one => getComputedStyle(one).boxShadow")
    assert ring.startswith("rgb(155, 150, 141)"), "a ring in the colour of small print"
    assert "inset" in ring


def test_topic_chart_is_collapsed_on_phone(visit: Any) -> None:
    page = visit(**PHONE).go("/topic/旅游")
    chart = page.locator(".overview svg")
    assert chart.is_hidden()
    page.locator(".folded > summary").click()
    assert chart.is_visible()
    page.set_viewport_size({"width": 1280, "height": 900})
    page.reload()
    assert page.locator(".folded > summary").is_hidden()
    assert chart.is_visible()
