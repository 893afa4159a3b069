"""Creating an alert in a browser: from the topic's page, with preview, and one message per story; with and without scripts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, timedelta
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from newsportal.net.egress import Policy
from newsportal.services.alerts.base import Setting
from newsportal.services.alerts.run import Work, step

NO_SCRIPT = {"java_script_enabled": False}
PHONE = {"viewport": {"width": 390, "height": 800}}


@pytest.fixture
def site(own_site: Any) -> Any:
    return own_site


@pytest.fixture
def receiver() -> Iterator[Any]:
    found = spec_from_file_location("e2e_receiver", Path(__file__).parents[1] / "services" / "alerts" / "conftest.py")
    assert found
    assert found.loader
    module = sys.modules[found.name] = module_from_spec(found)
    found.loader.exec_module(module)
    with closing(module.Receiver()) as opened:
        yield opened


@pytest.mark.parametrize("options", [{}, NO_SCRIPT, PHONE], ids=["scripts", "no-script", "phone"])
def test_reader_is_alerted_once_per_story(visit: Any, site: Any, receiver: Any, options: dict[str, Any]) -> None:
    page = visit("reader", **options).go("/topic/旅游")
    page.get_by_role("link", name="提醒我").click()
    page.get_by_role("link", name="Webhook").click()
    assert page.locator("[name=topic]").input_value() == "旅游"
    page.get_by_label("地址").fill(receiver.address)
    page.get_by_role("button", name="预览").click()
    page.locator("#preview", has_text="观景桥").wait_for()
    assert page.locator("#preview").inner_text().count("观景桥") == 1
    page.get_by_role("button", name="保存").click()
    page.get_by_role("status").first.wait_for()
    assert page.locator("h1").inner_text() == "旅游"

    newsroom, now = site.newsroom, site.newsroom.NOW
    written = newsroom.article("新航线今日开通", "海岛新航线今日开通，首航满座。" * 9, topics=("旅游",), ago=0)
    site.store.add(written, [], now=now + timedelta(minutes=1))
    work = Work(site.accounts, site.store, None, UTC, Setting(Policy(("127.0.0.1",))), now=lambda: now + timedelta(minutes=2))
    with ThreadPoolExecutor() as threads:  # playwright uses the event loop of this thread
        for _ in range(2):
            threads.submit(step, work).result()
    assert receiver.stories == ["新航线今日开通"]
    page.reload()
    assert "新航线今日开通" in page.locator("table").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


def test_form_error_is_shown_at_its_field(visit: Any, site: Any) -> None:
    visitor = visit("reader", **NO_SCRIPT)
    page = visitor.go("/alerts/new?channel=telegram&about=search&search=观景桥")
    page.get_by_label("机器人令牌").fill("123")
    page.get_by_label("会话").fill("@news")
    page.get_by_role("button", name="保存").click()
    assert "令牌" in page.locator("#alert-token-error").inner_text()
    assert page.locator("[name=search]").input_value() == "观景桥"
    assert ["422" in fault for fault in visitor.faults] == [True]  # the browser logs the status
    visitor.faults.clear()
