"""What stands in sight: actions of tables, buttons that a thumb hits, the chosen half of a toggle, a chart that is folded."""

from __future__ import annotations

from typing import Any

import pytest

PHONE = {"viewport": {"width": 390, "height": 844}}
SIZES = """() => [...document.querySelectorAll("button, .button, select, .orders a, .chip, .bar a")]
    .filter((one) => one.checkVisibility() && !one.closest("[hidden], .body"))
    .map((one) => [one.outerHTML.slice(0, 90), one.getBoundingClientRect().height]).filter(([, height]) => height < 44)"""


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_the_actions_of_sources_are_in_sight(visit: Any, editors_site: Any, site: Any, language: str) -> None:
    page = visit("editor", locale=language).page
    page.context.add_cookies([editors_site.session("editor")])
    page.goto(f"{editors_site.address}/sources")
    assert page.locator(".scroll").first.evaluate("box => box.scrollWidth <= box.clientWidth"), "nothing is beyond the edge"
    rows = page.locator("tr[data-source]").all()
    assert rows
    assert all(row.bounding_box()["height"] < 110 for row in rows)
    assert all(button.is_visible() for button in page.locator("tr[data-source] button").all())


def test_what_is_done_with_many_appears_when_something_is_chosen(visit: Any, steered_site: Any, site: Any) -> None:
    page = visit("editor").page
    page.context.add_cookies([steered_site.session("editor")])
    page.goto(f"{steered_site.address}/sources")
    many = page.locator("#many")
    assert many.is_hidden()
    page.locator(".desk-pick input").first.check()
    assert many.is_visible()
    page.locator(".desk-pick input").first.uncheck()
    assert many.is_hidden()


@pytest.mark.parametrize("path", ["/", "/latest", "/topic/旅游", "/settings", "/desk"])
def test_a_thumb_hits_every_button(visit: Any, path: str) -> None:
    page = visit("editor", **PHONE).go(path)
    assert page.evaluate(SIZES) == []


def test_the_chosen_half_of_a_toggle_is_seen_in_the_dark(visit: Any) -> None:
    page = visit(color_scheme="dark").go("/")
    ring = page.locator(".orders [aria-pressed=true]").evaluate("one => getComputedStyle(one).boxShadow")
    assert ring.startswith("rgb(155, 150, 141)"), "a ring as light as small print"
    assert "inset" in ring


def test_a_topics_chart_is_folded_on_a_telephone(visit: Any) -> None:
    page = visit(**PHONE).go("/topic/旅游")
    chart = page.locator(".overview svg")
    assert chart.is_hidden()
    page.locator(".folded > summary").click()
    assert chart.is_visible()
    page.set_viewport_size({"width": 1280, "height": 900})
    page.reload()
    assert page.locator(".folded > summary").is_hidden()
    assert chart.is_visible()
