"""All pages for readers pass axe-core (WCAG 2.2 A and AA, best practices): light and dark, Chinese and English, wide and narrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

WIDTHS = {"wide": {"width": 1280, "height": 900}, "narrow": {"width": 390, "height": 800}}
PATHS = (
    *("/", "/latest", "/topic/旅游", "/topic/旅游?order=hottest", "/photos", "/for-you", "/search", "/search?q=峡谷", "/search?topic=旅游"),
    *("/search?q=zzzz&site=x", "/events", "/briefing", "/feeds", "/settings", "/profile", "/nope", "/login"),
)
SIGNED = ("/", "/latest?show=unread", "/starred", "/searches", "/search?q=峡谷")
STORIES = ("/story/{bridge}", "/story/{bridge}/{repost}", "/story/{bridge}/{bridge}/revisions")
APART = ("/topic/旅游?order=hottest", "/search?q=zzzz&site=x", "/nope", "/login", "/story/{bridge}/{repost}")
"""Pages that ``test_every_page.py`` does not check in dark mode and in English."""
LOOKS = [("light", "zh-CN", "narrow", (*PATHS, *STORIES)), ("dark", "en", "wide", APART)]
"""Each value of each choice occurs once: a failure shows with one of them; ``test_every_page.py`` covers the other pairs."""


@pytest.fixture(scope="module")
def site(album_site: Any) -> Iterator[Any]:
    return album_site


def check(visitor: Any, violations: Any, path: str) -> None:
    page = visitor.go(path.format(**visitor.site.ids))
    assert page.url.startswith(visitor.site.address)
    assert violations(page) == [], path


@pytest.mark.parametrize(("scheme", "language", "width", "paths"), LOOKS, ids=["light", "dark"])
def test_pages_are_accessible(visit: Any, violations: Any, scheme: str, language: str, width: str, paths: tuple[str, ...]) -> None:
    visitor = visit(color_scheme=scheme, locale=language, viewport=WIDTHS[width])
    for path in paths:
        check(visitor, violations, path)
    visitor.page.context.add_cookies([{"name": "boards", "value": "ranked", "url": visitor.site.address}])
    check(visitor, violations, "/")
    visitor.faults[:] = [fault for fault in visitor.faults if "404" not in fault]  # 404 pages are requested on purpose


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_signed_in_pages_are_accessible(visit: Any, violations: Any, scheme: str) -> None:
    visitor = visit(color_scheme=scheme, viewport=WIDTHS["narrow"])
    visitor.page.context.add_cookies([visitor.site.session("reader")])
    page = visitor.go("/latest")
    if not page.locator(".star[aria-pressed=true]").count():
        page.locator(".star").first.click()
    page.locator(".star[aria-pressed=true]").first.wait_for()
    visitor.go("/search?q=峡谷").locator(".save-search button").click()
    for path in (*SIGNED, "/story/{bridge}"):
        check(visitor, violations, path)


def test_refusals_and_invalid_forms_are_accessible(visit: Any, violations: Any) -> None:
    """Pages with status 403 and 429, and forms with errors."""
    visitor = visit(role="reader", viewport=WIDTHS["narrow"])
    page = visitor.page
    check(visitor, violations, "/articles")
    assert page.locator("h1").inner_text() == "您没有此权限"
    for path, button in (("/alerts/new?channel=webhook", "保存"), ("/account", "修改密码")):
        visitor.go(path)
        page.evaluate("document.querySelectorAll('form').forEach((form) => { form.noValidate = true; })")
        page.get_by_role("button", name=button, exact=True).click()
        page.locator("[aria-invalid=true]").first.wait_for()
        assert violations(page) == [], path
    visitor.faults.clear()  # the browser logs each refusal
    stranger = visit(color_scheme="dark", viewport=WIDTHS["narrow"])
    for _ in range(6):  # five failed attempts are allowed
        page = stranger.go("/login")
        page.locator("#name").fill("nobody")
        page.locator("#password").fill("a wrong password")
        page.locator("form[action='/login'] button").click()
        page.locator(".narrow [role=alert]").wait_for()
    assert "尝试次数过多" in page.locator(".narrow [role=alert]").inner_text()
    assert violations(page) == []
    stranger.faults.clear()


def test_axe_reports_missing_label(visit: Any, violations: Any) -> None:
    visitor = visit()
    page = visitor.go("/latest")
    page.evaluate("document.querySelector('#find').labels[0].remove(); document.querySelector('#find').removeAttribute('placeholder')")
    assert [rule for rule, _ in violations(page)] == ["label"]


def test_changed_contrast_is_checked_again(visit: Any, violations: Any) -> None:
    page = visit().go("/latest")
    assert violations(page) == []
    for change in ("style.color = '#aaa'", "style.backgroundColor = '#777'", "parentNode.style.opacity = '.3'"):
        page.evaluate(f"(link => {{ link.style = 'transition: none'; link.{change}; }})(document.querySelector('.headline a'))")
        assert [rule for rule, _ in violations(page)] == ["color-contrast"], change
