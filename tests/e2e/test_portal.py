"""Behaviour that needs a browser: layout on phones, keys, themes, pictures, and that the strict content policy breaks no page."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest

PHONE = {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2}
PATHS = ("/", "/latest", "/topic/旅游", "/search", "/search?q=峡谷", "/runs", "/runs/20260520T101500-demo", "/settings", "/feeds")
FOR_EDITORS = ("/monitor", "/sources", "/suggestions")


def path_of(visitor: Any) -> str:
    return visitor.page.url.removeprefix(visitor.site.address)


@pytest.mark.parametrize(
    "options", [{}, {**PHONE, "color_scheme": "dark"}, {"java_script_enabled": False}], ids=["desktop", "dark phone", "no-script"]
)
def test_pages_fit_viewport_and_obey_policy(visit: Any, options: dict[str, Any]) -> None:
    visitor = visit(role="editor", **options)
    for path in (*PATHS, *FOR_EDITORS, f"/story/{visitor.site.ids['bridge']}"):
        page = visitor.go(path)
        assert page.locator("h1").count() == 1, path
        if options.get("java_script_enabled", True):
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def test_reading_and_searching_without_scripts(visit: Any) -> None:
    visitor = visit(java_script_enabled=False)
    page = visitor.go("/")
    page.locator("nav.topics a", has_text="旅游").click()
    page.locator(".headline a", has_text="云岭峡谷").click()
    assert page.locator("#versions li").count() == 5
    page.locator(".search-small input").fill("固态电池")
    page.keyboard.press("Enter")
    assert page.locator("article mark").first.inner_text() in ("固态", "电池", "固态电池")
    page.locator(".theme button").click()
    assert page.locator("html[data-theme=dark]").count() == 1
    assert "/search" in path_of(visitor)  # the theme form redirects back
    assert page.locator("[data-help-button]").is_hidden()  # no help for keys without scripts


def test_keys_walk_through_stories(visit: Any) -> None:
    visitor = visit()
    page = visitor.go("/topic/旅游")
    page.keyboard.press("j")
    assert page.locator(".selected .headline").inner_text().startswith("沿江三省")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.locator(".selected .headline").inner_text().startswith("海岛航线")
    assert page.evaluate("document.activeElement.textContent").startswith("海岛航线")
    page.keyboard.press("o")
    page.wait_for_url("**/story/**")
    page.keyboard.press("g")
    page.keyboard.press("h")
    page.wait_for_url(visitor.site.address + "/")


def test_keys_for_order_search_and_help(visit: Any) -> None:
    visitor = visit()
    page = visitor.go("/topic/旅游")
    page.keyboard.press("r")
    page.wait_for_url("**order=hottest")
    page.keyboard.press("?")
    assert page.locator("dialog[open]").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    page.keyboard.press("/")
    page.keyboard.type("jk?")  # letters in a field are text
    assert page.locator("[data-search]").input_value() == "jk?"
    page.keyboard.press("Escape")
    page.keyboard.press("Control+j")  # left to the browser
    assert page.locator(".selected").count() == 0


def test_search_completes_typed_text(visit: Any) -> None:
    page = visit().go("/")
    script = "[...document.querySelectorAll('#suggested option')].map((one) => one.value)"
    assert "旅游" in page.evaluate(script)  # topics before anything is typed
    page.locator("[data-search]").press_sequentially("峡")
    page.locator("#suggested option[value='峡谷']").wait_for(state="attached")
    assert all(option.startswith("峡") for option in page.evaluate(script))


def test_key_opens_original(visit: Any) -> None:
    visitor = visit()
    page = visitor.go(f"/story/{visitor.site.ids['bridge']}")
    requested: list[str] = []
    page.context.route(re.compile("^https://"), lambda route: (requested.append(route.request.url), route.fulfill(body="original"))[-1])
    page.keyboard.press("v")
    page.wait_for_url(re.compile("^https://"))
    assert requested[0].endswith(".html")


def test_theme_is_remembered(visit: Any) -> None:
    visitor = visit(color_scheme="dark")
    page = visitor.go("/")
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(20, 21, 23)"  # the system's preference
    page.keyboard.press("t")
    assert page.evaluate(paper) == "rgb(252, 251, 248)"
    visitor.go("/feeds")
    assert page.locator("html[data-theme=light]").count() == 1
    page.locator("[data-theme-button]").click()
    visitor.go("/")
    assert page.evaluate(paper) == "rgb(20, 21, 23)"


def test_external_pictures_load_and_missing_ones_vanish(visit: Any) -> None:
    visitor = visit()
    visitor.page.route("**/0.svg", lambda route: route.fulfill(status=404))
    page = visitor.go("/topic/旅游")
    page.wait_for_load_state("networkidle")
    assert page.evaluate("[...document.querySelectorAll('.thumb')].filter(image => image.naturalWidth).length") >= 1
    assert page.locator(".thumb[src$='/0.svg']").count() == 0
    visitor.faults[:] = [fault for fault in visitor.faults if "404" not in fault]


def test_script_in_stored_page_does_not_run(visit: Any) -> None:
    """The policy is a second defence: even markup that escaped the sanitizer does not run."""
    visitor = visit()
    page = visitor.go("/")
    ran = page.evaluate(
        """() => new Promise(done => {
            const made = document.createElement("div");
            made.innerHTML = "<img src=/nope.png onerror='window.ran = 1'>";
            document.body.append(made);
            setTimeout(() => done(Boolean(window.ran)), 400);
        })"""
    )
    assert ran is False
    assert any("Content Security Policy" in fault for fault in visitor.faults)
    visitor.faults.clear()


def test_first_tab_stop_skips_to_content(visit: Any) -> None:
    page = visit().go("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_print_shows_only_the_story(visit: Any) -> None:
    visitor = visit()
    page = visitor.go(f"/story/{visitor.site.ids['bridge']}")
    page.emulate_media(media="print")
    assert page.locator(".body").is_visible()
    for selector in (".search-small", ".sign-in", ".bar", ".theme", ".foot", ".neighbours", "nav.topics"):
        assert page.locator(selector).is_hidden(), selector


def test_controls_have_names_and_headings_are_nested(visit: Any) -> None:
    visitor = visit(**PHONE)
    for path in (*PATHS, f"/story/{visitor.site.ids['bridge']}"):
        page = visitor.go(path)
        nameless = page.evaluate(
            "[...document.querySelectorAll('a[href], button, input:not([type=hidden])')].filter(node =>"
            " !(node.textContent.trim() || node.getAttribute('aria-label') || node.labels?.length)).map(node => node.outerHTML)"
        )
        assert nameless == [], path
        levels = page.evaluate("[...document.querySelectorAll('main :is(h1, h2, h3):not(.body *)')].map(node => +node.tagName[1])")
        assert levels, path
        assert all(following - before <= 1 for before, following in pairwise(levels)), (path, levels)
