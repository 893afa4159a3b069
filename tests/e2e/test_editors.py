"""The editors' pages in a browser (source health, suggestions and workers): desktop, phone and without scripts."""

from __future__ import annotations

from typing import Any

import pytest

PHONE = {"viewport": {"width": 360, "height": 740}}
PAGES = ("/sources", "/suggestions", "/monitor/queues")


@pytest.fixture(scope="module")
def site(editors_site: Any) -> Any:
    return editors_site


@pytest.mark.parametrize(
    "options", [{}, {**PHONE, "color_scheme": "dark"}, {"java_script_enabled": False}], ids=["desktop", "dark phone", "no-script"]
)
def test_pages_fit_the_viewport(visit: Any, options: dict[str, Any]) -> None:
    visitor = visit(role="editor", **options)
    for path in PAGES:
        page = visitor.go(path)
        assert page.locator("h1").count() == 1, path
        assert page.locator("tbody tr").count() >= 1, path
        if options.get("java_script_enabled", True):
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


@pytest.mark.parametrize("path", PAGES[:2])
def test_advice_is_visible_on_phone_without_scrolling(visit: Any, path: str) -> None:
    page = visit(role="editor", **PHONE).go(path)
    for cell in page.locator("td.text-cell").all():
        box = cell.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["viewport"]["width"]
    assert page.locator(".scroll").evaluate("box => box.scrollWidth <= box.clientWidth")
    label = page.locator("[data-label]").first
    assert label.evaluate("cell => getComputedStyle(cell, '::before').content").strip('"').strip() == label.get_attribute("data-label")
