"""Round trip of an article's HTML through Markdown, compared element by element."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

import newsportal
from newsportal.extractors.article.markdown import markdown_of
from newsportal.extractors.article.sanitise import sanitise

READER = MarkdownIt("commonmark").enable("table")
PAGE = """<title>滨海新线今晨通车_滨海网</title><h1>滨海新线今晨通车</h1><article>
<p>今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民。</p>
<h2>票价</h2><p>全程票价<b>六元</b>，学生半价，老人免费；换乘优惠见<a href="/p/2.html">公告</a>，自下月一日起执行。</p>
<ul><li>东站到西站：六元，行车约四十分钟。</li><li>东站到港口：四元，行车约二十分钟。</li></ul></article>"""


def html_of_markdown(markdown: str) -> str:
    """Render Markdown as HTML, without white space between elements."""
    return re.sub(r">\s+<|(?<=<br />)\n|\n(?=<ul>)", lambda found: "><" if ">" in found[0] else "", READER.render(markdown)).strip()


@pytest.mark.parametrize(
    "html",
    [
        "<h2>票价</h2><p>全程六元。</p>",
        '<p>见<a href="https://a.example/p_(1)">公告</a>，<strong>即日</strong>起<em>执行</em>。</p>',
        "<p><strong>注意：</strong> 各站，<em>《票价》</em>。</p>",
        "<p>第一行<br />第二行</p>",
        "<ul><li>一</li><li>二<ul><li>二之一</li><li>二之二</li></ul></li><li>三</li></ul>",
        "<ol><li>先</li><li>后</li></ol>",
        "<blockquote><p>甲说。</p><p>乙说。</p></blockquote>",
        "<pre><code>if a &lt; b:\n    print(`x`)\n\n# 注释\n</code></pre>",
        "<pre><code>```\n里面\n```\n</code></pre>",
        "<p>命令 <code>a`b</code> 与 <code>`c</code></p>",
        "<table><thead><tr><th>站</th><th>价 | 元</th></tr></thead>"
        "<tbody><tr><td>东站</td><td>6</td></tr><tr><td>港口</td><td></td></tr></tbody></table>",
        '<p><img src="https://a.example/1.jpg" alt="列车 [一]" /></p><p>图：首班列车</p>',
    ],
)
def test_supported_elements_round_trip(html: str) -> None:
    assert html_of_markdown(markdown_of(html)) == html


@pytest.mark.parametrize(
    "text",
    ["# 不是标题", "1. 不是列表", "- 不是列表", "+ 加号", "&gt; 不是引文",
     "a * b * c _d_ [e](f) `g`", "--- 横线", "===", "\\ 反斜线 \\*", "&lt;b&gt; 不是元素", "~~~ 不是代码", "&amp;copy; 不是符号"],
)  # fmt: skip
def test_special_characters_in_text_are_escaped(text: str) -> None:
    assert html_of_markdown(markdown_of(f"<p>{text}</p>")) == f"<p>{text}</p>"


def test_unsupported_elements_are_approximated() -> None:
    assert markdown_of("<p><b>注意：</b>各站</p>") == "注意：各站"
    assert markdown_of("<p>见<a href='https://a.example/'><br>公告<br></a></p><p><a href='https://a.example/'><br></a></p>") == (
        "见[公告](https://a.example/)"
    )
    assert markdown_of("<dl><dt>名词</dt><dd>解释</dd><dd>又一解</dd></dl>") == "**名词**\n\n- 解释\n\n- 又一解"
    assert (
        markdown_of("<table><caption>表一</caption><tr><td>甲</td><td colspan=2>乙</td></tr></table>")
        == "表一\n\n| 甲 | 乙 |  |\n| --- | --- | --- |"
    )
    assert markdown_of("<table><tr><td><p>甲</p><p>乙</p></td></tr></table>") == "甲\n\n乙"
    assert (
        markdown_of("<figure><img src='https://a.example/1.jpg'><figcaption>图</figcaption></figure>")
        == "![](https://a.example/1.jpg)\n\n图"
    )


def test_nested_elements_do_not_multiply_output() -> None:
    for opened, closed in (
        ("<dl><dd>", "</dd></dl>"),
        ("<table><tr><td>", "</td></tr></table>"),
        ("<blockquote>", "</blockquote>"),
        ("<ul><li>", "</li></ul>"),
    ):
        written = markdown_of(sanitise(opened * 300 + "里面" + closed * 300, "https://a.example/"))
        assert written.count("里面") == 1
        assert len(written) < 1000


def test_library_article_as_markdown() -> None:
    written = newsportal.markdown(newsportal.extract(PAGE, "https://a.example/p/1.html"))
    assert written.startswith("# 滨海新线今晨通车\n\n今天早上六点")
    assert "## 票价\n\n全程票价**六元**，学生半价" in written
    assert "[公告](https://a.example/p/2.html)" in written
    assert written.endswith("- 东站到西站：六元，行车约四十分钟。\n- 东站到港口：四元，行车约二十分钟。")
