"""Pages before axe-core (WCAG 2.2 A and AA, best practices): what test_walk.py does not meet, refusals, forms with mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

NARROW = {"width": 390, "height": 800}
PATHS = ("/", "/topic/旅游?order=hottest", "/search?q=zzzz&site=x", "/nope", "/login", "/story/{bridge}/{repost}")
"""What test_walk.py does not meet: the others it reads in both looks."""


@pytest.fixture(scope="module")
def site(album_site: Any) -> Iterator[Any]:
    return album_site


def check(visitor: Any, violations: Any, path: str) -> None:
    page = visitor.go(path.format(**visitor.site.ids))
    assert page.url.startswith(visitor.site.address)
    assert violations(page, leaving=True) == [], path


def test_no_page_keeps_anybody_out(visit: Any, violations: Any, look: dict[str, Any]) -> None:
    visitor = visit(**look)
    for path in PATHS:
        check(visitor, violations, path)
    visitor.page.context.add_cookies([{"name": "boards", "value": "ranked", "url": visitor.site.address}])
    check(visitor, violations, "/")
    visitor.faults[:] = [fault for fault in visitor.faults if "404" not in fault]  # what is not there is asked for


def test_no_refusal_and_no_form_with_mistakes_keeps_anybody_out(visit: Any, violations: Any) -> None:
    """403, 429, and what forms say of mistakes."""
    visitor = visit(role="reader", viewport=NARROW)
    page = visitor.page
    check(visitor, violations, "/articles")
    assert page.locator("h1").inner_text() == "您没有此权限"
    for path, button in (("/alerts/new?channel=webhook", "保存"), ("/account", "修改密码")):
        visitor.go(path)
        page.evaluate("document.querySelectorAll('form').forEach((form) => { form.noValidate = true; })")
        page.get_by_role("button", name=button, exact=True).click()
        page.locator("[aria-invalid=true]").first.wait_for()
        assert violations(page) == [], path
    visitor.faults.clear()  # the browser notes each refusal
    stranger = visit(color_scheme="dark", viewport=NARROW)
    for _ in range(6):  # five slips are free
        page = stranger.go("/login")
        page.locator("#name").fill("nobody")
        page.locator("#password").fill("a wrong password")
        page.locator("form[action='/login'] button").click()
        page.locator(".narrow [role=alert]").wait_for()
    assert "尝试次数过多" in page.locator(".narrow [role=alert]").inner_text()
    assert violations(page) == []
    stranger.faults.clear()


def test_axe_would_find_something(visit: Any, violations: Any) -> None:
    visitor = visit()
    page = visitor.go("/latest")
    page.evaluate("document.querySelector('#find').labels[0].remove(); document.querySelector('#find').removeAttribute('placeholder')")
    assert [rule for rule, _ in violations(page)] == ["label"]
