"""Hot lists read by rules, and invalid answers."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from newsportal.errors import NotApplicable
from newsportal.extractors.lists.boards import BoardRules, check_rule, parse_number, presets, read_board
from newsportal.items import Page

ROWS = BoardRules("json", "data[]", "word", "join('', ['https://s.example/?q=', word])", heat="num")


def page(body: Any, content_type: str = "application/json") -> Page:
    raw = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    return Page("https://board.example/hot", raw, datetime(2026, 3, 1, tzinfo=UTC), 200, content_type)


ANSWERS: dict[str, Any] = {
    "weibo": {"data": {"realtime": [{"word": "台风登陆", "num": 1204567}, {"ad": 1}, {"word": "高铁提速", "num": 9}]}},
    "zhihu": {"data": [{"target": {"title": "台风登陆", "id": 77}, "detail_text": "356 万热度"}]},
    "baidu": {"data": {"cards": [{"content": [{"word": "台风登陆", "url": "https://www.baidu.com/s?wd=a", "hotScore": "4951234"}]}]}},
    "bilibili": {"data": {"list": [{"title": "台风登陆", "bvid": "BV1", "stat": {"view": 12}}]}},
    "github": b'<article class="Box-row"><h2><a href="/a/b">a / b</a></h2><a href="/a/b/stargazers">1,204</a></article>',
    "hackernews": b'<table><tr class="athing"><td><span class="rank">1.</span></td><td><span class="titleline"><a href="item?id=5">'
    b'Typhoon</a></span></td></tr><tr><td><span class="score">88 points</span></td></tr></table>',
}
EXPECTED = {
    "weibo": ("台风登陆", "https://s.weibo.com/weibo?q=%23台风登陆%23", 1, 1204567.0),
    "zhihu": ("台风登陆", "https://www.zhihu.com/question/77", 1, 3_560_000.0),
    "baidu": ("台风登陆", "https://www.baidu.com/s?wd=a", 1, 4951234.0),
    "bilibili": ("台风登陆", "https://www.bilibili.com/video/BV1", 1, 12.0),
    "github": ("a / b", "https://board.example/a/b", 1, 1204.0),
    "hackernews": ("Typhoon", "https://board.example/item?id=5", 1, 88.0),
}


@pytest.mark.parametrize("name", list(presets()))
def test_preset_reads_its_answer(name: str) -> None:
    settings = {key: value for key, value in presets()[name].items() if key != "url"}
    rules = BoardRules(**settings)  # type: ignore[arg-type]
    for key in settings.keys() - {"format"}:
        check_rule(settings[key], rules.format)
    body = ANSWERS[name]
    first = read_board(page(body, "text/html" if rules.format == "html" else "application/json"), rules)[0]
    assert (first.title, first.url, first.rank, first.heat) == EXPECTED[name]


def test_rank_falls_back_to_order_and_urls_are_unique() -> None:
    rules = BoardRules("json", "[]", "t", "u", rank="r", limit=3)
    rows = [
        {"t": "甲", "u": "/1", "r": 7},
        {"t": "甲二", "u": "/1"},
        {"t": "乙", "u": "/2", "r": 0},
        {"t": "丙", "u": "/3"},
        {"t": "丁", "u": "/4"},
    ]
    found = read_board(page(rows), rules)
    assert [(entry.title, entry.rank) for entry in found] == [("甲", 7), ("乙", 2), ("丙", 3)]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[" * 100_000,
        {"data": None},
        {"data": [{"word": "a\x00"}]} | {"data": [1, None, [], {"word": 5.5}]},
        {"data": {"a": 1}},
    ],
)
def test_invalid_answer_is_not_applicable(body: Any) -> None:
    with pytest.raises(NotApplicable, match=r"no item|not JSON") as caught:
        read_board(page(body), ROWS)
    assert caught.value.reason == "no-entries"


@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "file:///etc/passwd", "http://[", "http://a:99999/", "", None, True, ["https://a/"]]
)
def test_entry_without_web_url_is_skipped(link: Any) -> None:
    rows = [{"t": "坏", "u": link}, {"t": "好", "u": "https://a.example/"}]
    assert [entry.title for entry in read_board(page(rows), BoardRules("json", "[]", "t", "u"))] == ["好"]


@pytest.mark.parametrize(
    ("text", "number"),
    [("1,204", 1204), ("356 万热度", 3_560_000), ("12.3k", 12_300), ("1.5亿", 150_000_000), ("热", None), (None, None), ("9" * 400, None)],
)
def test_heat_is_parsed_with_its_unit(text: str | None, number: float | None) -> None:
    assert parse_number(text) == (None if number is None else pytest.approx(number))


def test_invalid_rule_is_refused() -> None:
    for rule, format in (("data[", "json"), ("ol >", "html"), ("//[", "html")):
        with pytest.raises(ValueError, match="not a"):
            check_rule(rule, format)  # type: ignore[arg-type]
