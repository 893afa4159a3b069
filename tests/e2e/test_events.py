"""An event in a browser: from the list to its timeline; an editor renames it, removes a story and undoes that."""

from __future__ import annotations

from typing import Any

import pytest

from newsportal.store.events import Assignment
from newsportal.store.results import StoryFilter


@pytest.fixture
def site(own_site: Any) -> Any:
    """Return a portal with an event of its three newest stories."""
    ids = [story.id for story in own_site.store.stories(StoryFilter(limit=3)).stories]
    assignments = [Assignment(id, "bridge", 1.0, ("观景桥",)) for id in ids]
    assert own_site.store.events.assign(assignments, {"bridge": "[0,{},{},[]]"}, after=0, up_to=own_site.store.last_seq())
    return own_site


def test_editor_renames_event_and_undoes_removal(visit: Any, violations: Any) -> None:
    page = visit("editor").go("/events")
    page.locator("[data-event=bridge] h2 a").click()
    stories = page.locator("section[aria-labelledby=stories-name] article")
    assert page.locator("section[aria-labelledby=points-name] li a").count() >= 1
    assert stories.count() == 3
    assert violations(page) == []
    page.get_by_text("给事件命名").click()
    page.locator("#event-title").fill("云岭峡谷三件事")
    page.get_by_role("button", name="保存").click()
    page.get_by_role("status").wait_for()
    assert page.locator("h1").inner_text() == "云岭峡谷三件事"
    page.get_by_text("移出报道").click()
    page.get_by_role("checkbox").first.check()
    page.get_by_role("button", name="拆分为新事件").click()
    page.get_by_role("status").wait_for()
    assert stories.count() == 2
    page.get_by_role("status").get_by_role("button", name="撤销").click()
    page.get_by_role("status").wait_for()
    assert stories.count() == 3
    assert page.locator("h1").inner_text() == "云岭峡谷三件事"
