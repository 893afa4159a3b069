"""The hosts of the made-up picture Web: publishers, one host for pictures, one for advertisements."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Site:
    """``story`` formats the URL path of a story's page from its number and the page's mark; ``mark`` that of page 2 and up.

    ``per_page``: pictures per page, 0 for all. ``pictures``: the host of the pictures. ``guarded``: the response to pictures without the
    host's Referer: ``403``, ``other`` (another picture), or normal.
    """

    key: str
    name: str
    layout: str
    story: str
    index: str
    seed: str
    mark: str = ""
    per_page: int = 0
    encoding: str = "utf-8"
    pictures: str = ""
    guarded: str = ""
    pattern: str = ""
    render: bool = False
    weight: int = 5
    category: str = ""

    @property
    def home(self) -> str:
        """Return the key of the host of its pictures."""
        return self.pictures or self.key


SITES: dict[str, Site] = {
    site.key: site
    for site in (
        Site("jiangan", "江岸图片网", "numbers", "/photo/2026/{n}{p}.html", "/photo/index{i}.html", "/photo/", "_{p}", 1,
             pattern="{id}_{n}.html", weight=8),
        Site("songling", "松岭图集", "letters", "/tuji/{n}{p}.html", "/tuji/list{i}.html", "/tuji/", "{a}", 2, "gb18030",
             pattern="{id}{a}.html", guarded="403"),
        Site("yuntai", "云台网", "pager", "/p/{d}/{n}{p}.shtml", "/p/index{i}.shtml", "/p/", "_{p}", 1, "gbk", pictures="cdn", weight=9),
        Site("beigang", "北港画报", "query", "/view.php?id={n}{p}", "/list.php{i}", "view.php?", "&page={p}", 2, category="社会"),
        Site("guanlan", "观澜影像", "slides", "/slide/{d}/{n}.html", "/slide/{i}", "/slide/", pictures="cdn"),
        Site("qiushui", "秋水图志", "states", "/gallery/{n}/", "/gallery/{i}", "/gallery/", guarded="other"),
        Site("lanting", "兰亭视觉", "single", "/vision/{d}/a{n}.html", "/vision/{i}", "/vision/", weight=7),
        Site("huaxin", "华昕网", "strip", "/n/{d}/c{n}{p}.html", "/n/index{i}.html", "/n/", "-{p}", 1, "gb2312"),
        Site("gulang", "鼓浪新闻", "figures", "/zhongwen/{n}", "/zhongwen/{i}", "/zhongwen/", weight=6),
        Site("xinghai", "星海图库", "data", "/set/{n}", "/set/{i}", "/set/", pictures="cdn"),
        Site("weilan", "微澜", "scripted", "/pic/{n}", "/pic/{i}", "/pic/", render=True),
    )
}  # fmt: skip
CDN, ADS = "cdn", "ads"
KEYS = (*SITES, CDN, ADS)
STATIC = tuple(key for key, site in SITES.items() if not site.render)
"""Sites that need no browser."""

BANNED = ("/video/", "vid=", "click")
"""Never in the URL of a story: videos and paid links are between the stories of every index page."""
