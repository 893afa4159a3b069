"""A problem gives line, key, value, allowed values and the closest spelling; all problems are reported at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from newsportal.errors import Problem, SourcesError
from newsportal.sources import parse

ProblemsOf = Callable[[str | bytes], tuple[Problem, ...]]

CASES = {
    "unknown key": ("portal: {titel: 甲}", 1, "portal.titel", "unknown key 'titel'; allowed: title, language", "did you mean 'title'?"),
    "unknown key at the top": ("version: 1\nfeed: []", 2, "feed", "unknown key 'feed'; allowed: version, portal", "did you mean 'feeds'?"),
    "missing key": ("feeds:\n  - name: 甲", 2, "feeds[0].url", "'url' is missing", None),
    "number for text": ("topics:\n- name: 163", 2, "topics[0].name", "found the number 163; allowed: text", 'put it in quotes: "163"'),
    "mapping for a list": ("feeds:\n  name: a", 1, "feeds", "found a mapping (key: value); allowed: a list", "put '- ' before each entry"),
    "list for a mapping": ("portal:\n- title: a", 1, "portal", "found a list; allowed: a mapping with title", "remove it"),
    "text for a mapping": ("feeds:\n- https://a.example/", 2, "feeds[0]", "found 'https://a.example/'; allowed: a mapping with name", None),
    "list for the document": ("- a\n- b", 1, "(file)", "found a list; allowed: a mapping with version", "remove it"),
    "invalid choice": ("portal:\n  language: cn", 2, "portal.language", "found 'cn'; allowed: zh, en", None),
    "misspelt choice": (
        "engines:\n- {name: a, url: 'https://a.example/?q=##QUERY##', kind: New}",
        2,
        "engines[0].kind",
        "found 'New'; allowed: news, web",
        "did you mean 'news'?",
    ),
    "unknown engine": (
        "topics:\n- name: 甲\n  engines:\n  - bing_news\n  - Baidu-News",
        5,
        "topics[0].engines[1]",
        "found 'Baidu-News', which is not an engine; allowed: baidu_news",
        "did you mean 'baidu_news'?",
    ),
    "lone unknown engine": (
        "topics:\n- {name: 甲, engines: bing_new}",
        2,
        "topics[0].engines",
        "not an engine",
        "did you mean 'bing_news'?",
    ),
    "unknown topic": (
        "topics:\n- name: 旅游\nfeeds:\n- {name: a, url: 'https://a.example/', topics: [旅行]}",
        4,
        "feeds[0].topics[0]",
        "found '旅行', which is not a topic; allowed: 旅游",
        None,
    ),
    "no topics declared": ("feeds:\n- {name: a, url: 'https://a.example/', topics: [甲]}", 2, "feeds[0].topics[0]", "allowed: none", None),
    "duplicate name": (
        "topics:\n- name: 甲\n- name: 乙\n- name: 甲",
        4,
        "topics[2].name",
        "found '甲', already used in line 2",
        None,
    ),
    "name with a slash": ("topics:\n- name: a/b", 2, "topics[0].name", "'a/b' contains a slash", None),
    "name with an escape": ('topics:\n- name: "a\\eb"', 2, "topics[0].name", "contains a control character", None),
    "blank name": ('topics:\n- name: "  "', 2, "topics[0].name", "an empty name", None),
    "name too long": (f"topics:\n- name: {'长' * 101}", 2, "topics[0].name", "found 101 characters; allowed: up to 100", None),
    "URL without a scheme": (
        "feeds:\n- {name: a, url: www.a.example/rss}",
        2,
        "feeds[0].url",
        "allowed: an absolute URL",
        "did you mean 'https://www.a.example/rss'?",
    ),
    "URL of a file": ("feeds:\n- {name: a, url: 'file:///etc/passwd'}", 2, "feeds[0].url", "allowed: an absolute URL", None),
    "URL without a host": ("feeds:\n- {name: a, url: 'https:///x'}", 2, "feeds[0].url", "has no host", None),
    "URL with a space": ("feeds:\n- {name: a, url: 'https://a.example/b c'}", 2, "feeds[0].url", "contains a space", "%20"),
    "URL with a bad port": ("feeds:\n- {name: a, url: 'https://a.example:99999/'}", 2, "feeds[0].url", "is not a valid URL", None),
    "URL with a backslash": ("feeds:\n- {name: a, url: 'http://169.254.169.254\\@a.example/'}", 2, "feeds[0].url", "a backslash", "%20"),
    "engine without placeholder": (
        "engines:\n- name: a\n  url: https://a.example/?q=",
        3,
        "engines[0].url",
        "allowed: a URL with ##QUERY##",
        None,
    ),
    "bad selector": (
        "engines:\n- name: a\n  url: https://a.example/?q=##QUERY##\n  wrapper:\n    block: 'div['",
        5,
        "engines[0].wrapper.block[0]",
        "not a CSS selector",
        None,
    ),
    "bad encoding": (
        "engines:\n- {name: a, url: 'https://a.example/?q=##QUERY##', encoding: utf9}",
        2,
        "engines[0].encoding",
        "'utf9' is not a known encoding",
        "did you mean 'utf-8'?",
    ),
    "hours out of range": (
        "regions:\n- name: a\n  prefix: https://a.example/\n  hours: 6-25",
        4,
        "regions[0].hours",
        "'6-25' is out of range; allowed: hours from 0 to 23",
        None,
    ),
    "breadth out of range": ("topics:\n- name: a\n  breadth:\n    0-6: 1\n    7-31: 2", 5, "topics[0].breadth.7-31", "out of range", None),
    "breadth without a number": (
        "topics:\n- name: a\n  breadth:\n    0-6: many",
        4,
        "topics[0].breadth.0-6",
        "found 'many'; allowed: a number of pages from 0 to 50",
        None,
    ),
    "bad expression": (
        "regions:\n- name: a\n  prefix: https://a.example/\n  deny:\n  - /b/\n  - 're:('",
        6,
        "regions[0].deny[1]",
        "not a regular expression",
        None,
    ),
    "look-around": (
        "regions:\n- {name: a, prefix: 'https://a.example/', allow: 're:/(?!video)'}",
        2,
        "regions[0].allow[0]",
        "look-around is not supported; exclude with a separate rule",
        None,
    ),
    "number too large": (
        "politeness:\n  delay: 1\n  per_domain: 65",
        3,
        "politeness.per_domain",
        "found the number 65; allowed: at most 64",
        None,
    ),
    "number too small": ("politeness: {timeout: 0}", 1, "politeness.timeout", "found the number 0; allowed: more than 0", None),
    "not a number": ("politeness: {delay: fast}", 1, "politeness.delay", "found 'fast'; allowed: a number", None),
    "not an integer": (
        "politeness: {concurrency: 1.5}",
        1,
        "politeness.concurrency",
        "found the number 1.5; allowed: an integer",
        None,
    ),
    "not a boolean": ("politeness: {obey_robots: maybe}", 1, "politeness.obey_robots", "found 'maybe'; allowed: true or false", None),
    "unit MX": (
        "politeness: {max_size: 3 MX}",
        1,
        "politeness.max_size",
        "'3 MX' is not a size; allowed: a number of bytes, or 500 kB",
        None,
    ),
    "header injection": ('politeness: {user_agent: "a\\r\\nX: y"}', 1, "politeness.user_agent", "contains a line break", None),
    "bad time zone": ("portal: {timezone: Asia/Shangai}", 1, "portal.timezone", "not a time zone", "did you mean 'Asia/Shanghai'?"),
    "unset variable": ("store: postgresql://u:${DB_PW}@h/db", 1, "store", "DB_PW is not set", "${DB_PW:-a default}"),
    "unknown store type": ("store: sqlit:///a.db", 1, "store", "not a supported URL; allowed: sqlite://…", "did you mean 'sqlite://'?"),
    "store without a scheme": ("store: data/a.db", 1, "store", "not a supported URL", "did you mean 'sqlite:///data/a.db'?"),
    "gallery without a page": ("galleries:\n- {name: a, seeds: []}", 2, "galleries[0].seeds", "an empty list; allowed: at least one", None),
    "periods in the wrong order": (
        "galleries:\n- name: a\n  seeds: https://a.example/\n  min_period: 300",
        4,
        "galleries[0].min_period",
        "more than max_period (240)",
        None,
    ),
    "pattern without a page": (
        "galleries:\n- name: a\n  seeds: https://a.example/\n  pattern: '{id}.html'",
        4,
        "galleries[0].pattern",
        "has 0 places for the page",
        None,
    ),
    "engine with braces": (
        "engines:\n- name: a\n  url: https://a.example/?q={query}\n  wrapper: {block: h3}",
        3,
        "engines[0].url",
        "##QUERY##",
        "in place of the braces",
    ),
    "number in quotes": ("version: '1'", 1, "version", "found '1'; allowed: 1", "without quotes"),
    "number for a path": ("replay: 5", 1, "replay", "found the number 5; allowed: the path of a file", None),
    "invalid network": ("politeness: {allow_private: [10.0.0.0/8, a b]}", 1, "politeness.allow_private[1]", "not a network", None),
    "prefix without scheme": ("regions:\n- {name: a, prefix: a.example/x}", 2, "regions[0].prefix", "absolute URL", "https://a.example/x"),
    "newer version": ("version: 2", 1, "version", "found the number 2; allowed: 1", None),
}


@pytest.mark.parametrize(("text", "line", "key", "message", "hint"), CASES.values(), ids=CASES)
def test_single_mistake(problems_of: ProblemsOf, text: str, line: int, key: str, message: str, hint: str | None) -> None:
    (problem,) = problems_of(text)
    assert (problem.line, problem.key) == (line, key)
    assert message in str(problem.message)
    assert (problem.hint is None) if hint is None else (hint in str(problem.hint or ""))


def test_all_mistakes_are_reported_in_file_order(problems_of: ProblemsOf) -> None:
    problems = problems_of("""\
        portal: {langage: zh}
        topics:
          - name: 旅游
            engines: [baidu_new]
          - name: 旅游
        feeds:
          - name: 甲
            url: a.example
            url: https://b.example/
        regions:
          - {name: 乙, prefix: "https://a.example/", weight: 3, hours: 25}
    """)
    assert [(problem.line, problem.key) for problem in problems] == [
        (1, "portal.langage"),
        (4, "topics[0].engines[0]"),
        (5, "topics[1].name"),
        (8, "feeds[0].url"),
        (9, "feeds[0].url"),
        (11, "regions[0].hours"),
        (11, "regions[0].weight"),
    ]
    assert all(re.match(r"^.+sources\.yaml:\d+: [\w.\[\]]+: .+", str(problem)) for problem in problems)


def test_duplicate_key_gives_both_lines(problems_of: ProblemsOf) -> None:
    (problem,) = problems_of("portal:\n  title: 甲\n  language: zh\n  title: 乙\n")
    assert (problem.line, problem.key) == (4, "portal.title")
    assert "; the first is in line 2" in str(problem.message)


@pytest.mark.parametrize(
    "value", ["https://user:geheim@a.example/", "https://geheim@a.example/", "file://x?token=geheim", "x://u:geheim@h/?a b"]
)
def test_messages_contain_no_secrets(problems_of: ProblemsOf, value: str) -> None:
    for text in (f"store: '{value}'", f"feeds:\n- name: a\n  url: '{value}'", f"politeness: {{delay: '{value}'}}"):
        problems = problems_of(text)
        assert problems
        assert not any("geheim" in str(problem) for problem in problems)


def test_secret_from_environment_is_masked() -> None:
    with pytest.raises(SourcesError) as caught:
        parse(b"store: nosuch://u:${PW}@h/db", Path("sources.yaml"), {"PW": "geheim"})
    assert "geheim" not in str(caught.value)
    assert "***" in str(caught.value)


def test_escape_sequences_are_removed_and_values_shortened(problems_of: ProblemsOf) -> None:
    (problem,) = problems_of(f'portal: {{language: "\\e[31m{"x" * 500}"}}')
    assert "\x1b" not in str(problem)
    assert len(str(problem.message)) < 150
