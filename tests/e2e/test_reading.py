"""A reader in a browser: marks by mouse, keys and without scripts, Chinese script of articles, font size."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def reader(visit: Any, request: pytest.FixtureRequest) -> Any:
    """A signed-in visitor; the parameter enables scripts."""
    visitor = visit(service_workers="allow", java_script_enabled=getattr(request, "param", True))
    visitor.page.context.add_cookies([visitor.site.session("reader")])
    return visitor


def test_keys_mark_chosen_story_without_reload(reader: Any) -> None:
    page = reader.go("/topic/旅游")
    page.evaluate("window.same = 1")
    page.keyboard.press("j")
    chosen = page.locator(".selected")
    for key, button in (("s", ".star"), ("m", ".tick")):
        before = chosen.locator(button).get_attribute("aria-pressed")
        page.keyboard.press(key)
        after = "false" if before == "true" else "true"
        page.locator(f".selected {button}[aria-pressed={after}]").wait_for()
    title = chosen.locator(".headline").inner_text()
    assert page.evaluate("window.same") == 1
    starred = chosen.locator(".star").get_attribute("aria-pressed") == "true"
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url("**/starred")
    assert (title in page.locator("main").inner_text()) == starred
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.wait_for_url(reader.site.address + "/")


@pytest.mark.parametrize("reader", [False], indirect=True, ids=["no-script"])
def test_marking_without_scripts(reader: Any) -> None:
    page = reader.go("/topic/人工智能")
    page.locator(".star[name=star]").first.click()
    assert page.url.endswith("/topic/%E4%BA%BA%E5%B7%A5%E6%99%BA%E8%83%BD")
    assert page.locator(".star[name=unstar]").count() == 1
    page.locator(".mark-actions button").click()
    assert page.locator(".flash").inner_text()
    assert page.locator("article.item:not(.read)").count() == 0
    page.locator(".flash button").click()
    assert page.locator("article.item:not(.read)").count() > 0
    page.locator(".mark-actions a.chip").click()
    assert "show=unread" in page.url
    reader.go("/search?q=大模型").locator(".save-search button").click()
    assert page.locator(".flash").count() == 1
    reader.go("/searches").locator(".saved-searches h2 a").first.click()
    assert page.locator("article mark").count()


def test_opened_story_becomes_read(reader: Any) -> None:
    page = reader.go("/latest?order=hottest")
    link = page.locator("article.item:not(.read) .headline a").last
    title = link.inner_text()
    link.click()
    page.locator(".tick[aria-pressed=true]").first.wait_for()
    reader.go("/latest?order=hottest")
    assert title in page.locator("article.item.read").all_inner_texts()[-1]


def test_keys_on_story_page_apply_to_that_story(reader: Any) -> None:
    page = reader.go(f"/story/{reader.site.ids['bridge']}")
    assert page.locator("[data-story]").count() > 1  # related stories are listed below
    star = page.locator("[data-article] .star")
    before = star.get_attribute("aria-pressed")
    page.keyboard.press("s")
    page.locator(f"[data-article] .star[aria-pressed={'false' if before == 'true' else 'true'}]").wait_for()


def test_script_and_font_size_buttons_without_scripts(visit: Any) -> None:
    visitor = visit(java_script_enabled=False)
    page = visitor.go("/settings")
    page.locator("button[name=script][value=traditional]").click()
    page = visitor.go(f"/story/{visitor.site.ids['bridge']}")
    assert page.locator("h1").inner_text().startswith("雲嶺峽谷")
    page.locator(".sizes button[value=large]").click()
    assert page.locator("html[data-size=large]").count() == 1
    assert page.locator(".tools .link:visible").count() == 0  # buttons that need scripts are hidden


def test_key_changes_order_of_boards(visit: Any) -> None:
    page = visit().go("/")
    page.keyboard.press("r")
    page.locator(".ranks").first.wait_for()
    page.keyboard.press("r")
    page.locator(".lead").wait_for()


def test_story_link_can_be_copied(visit: Any) -> None:
    visitor = visit(permissions=["clipboard-read", "clipboard-write"])
    page = visitor.go(f"/story/{visitor.site.ids['bridge']}?topic=旅游")
    page.locator("[data-copy]").click()
    page.get_by_text("已复制链接").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == f"{visitor.site.address}/story/{visitor.site.ids['bridge']}"
