"""Any bytes yield either a value or a problem with its line, in bounded time, and no other exception."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from work_counts import count_calls, ends

from newsportal.errors import Problem
from newsportal.sources.building import Tree, Unreadable, read

ProblemsOf = Callable[[str | bytes], tuple[Problem, ...]]

GOOD = "portal:\n  title: 新闻\n"


@pytest.mark.parametrize("content", [GOOD.encode(), GOOD.encode("utf-8-sig"), GOOD.encode("utf-16"), GOOD.replace("\n", "\r\n").encode()])
def test_readable_texts(problems_of: ProblemsOf, content: bytes) -> None:
    assert problems_of(content) == ()


@pytest.mark.parametrize(
    ("content", "line", "message", "hint"),
    [
        ("# 新\nportal:\n  title: 新闻门户\n".encode("gbk"), 1, "is not UTF-8", "GBK or GB18030"),
        (b"a: 1\nb: \xff\xff\xff\n", 2, "byte 0xff is not UTF-8", None),
        (b"\xff\xfea", 1, "UTF-16", None),
        (b"", 1, "the file is empty", "newsportal source init"),
        (b"# nothing yet\n", 1, "the file is empty", "newsportal source init"),
        (b"portal:\n\ttitle: a\n", 2, "column 1", "tab"),
        (b"portal:\n  title: a\n language: zh\n", 3, "column", "indentation"),
        ("portal:\n  title：a\n  language: zh\n".encode(), 3, "column", "full-width colon"),
        (b"portal:\n  title: a: b\n", 2, "column 11", "quotes"),
        (b"portal:\n  title: @a\n", 2, "column 10", "quotes"),
        (b"portal: [a, b\n", 2, "column", None),
        (b'portal:\n  title: "a\n', 3, "column", None),
        (b"portal: *nobody\n", 1, "alias", "quotes"),
        (b"a: \x00\n", 1, "control character", None),
        (b"version: 1\n---\nversion: 1\n", 2, "a second document", None),
        (b"a: !!python/object/apply:os.system [ls]\n", 1, "unknown tag", None),
        (b"? [a, b]\n: c\n", 1, "a key is a list or a mapping", "quotes"),
        (b"<<: 3\n", 1, "<< takes a mapping", None),
        (b"[" * 100_000, 1, "nested", None),
        (b"a: " + b"[" * 60 + b"]" * 60, 1, "nested too deeply", None),
        (b"a: &a [*a]\n", 1, "contain themselves", None),
    ],
)
def test_unreadable_texts_are_reported(problems_of: ProblemsOf, content: bytes, line: int, message: str, hint: str | None) -> None:
    problem = problems_of(content)[0]
    assert problem.line == line
    assert message in str(problem.message)
    assert hint is None or hint in str(problem.hint or "")


def test_billion_laughs_is_refused_quickly(problems_of: ProblemsOf) -> None:
    lines = ["a0: &a0 [" + ", ".join(["lol"] * 9) + "]"]
    lines += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 9) + "]" for n in range(1, 12)]
    with ends():
        (problem,) = problems_of("\n".join(lines))
    assert "expand to too many" in str(problem.message)


def test_oversized_file_is_refused_unread() -> None:
    with pytest.raises(Unreadable, match="allowed: up to"):
        read(b"#" * (32 * 1024 * 1024 + 1))


def test_aliases_and_merge_keys() -> None:
    tree = read(b"a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: [*a, *a]\nd: {<<: [*a, {z: 4}]}\n")
    assert tree.value == {
        "a": {"x": 1, "y": 2},
        "b": {"x": 1, "y": 3},
        "c": [{"x": 1, "y": 2}] * 2,
        "d": {"x": 1, "y": 2, "z": 4},
    }


def test_nested_merge_keys_are_independent() -> None:
    tree = read(b"x: &x {p: 1}\ny: &y {q: 2}\nz: {<<: *x, inner: {<<: *y, r: 3}, s: 4}\n")
    assert tree.value["z"] == {"inner": {"r": 3, "q": 2}, "s": 4, "p": 1}
    assert tree.line(("z", "p")) == 1


def test_mistake_behind_alias_is_located_at_anchor(problems_of: ProblemsOf) -> None:
    problems = problems_of("feeds:\n- &f {name: a, url: nothing}\n- *f\n")
    assert [(problem.line, problem.key) for problem in problems] == [(2, "feeds[1].name"), (2, "feeds[0].url"), (2, "feeds[1].url")]


def test_list_as_key_affects_only_its_entry() -> None:
    tree = read(b"? [a, b]\n: [c]\nd: 1\n? {e: f}\n: g\nh: 2\n")
    assert (tree.value, len(tree.mistakes)) == ({"d": 1, "h": 2}, 2)


def test_nested_aliases_are_bounded() -> None:
    lines = ["a0: &a0 " + "[" * 30 + "x" + "]" * 30] + [f"a{n}: &a{n} " + "[" * 30 + f"*a{n - 1}" + "]" * 30 for n in range(1, 40)]
    with pytest.raises(Unreadable, match="too deeply nested"):
        read("\n".join(lines).encode())


@pytest.mark.slow
def test_reading_many_sources_takes_few_calls() -> None:
    text = "feeds:\n" + "".join(f"- name: 来源 {number}\n  url: https://a{number}.example/\n" for number in range(20_000))
    trees: list[Tree] = []
    assert count_calls(lambda: trees.append(read(text.encode()))) < 20_000 * 200
    assert len(trees[0].value["feeds"]) == 20_000


def test_scalars_follow_yaml_1_2() -> None:
    tree = read(b"[1, 0x1F, 0o17, 012, 1_000, 2.5, 1e3, true, False, yes, no, ~, '', 2024-05-01, 08:30, .inf]")
    assert tree.value == [1, 31, 15, 12, "1_000", 2.5, 1000.0, True, False, "yes", "no", None, "", "2024-05-01", "08:30", ".inf"]


def test_lines_of_keys_values_and_missing_paths() -> None:
    tree = read(b"a:\n  - b: 1\n    c:\n      - 2\n")
    assert [tree.line(path) for path in [("a",), ("a", 0), ("a", 0, "b"), ("a", 0, "c", 0), ("a", 0, "nothing"), ("nothing",)]] == [
        1,
        2,
        2,
        4,
        2,
        1,
    ]


@settings(max_examples=150)
@given(st.one_of(st.binary(max_size=80), st.text(alphabet="abc:-[]{}&*!|>'\"#%@` \n\t?,~<0新", max_size=60).map(str.encode)))
def test_any_bytes_load_or_are_reported(problems_of: ProblemsOf, content: bytes) -> None:
    for problem in problems_of(content):
        assert problem.line >= 1
        assert problem.message
