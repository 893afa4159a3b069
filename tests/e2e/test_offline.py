"""Offline: read and starred stories stay readable, marks are queued, and signing out deletes all copies."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from newsportal.store.results import StoryFilter

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

DEADLINE = 300.0  # seconds; the whole test takes a few on an idle machine
COPIES = """async () => (await Promise.all((await caches.keys()).map(async (name) =>
  (await (await caches.open(name)).keys()).map(({ url }) => `${name} ${new URL(url).pathname}`)))).flat()"""


def wait_until(state: Callable[[], Any]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not state():
        assert time.monotonic() < deadline, "the state was not reached in time"
        time.sleep(0.05)


def copies(page: Page) -> set[str]:
    return set(page.evaluate(COPIES))


def test_reading_and_marking_offline(browser: Browser, own_site: Any) -> None:
    context = browser.new_context(locale="zh-CN")
    context.set_default_timeout(DEADLINE * 1000)
    context.add_cookies([own_site.session("reader")])
    page = context.new_page()
    newest = own_site.store.stories(StoryFilter(limit=2)).stories
    bridge, other = (
        f"/story/{id}" for id in (own_site.ids["bridge"], next(story.id for story in newest if story.id != own_site.ids["bridge"]))
    )

    def starred() -> set[str]:
        person = own_site.accounts.people.by_name("reader of the tests").id
        return {f"/story/{story}" for _, story in own_site.accounts.marks.starred(person)}

    page.goto(own_site.address + "/account")
    wait_until(lambda: page.evaluate("navigator.serviceWorker.controller !== null"))  # wait_for_function needs eval
    page.goto(own_site.address + other)
    page.goto(own_site.address + "/latest")
    wait_until(lambda: {"account /latest", f"account {other}", "account /offline"} <= copies(page))
    page.locator(f".marks [name=star][value='{own_site.ids['bridge']}']").first.click()
    wait_until(lambda: f"account {bridge}" in copies(page))  # starred, never opened
    assert not {name for name in copies(page) if "/account" in name or "/desk" in name}

    context.set_offline(True)
    page.goto(own_site.address + bridge + "?topic=x")
    assert page.locator("h1").inner_text() == "云岭峡谷步行观景桥今日开放，首日八千张门票全部约满"
    assert "的离线副本" in page.locator("[data-offline]").inner_text()
    page.goto(own_site.address + other)
    page.locator(".marks [name=star]").first.click()
    page.locator(".marks [name=unstar]").first.wait_for()
    assert starred() == {bridge}
    page.goto(own_site.address + "/events")
    page.locator("[data-copies=listed]").wait_for()
    assert page.locator(f"[data-copies] a[href$='{bridge}']").count() == 1

    context.set_offline(False)
    wait_until(lambda: starred() == {bridge, other})
    page.goto(own_site.address + "/latest")
    assert page.locator("[data-offline]").is_hidden()
    page.locator("[data-menu] summary").click()
    page.locator("form[action='/logout'] button").click()
    page.locator(".sign-in").wait_for()
    wait_until(lambda: not {name for name in copies(page) if name.startswith(("account", "marks"))})
    context.close()
