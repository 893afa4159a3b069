"""Editing articles in a browser: correct, fold, hide and undo, with and without scripts."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from newsportal.store.results import StoryFilter

NO_SCRIPT = {"java_script_enabled": False}


@pytest.fixture
def site(own_site: Any) -> Any:
    return own_site


@pytest.fixture
def edit(visit: Any) -> Any:
    """``edit(**options)``: visit as a signed-in editor."""
    return partial(visit, "editor")


def bridge(site: Any) -> str:
    article = site.store.article(site.ids["bridge"])
    return f"/story/{article.story_id}/{article.id}"


@pytest.mark.parametrize("options", [{}, NO_SCRIPT], ids=["scripts", "no-script"])
def test_correction_is_compared_saved_and_undone(edit: Any, site: Any, options: dict[str, Any]) -> None:
    visitor = edit(**options)
    page = visitor.go(bridge(site))
    title = page.locator("h1").inner_text()
    page.get_by_role("link", name="更正", exact=True).click()
    page.get_by_label("标题").fill("更正后的标题")
    page.get_by_role("button", name="对照").click()
    page.locator("#compared ins").first.wait_for()
    assert page.get_by_label("标题").input_value() == "更正后的标题"
    assert page.locator("#compared del").count() >= 1
    page.get_by_role("button", name="保存更正").click()
    page.get_by_role("status").wait_for()
    assert page.locator("h1").inner_text() == "更正后的标题"
    assert page.locator(".corrected").count() == 1
    page.get_by_role("button", name="撤销").click()
    assert page.locator("h1").inner_text() == title
    assert page.locator(".corrected").count() == 0


@pytest.mark.parametrize("options", [{}, NO_SCRIPT], ids=["scripts", "no-script"])
def test_fold_and_undo(edit: Any, site: Any, options: dict[str, Any]) -> None:
    first, second = [story for story in site.store.stories(StoryFilter(limit=200)).stories if story.count == 1][:2]
    page = edit(**options).go(f"/story/{first.id}/{first.head.id}")
    page.get_by_role("link", name="并入另一条报道").click()
    page.get_by_label("报道中的关键词").fill(second.head.title)
    page.locator(".desk-filter button").click()
    page.locator(f"[data-candidate='{second.id}'] button").click()
    page.locator("#versions").wait_for()
    assert site.store.article(first.head.id).story_id == second.id
    page.get_by_role("button", name="撤销").click()
    page.get_by_role("status").wait_for()
    assert site.store.article(first.head.id).story_id == first.id


@pytest.mark.parametrize("options", [{}, NO_SCRIPT], ids=["scripts", "no-script"])
def test_hidden_story_is_invisible_to_readers_until_undone(edit: Any, visit: Any, site: Any, options: dict[str, Any]) -> None:
    place = bridge(site)
    page = edit(**options).go(place)
    page.locator(".editors summary", has_text="隐藏").click()
    page.get_by_label("原因").fill("误登")
    if page.locator("[name=all_versions]").count():
        page.locator("[name=all_versions]").check()
    page.get_by_role("button", name="对读者隐藏").click()
    page.locator(".hidden-note").wait_for()
    assert "误登" in page.locator(".hidden-note").inner_text()
    reader = visit(**options)
    title = site.store.article(site.ids["bridge"]).title
    assert title not in reader.go("/latest").content()
    page.get_by_role("button", name="撤销").click()
    page.get_by_role("status").wait_for()
    assert page.locator(".hidden-note").count() == 0
    assert title in reader.go("/latest").content()
