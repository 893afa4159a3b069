"""Rules for URLs: useful ones pass, those that could stop the crawl are refused."""

from __future__ import annotations

import re

import pytest
from work import ends

from newsportal.sources.patterns import check_pattern
from newsportal.sources.uris import MAX_URL_CHARS

USEFUL = [
    "/a/",
    r"re:/\d{4}/\d{2}/\d+\.s?html?$",
    r"re:/content_\d+\.html",
    r"re:^https?://[^/]+/news/.*\.html$",
    r"re:/(?:special|photo|video)/",
    r"re:/a/[\w-]+/\d+",
    r"re:(?i)/NEWS/\w+",
    r"re:/(?!video)\w+/\d+",
    r"re:/20\d\d-\d\d/\d\d/c_\d+\.htm",
    r"re:[?&]id=\d+(?:&|$)",
    r"re:/(?:\d{1,4}/){1,3}index",
    r"re:^https://a\.example/(?:[a-z]{2}/)?story/",
]

DANGEROUS = [
    r"re:(a+)+$",
    r"re:(a*)*b",
    r"re:(?:a|a)+$",
    r"re:(?:\w|\da)*!",
    r"re:(.*a){30,}",
    r"re:(\w+\s?)+$",
    r"re:([a-z]+)*\d",
    r"re:(a|aa)+$",
    r"re:.*.*.*x",
    r"re:\w*\w*!",
    r"re:(?=(a+)+b)",
    r"re:(?:(?:a+){40})",
    r"re:(x)(?:\1y?)*z",
]


@pytest.mark.parametrize("rule", USEFUL)
def test_useful_rules_pass(rule: str) -> None:
    assert check_pattern(rule) == rule


@pytest.mark.parametrize("rule", DANGEROUS)
def test_dangerous_rules_are_refused(rule: str) -> None:
    with pytest.raises(ValueError, match="is refused"):
        check_pattern(rule)


@pytest.mark.parametrize("rule", ["", "  ", "re:(", "re:[z-a]", "re:(?P<n>a)(?P<n>b)", "re:a{99999999999999}", "re:" + "a" * 600, "re:*"])
def test_what_is_no_rule_is_refused(rule: str) -> None:
    with pytest.raises(ValueError, match=r"allowed|regular expression"):
        check_pattern(rule)


@pytest.mark.parametrize("rule", [rule for rule in USEFUL if rule.startswith("re:")])
@pytest.mark.parametrize("filling", ["a", "/", "1", "1/", "a/", ".html", "&id=1", "/news/"])
def test_what_passes_stays_fast_on_the_longest_url(rule: str, filling: str) -> None:
    url = ("https://a.example/" + filling * MAX_URL_CHARS)[: MAX_URL_CHARS - 1] + "!"
    with ends():
        re.search(rule.removeprefix("re:"), url)
