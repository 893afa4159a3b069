"""Tasks of a new editor without documentation: a topic, a source by its URL, a correction, an alert. Every step is found on the pages; with
and without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from madeup import MadeUpWeb

from newsportal.services.accounts import Role
from newsportal.sources import load

NAME, PASSWORD = "新来的编辑", "correct horse battery staple"
WRONG, RIGHT = "海港新行线今晨开通", "海港新航线今晨开通"


@pytest.fixture
def site(steered_site: Any) -> Any:
    """Return a portal with a story whose title has a mistake."""
    newsroom = steered_site.newsroom
    steered_site.accounts.people.add(NAME, PASSWORD, Role.EDITOR, now=newsroom.NOW)
    newsroom.write(
        steered_site.store,
        newsroom.article(WRONG, "首班渡轮清晨六点离开三号码头。" * 12),
        newsroom.article("山城夜市开到凌晨", "灯火一直亮到江边。" * 12, ago=90),
    )
    return steered_site


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"java_script_enabled": False}], ids=["scripts", "no-script"])
def test_newcomer_makes_topic_source_correction_and_alert(visit: Any, site: Any, web: MadeUpWeb, options: dict[str, Any]) -> None:
    page = visit(service_workers="allow", **options).go("/")
    page.get_by_role("banner").get_by_role("link", name="登录").click()
    page.get_by_label("用户名").fill(NAME)
    page.get_by_label("密码").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="登录").click()
    page.locator(".user-name").click()
    page.get_by_role("banner").get_by_role("link", name="编辑台").click()
    make_a_topic(page, site, scripts=not options)
    add_a_source(page, site, web)
    correct_a_title(page, site)
    set_an_alert(page, site)
    actions = {entry.action.split(".")[0] for entry in site.accounts.audit_log.entries()}
    assert {"topic", "source", "article", "alert"} <= actions, actions


def make_a_topic(page: Any, site: Any, *, scripts: bool) -> None:
    page.get_by_role("link", name="话题", exact=True).first.click()
    page.get_by_role("link", name="新建话题").click()
    page.get_by_label("话题名称").fill("航运")
    page.get_by_label("出现其中任意一个词").fill("渡轮")
    assert page.get_by_label("保存后立即更新").is_checked(), "applying to stored articles is preselected"
    if not scripts:
        page.get_by_role("button", name="试查关键词").click()
    page.locator("#preview").get_by_role("link", name=WRONG).wait_for()
    assert page.locator("#preview .matches li").count() == 1
    page.get_by_role("button", name="保存话题").click()
    page.get_by_role("status").first.wait_for()
    assert [topic.name for topic in load(site.file).topics][-1] == "航运"


def add_a_source(page: Any, site: Any, web: MadeUpWeb) -> None:
    page.get_by_role("link", name="来源", exact=True).first.click()
    page.get_by_role("link", name="添加来源").first.click()
    page.get_by_label("网址", exact=True).fill(web.manifest()["feeds"][0]["url"])
    page.get_by_role("button", name="查看").click()
    page.get_by_label("来源名称").wait_for()
    page.get_by_label("来源名称").fill("堃州早报")
    page.get_by_label("航运").check()
    page.get_by_role("button", name="添加所选来源").click()
    page.get_by_text("已将“堃州早报”写入").wait_for()
    added = load(site.file).feeds[-1]
    assert (added.name, added.topics) == ("堃州早报", ("航运",))
    page.get_by_role("heading", level=1, name="堃州早报").wait_for()
    assert page.get_by_text("newsportal up").count() == 1, "no crawler is running: the page says how to start one"


def correct_a_title(page: Any, site: Any) -> None:
    page.get_by_role("link", name="晨报").first.click()
    page.get_by_role("link", name=WRONG).first.click()
    page.get_by_role("link", name="更正", exact=True).first.click()
    page.get_by_label("标题", exact=True).fill(RIGHT)
    page.get_by_role("button", name="保存更正").click()
    page.get_by_role("heading", level=1, name=RIGHT).wait_for()
    page.get_by_role("link", name="晨报").first.click()
    page.get_by_role("link", name=RIGHT).first.wait_for()
    assert page.get_by_role("link", name=WRONG).count() == 0


def set_an_alert(page: Any, site: Any) -> None:
    page.locator(".user-name").click()
    page.get_by_role("banner").get_by_role("link", name="编辑台").click()
    page.get_by_role("link", name="提醒", exact=True).first.click()
    page.get_by_role("link", name="新建提醒").first.click()
    page.get_by_role("link", name="Webhook").click()
    page.locator("select[name=topic]").select_option("航运")
    page.get_by_label("地址").fill("https://hooks.example/newsroom")
    page.get_by_role("main").get_by_role("button", name="保存", exact=True).click()
    page.get_by_text("提醒已开启").wait_for()
    (alert,) = site.accounts.alerts.all()
    assert (alert.about, alert.channel) == ("topic", "webhook")
