"""Access control in a browser: sign-in and sign-out, roles, limited login attempts, tokens shown once; with and without scripts."""

from __future__ import annotations

from typing import Any

import pytest

from newsportal.services.accounts import Role
from newsportal.services.accounts.sessions import BOTH

PASSWORD = "correct horse battery staple"


def add_user(site: Any, name: str, role: Role) -> None:
    if site.accounts.people.by_name(name) is None:
        site.accounts.people.add(name, PASSWORD, role, now=site.newsroom.NOW)


def sign_in(page: Any, name: str, password: str) -> None:
    page.get_by_label("用户名").fill(name)
    page.get_by_label("密码").fill(password)
    page.locator("form.fields button").click()


@pytest.mark.parametrize("options", [{}, {"java_script_enabled": False}], ids=["script", "no-script"])
def test_sign_in_returns_to_requested_page_and_signs_out(visit: Any, options: dict[str, Any]) -> None:
    visitor = visit(service_workers="allow", **options)
    add_user(visitor.site, "周编辑", Role.EDITOR)
    page = visitor.go("/runs")
    sign_in(page, "周编辑", PASSWORD)
    assert page.url.endswith("/runs")
    page.locator(".user-name").click()
    page.get_by_role("banner").get_by_role("link", name="编辑台").click()
    assert page.url.endswith("/desk")
    assert page.locator(".desk-nav a", has_text="用户与权限").count() == 0
    page.locator(".user-name").click()
    page.locator(".account button", has_text="退出登录").click()
    assert page.locator(".user-name").count() == 0
    visitor.go("/runs")
    assert "/login" in page.url


def test_login_attempts_are_limited(visit: Any) -> None:
    visitor = visit()
    add_user(visitor.site, "目标", Role.READER)
    page = visitor.go("/login")
    for _ in range(BOTH.free_attempts):
        sign_in(page, "目标", "wrong password")
        assert page.locator("[role=alert]").inner_text() == "用户名或密码不正确。"
    sign_in(page, "目标", PASSWORD)
    assert "尝试次数过多" in page.locator("[role=alert]").inner_text()
    visitor.faults.clear()  # the browser logs 403 and 429


@pytest.mark.parametrize("options", [{}, {"java_script_enabled": False}], ids=["script", "no-script"])
def test_administrator_adds_user_who_can_sign_in(visit: Any, options: dict[str, Any]) -> None:
    name = f"新人{len(options)}"
    visitor = visit(role="admin", **options)
    page = visitor.go("/people")
    page.locator("#name").fill(name)
    page.locator("#role").select_option("reader")
    page.get_by_role("button", name="添加").click()
    password = page.locator("[data-secret]").inner_text()
    other = visit(**options)
    page = other.go("/login")
    sign_in(page, name, password)
    assert page.locator(".user-name").inner_text() == name
    other.go("/people")
    assert page.locator("h1").inner_text() == "您没有此权限"
    other.faults.clear()


def test_token_is_shown_once_and_can_be_revoked(visit: Any) -> None:
    page = visit(role="editor").go("/account")
    page.get_by_label("用途").fill("脚本")
    page.get_by_role("button", name="生成令牌").click()
    assert page.locator("[data-secret]").inner_text().startswith("np_")
    page.goto(page.url.replace("/account/tokens", "/account"))
    assert page.locator("[data-secret]").count() == 0
    page.get_by_role("button", name="吊销").click()
    assert "令牌已吊销" in page.locator(".flash").inner_text()
    assert page.locator("[data-token]").count() == 0
