"""Rules of wrappers find what they say, in the order they say, and cannot stop the crawl."""

from __future__ import annotations

import pytest
from work import ends

from newsportal.extractors.lists import selector
from newsportal.text.dom import parse_html

HTML = (
    '<div data-mu="https://t.example/"><h3><a href=" /a?x=1&amp;y=2 ">标<em>题</em></a></h3>'
    '<p class="s">摘要&amp;文</p><p class="s">二</p></div>'
)
BLOCK = parse_html(HTML).find(".//div")


def texts(rule: selector.Rule, piece: selector.Piece = BLOCK) -> list[str | None]:
    return [selector.text(found) for found in selector.select(piece, rule)]


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
def test_every_kind_of_rule(rule: selector.Rule, expected: list[str]) -> None:
    assert texts(rule) == expected


def test_rules_apply_to_html_text_too() -> None:
    assert texts("p.s", HTML) == ["摘要&文", "二"]
    assert texts('re:href="(.*?)"', HTML) == ["/a?x=1&y=2"]


def test_a_rule_stays_inside_its_block() -> None:
    page = parse_html("<div><b>1</b></div><div><b>2</b></div>")
    assert texts("//b", page.findall(".//div")[1]) == ["2"]


@pytest.mark.parametrize("find", ["h3", "em", "a"])
def test_the_address_of_what_is_holds_or_stands_in_a_link(find: str) -> None:
    assert selector.address(next(BLOCK.iter(find))) == "/a?x=1&y=2"


@pytest.mark.parametrize("rule", ["div[", "p >", "//a[", "xpath:foo(", "xpath:", "re:(", "re:", "re:" + "a" * 3000, ("p", "re:*")])
def test_a_bad_rule_says_so(rule: selector.Rule) -> None:
    with pytest.raises(ValueError, match=r"not a|not an"):
        selector.check(rule)


def test_a_pattern_on_which_others_backtrack_for_ever_has_its_answer() -> None:
    with ends():
        assert selector.select("a" * 100_000 + "!", r"re:(a|aa)+$") == []
        assert selector.select("a" * 40, r"re:(?:a?){31}a{31}b") == []


def test_matches_are_bounded() -> None:
    assert len(selector.select("x" * 10_000, "re:x")) == selector.MAX_MATCHES
