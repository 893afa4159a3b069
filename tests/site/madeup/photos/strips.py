# ruff: noqa: E501  (markup is read best on one line)
"""Further layouts: thumbnails as pager, figures with credits between paragraphs, data in attributes and in machine-readable documents."""

from __future__ import annotations

import json
from html import escape

from madeup.exchange import Response
from madeup.photos import markup
from madeup.photos.sites import SITES
from madeup.photos.world import Edition, Shot, World


def strip(world: World, edition: Edition, page: int) -> Response:
    """华昕: one picture per page; arrows and thumbnails have relative links, and the last page links to the first."""
    (shot,) = edition.parts[page - 1]
    names = [path.rpartition("/")[2] for path in edition.paths]
    last = len(names)
    thumbs = "".join(
        f'<li{" class=on" if n == page else ""}><a href="{name}"><img src="{part[0].thumb}" width="90"></a></li>'
        for n, (name, part) in enumerate(zip(names, edition.parts, strict=True), start=1)
    )
    before, after = names[page - 2], names[page % last]
    mark = f"【{page}】" if page > 1 else ""
    when = f"{edition.published:%Y年%m月%d日%H:%M}"
    lead = f'<p style="text-indent:2em">{escape(edition.text)}</p>' if page == 1 else ""
    more = markup.advertisement(world, edition, page) if markup.has_advertisement(edition, page) else ""
    body = (
        f'{markup.top(world, edition.site)}<div class="path"><a href="/">首页</a>&gt;&gt;<a href="{SITES[edition.site].index.format(i="")}">图片</a></div><div class="pic_content"><h1>{escape(edition.title)}{mark}</h1><p>{when} 来源：<a href="/">{SITES[edition.site].name}</a> 作者：{edition.author}</p>{lead}'
        f'<table><tr><td><a href="{before}"><img src="/static/left.png"></a></td><td><a href="{after}"><img src="{shot.url}" border="0"></a></td><td><a href="{after}"><img src="/static/right.png"></a></td></tr></table>'
        f'<div class="words"><p>{markup.caption(shot)}</p></div>{more}<ul class="strip">{thumbs}</ul></div>{markup.following(world, edition)}{markup.side(world, edition)}{markup.foot(edition.site)}'
    )
    return markup.page(
        edition.site, markup.document(f"{escape(edition.title)}{mark}--图片频道--{SITES[edition.site].name}", body, encoding="gb2312")
    )


def figures(world: World, edition: Edition, page: int) -> Response:
    """鼓浪: figures between the paragraphs of a report, sizes in the path, the photographer's name beside each."""
    blocks = []
    for at, shot in enumerate(edition.shots):
        sizes = ", ".join(f"{url} {wide}w" for url, wide in zip((shot.thumb, *shot.also, shot.url), (240, 480, 800), strict=False))
        eager = "" if at == 0 else ' loading="lazy"'
        blocks.append(
            f'<figure class="css-1q"><div class="css-3k"><picture><source srcset="{sizes}" type="image/jpeg"><img src="{(*shot.also, shot.url)[0]}" srcset="{sizes}" width="{shot.drawing.size[0]}" height="{shot.drawing.size[1]}"{eager} alt=""></picture>'
            f'<p role="text" class="credit">图源：{SITES[edition.site].name}/{edition.author}</p></div><figcaption><p>{markup.caption(shot)}</p></figcaption></figure>'
        )
        if at % 2:
            blocks.append(f"<p>{escape(edition.text)}这是记者在现场看到的第{at}个片段，街上的人来来往往，谁也没有停下来。</p>")
        if markup.has_advertisement(edition, at):
            blocks.append(f"<aside>{markup.advertisement(world, edition, at)}<p>广告</p></aside>")
    data = {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": edition.title,
        "datePublished": edition.published.isoformat(),
        "author": {"@type": "Person", "name": edition.author},
        "image": [edition.shots[0].url],
    }
    body = (
        f'{markup.top(world, edition.site)}<main role="main"><h1 id="content" tabindex="-1">{escape(edition.title)}</h1><ul><li>{edition.author}</li><li><time datetime="{edition.published:%Y-%m-%d}">{edition.published:%Y年%m月%d日}</time></li></ul><p><b>{escape(edition.text)}</b></p>{"".join(blocks)}'
        f"<section><h2>更多相关内容</h2>{markup.related(world, edition, 6)}</section></main>{markup.foot(edition.site)}"
    )
    head = f'<script type="application/ld+json">{json.dumps(data, ensure_ascii=False)}</script>'
    return markup.page(edition.site, markup.document(f"{escape(edition.title)} - {SITES[edition.site].name}", body, head))


def data(world: World, edition: Edition, page: int) -> Response:
    """星海: the pictures in an attribute, in linked data for search engines, or in the state of an application, in turn."""
    form = edition.number // 7 % 3
    inside, head = (_attribute, _linked_data, _application)[form](edition)
    body = f'{markup.top(world, edition.site)}<div id="root"><h1>{escape(edition.title)}</h1>{markup.byline(edition)}<p class="abstract">{escape(edition.text)}</p>{inside}</div>{markup.related(world, edition)}{markup.foot(edition.site)}'
    return markup.page(edition.site, markup.document(f"{escape(edition.title)}_{SITES[edition.site].name}", body, head))


def _attribute(edition: Edition) -> tuple[str, str]:
    records = [{"src": shot.url, "thumb": shot.thumb, "subHtml": shot.caption} for shot in edition.shots]
    return f'<div class="viewer" data-photos="{escape(json.dumps(records, ensure_ascii=False))}"></div>', ""


def _linked_data(edition: Edition) -> tuple[str, str]:
    media = [
        {"@type": "ImageObject", "contentUrl": shot.url, "thumbnailUrl": shot.thumb, "caption": shot.caption} for shot in edition.shots
    ]
    data = {
        "@context": "https://schema.org",
        "@type": "ImageGallery",
        "name": edition.title,
        "datePublished": edition.published.isoformat(),
        "associatedMedia": media,
    }
    return '<div class="viewer"></div>', f'<script type="application/ld+json">{json.dumps(data)}</script>'


def _application(edition: Edition) -> tuple[str, str]:
    slides = [
        {
            "id": f"s{at}",
            "image": {"url": shot.url, "width": shot.drawing.size[0], "height": shot.drawing.size[1], "crops": {"s": shot.thumb}},
            "captionHtml": f"<p>{_bold(shot)}</p>",
        }
        for at, shot in enumerate(edition.shots)
    ]
    state = {
        "props": {"pageProps": {"gallery": {"headline": edition.title, "slides": slides}, "site": {"logo": "/static/logo.png"}}},
        "page": "/set/[id]",
        "buildId": "x7",
    }
    return (
        '<div class="viewer"></div>',
        f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(state, ensure_ascii=False)}</script>',
    )


def _bold(shot: Shot) -> str:
    text = shot.caption or ""
    return f"<b>{text[:2]}</b>{text[2:]}"
