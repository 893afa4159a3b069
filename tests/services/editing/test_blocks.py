"""Conversion of a body to editable lines and back: pictures and markup of unchanged blocks are kept, typed markup is escaped."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.extractors.article.sanitise import sanitise
from newsportal.items import Image
from newsportal.services.editing.drafts import Block, blocks_of, editable_lines, parse_lines

BASE = "https://a.example/1.html"
HTML = (
    '<p>第一段<a href="https://x.example/">链接</a>。</p><figure><img src="https://i.example/1.jpg"><figcaption>桥</figcaption></figure>'
    "<h3>小标题</h3><p>第二段<br>换行</p><ul><li>甲</li><li>乙</li></ul>尾巴"
)
TEXT = "第一段链接。\n小标题\n第二段\n换行\n甲\n乙\n尾巴"
PICTURES = (Image("https://i.example/1.jpg"), Image("https://i.example/2.jpg", "另一张"))


def article_blocks() -> list[Block]:
    return blocks_of(HTML, TEXT, PICTURES, BASE)


def test_unchanged_body_round_trip() -> None:
    lines = editable_lines(article_blocks())
    assert lines.splitlines() == ["第一段链接。", "⟦1⟧ 桥", "## 小标题", "第二段", "换行", "⟦2⟧ 甲 乙", "尾巴", "⟦3⟧ 另一张"]
    body = parse_lines(lines, article_blocks(), BASE)
    assert body.text == TEXT
    assert body.pictures == ("https://i.example/1.jpg", "https://i.example/2.jpg")
    assert body.html.replace("\n", "").startswith(sanitise(HTML.removesuffix("尾巴"), BASE))


def test_changed_paragraph_becomes_plain_text() -> None:
    body = parse_lines(editable_lines(article_blocks()).replace("尾巴", "尾巴 <b>改</b>\n## 新的小标题"), article_blocks(), BASE)
    assert "<p>尾巴 &lt;b&gt;改&lt;/b&gt;</p>" in body.html
    assert "<h2>新的小标题</h2>" in body.html
    assert '<a href="https://x.example/"' in body.html
    assert body.text.endswith("尾巴 <b>改</b>\n新的小标题")


def test_blocks_can_be_moved_and_deleted() -> None:
    body = parse_lines("⟦ 2 ⟧\n第一段链接。", article_blocks(), BASE)
    assert body.html.startswith("<ul><li>甲</li><li>乙</li></ul>")
    assert body.pictures == ()
    assert body.text == "甲\n乙\n第一段链接。"


def test_unknown_block_number_is_reported() -> None:
    with pytest.raises(ValueError, match="⟦9⟧"):
        parse_lines("⟦9⟧ 图", article_blocks(), BASE)


def test_plain_text_becomes_paragraphs() -> None:
    blocks = blocks_of(None, "一 <i>\n\n二", (), BASE)
    assert editable_lines(blocks) == "一 <i>\n二"
    assert parse_lines("一 <i>\n二", blocks, BASE).html == "<p>一 &lt;i&gt;</p>\n<p>二</p>"


@given(st.text(max_size=200))
def test_typed_markup_is_escaped(lines: str) -> None:
    try:
        body = parse_lines(f"{lines}\n<script>alert(1)</script><img src=x onerror=alert(2)>", article_blocks(), BASE)
    except ValueError:
        return
    assert "<script" not in body.html
    assert body.html == sanitise(body.html, BASE)
    assert not set(body.pictures) - {image.url for image in PICTURES}
