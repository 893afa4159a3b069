"""Rules of wrappers: each kind finds its matches in document order, in bounded time."""

from __future__ import annotations

import pytest
from work_counts import ends

from newsportal.extractors.lists import selector
from newsportal.text.dom import parse_html

HTML = (
    '<div data-mu="https://t.example/"><h3><a href=" /a?x=1&amp;y=2 ">标<em>题</em></a></h3>'
    '<p class="s">摘要&amp;文</p><p class="s">二</p></div>'
)
BLOCK = parse_html(HTML).find(".//div")


def texts(rule: selector.Rule, node: selector.Piece = BLOCK) -> list[str | None]:
    return [selector.text_of(found) for found in selector.select(node, rule)]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("p.s", ["摘要&文", "二"]),
        ("a@href", ["/a?x=1&y=2"]),
        ("@data-mu", ["https://t.example/"]),
        (".//p[2]", ["二"]),
        ("//h3/a/@href", ["/a?x=1&y=2"]),
        ("xpath:h3/a", ["标题"]),
        ("(.//p)[1]", ["摘要&文"]),
        ('re:<p class="s">(.*?)</p>', ["摘要&文", "二"]),
        ("re:标<em>题", ["标题"]),
        (("b.none", "p.s"), ["摘要&文", "二"]),
        ("b.none", []),
        ((), []),
    ],
)
def test_kinds_of_rules(rule: selector.Rule, expected: list[str]) -> None:
    assert texts(rule) == expected


def test_rules_apply_to_html_strings() -> None:
    assert texts("p.s", HTML) == ["摘要&文", "二"]
    assert texts('re:href="(.*?)"', HTML) == ["/a?x=1&y=2"]


def test_rule_is_limited_to_its_block() -> None:
    page = parse_html("<div><b>1</b></div><div><b>2</b></div>")
    assert texts("//b", page.findall(".//div")[1]) == ["2"]


@pytest.mark.parametrize("find", ["h3", "em", "a"])
def test_address_of_element_in_or_around_a_link(find: str) -> None:
    assert selector.url_of(next(BLOCK.iter(find))) == "/a?x=1&y=2"


@pytest.mark.parametrize("rule", ["div[", "p >", "//a[", "xpath:foo(", "xpath:", "re:(", "re:", "re:" + "a" * 3000, ("p", "re:*")])
def test_invalid_rule_is_reported(rule: selector.Rule) -> None:
    with pytest.raises(ValueError, match=r"not a|not an"):
        selector.check_rule(rule)


def test_regular_expressions_take_linear_time() -> None:
    with ends():
        assert selector.select("a" * 100_000 + "!", r"re:(a|aa)+$") == []
        assert selector.select("a" * 40, r"re:(?:a?){31}a{31}b") == []


def test_matches_are_limited() -> None:
    assert len(selector.select("x" * 10_000, "re:x")) == selector.MAX_MATCHES
