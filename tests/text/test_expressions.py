"""Expressions that people write: linear whatever they are, and what RE2 lacks is told with the remedy."""

from __future__ import annotations

import pytest
from work import ends

from newsportal.text.expressions import compile_expression, find_all, is_in

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
def test_what_others_backtrack_on_takes_linear_time(expression: str) -> None:
    with ends():
        is_in(compile_expression(expression), "a" * 100_000)


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("(", "missing"),
        ("[z-a]", "range"),
        ("a{99999}", "repetition"),
        ("", "1 to 2000"),
        ("a" * 3000, "1 to 2000"),
        (r"/(?!video)\w+", "look-around is not supported; name what is not wanted in a rule of its own"),
        (r"(?<=a)b", "look-around"),
        (r"(x)(?:\1y?)*z", "references to groups"),
        (r"(?>a)b", "possessive"),
        (r"a++b", "possessive"),
        (r"a\Z", r"write \\z"),
        ("a\ud800", "surrogates"),
    ],
)
def test_what_is_no_expression_is_told_with_the_remedy(expression: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        compile_expression(expression)


def test_matches_are_first_groups_or_all() -> None:
    assert list(find_all(compile_expression("a(x)?b|c"), "ab c axb")) == ["", "", "x"]
    assert list(find_all(compile_expression("ax?b|c"), "ab c axb")) == ["ab", "c", "axb"]
    assert list(find_all(compile_expression("<P>(.*?)</P>", for_html=True), "<p>中\n文</p>")) == ["中\n文"]
    assert list(find_all(compile_expression("<P>(.*?)</P>"), "<p>中\n文</p>")) == []


def test_lone_surrogates_do_no_harm() -> None:
    assert is_in(compile_expression("b"), "a\ud800b")
    assert list(find_all(compile_expression("a(.)b"), "a\ud800b")) == ["?"]
