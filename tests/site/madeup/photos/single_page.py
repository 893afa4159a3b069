# ruff: noqa: E501  (markup is read best on one line)
"""Stories on one page: in the data of a slideshow, one below the other, or assembled by a script in the browser."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from madeup.exchange import Response
from madeup.photos import markup
from madeup.photos.sites import SITES
from madeup.photos.world import Edition, Shot, World

TRANSPARENT = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="


def slides(world: World, edition: Edition, page: int) -> Response:
    """观澜: one picture in the page, all in a list of records that a script reads; an advertisement is among them."""
    records: list[dict[str, Any]] = [
        {
            "title": edition.title,
            "intro": shot.caption,
            "image_url": markup.relative(shot.url),
            "thumb_50": shot.thumb,
            "id": f"{edition.number}{at}",
            "createtime": f"{edition.published:%Y年%m月%d日 %H:%M}",
        }
        for at, shot in enumerate(edition.shots, start=1)
    ]
    if markup.has_advertisement(edition, 1):
        records.insert(
            len(records) // 2, {"title": "", "intro": "", "image_url": world.ad(edition, 1), "thumb_50": "", "id": "0", "createtime": ""}
        )
    other = markup.neighbours(world, edition, 1)[0]
    data = json.dumps(
        {
            "slide": {"title": edition.title, "createtime": f"{edition.published:%Y-%m-%d %H:%M:%S}", "url": edition.path},
            "images": records,
            "next_album": {"title": other.title, "url": other.path, "thumb_50": other.shots[0].thumb},
        },
        ensure_ascii=edition.number % 2 == 0,
    )
    first = edition.shots[0]
    strip = "".join(f'<li><img src="{shot.thumb}" width="50" height="50"></li>' for shot in edition.shots)
    body = (
        f'{markup.top(world, edition.site)}<div class="slide"><h1>{escape(edition.title)}</h1>{markup.byline(edition)}<div id="stage"><img src="{first.url}"><p id="words"></p></div><ul class="strip">{strip}</ul></div>'
        f"<script>var slide_data = {data};\nnew Slide(slide_data);</script>{markup.following(world, edition)}{markup.related(world, edition)}{markup.foot(edition.site)}"
    )
    return markup.page(
        edition.site,
        markup.document(
            f"{escape(edition.title)}_高清图集_{SITES[edition.site].name}",
            body,
            f'<meta name="description" content="{escape(edition.text)}">',
        ),
    )


def states(world: World, edition: Edition, page: int) -> Response:
    """秋水: three forms of the data: a textarea, the JSON state of a script, a script object with unquoted names and other escapes."""
    form = edition.number // 7 % 3
    data = (_textarea, _state, _object)[form](edition)
    body = f'{markup.top(world, edition.site)}<div class="wrap"><h1>{escape(edition.title)}</h1>{markup.byline(edition)}<div class="text">{escape(edition.text)}</div><div class="viewer" data-total="{len(edition.shots)}"></div>{data}</div>{markup.side(world, edition)}{markup.foot(edition.site)}'
    return markup.page(edition.site, markup.document(f"{escape(edition.title)}|{SITES[edition.site].name}", body))


def _textarea(edition: Edition) -> str:
    records = [
        {"id": f"p{at}", "img": shot.url, "timg": shot.thumb, "note": shot.caption, "newsurl": "#"} for at, shot in enumerate(edition.shots)
    ]
    data = {
        "info": {"setname": edition.title, "imgsum": len(records), "lmodify": f"{edition.published:%Y-%m-%d %H:%M:%S}"},
        "list": records,
    }
    return f'<textarea name="gallery-data" style="display:none;">\n{escape(json.dumps(data, ensure_ascii=False), quote=False)}\n</textarea>'


def _state(edition: Edition) -> str:
    records = [
        {
            "type": "image",
            "src": {
                "large": {"url": shot.url, "width": shot.drawing.size[0], "height": shot.drawing.size[1]},
                "small": {"url": shot.thumb},
            },
            "desc": shot.caption,
        }
        for shot in edition.shots
    ]
    state = {
        "user": {"avatar": "/static/face.png", "name": ""},
        "page": {"album": {"id": edition.number, "name": edition.title, "items": records}},
        "hot": [],
    }
    return f"<script>window.__INITIAL_STATE__={json.dumps(state, ensure_ascii=False).replace('/', chr(92) + 'u002F')};(function(){{var s;}}())</script>"


def _object(edition: Edition) -> str:
    rows = ",\n".join(f"  {{ pic: '{shot.url}', small: '{shot.thumb}', txt: '{shot.caption}' }}" for shot in edition.shots)
    return f"<script>\nvar album = {{\n total: {len(edition.shots)}, // pictures\n list: [\n{rows},\n ],\n}};\n</script>"


def single(world: World, edition: Edition, page: int) -> Response:
    """兰亭: all pictures one below the other, each with different markup, and a strip of thumbnails above."""
    strip = "".join(f'<a href="#p{at}"><img src="{shot.thumb}"></a>' for at, shot in enumerate(edition.shots))
    pieces = []
    for at, shot in enumerate(edition.shots):
        pieces.append(f'<div class="item" id="p{at}">{MANNERS[(at + edition.number) % len(MANNERS)](shot)}</div>')
        if markup.has_advertisement(edition, at):
            pieces.append(markup.advertisement(world, edition, at))
    face = '<img src="/static/face.png" class="head">'
    body = (
        f'{markup.top(world, edition.site)}<main><h1>{escape(edition.title)}</h1><div class="who">{face}{edition.author}</div>{markup.byline(edition)}<p class="lead">{escape(edition.text)}</p><div class="thumbs">{strip}</div>'
        f'{"".join(pieces)}<p class="end"><img src="/static/qrcode.png" width="160"></p></main>{markup.following(world, edition)}{markup.related(world, edition, 7)}{markup.foot(edition.site)}'
    )
    head = f'<meta property="og:title" content="{escape(edition.title)}"><meta property="og:image" content="{edition.shots[0].thumb}">'
    return markup.page(edition.site, markup.document(f"{escape(edition.title)} | {SITES[edition.site].name}", body, head))


def _below(shot: Shot) -> str:
    return f'<p class="caption">{markup.caption(shot)}</p>' if shot.caption else ""


def _lazy(shot: Shot) -> str:
    return f'<img class="lazy" src="/static/loading.png" data-lazyload="{markup.relative(shot.url)}">{_below(shot)}'


def _set(shot: Shot) -> str:
    wide = shot.drawing.size[0]
    sizes = f"{shot.thumb} {wide * 3 // 10}w, {(shot.also or (shot.url,))[0]} {wide * 6 // 10}w, {shot.url} {wide}w"
    return f'<img src="{shot.thumb}" srcset="{sizes}" sizes="100vw">{_below(shot)}'


def _sources(shot: Shot) -> str:
    return f'<picture><source media="(min-width: 800px)" srcset="{shot.url}"><source srcset="{(shot.also or (shot.url,))[0]}"><img src="{shot.thumb}"></picture>{_below(shot)}'


def _background(shot: Shot) -> str:
    return f'<div class="bg" style="background-image: url(\'{shot.url}\'); height: {shot.drawing.size[1]}px"></div>{_below(shot)}'


def _linked(shot: Shot) -> str:
    return f'<a href="{shot.url}" target="_blank"><img src="{shot.thumb}" width="160"></a>{_below(shot)}'


def _plain(shot: Shot) -> str:
    return (
        f'<figure><img src="{TRANSPARENT}" data-src="{shot.url}" alt=""><noscript><img src="{shot.url}"></noscript>'
        + (f"<figcaption>{markup.caption(shot)}</figcaption>" if shot.caption else "")
        + "</figure>"
    )


MANNERS = (_lazy, _set, _sources, _background, _linked, _plain)


def scripted(world: World, edition: Edition, page: int) -> Response:
    """微澜: an empty page; a script requests the story's parts and builds it."""
    body = (
        f'{markup.top(world, edition.site)}<div id="app" data-story="{edition.number}"><p>正在加载……</p></div>{markup.foot(edition.site)}'
        '<script>(async function(){var app=document.getElementById("app"),id=app.dataset.story,answer=await fetch("/api/parts?of="+id),told=await answer.json();'
        'var html="<h1>"+told.name+"</h1><div class=info>"+told.when+"</div><p>"+told.words+"</p>";'
        'for(var key of told.keys){var part=await (await fetch("/api/part?key="+key)).json();html+="<figure><img src=\\""+part.host+part.path+"\\"><figcaption>"+part.words+"</figcaption></figure>"}'
        "app.innerHTML=html})()</script>"
    )
    return markup.page(edition.site, markup.document(SITES[edition.site].name, body))


def parts(edition: Edition) -> dict[str, Any]:
    """Return the parts that the script of 微澜 requests first."""
    keys = [f"{edition.number}-{at}" for at in range(len(edition.shots))]
    return {
        "name": edition.title,
        "when": f"{edition.published:%Y-%m-%d %H:%M} 来源：{SITES[edition.site].name}",
        "words": edition.text,
        "keys": keys,
    }


def part(shot: Shot) -> dict[str, Any]:
    host, slash, path = shot.url.partition("/pics/")
    return {"host": host, "path": slash + path, "words": shot.caption}
