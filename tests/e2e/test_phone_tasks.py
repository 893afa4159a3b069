"""Ten tasks on a phone, each from the front page: their taps are counted here and listed in ``docs/portal.md``."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from madeup import MadeUpWeb

from newsportal.items.visits import Visit
from newsportal.services.accounts import Role
from newsportal.sources import load

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
NAME, PASSWORD = "新来的管理员", "correct horse battery staple"
TITLE, TWIN = "海港新航线今晨开通", "海港今晨开通新航线"
TEXT = (
    "首班渡轮清晨六点离开三号码头，驶往外海的三座小岛。船票在窗口和手机上同时发售，学生和老人半价。航线全长二十六海里，单程一小时十分钟。"
)
OTHER = "海港今天多了一条航线。首班渡轮清晨六点离开三号码头，驶往外海的三座小岛。来送行的人很多。船长说，这条航线他等了八年。"
TABLE = Path(__file__).resolve().parents[2] / "docs" / "portal.md"


class Phone:
    """A page whose taps are counted. Typing or choosing in a field is not a tap."""

    def __init__(self, page: Any, address: str, feed: str) -> None:
        self.page, self.address, self.feed, self.taps = page, address, feed, 0

    def tap(self, place: Any) -> None:
        place.tap()
        self.taps += 1

    def link(self, name: str, *, within: str = "main") -> None:
        self.tap(self.page.locator(within).get_by_role("link", name=name, exact=True).first)

    def button(self, name: str) -> None:
        self.tap(self.page.get_by_role("main").get_by_role("button", name=name).first)

    def menu(self, name: str) -> None:
        """Open the account menu and follow a link."""
        self.tap(self.page.locator(".user-name"))
        self.link(name, within=".account")


def sign_in(phone: Phone) -> None:
    phone.link("登录", within="header")
    phone.page.get_by_label("用户名").fill(NAME)
    phone.page.get_by_label("密码").fill(PASSWORD)
    phone.button("登录")
    phone.page.locator(".user-name").wait_for()


def find_starred_story(phone: Phone) -> None:
    phone.tap(phone.page.get_by_role("navigation", name="主要页面").get_by_role("link", name="收藏"))
    phone.page.get_by_role("main").get_by_role("link", name=TITLE).wait_for()


def add_a_source(phone: Phone) -> None:
    phone.menu("编辑台")
    phone.link("添加来源")
    phone.page.get_by_label("网址", exact=True).fill(phone.feed)
    phone.button("查看")
    phone.page.get_by_label("来源名称").wait_for()
    phone.button("添加所选来源")
    phone.page.get_by_text("写入").first.wait_for()


def make_a_topic(phone: Phone) -> None:
    phone.menu("编辑台")
    phone.link("新建话题")
    phone.page.get_by_label("话题名称").fill("航运")
    phone.page.get_by_label("出现其中任意一个词").fill("渡轮")
    phone.button("保存话题")
    phone.page.wait_for_url(re.compile("/topics[?]saved="))


def set_an_alert(phone: Phone) -> None:
    phone.link("港口", within="nav.topics")
    phone.link("提醒我")
    phone.link("Webhook")
    phone.page.get_by_label("地址").fill("https://hooks.example/newsroom")
    phone.button("保存")
    phone.page.get_by_text("提醒已开启").wait_for()


def make_a_destination(phone: Phone) -> None:
    phone.menu("编辑台")
    phone.tap(phone.page.get_by_text("编辑台菜单"))
    phone.link("发布", within=".desk-nav")
    phone.link("新建发布目标")
    phone.page.locator("[name=name]").fill("文件夹")
    phone.page.locator("[name=to]").fill("folder:published")
    phone.button("试发布")
    phone.page.locator("[data-trial]").wait_for()
    phone.button("保存")
    phone.page.get_by_role("status").first.wait_for()


def merge_two_stories(phone: Phone) -> None:
    phone.tap(phone.page.get_by_role("main").get_by_role("link", name=TWIN).first)
    phone.link("并入另一条报道")
    phone.button("并入这条报道")
    phone.page.get_by_role("heading", level=1, name=TITLE).wait_for()


def save_a_list(phone: Phone) -> None:
    phone.link("港口", within="nav.topics")
    with phone.page.expect_download() as found:
        phone.link("CSV")
    assert "海港" in Path(found.value.path()).read_text("utf-8-sig")


def order_topics(phone: Phone) -> None:
    phone.menu("设置")
    topics = phone.page.locator(".own-topics li label")
    topics.filter(has_text="航运").wait_for()
    before = topics.all_inner_texts()
    phone.tap(phone.page.locator(".own-topics button[name=up]").nth(1))
    topics.first.filter(has_text=before[1].strip()).wait_for()


def visit_a_failing_source(phone: Phone) -> None:
    phone.menu("编辑台")
    phone.tap(phone.page.locator(".failing-sources").get_by_role("button", name=re.compile("立即访问")).first)
    phone.page.wait_for_url(re.compile("/run[?]since="))


TASKS: dict[str, tuple[Callable[[Phone], None], int]] = {
    "sign in": (sign_in, 2),
    "find what was starred": (find_starred_story, 1),
    "add a source": (add_a_source, 5),
    "make a topic with search engines": (make_a_topic, 4),
    "set an alert for a topic": (set_an_alert, 4),
    "make a destination": (make_a_destination, 7),
    "join two stories": (merge_two_stories, 3),
    "save a topic's list as a file": (save_a_list, 2),
    "order one's own topics": (order_topics, 3),
    "see which sources fail, and visit one": (visit_a_failing_source, 3),
}


@pytest.fixture
def site(steered_site: Any) -> Any:
    """Return a portal with two stories about one event, the first of which is starred, and a failing source."""
    newsroom, store = steered_site.newsroom, steered_site.store
    person = steered_site.accounts.people.add(NAME, PASSWORD, Role.ADMIN, now=newsroom.NOW)
    first, _ = newsroom.write(
        store,
        newsroom.article(TITLE, TEXT, topics=("港口",), ago=90),
        newsroom.article(TWIN, OTHER, site="海港晚报", topics=("港口",), ago=30),
    )
    steered_site.accounts.marks.star(person.id, store.article(first).story_id, True, now=newsroom.NOW)
    (key,) = (source.key for source in load(steered_site.file).feeds if source.name != "老报")
    for number in range(4):
        store.visits.add(Visit(key, newsroom.NOW - timedelta(hours=4 - number), list_failed={"http-404": 1}))
    return steered_site


@pytest.mark.slow
def test_taps_match_the_guide(visit: Any, site: Any, web: MadeUpWeb) -> None:
    page = visit(service_workers="allow", **PHONE).page
    phone, taps = Phone(page, site.address, web.manifest()["feeds"][0]["url"]), dict[str, int]()
    for task, (perform, _) in TASKS.items():
        page.goto(site.address)
        phone.taps = 0
        perform(phone)
        taps[task] = phone.taps
    assert taps == {task: taps for task, (_, taps) in TASKS.items()}
    written = load(site.file)
    assert ([entry.name for entry in written.topics], [entry.name for entry in written.publish]) == (["港口", "航运"], ["文件夹"])
    assert written.topics[1].engines
    assert len(written.feeds) == 3


def test_guide_lists_these_tasks() -> None:
    section = TABLE.read_text("utf-8").partition("## Ten tasks")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")][2:]
    assert {row[0]: int(row[2]) for row in rows} == {task: taps for task, (_, taps) in TASKS.items()}
