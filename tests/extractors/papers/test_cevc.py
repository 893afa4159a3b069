"""CEVC as in the thesis: its definitions, its search, its title and its date."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from newsportal.errors import NotApplicable
from newsportal.extractors.fields.headlines import without_site
from newsportal.extractors.fields.title import thesis_title
from newsportal.extractors.papers import cevc
from newsportal.extractors.papers.common import newest_date
from newsportal.text import dom

NOW = datetime(2024, 3, 6, tzinfo=UTC)
SENTENCE = "这是一个完整的句子。"  # ten characters, with stop words


def body(html: str) -> dom.Element:
    return next(dom.parse_html(f"<body>{html}</body>").iter("body"))


@pytest.mark.parametrize(
    ("html", "valid"),
    [
        (f"<p>{SENTENCE}</p>", 10),
        (f"<p> {SENTENCE[:5]} \n {SENTENCE[5:]} </p>", 10),  # white space is not counted
        (f"<p><a href=/><b>{SENTENCE}</b></a></p>", 0),  # in a link
        ("<p>房价 租金 购房 补贴</p>", 0),  # no stop word
        (f"<p>房价<b>{SENTENCE}</b>租金</p>", 10),  # each text node by itself
        (f"<p><a>链接</a>{SENTENCE}</p>", 10),  # the tail of a link is outside it
        (f"<script>{SENTENCE}</script><style>{SENTENCE}</style>", 0),
        ("<p>the quick brown fox</p>", 16),
    ],
)
def test_valid_characters(html: str, valid: int) -> None:
    node = body(html)
    assert cevc.count_valid(node)[node] == valid


def block(html: str, alpha: float = cevc.ALPHA) -> str | None:
    node = body(html)
    return cevc.step_into(node, cevc.count_valid(node), alpha).get("id")


def test_search_stops_where_no_child_dominates() -> None:
    text = "".join(f"<p>{SENTENCE}</p>" for _ in range(4))
    assert block(f"<div id=a><div id=b>{text}</div><p>{SENTENCE}</p></div>") == "b"
    assert block(f"<div id=a><div id=b>{text}</div><p>{SENTENCE}</p></div>", alpha=0.9) == "a"


def test_search_ending_in_a_leaf_returns_its_parent() -> None:
    assert block(f"<div id=a><div id=b><p id=c>{SENTENCE}</p></div></div>") == "b"


def test_text_leaves_option_returns_the_element() -> None:
    node = body(f"<div id=a><div id=b><p id=c>{SENTENCE}</p></div></div>")
    assert cevc.step_into(node, cevc.count_valid(node), text_leaves=True).get("id") == "c"


def test_valid_text_predicate_is_replaceable() -> None:
    document = dom.from_text(f"<title>标题</title><body><div><p>{SENTENCE}</p><p>房价 租金 购房</p><p>租金</p></div>")
    assert cevc.extract(document, None, NOW, valid=lambda text: "租" in text).text == "房价 租金 购房\n租金"


def test_only_valid_text_is_returned() -> None:
    html = f"<title>标题</title><body><div><p>{SENTENCE}<a>链接</a></p><p>关键词</p><p>{SENTENCE}</p></div>"
    found = cevc.extract(dom.from_text(html), None, NOW)
    assert found.text == f"{SENTENCE}\n{SENTENCE}"
    assert found.algorithm == "cevc"


def test_page_without_valid_characters_is_refused() -> None:
    with pytest.raises(NotApplicable, match="no-body"):
        cevc.extract(dom.from_text("<body><a href=/>这是一个链接的文字</a>"), None, NOW)


def test_date_is_the_newest_plausible_one() -> None:
    root = dom.parse_html(
        "<p>2012-01-01</p><p>发布于2024年3月5日 08:30</p><p>2099-01-01</p><p>3月7日</p><p>刚刚</p><script>2024-03-06</script>"
    )
    assert newest_date(root, NOW) == datetime.fromisoformat("2024-03-05T08:30:00+08:00")


@pytest.mark.parametrize(
    ("title", "heading", "expected"),
    [
        ("国务院参事：误解 | 超大城市_新浪", "国务院参事：误解", "国务院参事：误解"),
        ("某某网_新闻", "别的标题文字", "某某网_新闻"),  # fewer than five characters in common
        ("", "只有标题元素", "只有标题元素"),
        ("只有网页标题", "", "只有网页标题"),
        ("", "", None),
    ],
)
def test_thesis_title_algorithm(title: str, heading: str, expected: str | None) -> None:
    assert thesis_title(dom.from_text(f"<title>{title}</title><h1>{heading}</h1>")) == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("滨海新线今晨通车_社会_滨海网", "滨海新线今晨通车"),
        ("滨海新线今晨通车-滨海网", "滨海新线今晨通车"),
        ("滨海新线今晨通车 - 滨海网", "滨海新线今晨通车"),
        ("滨海网 | 滨海新线今晨通车，首班列车满载出发", "滨海新线今晨通车，首班列车满载出发"),
        ("New line opens at dawn – The Harbour Post", "New line opens at dawn"),
        ("Well-known state-of-the-art trains", "Well-known state-of-the-art trains"),
        ("“中国网事·感动2011”颁奖典礼", "“中国网事·感动2011”颁奖典礼"),
    ],
)
def test_site_name_is_removed_from_title(title: str, expected: str) -> None:
    assert without_site(title) == expected
