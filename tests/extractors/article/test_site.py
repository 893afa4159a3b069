"""Lines that several pages of a site share are boilerplate; bodies are kept."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.extractors.article.site import MAX_LONE_LINES, MAX_LONE_WIDTH, SiteKnowledge, site_of, stem, width

SITE = "https://www.gangwan.example/news/"
NOTICE = "本网所有内容未经书面许可不得转载。"
SHARE = "分享到微信朋友圈"


def sentence(name: str) -> str:
    return f"{name}的事情今天有了新的进展，记者从现场发回了报道，当地的居民都在谈论它。"


def page(name: str, *more: str) -> list[str]:
    return ["首页 财经 体育", name, sentence(name), sentence(f"后来{name}"), *more]


def test_line_on_two_pages_is_boilerplate() -> None:
    knowledge = SiteKnowledge()
    knowledge.learn(f"{SITE}a", page("滨海新线", NOTICE))
    knowledge.learn(f"{SITE}b", page("东站改造", NOTICE))
    body = [sentence("滨海新线"), sentence("后来滨海新线"), NOTICE]
    assert knowledge.repeated(f"{SITE}a", body) == {NOTICE}
    assert knowledge.repeated(f"{SITE}a", [f" {NOTICE[:4]}\u3000{NOTICE[4:]} ", *body[:2]]) == {f" {NOTICE[:4]}\u3000{NOTICE[4:]} "}


def test_single_page_or_other_site_gives_no_evidence() -> None:
    knowledge = SiteKnowledge()
    knowledge.learn(f"{SITE}a", page("滨海新线", NOTICE))
    knowledge.learn("https://other.example/b", page("东站改造", NOTICE))
    assert knowledge.repeated(f"{SITE}a", [sentence("滨海新线"), NOTICE]) == frozenset()
    assert knowledge.repeated("about:blank", [NOTICE]) == knowledge.repeated(f"{SITE}c", []) == frozenset()
    assert knowledge.repeated(f"{SITE.replace('www.', '')}c", [sentence("码头"), NOTICE]) == {NOTICE}


def test_copies_of_the_same_article_give_no_evidence() -> None:
    knowledge = SiteKnowledge()
    for address in ("a", "print/a"):
        knowledge.learn(f"{SITE}{address}", page("滨海新线"))
    assert knowledge.repeated(f"{SITE}a", page("滨海新线")[2:]) == frozenset()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a/123.html", "a/123_2.html"),
        ("a/123.html", "a/123-2.html"),
        ("a/123", "a/123/2"),
        ("a/123/", "a/123/page/3/"),
        ("view.jsp?id=7", "view.jsp?id=7&page=2"),
        ("view.jsp?p=1&id=7", "view.jsp?p=2&id=7"),
        ("a#top", "a#2"),
    ],
)
def test_other_page_of_the_article_gives_no_evidence(first: str, second: str) -> None:
    assert stem(SITE + first) == stem(SITE + second)
    knowledge = SiteKnowledge()
    lead = sentence("编者按")
    knowledge.learn(SITE + second, page("滨海新线", lead))
    assert knowledge.repeated(SITE + first, [lead, sentence("东站"), sentence("码头")]) == frozenset()


def test_different_articles_have_different_stems() -> None:
    assert len({stem(SITE + name) for name in ("a/123.html", "a/124.html", "view.jsp?id=7", "view.jsp?id=8", "2024/article-1203")}) == 5


def body_of(name: str, *more: str) -> list[str]:
    return [*(sentence(f"{name}的第{number}件") for number in "一二三四五六"), *more]


def learn(knowledge: SiteKnowledge, name: str, body: list[str], *around: str, title: str | None = None) -> None:
    """Learn the page of an article called ``name``."""
    heading = title or f"{name}有了新进展"
    knowledge.learn(f"{SITE}{name}00", ["首页 财经 体育", heading, *body, *around], heading, body)


def test_update_of_a_brief_keeps_shared_lines() -> None:
    """The first two lines are a small part of the report and the whole 快讯."""
    knowledge = SiteKnowledge()
    first = body_of("码头")[:2]
    learn(knowledge, "码头快讯", first, NOTICE)
    assert knowledge.repeated(f"{SITE}码头全文", [*body_of("码头"), *body_of("后来"), NOTICE], "码头恢复通航：全文") == frozenset()


def test_live_blog_pages_keep_shared_posts() -> None:
    knowledge = SiteKnowledge()
    posts = [sentence(f"第{number}场") for number in range(40)]
    for hour in range(3):
        learn(knowledge, f"直播{hour}", posts[hour * 5 : hour * 5 + 10], NOTICE, title=f"直播第{hour}小时")
    assert knowledge.repeated(f"{SITE}直播x", posts[15:25], "直播第3小时") == frozenset()


def test_recurring_column_keeps_its_table() -> None:
    knowledge = SiteKnowledge()
    rows = ["大白菜 一斤一块二", "土豆 一斤两块", NOTICE]
    learn(knowledge, "周一", body_of("周一", *rows), title="今日菜价")
    assert knowledge.repeated(f"{SITE}周二", body_of("周二", *rows), "今日菜价") == frozenset()
    assert knowledge.repeated(f"{SITE}周二", body_of("周二", *rows), "码头的路") == set(rows)


def test_lead_shown_as_teaser_elsewhere_is_kept() -> None:
    knowledge = SiteKnowledge()
    body = body_of("码头", NOTICE)
    for name in ("东站", "航线", "新线"):
        learn(knowledge, name, body_of(name, NOTICE), "今日要闻", "码头重新开放", "03-05 08:30", body[0], "更多")
    assert knowledge.repeated(f"{SITE}y", body, "码头重新开放") == {NOTICE}
    assert knowledge.repeated(f"{SITE}y", body, "另一个标题") == {NOTICE, body[0]}


def test_one_page_is_weak_evidence_for_long_or_many_lines() -> None:
    knowledge = SiteKnowledge()
    background = "码头建成于六十年前。" * 12
    facts = ["地点：东海码头边", "时间：三月五日晚", "票价：二十元一位", "电话：零二一一二三四"]
    assert width(background) > MAX_LONE_WIDTH
    assert len(facts) > MAX_LONE_LINES
    learn(knowledge, "甲", body_of("甲", background))
    learn(knowledge, "乙", body_of("乙"), *facts)
    assert knowledge.repeated(f"{SITE}y", body_of("丙", background)) == frozenset()
    assert knowledge.repeated(f"{SITE}y", body_of("丙", *facts)) == frozenset()
    learn(knowledge, "丁", body_of("丁", background), *facts)
    assert knowledge.repeated(f"{SITE}y", body_of("丙", *body_of("后来"), background, *facts)) == {background, *facts}


def test_short_and_rare_lines_are_kept() -> None:
    knowledge = SiteKnowledge()
    dateline = "新华社北京三月五日电"
    for number in range(6):
        knowledge.learn(f"{SITE}x{number}00", page(f"事件{number}", "广告", SHARE, *([dateline] if number == 0 else [])))
    body = [dateline, "广告", sentence("码头"), sentence("航线"), SHARE]
    assert knowledge.repeated(f"{SITE}y", body) == {SHARE}  # the dateline is on one of six pages only


def test_relearned_page_replaces_its_lines() -> None:
    knowledge = SiteKnowledge()
    knowledge.learn(f"{SITE}b", page("东站改造", NOTICE))
    knowledge.learn(f"{SITE}b", page("东站改造"))
    assert knowledge.repeated(f"{SITE}a", [sentence("码头"), NOTICE]) == frozenset()


def test_memory_is_bounded() -> None:
    knowledge = SiteKnowledge(sites=2, pages=2)
    for site in ("a", "b", "c"):
        for number in range(5):
            knowledge.learn(f"https://{site}.example/x{number}00", page(f"{site}{number}", NOTICE, f"{site}{number} {SHARE}"))
    body = [sentence("码头"), sentence("航线"), NOTICE]
    assert knowledge.repeated("https://a.example/y", body) == frozenset()  # the least recently used site was dropped
    assert knowledge.repeated("https://c.example/y", body) == {NOTICE}
    assert knowledge.repeated("https://c.example/y", [*body, f"c0 {SHARE}"]) == {NOTICE}  # the oldest page was dropped


def test_hashes_are_equal_in_every_process() -> None:
    """The builtin ``hash()`` is salted per process; stored hashes must not be."""
    code = "from newsportal.extractors.article.site import _hashes; print(_hashes(['本网声明']))"
    outputs = {subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout for _ in range(2)}
    assert len(outputs) == 1


def test_concurrent_learning_and_lookup() -> None:
    knowledge = SiteKnowledge(sites=3, pages=3)

    def work(number: int) -> frozenset[str]:
        url = f"https://s{number % 5}.example/x{number}00"
        knowledge.learn(url, page(f"事件{number}", NOTICE))
        return knowledge.repeated(url, [sentence("码头"), sentence("航线"), NOTICE])

    with ThreadPoolExecutor(8) as pool:
        assert all(found <= {NOTICE} for found in pool.map(work, range(400)))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.lists(st.text(alphabet="甲乙ab ", max_size=12), max_size=8)), max_size=12))
def test_repeated_lines_are_a_subset_of_the_body(pages: list[tuple[str, list[str]]]) -> None:
    knowledge = SiteKnowledge(pages=3)
    for name, lines in pages:
        knowledge.learn(SITE + name, lines)
        found = knowledge.repeated(SITE + name, lines)
        assert found <= set(lines)
        assert sum(width(line) for line in found) <= sum(width(line) for line in lines)


@pytest.mark.parametrize(
    ("url", "site"),
    [("https://www.A.example:8080/x", "a.example"), ("about:blank", None), ("http://[::1", None), ("file:///etc", None), ("", None)],
)
def test_site_of_url(url: str, site: str | None) -> None:
    assert site_of(url) == site
