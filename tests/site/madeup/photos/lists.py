# ruff: noqa: E501  (markup is read best on one line)
"""Index pages of the picture hosts, with other links between the stories: videos, paid links, specials, deleted stories."""

from __future__ import annotations

from html import escape

from madeup.exchange import Response
from madeup.photos import markup
from madeup.photos.sites import ADS, SITES
from madeup.photos.world import Edition, World

PAGE = 18
"""Stories per index page."""

MARKS = {
    "jiangan": "_{i}",
    "songling": "_{i}",
    "yuntai": "_{i}",
    "beigang": "?page={i}",
    "guanlan": "?p={i}",
    "qiushui": "page/{i}/",
    "lanting": "index_{i}.html",
    "weilan": "?p={i}",
    "huaxin": "_{i}",
    "gulang": "?page={i}",
    "xinghai": "p{i}",
}
TRAPS = {
    "jiangan": ("/photo/video/81.html", "/photo/zt/5.html", "/photo/2026/1.html", "/photo/wenzi/3.html"),
    "songling": ("/tuji/video/7.html", "/tuji/zt/5.html", "/tuji/1.html", "/tuji/wenzi3.html"),
    "yuntai": ("/p/video/7.shtml", "/p/zt/5.shtml", "/p/20200101/1.shtml", "/p/wenzi/3.shtml"),
    "beigang": ("/view.php?vid=7", "/view.php?zt=5", "/view.php?id=1", "/view.php?id=3"),
    "guanlan": ("/slide/video/7.html", "/slide/zt/5.html", "/slide/20200101/1.html", "/slide/20200101/3.html"),
    "qiushui": ("/gallery/video/7/", "/gallery/zt5/", "/gallery/1/", "/gallery/3/"),
    "lanting": ("/vision/video/7.html", "/vision/zt/5.html", "/vision/20200101/a1.html", "/vision/20200101/a3.html"),
    "huaxin": ("/n/video/7.html", "/n/zt/5.html", "/n/20200101/c1.html", "/n/20200101/c3.html"),
    "gulang": ("/zhongwen/video/7", "/zhongwen/zt5", "/zhongwen/1", "/zhongwen/3"),
    "xinghai": ("/set/video/7", "/set/zt5", "/set/1", "/set/3"),
    "weilan": ("/pic/video/7", "/pic/zt5", "/pic/1", "/pic/3"),
}  # fmt: skip
"""A video (with an excluded URL), a special that lists stories, a deleted story, an article without a picture."""

GONE = "<html><head><title>页面不存在</title></head><body><h1>页面不存在</h1><p>您访问的页面已被删除或者不存在，5 秒后返回首页。</p><a href='/'>返回首页</a></body></html>"


def index_path(site: str, page: int = 1) -> str:
    return SITES[site].index.format(i="" if page == 1 else MARKS[site].format(i=page))


def pages(world: World, site: str) -> int:
    return -(-len(world.of(site)) // PAGE)


def index(world: World, site: str, page: int) -> Response:
    stories = world.of(site)[(page - 1) * PAGE : page * PAGE]
    last = pages(world, site)
    film, special, removed, words = TRAPS[site]
    rows = [_row(edition) for edition in stories]
    thumb = stories[0].shots[0].thumb
    rows.insert(3, _item(film, "视频：三分钟看完本周大事", thumb))
    rows.insert(
        6,
        f'<li class="ad"><a href="{world.url(ADS, f"/click?to={SITES[site].seed}")}"><img src="{world.url(ADS, "/static/square.png")}"><span>新房开盘 现房实景图</span></a></li>',
    )
    rows.insert(9, _item(special, "专题：今年秋天的一百组照片", thumb))
    if page == 1:
        rows.insert(11, _item(removed, "这组照片已经撤下来了", thumb))
        rows.insert(13, _item(words, "没有图片的一篇文字稿件", thumb))
    ways = "".join(f"<b>{n}</b>" if n == page else f'<a href="{escape(index_path(site, n))}">{n}</a>' for n in range(1, last + 1))
    after = f'<a href="{escape(index_path(site, page + 1))}">下一页</a>' if page < last else ""
    body = f'{markup.top(world, site)}<div class="list"><h2>图片频道</h2><ul>{"".join(rows)}</ul><div class="pager">{ways}{after}</div></div>{markup.foot(site)}'
    return markup.page(site, markup.document(f"图片频道_{SITES[site].name}", body))


def _row(edition: Edition) -> str:
    return _item(edition.path, edition.title, edition.shots[0].thumb, f"{len(edition.shots)}图")


def _item(path: str, title: str, thumb: str, more: str = "") -> str:
    return f'<li><a href="{escape(path)}"><img src="/static/grey.png" data-original="{thumb}" width="160" height="106" alt="{escape(title)}"></a><h3><a href="{escape(path)}">{escape(title)}</a></h3><em>{more}</em></li>'


def front(world: World, site: str) -> Response:
    rows = "".join(f'<li><a href="{edition.path}">{escape(edition.title)}</a></li>' for edition in world.of(site)[:12])
    body = f'{markup.top(world, site)}<div class="news"><h2>要闻</h2><ul>{rows}</ul><a href="{index_path(site)}">更多图片</a></div>{markup.foot(site)}'
    return markup.page(site, markup.document(f"{SITES[site].name}首页", body))


def trap(world: World, site: str, target: str) -> Response | None:
    """Return the targets of the links between the stories."""
    film, special, removed, words = TRAPS[site]
    if target == film:
        return markup.page(
            site,
            markup.document(
                "视频",
                f'{markup.top(world, site)}<h1>视频：三分钟看完本周大事</h1><video src="/v/7.mp4" poster="/static/grey.png"></video>',
            ),
        )
    if target == special:
        rows = "".join(_row(edition) for edition in world.of(site)[::2][:20])
        return markup.page(
            site,
            markup.document(
                "专题：今年秋天的一百组照片",
                f"{markup.top(world, site)}<h1>专题：今年秋天的一百组照片</h1><ul>{rows}</ul>{markup.foot(site)}",
            ),
        )
    if target == removed:
        return markup.page(site, GONE, 200 if site in ("songling", "lanting", "weilan") else 404)
    if target == words:
        text = "".join(f"<p>{edition.text}{edition.shots[0].caption or ''}</p>" for edition in world.of(site)[:6])
        return markup.page(
            site,
            markup.document("没有图片的一篇文字稿件", f"{markup.top(world, site)}<h1>没有图片的一篇文字稿件</h1>{text}{markup.foot(site)}"),
        )
    return None
