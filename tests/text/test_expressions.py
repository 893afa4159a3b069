"""Regular expressions from users: matched in linear time; syntax that RE2 lacks is reported with a remedy."""

from __future__ import annotations

import pytest
from work_counts import ends

from newsportal.text.expressions import compile_expression, find_all, has_match

USEFUL = [
    r"/\d{4}/\d{2}/\d+\.s?html?$",
    r"^https?://[^/]+/news/.*\.html$",
    r"/(?:special|photo|video)/",
    r"(?i)/NEWS/\w+",
    r"[?&]id=\d+(?:&|$)",
    r"/(?:\d{1,4}/){1,3}index",
    r"^https://a\.example/(?:[a-z]{2}/)?story/",
    r"\p{Han}{2,}",
]
BACKTRACKING = [
    r"(a+)+$",
    r"(a*)*b",
    r"(?:a|a)+$",
    r"(.*a){30,}!",
    r"(\w+\s?)+$",
    r".*.*.*x",
    r"\w*\w*!",
    r"(?:a?){31}a{31}b",
    r"(?:a{0,40}){0,20}b",
    r"(?:(?:a+){40})b",
    r"(a|aa){1,500}!",
]


@pytest.mark.parametrize("expression", USEFUL)
def test_useful_expressions_compile(expression: str) -> None:
    assert compile_expression(expression) is compile_expression(expression)


@pytest.mark.parametrize("expression", BACKTRACKING)
def test_backtracking_expressions_take_linear_time(expression: str) -> None:
    with ends():
        has_match(compile_expression(expression), "a" * 100_000)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("(", "missing"),
        ("[z-a]", "range"),
        ("a{99999}", "repetition"),
        ("", "1 to 2000"),
        ("a" * 3000, "1 to 2000"),
        (r"/(?!video)\w+", "look-around is not supported; exclude with a separate rule"),
        (r"(?<=a)b", "look-around"),
        (r"(x)(?:\1y?)*z", "references to groups"),
        (r"(?>a)b", "possessive"),
        (r"a++b", "possessive"),
        (r"a\Z", r"write \\z"),
        ("a\ud800", "surrogates"),
    ],
)
def test_invalid_expression_error_has_a_remedy(expression: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        compile_expression(expression)


def test_matches_are_first_groups_or_whole() -> None:
    assert list(find_all(compile_expression("a(x)?b|c"), "ab c axb")) == ["", "", "x"]
    assert list(find_all(compile_expression("ax?b|c"), "ab c axb")) == ["ab", "c", "axb"]
    assert list(find_all(compile_expression("<P>(.*?)</P>", for_html=True), "<p>中\n文</p>")) == ["中\n文"]
    assert list(find_all(compile_expression("<P>(.*?)</P>"), "<p>中\n文</p>")) == []


def test_lone_surrogates_are_tolerated() -> None:
    assert has_match(compile_expression("b"), "a\ud800b")
    assert list(find_all(compile_expression("a(.)b"), "a\ud800b")) == ["?"]
