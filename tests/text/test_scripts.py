"""Conversion between simplified and traditional Chinese."""

from __future__ import annotations

import pytest

from newsportal.text import characters
from newsportal.text.characters import convert, convert_html


@pytest.mark.parametrize(
    ("simplified", "traditional"),
    [
        ("皇后在后面理发", "皇后在後面理髮"),  # one simplified character stands for two traditional ones: the word decides
        ("云岭峡谷步行观景桥今日开放", "雲嶺峽谷步行觀景橋今日開放"),
        ("台风面条", "颱風麵條"),
    ],
)
def test_conversion_depends_on_words(simplified: str, traditional: str) -> None:
    assert convert(simplified, "traditional") == traditional
    assert convert(traditional, "simplified") == simplified
    assert convert(traditional, "traditional") == traditional
    assert convert(simplified, "simplified") == simplified


def test_other_scripts_are_unchanged() -> None:
    for text in ("", "plain", "naïve 🙂", "東京のニュースを読む国", "\x00"):
        assert convert(text, "traditional") == convert(text, "simplified") == text


def test_markup_is_unchanged() -> None:
    html = '<p>国家<a href="https://a.example/国家?a=1&amp;b=后>前" title="国">发展 &lt;国&gt;</a><br>后天</p>'
    converted = convert_html(html, "traditional")
    assert converted == '<p>國家<a href="https://a.example/国家?a=1&amp;b=后>前" title="国">發展 &lt;國&gt;</a><br>後天</p>'
    assert convert_html("裡<mark>國家</mark>發展", "simplified") == "里<mark>国家</mark>发展"
    assert convert_html("a < b 国", "traditional") == "a < b 國"


def test_converted_length_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(characters, "MAX_CHARS", 500)
    text = "国" * 600
    assert convert(text, "traditional") == "國" * 500 + "国" * 100
