# ruff: noqa: E501  (markup is read best on one line)
"""The same four images in many layouts: each page yields them in order, with captions, and nothing else."""

from __future__ import annotations

import json
from html import escape

import pytest
from stories import CAPTIONS, LEAD, PAIRS, TITLE, captioned, page, picture, story

from newsportal.errors import NotApplicable

RECORDS = [{"img": url, "timg": picture(at, "_s"), "note": caption} for at, (url, caption) in enumerate(PAIRS)]
PAIRED = list(zip(range(4), CAPTIONS, strict=True))


def repeat(form: str) -> str:
    return "".join(form.format(url=picture(at), small=picture(at, "_s"), caption=caption, at=at) for at, caption in PAIRED)


LAYOUTS = {
    "alternating paragraphs": f"<p>{LEAD}</p>" + repeat('<p align="center"><img src="{url}"></p><p align="center">{caption}</p>'),
    "figures": repeat('<figure><img src="{url}" alt=""><figcaption>{caption}<p>图源：江畔图片网/林见</p></figcaption></figure>'),
    "slides of a carousel": '<div class="slides">'
    + repeat('<div class="slide"><img data-original="{url}" src="/static/grey.gif"><div class="text">{caption}</div><span>{at}/4</span></div>')
    + "</div>",
    "lazy with noscript": repeat('<p><img data-src="{url}" src="data:image/gif;base64,R0"><noscript><img src="{url}"></noscript></p><p>{caption}</p>'),
    "srcset": repeat('<div><img src="{small}" srcset="{small} 240w, {url} 1200w"><p>{caption}</p></div>'),
    "picture element": repeat('<div><picture><source srcset="{url}"><img src="{small}"></picture><p>{caption}</p></div>'),
    "background images": repeat('<div class="item"><div class="bg" style="height:600px; background-image: url(\'{url}\')"></div><p>{caption}</p></div>'),
    "links to large images": repeat('<div class="item"><a href="{url}" target="_blank"><img src="{small}" width="240"></a><p>{caption}</p></div>'),
    "thumbnail strip above": '<ul class="thumbs">' + repeat('<li><a href="#p{at}"><img src="{small}"></a></li>') + "</ul>"
    + repeat('<p><img src="{url}"></p><p>{caption}</p>'),
    "captions in box attributes": repeat('<li data-src="{url}" data-sub-html="<h4>{caption}</h4>"><img src="{small}"></li>'),
    "alt only": "<p>" + repeat('<img src="{url}" alt="{caption}">') + "</p>",
    "tables": "<table>" + repeat('<tr><td><img src="{url}"></td></tr><tr><td class="zi">{caption}</td></tr>') + "</table>",
    "protocol-relative URLs": repeat('<div><img src="{url}"><p>{caption}</p></div>').replace("https://photo", "//photo"),
    "JSON in a script": f"<script>var slide_data = {json.dumps({'title': TITLE, 'list': RECORDS})};</script><img src='{picture(0)}'>",
    "application JSON": '<script id="__NEXT_DATA__" type="application/json">'
    + json.dumps({"props": {"story": {"headline": TITLE, "slides": [{"image": {"url": url, "width": 900, "height": 600}, "captionHtml": f"<p>{caption}</p>"} for url, caption in PAIRS]}}})
    + "</script>",
    "JSON string": f"<script>var page = {{gallery: JSON.parse({json.dumps(json.dumps({'title': TITLE, 'sub_images': [{'url': url} for url, _ in PAIRS], 'count': 4}))})}};</script>",
    "literal that is not JSON": "<script>var album = { // pictures\n total: 4, list: [" + "".join(f"{{pic: '{url}', txt: '{caption}',}},\n" for url, caption in PAIRS) + "], };</script>",
    "array push": "<script>" + "".join(f'photos.push({{src: "{url}", desc: "{caption}"}});' for url, caption in PAIRS) + "</script>",
    "parallel arrays": "<script>var pics = new Array(), notes = new Array();"
    + "".join(f"pics[{at}]='{url}'; notes[{at}]='{caption}';" for at, (url, caption) in enumerate(PAIRS)) + "</script>",
    "textarea element": f'<textarea name="gallery-data" style="display:none">{escape(json.dumps({"info": {"setname": TITLE}, "list": RECORDS}))}</textarea>',
    "data attribute": f'<div class="viewer" data-photos="{escape(json.dumps([{"src": url, "subHtml": caption} for url, caption in PAIRS]))}"></div>',
    "JSON-LD": '<script type="application/ld+json">'
    + json.dumps({"@type": "ImageGallery", "name": TITLE, "image": [{"@type": "ImageObject", "contentUrl": url, "caption": caption} for url, caption in PAIRS]})
    + "</script>",
}  # fmt: skip
WITHOUT_CAPTIONS = {"JSON string"}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_images_and_captions_are_in_order(layout: str) -> None:
    found = story(page(LAYOUTS[layout]))
    expected = [(url, None) for url, _ in PAIRS] if layout in WITHOUT_CAPTIONS else PAIRS
    assert captioned(found) == expected
    assert found.title == TITLE


@pytest.mark.parametrize(
    "layout", [name for name, html in LAYOUTS.items() if "<script" in html or "textarea" in html or "data-photos" in html]
)
def test_page_with_all_data_is_complete(layout: str) -> None:
    found = story(page(LAYOUTS[layout]))
    assert found.whole
    assert found.total == 1


def test_introduction_is_text_not_caption() -> None:
    assert story(page(LAYOUTS["alternating paragraphs"])).text == LEAD


def test_captions_above_images() -> None:
    assert captioned(story(page(repeat('<p class="t">{caption}</p><p><img src="{url}"></p>')))) == PAIRS


@pytest.mark.parametrize(
    "stranger",
    [
        '<p><a href="https://ads.example/click?to=3"><img src="/up/ad.jpg"></a></p>',
        '<p><img src="/static/qrcode_wx.png" width="200"></p>',
        '<p><img src="/up/x.jpg" width="468" height="60"></p>',
        '<p><img src="/up/x.jpg" alt="扫一扫，关注我们"></p>',
        '<div class="author"><img src="/up/1/u.jpg"></div>',
        '<p><img src="/static/arrow_left.png"><img src="/static/next.png"></p>',
        '<div class="next-set"><a href="/2026/1121/c20009.html"><img src="/up/n.jpg">下一组图</a></div>',
        '<aside><img src="/up/x.jpg"></aside>',
        '<ul class="cards">'
        + "".join(f'<li><div><img src="/up/c{at}.jpg"></div><a href="/2026/1120/c3000{at}.html">另一个很长的标题在这里</a></li>' for at in range(3))
        + "</ul>",
        '<script>var related = [{"img": "/up/1.jpg", "title": "别处", "url": "/2026/1.html"}, {"img": "/up/2.jpg", "title": "再别处", "url": "/2026/2.html"}]</script>',
        '<img src="/up/point.gif">',
    ],
)  # fmt: skip
def test_unrelated_images_are_ignored(stranger: str) -> None:
    assert captioned(story(page(repeat('<div class="item"><img src="{url}"><p>{caption}</p></div>') + stranger))) == PAIRS


def test_advertisement_does_not_shift_captions() -> None:
    body = f'<div class="photo"><img src="{picture(0)}"><p class="desc">{CAPTIONS[0]}</p></div><p class="pic"><img src="https://ads.example/7.jpg"></p>'
    assert captioned(story(page(body)))[0] == PAIRS[0]


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        (page("<p>页面不存在</p>", title="出错了"), "soft-404"),
        (page("<p>您访问的页面不存在</p><img src='/up/404.jpg'>", related=""), "soft-404"),
        (page("<p>请输入验证码</p>", title="安全验证", related=""), "captcha"),
        (page("<p>文字新闻没有图片。</p>", related=""), "no-pictures"),
        (page("<ul>" + "".join(f'<li><a href="/2026/1122/c{at}.html"><img src="/up/{at}.jpg">标题标题标题{at}</a></li>' for at in range(9)) + "</ul>"), "index-page"),
        ("%PDF-1.7 something", "not-html"),
        ("", "no-pictures"),
    ],
)  # fmt: skip
def test_non_story_pages_are_refused(html: str, reason: str) -> None:
    with pytest.raises(NotApplicable) as error:
        story(html)
    assert error.value.reason == reason


def test_front_page_is_an_index() -> None:
    with pytest.raises(NotApplicable, match="index-page"):
        story(page(LAYOUTS["figures"]), "https://photo.example/")


def test_crops_of_lead_image_are_not_a_slideshow() -> None:
    crops = {"@type": "NewsArticle", "headline": TITLE, "image": [picture(0, f"_{size}") for size in ("16x9", "4x3", "1x1")]}
    html = page(
        f'<figure><img src="{picture(0)}"><figcaption>{CAPTIONS[0]}</figcaption></figure>',
        head=f'<script type="application/ld+json">{json.dumps(crops)}</script>',
    )
    found = story(html)
    assert captioned(found) == PAIRS[:1]
    assert not found.whole


def test_data_in_hidden_elements_is_read() -> None:
    """URLs are text, in two sizes, with a caption and a date beside them; a list of images of other stories follows."""
    records = "".join(
        f"<dl><dt>第{at}张</dt><dd>{picture(at).replace('/up', '/up/thumb')}</dd><dd>{picture(at)}</dd><dd>{caption}</dd><dd>2026.03.05</dd></dl>"
        for at, caption in enumerate(CAPTIONS)
    )
    others = "".join(f"<li><i>https://photo.example/pic/{at}.jpg</i><b>另一个故事的图片{at}</b></li>" for at in range(9))
    found = story(page(f'<div id="data" style="display:none">{records}</div><ul class="hot-list">{others}</ul>'))
    assert found.whole
    assert [(image.url, image.caption) for image in found.images] == [(picture(at), caption) for at, caption in enumerate(CAPTIONS)]


def test_url_after_many_siblings_is_ignored() -> None:
    record = f"<section><div>{'<i>词</i>' * 21}<i>https://photo.example/pic/1.jpg</i></div></section>"
    figures = "".join(
        f'<figure><img src="{picture(at)}"><figcaption>{caption}</figcaption></figure>' for at, caption in enumerate(CAPTIONS)
    )
    assert captioned(story(page(figures + record))) == captioned(story(page(figures)))


@pytest.mark.parametrize("called", ["Image caption, ", "图片说明：", "图说:"])
def test_caption_label_is_removed(called: str) -> None:
    body = "".join(
        f'<figure><img src="{picture(at)}"><figcaption>{called}{caption}</figcaption></figure>' for at, caption in enumerate(CAPTIONS[:3])
    )
    assert [image.caption for image in story(page(body)).images] == list(CAPTIONS[:3])
