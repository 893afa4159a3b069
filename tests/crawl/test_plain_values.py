"""Only data passes between processes: values of every supported kind round-trip, and nothing else is accepted."""

from __future__ import annotations

import json
from array import array
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from typing import Any

import pytest

from newsportal.crawl import plain_values
from newsportal.errors import EngineBlocked, NotApplicable
from newsportal.extractors.article.rule import ArticleRule
from newsportal.extractors.article.site import PageLines
from newsportal.extractors.lists import engines
from newsportal.extractors.lists.pagination import Pager, PageRead
from newsportal.extractors.pages import read_article
from newsportal.items import Extraction, Image, Link, Page

NOW = datetime(2026, 3, 5, 12, tzinfo=timezone(timedelta(hours=8)))
FOUND = Extraction(title="古镇\ud800", text="路铺好了", published=NOW, images=(Image("https://a.example/1.jpg"),), confidence=0.5)


@pytest.mark.parametrize(
    "value",
    [
        None,
        [1, 2.5, "词", True],
        (("a", b"\x00\xff"), {"k": (1,), 2: [None]}, frozenset({"x"})),
        Page("https://a.example/1", b"<p>\xff", NOW, 200, "text/html"),
        PageRead("https://a.example/1", FOUND, Pager(("https://a.example/1",), linked_pages=((1, "x"),)), FOUND),
        PageLines(array("Q", [1, 2**63]), 3, 4),
        Link("https://a.example/1", "feed:甲", published=NOW.astimezone(UTC)),
        ArticleRule(body="div.text", remove=("p.x",)),
    ],
)
def test_values_round_trip(value: Any) -> None:
    assert plain_values.loads(plain_values.dumps(value)) == value


def test_bytes_are_sent_unchanged() -> None:
    body = bytes(range(256)) * 1000
    parts = plain_values.dumps(Page("https://a.example/1", body, NOW))
    assert parts[1] == body
    assert len(parts[0]) < 500


@pytest.mark.parametrize("name", engines.engine_names())
def test_every_engine_can_be_sent(name: str) -> None:
    engine = engines.load_engine(name)
    assert plain_values.loads(plain_values.dumps(engine)) == engine


@pytest.mark.parametrize("value", [read_article, partial(read_article, algorithm="cevc")])
def test_response_contains_no_functions(value: Any) -> None:
    parts = plain_values.dumps(value)
    with pytest.raises(ValueError, match="a function instead of a value"):
        plain_values.loads(parts)
    assert callable(plain_values.loads(parts, functions=True))


@pytest.mark.parametrize("name", ["os:system", "subprocess:Popen", "newsportal.logs:install", "newsportal.nothing:Here", "builtins:print"])
def test_only_our_dataclasses_are_created(name: str) -> None:
    with pytest.raises(ValueError, match=r"unknown (class|value)"):
        plain_values.loads([json.dumps([name, "touch /tmp/x"]).encode()])


def test_unsupported_value_is_refused() -> None:
    with pytest.raises(TypeError, match="not a value that can be passed to another process"):
        plain_values.dumps(object())


def test_errors_keep_their_attributes() -> None:
    refusal = plain_values.rebuild_error(plain_values.describe(NotApplicable("no-body", "0 characters"), ""))
    assert isinstance(refusal, NotApplicable)
    assert (refusal.reason, refusal.detail, str(refusal)) == ("no-body", "0 characters", "no-body: 0 characters")
    block = plain_values.rebuild_error(plain_values.describe(EngineBlocked("captcha", 60.0), ""))
    assert isinstance(block, EngineBlocked)
    assert block.rest == 60.0
    broken = plain_values.rebuild_error(plain_values.describe(KeyError("x"), "Traceback: there"))
    assert isinstance(broken, KeyError)
    assert "Traceback: there" in broken.__notes__[0]


def test_unknown_error_class_becomes_runtime_error() -> None:
    assert type(plain_values.rebuild_error(["os:system", "x", {}, ""])) is RuntimeError
