"""The engine of a saved result page is recognised by its host or by the wrapper that reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from newsportal.extractors.lists.result_pages import UNKNOWN_ENGINE, guess_engine
from newsportal.text.dom import from_text

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.mark.parametrize("name", ["baidu_web-2011", "sogou_web-2015", "bing_news-2022", "bing_web-2024", "duckduckgo_web-lite"])
def test_engine_is_guessed_by_best_wrapper(name: str) -> None:
    assert guess_engine(from_text((FIXTURES / f"{name}.html").read_text(encoding="utf-8"))).name == name.partition("-")[0]


def test_engine_is_guessed_by_host() -> None:
    html = (FIXTURES / "google_web-2024.html").read_text(encoding="utf-8")
    assert guess_engine(from_text(html, "https://www.google.co.jp/search?q=x")).name == "google_web"
    assert guess_engine(from_text(html, "https://www.baidu.com/s?wd=x")) is UNKNOWN_ENGINE


def test_unrecognised_page_has_no_engine() -> None:
    assert guess_engine(from_text("<p>hello</p>")) is UNKNOWN_ENGINE
    assert not UNKNOWN_ENGINE.has_parser
