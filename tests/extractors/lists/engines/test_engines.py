"""Each engine reads its layouts: pages ``fixtures/<engine>[-layout].html`` that end in a comment with the expected answer.

A row of the answer has any fields of ``Result``, and ``address``: the target of its link by the engine's redirect rule.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from newsportal.extractors.lists import engines
from newsportal.extractors.lists.engines import Engine
from newsportal.extractors.lists.redirect import READERS
from newsportal.extractors.lists.result_pages import read_results, target_of
from newsportal.text.dom import Document, from_text

FIXTURES = Path(__file__).parent / "fixtures"
PAGES = sorted(path.stem for path in FIXTURES.glob("*.html"))
NOW = datetime(2024, 5, 2, 9, tzinfo=UTC)


def layout(name: str) -> tuple[str, list[dict[str, Any]]]:
    html, _, answer = (FIXTURES / f"{name}.html").read_text(encoding="utf-8").partition("<!-- answer\n")
    return html, json.loads(answer.removesuffix("-->\n"))


def page(name: str, url: str = "about:blank") -> Document:
    return from_text(layout(name)[0], url)


@pytest.mark.parametrize("name", PAGES)
def test_layout_is_read_completely(name: str) -> None:
    found = read_results(engines.load_engine(name.partition("-")[0]), page(name), NOW)
    rows = [asdict(row) | {"address": target_of(row)} for row in found.results]
    assert [{key: row[key] for key in expected} for row, expected in zip(rows, layout(name)[1], strict=True)] == layout(name)[1]
    assert (found.by, found.changed) == ("wrapper", False)


@pytest.mark.parametrize("name", PAGES)
def test_every_date_is_parsed(name: str) -> None:
    for row in read_results(engines.load_engine(name.partition("-")[0]), page(name), NOW).results:
        assert (row.published is None) == (row.date is None), row
        assert row.published is None or row.published <= NOW, row


@pytest.mark.parametrize("name", engines.engine_names())
def test_every_engine_has_a_fixture_and_its_name(name: str) -> None:
    assert engines.load_engine(name).name == name
    assert any(stem == name or stem.startswith(f"{name}-") for stem in PAGES)


@pytest.mark.parametrize("name", engines.engine_names())
def test_request_url_holds_query_without_placeholders(name: str) -> None:
    engine = engines.load_engine(name)
    assert engine.url.count("##QUERY##") == 1
    assert "%E6%97%85%E6%B8%B8" in engine.request("旅游")
    assert "##" not in engine.request("旅游", page=3)
    assert (engine.request("旅游", 1) != engine.request("旅游")) == engine.has_pages


def test_offsets_follow_the_engine() -> None:
    assert "pn=20&" in engines.load_engine("baidu_web").request("a", 2)
    assert "page=3&" in engines.load_engine("sogou_web").request("a", 2)
    assert "first=21" in engines.load_engine("bing_web").request("a", 2)


def test_query_is_escaped_in_url() -> None:
    url = engines.load_engine("bing_web").request("a&first=99#x ##START## 100%")
    assert url.endswith("q=a%26first%3D99%23x%20%23%23START%23%23%20100%25&first=1")


def test_query_uses_the_engines_encoding() -> None:
    engine = Engine("old", "http://s.example/?q=##QUERY##", encoding="gb18030")
    assert engine.request("旅游") == "http://s.example/?q=%C2%C3%D3%CE"


def test_relative_links_are_resolved_with_page_url() -> None:
    result = read_results(engines.load_engine("sogou_web"), page("sogou_web-2022", "https://www.sogou.com/web?query=x"), NOW).results[0]
    unknown = read_results(engines.load_engine("sogou_web"), page("sogou_web-2022"), NOW).results[0]
    assert result.link == f"https://www.sogou.com{unknown.link}"
    assert unknown.link.startswith("/link?url=")


def test_invalid_target_url_is_ignored() -> None:
    html = page("baidu_web-2023").html.replace('mu="https://news.example.cn/', 'mu="http://nourl.ubs.baidu.com/')
    html = html.replace('mu="https://gov.example.org.cn/', 'mu="javascript:alert(1)//')
    targets = [row.target for row in read_results(engines.load_engine("baidu_web"), from_text(html), NOW).results]
    assert (targets[0], targets[2]) == (None, None)
    assert targets[1] == "http://www.shancheng.example.com/a/20240430/2.shtml"


def test_engines_are_loaded_lazily() -> None:
    code = "import sys, newsportal.extractors.lists.engines; print('yaml' in sys.modules)"
    root = Path(__file__).resolve().parents[4]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("name", engines.engine_names())
def test_every_engine_rule_is_valid(name: str) -> None:
    for wrapper in engines.load_engine(name).wrappers:
        wrapper.check()


def test_every_target_reader_is_registered() -> None:
    assert {rule.target for rule in engines.redirects() if rule.target} == READERS.keys()
