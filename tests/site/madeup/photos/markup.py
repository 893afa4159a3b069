# ruff: noqa: E501  (markup is read best on one line)
"""Markup common to the picture hosts: logos, icons, advertisements, codes, faces, related stories, the link to the next story."""

from __future__ import annotations

from html import escape

from madeup.exchange import Response
from madeup.photos.sites import ADS, SITES
from madeup.photos.world import Edition, Shot, World

MARKS = {
    "logo": (200, 60),
    "search": (16, 16),
    "weibo": (32, 32),
    "qrcode": (160, 160),
    "face": (120, 120),
    "banner": (728, 90),
    "square": (300, 250),
    "loading": (60, 60),
    "grey": (540, 360),
}
"""Pictures that belong to no story, name to size: ``/static/NAME.png`` on every host."""


def page(site: str, html: str, status: int = 200) -> Response:
    encoding = SITES[site].encoding
    return Response(status, f"text/html; charset={encoding}", html.encode(encoding, "xmlcharrefreplace"))


def relative(address: str) -> str:
    """Return a protocol-relative URL."""
    return address.partition(":")[2]


def neighbours(world: World, edition: Edition, count: int) -> list[Edition]:
    """Return other stories of the host, the next one first."""
    editions = world.of(edition.site)
    at = editions.index(edition)
    return [editions[(at + step) % len(editions)] for step in range(1, count + 1)]


def following(world: World, edition: Edition) -> str:
    """Return 「下一组图」 with its picture."""
    other = neighbours(world, edition, 1)[0]
    return f'<div class="next-set"><a href="{other.path}"><img src="{other.shots[0].thumb}" width="162" height="108" alt="">下一组图：{escape(other.title)}</a></div>'


def related(world: World, edition: Edition, count: int = 5) -> str:
    rows = "".join(
        f'<li><a href="{neighbour.path}"><img src="{neighbour.shots[0].thumb}" alt="{escape(neighbour.title)}"><span>{escape(neighbour.title)}</span></a></li>'
        for neighbour in neighbours(world, edition, count)[1:]
    )
    return f'<div class="related"><h3>相关图集</h3><ul>{rows}</ul></div>'


def top(world: World, site: str) -> str:
    name, banner = SITES[site].name, world.url(ADS, "/static/banner.png")
    return (
        f'<div class="top"><a href="/"><img src="/static/logo.png" alt="{name}"></a><form action="/search"><input name="q"><img src="/static/search.png" width="16" height="16"></form>'
        f'<ul><li><a href="/">首页</a></li><li><a href="{SITES[site].index.format(i="")}">图片</a></li><li><a href="/about.html">关于我们</a></li></ul></div>'
        f'<div class="banner"><a href="{world.url(ADS, "/click?to=7")}" target="_blank"><img src="{banner}" width="728" height="90"></a></div>'
    )


def side(world: World, edition: Edition) -> str:
    square = world.url(ADS, "/static/square.png")
    return f'<div class="side"><a href="{world.url(ADS, "/click?to=9")}"><img src="{square}"></a>{related(world, edition)}<div class="code"><img src="/static/qrcode.png"><p>扫一扫 关注{SITES[edition.site].name}</p></div></div>'


def foot(site: str) -> str:
    return f'<div class="foot"><a href="#"><img src="/static/weibo.png" width="32" height="32" alt="微博"></a><p>{SITES[site].name} 版权所有 未经许可不得转载</p></div>'


def advertisement(world: World, edition: Edition, number: int) -> str:
    """Return a large picture among the story's own. Its URL does not identify it as an advertisement, and often it has no link."""
    picture = f'<img src="{world.ad(edition, number)}" alt="">'
    return (
        f'<p class="pic">{picture}</p>'
        if number % 2
        else f'<div class="pic"><a href="{world.url(ADS, f"/click?to={number}")}">{picture}</a></div>'
    )


def has_advertisement(edition: Edition, number: int) -> bool:
    """Return whether the page has an advertisement: two of five do."""
    return (edition.number + 3 * number) % 5 < 2


def byline(edition: Edition) -> str:
    when = edition.published
    return f'<div class="info"><span>{when:%Y-%m-%d %H:%M}</span> <span>来源：{SITES[edition.site].name}</span> <span>记者：{edition.author}</span></div>'


def document(title: str, body: str, head: str = "", encoding: str = "utf-8") -> str:
    return f'<!DOCTYPE html><html><head><meta charset="{encoding}"><title>{title}</title>{head}</head><body>{body}</body></html>'


def caption(shot: Shot) -> str:
    return escape(shot.caption or "")
