"""Sanitising removes everything active and makes URLs absolute; the rest is kept."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.extractors.article.sanitise import ATTRIBUTES, REL, TAGS, sanitise
from newsportal.text import dom

BASE = "https://news.example/2024/a.html"

ATTACKS = [
    "<script>alert(1)</script>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<img src=x onerror=alert(1)>",
    "<img src='https://a.example/x.png' onload=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href='java\tscript:alert(1)'>x</a>",
    "<a href='java&#10;script:alert(1)'>x</a>",
    "<a href='&#106;&#97;vascript&colon;alert(1)'>x</a>",
    "<a href=' \x01javascript:alert(1)'>x</a>",
    "<a href='JaVaScRiPt://%0aalert(1)'>x</a>",
    "<a href='vbscript:msgbox(1)'>x</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "<img src='data:image/svg+xml;base64,PHN2Zz4='>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    '<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">',
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
    "<math><annotation-xml encoding='text/html'><style><img src=x onerror=alert(1)></style></annotation-xml></math>",
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
    "<template><img src=x onerror=alert(1)></template>",
    "<base href='https://evil.example/'>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<form action='https://evil.example/'><input name=q><button formaction='javascript:alert(1)'>x</button></form>",
    "<p style='background:url(javascript:alert(1))'>x</p><style>*{color:red}</style>",
    "<iframe srcdoc='<script>alert(1)</script>' src='https://evil.example/'></iframe>",
    "<object data='https://evil.example/x.swf'></object><embed src=x>",
    "<link rel=stylesheet href='https://evil.example/x.css'>",
    "<!--[if IE]><script>alert(1)</script><![endif]--><![CDATA[<script>alert(1)</script>]]>",
    "<textarea><img src=x onerror=alert(1)></textarea><title><img src=x onerror=alert(1)></title>",
    "<xmp><img src=x onerror=alert(1)></xmp><plaintext><img src=x onerror=alert(1)>",
    "<p id=x class=y name=z onclick=alert(1) contenteditable autofocus onfocus=alert(1)>x",
]


def assert_harmless(html: str) -> None:
    for node in dom.parse_html(f"<div>{html}</div>").iter():
        if node.tag in ("html", "body", "div"):
            continue
        assert node.tag in TAGS, html
        assert set(node.attrib) <= ATTRIBUTES.get(node.tag, set()) | {"rel"}, html
        for name in ("href", "src"):
            assert re.match(r"https?://", node.get(name) or "https://"), html


@pytest.mark.parametrize("attack", ATTACKS)
def test_attack_is_removed(attack: str) -> None:
    cleaned = sanitise(f"<p>前文</p>{attack}<p>后文</p>", BASE)
    assert_harmless(cleaned)
    assert sanitise(cleaned, BASE) == cleaned
    assert "前文" in cleaned


PIECES = [*ATTACKS, "<p>", "</p>", "<table>", "<svg>", "<math>", "<style>", "</style>", "<!--", "-->", "'", '"', "<", "中"]


@given(st.lists(st.sampled_from(PIECES), max_size=8))
def test_combined_attacks_are_removed(parts: list[str]) -> None:
    assert_harmless(sanitise("".join(parts), BASE))


def test_allowed_markup_is_kept_with_absolute_urls() -> None:
    html = (
        "<div class=x><h2>小标题</h2><p>段落<b>粗</b><a href='../b.html#x' target=_blank>链接</a></p>"
        "<figure><img src='/i.jpg' width=600 height='9e9' alt='图'><figcaption>说明</figcaption></figure>"
        "<table><tr><td colspan=2>表</td></tr></table></div>"
    )
    cleaned = sanitise(html, BASE)
    assert f'<a href="https://news.example/b.html" rel="{REL}">链接</a>' in cleaned
    assert '<img src="https://news.example/i.jpg" width="600" alt="图">' in cleaned
    assert all(part in cleaned for part in ("<h2>小标题</h2>", "<figcaption>说明</figcaption>", '<td colspan="2">表</td>', "<b>粗</b>"))
    assert "<div" not in cleaned


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8239", "10.0.0.1", "[::1]", "[::ffff:10.0.0.1]", "localhost", "2130706433", "router", "a.example:6379"]
)
def test_private_network_images_are_removed_on_public_pages(host: str) -> None:
    html = f'<p>文</p><img src="http://{host}/a.png" alt="图">'
    assert host not in sanitise(html, BASE)
    assert "http://10.1.0.6/a.png" in sanitise('<img src="http://10.1.0.6/a.png">', "http://10.1.0.5/page")
    assert "http://a.example/a b.png" in sanitise('<img src="http://a.example/a b.png">', BASE)
