"""Pages of made-up photo stories, and a function that reads them."""

from __future__ import annotations

from datetime import UTC, datetime

from newsportal.extractors.gallery import read
from newsportal.items import GalleryPage
from newsportal.text import dom

NOW = datetime(2026, 11, 22, 4, 0, tzinfo=UTC)
URL = "https://photo.example/2026/1122/c10235.html"
TITLE = "青石镇三百艘龙舟同日下水"
CAPTIONS = (
    "11月20日，青石镇的工匠给龙舟上最后一遍桐油。",
    "十二岁的陈小满第一次坐上鼓手的位置，手里的鼓槌比胳膊还粗。",
    "三百艘龙舟从七个码头同时出发，江面被桨叶搅成了白色。",
    "傍晚，岸上的人用竹竿挑着灯笼，等最后一条船靠岸。",
)
LEAD = "每年十一月的第三个周末，青石镇的人都放下手里的活，到江边去。"
FRAME = """<html><head><title>{title}_江畔图片网</title>{head}</head><body>
<div class="header"><a href="/"><img src="/static/logo.png"></a><a href="/photo/">图片</a></div>
<div class="main"><h1>{title}</h1><p class="info">2026-11-20 18:30 来源：<a href="/">江畔图片网</a></p>{body}</div>
<div class="related"><h3>相关图集</h3><ul>{related}</ul></div>
<div class="footer"><img src="/static/qrcode.png"><p>江畔图片网 版权所有</p></div></body></html>"""
RELATED = "".join(
    f'<li><a href="/2026/1121/c{at}.html"><img src="/up/r{at}.jpg"><span>别的图集第{at}</span></a></li>' for at in range(20001, 20006)
)


def page(body: str, *, head: str = "", title: str = TITLE, related: str = RELATED) -> str:
    return FRAME.format(title=title, head=head, body=body, related=related)


def story(html: str, url: str = URL) -> GalleryPage:
    return read(dom.from_text(html, url), now=NOW)


def picture(at: int, size: str = "") -> str:
    return f"https://photo.example/up/2026/{'abcdefgh'[at]}7f3{at}{size}.jpg"


def captioned(found: GalleryPage) -> list[tuple[str, str | None]]:
    return [(image.url, image.caption) for image in found.images]


PAIRS = [(picture(at), caption) for at, caption in enumerate(CAPTIONS)]
"""The images and captions in every layout."""
