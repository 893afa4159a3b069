"""Images of an article: the URL finally displayed, images that do not belong, and captions."""

from __future__ import annotations

import pytest

from newsportal.extractors.fields.metadata import read_metadata
from newsportal.extractors.images.article_images import collect_images, set_final_sources
from newsportal.items import Image
from newsportal.text import dom

BASE = "https://news.example/a/1.html"


def read(body: str, head: str = "<title>滨海新线今晨通车_滨海网</title>") -> tuple[Image, ...]:
    document = dom.from_text(f"<html><head>{head}</head><body>{body}</body></html>", BASE)
    return collect_images(next(document.root.iter("body")), document, read_metadata(document))


@pytest.mark.parametrize(
    "img",
    [
        "<img src=/p.jpg>",
        "<img src=/blank.gif data-original=/p.jpg>",
        "<img src='data:image/gif;base64,R0lGOD' data-src=/p.jpg>",
        "<img src=/loading.gif data-anything='/p.jpg'>",
        "<img src=/static/grey.gif zoomfile=/p.jpg>",
        "<img src=/s.jpg srcset='/s.jpg 320w, /p.jpg 1280w, /m.jpg 640w'>",
        "<picture><source srcset='/s.jpg 1x, /p.jpg 2x'><img src=/s.jpg></picture>",
        "<img data-srcset='/p.jpg 2x' src='data:image/svg+xml,x'>",
    ],
)
def test_displayed_url_is_found(img: str) -> None:
    assert [image.url for image in read(img)] == ["https://news.example/p.jpg"]


@pytest.mark.parametrize(
    "img",
    [
        "<img src='data:image/png;base64,AAAA'>",
        "<img src=/logo.png>",
        "<img src=/static/share.gif>",
        "<img src=/t.gif width=1 height=1>",
        "<img src=/p.jpg style='width: 20px; height: 20px'>",
        "<img src=https://count.example/tracker.gif?x=1>",
        "<img src=/qrcode.jpg>",
        "<img>",
        "<img src='javascript:alert(1)'>",
    ],
)
def test_logos_placeholders_and_trackers_are_left_out(img: str) -> None:
    assert read(img) == ()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<figure><img src=/p.jpg alt=x><figcaption>首班列车驶出东站。</figcaption></figure>", "首班列车驶出东站。"),
        ("<p><img src=/p.jpg></p><p>图为首班列车驶出东站。</p>", "图为首班列车驶出东站。"),
        ("<p align=center><img src=/p.jpg><br>首班列车驶出东站。记者 王甲 摄</p>", "首班列车驶出东站。记者 王甲 摄"),
        ("<div><a href=/b><img src=/p.jpg></a></div><div class='img-desc'>首班列车</div>", "首班列车"),
        ("<p><img src=/p.jpg></p><p>▲ 首班列车驶出东站</p>", "▲ 首班列车驶出东站"),
        ("<p><img src=/p.jpg alt=首班列车></p><p>今天早上六点，首班列车从东站出发，车上坐满了人。</p>", "首班列车"),
        ("<p><img src=/p.jpg alt='IMG_2953.jpg'></p>", None),
        ("<p><img src=/p.jpg alt=滨海新线今晨通车></p>", None),
        ("<img src=/p.jpg>", None),
    ],
)
def test_captions(body: str, expected: str | None) -> None:
    assert [image.caption for image in read(body)] == [expected]


def test_caption_shared_by_all_images_is_dropped() -> None:
    assert [image.caption for image in read("<img src=/1.jpg alt=某网图片><p>a</p><img src=/2.jpg alt=某网图片>")] == [None, None]


def test_sizes_from_attributes_styles_and_names() -> None:
    images = read("<img src=/1.jpg width=640 height=480px><img src=/2.jpg style='width:300px'><img src=/3-800x600.jpg>")
    assert [(image.width, image.height) for image in images] == [(640, 480), (300, None), (800, 600)]


def test_images_are_unique_and_in_page_order() -> None:
    assert [image.url[-5:] for image in read("<img src=/2.jpg><img src=/1.jpg><img src=/2.jpg>")] == ["2.jpg", "1.jpg"]


def test_metadata_image_is_a_fallback() -> None:
    assert read("", '<meta property="og:image" content="/lead.jpg">')[0].url == "https://news.example/lead.jpg"
    script = '<script type="application/ld+json">{"@type":"NewsArticle","image":[{"@type":"ImageObject","url":"/lead.jpg"}]}</script>'
    assert read("", script)[0].url == "https://news.example/lead.jpg"
    assert read("", '<meta property="og:image" content="/logo.png">') == ()


def test_settle_sets_src_of_lazy_images() -> None:
    body = dom.parse_html("<body><img src=/loading.gif data-original=/p.jpg></body>")
    set_final_sources(body, BASE)
    assert next(body.iter("img")).get("src") == "https://news.example/p.jpg"
