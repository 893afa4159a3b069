# ruff: noqa: E501  (markup is read best on one line)
"""Stories on many pages, linked by number or letter only, by a pager, or by a URL parameter."""

from __future__ import annotations

from html import escape

from madeup.exchange import Response
from madeup.photos import markup
from madeup.photos.sites import SITES
from madeup.photos.world import Edition, World


def numbers(world: World, edition: Edition, page: int) -> Response:
    """江岸: one picture per page; a script draws the arrows, so only the URL pattern leads to the next page."""
    (shot,) = edition.parts[page - 1]
    text = f'<div class="summary"><p>{escape(edition.text)}</p></div>' if page == 1 else ""
    more = markup.advertisement(world, edition, page) if markup.has_advertisement(edition, page) else ""
    body = (
        f'{markup.top(world, edition.site)}<div class="main"><h1>{escape(edition.title)}</h1>{markup.byline(edition)}{text}'
        f'<div class="photo"><img src="{shot.url}" alt="{escape(edition.title)}" /><div class="arrows"></div><p class="pic-desc">{markup.caption(shot)}</p></div>{more}'
        f"{markup.following(world, edition)}</div>{markup.side(world, edition)}{markup.foot(edition.site)}"
        "<script>document.onkeydown=function(e){if(e.keyCode==39){turn(1)}else if(e.keyCode==37){turn(-1)}}</script>"
    )
    return markup.page(edition.site, markup.document(f"{escape(edition.title)}_{SITES[edition.site].name}", body))


def letters(world: World, edition: Edition, page: int) -> Response:
    """松岭: two pictures per page in a table, lazy-loaded, captions below; GB 18030."""
    rows = "".join(
        f'<tr><td align="center"><img src="/static/grey.png" data-original="{shot.url.removeprefix(world.addresses[edition.site])}" border="0"></td></tr><tr><td align="center" class="zi">{markup.caption(shot)}</td></tr>'
        for shot in edition.parts[page - 1]
    )
    lead = f'<tr><td class="zi">　　{escape(edition.text)}</td></tr>' if page == 1 else ""
    more = f"<tr><td>{markup.advertisement(world, edition, page)}</td></tr>" if markup.has_advertisement(edition, page) else ""
    body = (
        f'{markup.top(world, edition.site)}<table width="960" align="center"><tr><td><h1>{escape(edition.title)}</h1>{markup.byline(edition)}<table>{lead}{rows}{more}</table>'
        f"{markup.following(world, edition)}</td><td>{markup.side(world, edition)}</td></tr></table>{markup.foot(edition.site)}"
    )
    return markup.page(edition.site, markup.document(f"{escape(edition.title)}-{SITES[edition.site].name}", body, encoding="gb2312"))


def pager(world: World, edition: Edition, page: int) -> Response:
    """云台: a pager with numbers; 下一页 on the last page links to the next story. GBK, pictures on another host."""
    (shot,) = edition.parts[page - 1]
    last = len(edition.parts)
    other = markup.neighbours(world, edition, 1)[0]
    near = range(max(1, page - 2), min(last, page + 2) + 1)
    links = "".join(f"<span>{n}</span>" if n == page else f'<a href="{edition.paths[n - 1]}">{n}</a>' for n in near)
    before = f'<a href="{edition.paths[page - 2]}">上一页</a>' if page > 1 else ""
    after = f'<a href="{edition.paths[page] if page < last else other.path}">下一页</a>'
    more = markup.advertisement(world, edition, page) if markup.has_advertisement(edition, page) else ""
    lead = f"<p>　　{escape(edition.text)}</p>" if page == 1 else ""
    body = (
        f'{markup.top(world, edition.site)}<div id="content"><h1>{escape(edition.title)}({page}/{last})</h1>{markup.byline(edition)}{lead}<p align="center"><a href="{edition.paths[page] if page < last else other.path}"><img src="{markup.relative(shot.url)}" title="点击进入下一页"></a></p>'
        f'<p align="center">{markup.caption(shot)}</p>{more}<div class="pages">{before}{links}{after} <a href="{other.path}">下一组图</a></div></div>{markup.side(world, edition)}{markup.foot(edition.site)}'
    )
    return markup.page(edition.site, markup.document(f"{escape(edition.title)}({page})--{SITES[edition.site].name}", body, encoding="gbk"))


def query(world: World, edition: Edition, page: int) -> Response:
    """北港: URLs with parameters, 「共 n 页」, figures; beyond the end it shows the last page again."""
    last = len(edition.parts)
    page = min(page, last)
    figures = "".join(
        f'<figure class="shot"><a href="{shot.url}" class="zoom"><img data-src="{shot.url}" src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==" alt=""></a><figcaption>{markup.caption(shot)}</figcaption></figure>'
        for shot in edition.parts[page - 1]
    )
    more = markup.advertisement(world, edition, page) if markup.has_advertisement(edition, page) else ""
    links = " ".join(f"<b>{n}</b>" if n == page else f'<a href="{escape(path)}">{n}</a>' for n, path in enumerate(edition.paths, start=1))
    ways = f'<a href="{escape(edition.paths[min(page, last - 1)])}">下页</a> <a href="{escape(edition.paths[-1])}">尾页</a>'
    lead = f'<p class="lead">{escape(edition.text)}</p>' if page == 1 else ""
    face = f'<div class="author"><img src="/static/face.png" class="avatar"><b>{edition.author}</b></div>'
    body = (
        f'{markup.top(world, edition.site)}<article><h1>{escape(edition.title)}</h1>{face}{markup.byline(edition)}{lead}{figures}{more}<div class="pagebox">共{last}页 {links} {ways}</div></article>'
        f"{markup.following(world, edition)}{markup.related(world, edition)}{markup.foot(edition.site)}"
    )
    return markup.page(edition.site, markup.document(f"{escape(edition.title)} - {SITES[edition.site].name}", body))
