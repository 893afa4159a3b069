"""The sites of the made-up Web: publishers, writing conventions, URL patterns. Layouts are in ``layouts/KEY.html``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from madeup.exchange import Response, page, redirect

CHINA = timezone(timedelta(hours=8))

Other = tuple[str, str]
"""A page that is neither article nor list: URL path and link text."""

ABOUT_ZH: tuple[Other, ...] = (
    ("/about.html", "关于我们"),
    ("/contact.html", "联系我们"),
    ("/login.html", "登录"),
    ("/app.html", "下载客户端"),
)
ABOUT_EN: tuple[Other, ...] = (("/about.html", "About us"), ("/subscribe.html", "Subscribe"), ("/privacy.html", "Privacy"))
ABOUT_HANT: tuple[Other, ...] = (("/about.php", "關於我們"), ("/login.php", "會員登入"), ("/ad.php", "廣告刊登"))

TOPICS = {
    "旅游": "travel",
    "科技": "tech",
    "财经": "finance",
    "体育": "sport",
    "社会": "society",
    "文化": "culture",
    "教育": "edu",
    "健康": "health",
}
"""Category to its name in URLs."""


@dataclass(frozen=True, slots=True)
class Site:
    """One publisher.

    ``encoding`` is that of its bytes, ``header`` its Content-Type. ``article`` is a format of ``d`` (published), ``n`` (number), ``s``
    (story id) and ``p`` ("" or the page); ``hub`` and ``more`` of ``slug`` and ``page``. ``written`` formats the date of an article.
    """

    key: str
    name: str
    encoding: str
    header: str
    article: str
    hub: str
    more: str
    written: str
    listed: str
    language: str = "zh"
    page: str = "_{page}"
    body: str = "paragraphs"
    rolling: str = "滚动新闻"
    others: tuple[Other, ...] = ABOUT_ZH
    origin: str = "来源：{}"
    byline: str = "{}"
    taken: str = "作者：{}"  # byline of reposts
    zone: tzinfo = CHINA  # of printed dates, which name no zone

    def date(self, moment: datetime) -> str:
        """Return the date as an article of this site shows it."""
        return self.written.format(d=moment)


SITES: dict[str, Site] = {
    site.key: site
    for site in (
        Site(
            "kunzhou", "堃州新闻网", "gb18030", "text/html; charset=gb2312",
            "/html/{d:%Y-%m}/{d:%d}/content_{n}{p}.htm", "/{slug}/index.htm", "/{slug}/index_{page}.htm",
            "{d.year}年{d.month:02}月{d.day:02}日 {d:%H:%M}", "({d:%m-%d %H:%M})", byline="记者 {}",
        ),
        Site(
            "haitang", "海棠都市网", "utf-8", "text/html; charset=utf-8",
            "/{d:%Y}/{d:%m%d}/a{n}{p}.shtml", "/{slug}/", "/{slug}/index_{page}.shtml",
            "{d:%Y-%m-%d %H:%M:%S}", "{d.month}月{d.day}日 {d:%H:%M}", body="boxes", byline="海棠都市网记者 {}",
        ),
        Site(
            "nanwan", "南灣日報", "big5", "text/html",
            "/news.php?id={n}", "/list.php?cat={slug}", "/list.php?cat={slug}&page={page}",
            "{d.year}/{d.month:02}/{d.day:02} {d:%H:%M}", "{d:%m/%d}", "zh-Hant",
            rolling="即時新聞", others=ABOUT_HANT, origin="來源：{}", byline="〔記者{}／報導〕",
        ),
        Site(
            "qingtai", "青苔科技", "utf-8", "text/html; charset=UTF-8",
            "/posts/{s}-{n}/", "/topics/{slug}/", "/topics/{slug}/page/{page}/",
            "{d.year} 年 {d.month} 月 {d.day} 日 {d:%H:%M}", "{d:%Y-%m-%d}", body="semantic", byline="文 / {}",
        ),
        Site(
            "xifeng", "溪峰在线", "gbk", "text/html",
            "/a/{d:%Y%m%d}/{n}{p}.html", "/{slug}/", "/{slug}/list_{page}.html",
            "{d.year}-{d.month}-{d.day} {d:%H:%M}", "{d.month}-{d.day}", body="breaks", byline="作者：{}",
        ),
        Site(
            "harbour", "The Harbour Ledger", "cp1252", "text/html; charset=iso-8859-1",
            "/{d:%Y/%m/%d}/{s}-{n}.html", "/section/{slug}/", "/section/{slug}/page-{page}.html",
            "{d:%B} {d.day}, {d.year}, {d:%H:%M}", "{d:%b} {d.day}", "en", body="flush",
            rolling="Latest", others=ABOUT_EN, origin="Source: {}", byline="By {}", taken="By {}", zone=UTC,
        ),
        Site(
            "quill", "Quill & Anchor", "utf-8", "text/html; charset=utf-8",
            "/{s}/{n}", "/tag/{slug}", "/tag/{slug}?page={page}",
            "{d.day} {d:%B} {d.year}, {d:%H:%M}", "{d.day} {d:%b}", "en", body="semantic",
            rolling="Everything", others=ABOUT_EN, origin="First published by {}", taken="{}", zone=UTC,
        ),
        Site(
            "beichen", "北辰财经", "utf-16", "text/html; charset=utf-16",
            "/stock/{d:%Y-%m-%d}/doc-{n}{p}.shtml", "/{slug}/", "/{slug}/index_{page}.shtml",
            "{d.year}年{d.month:02}月{d.day:02}日 {d:%H:%M}", "{d:%m/%d %H:%M}", byline="本网记者 {}",
        ),
        Site(
            "chaoyin", "潮音周刊", "utf-8", "text/html",
            "/wk/{d.year}/{n}{p}.html", "/{slug}/", "/{slug}/{page}.html",
            "{d:%Y.%m.%d} {d:%H:%M}", "{d:%Y.%m.%d}", byline="撰文：{}",
        ),
        Site(
            "shenyuan", "深院网", "utf-8", "text/html; charset=utf-8",
            "/t/{n}.html", "/{slug}/", "/{slug}/{page}.html", "{d:%Y-%m-%d %H:%M}", "{d:%m-%d}",
        ),
        Site(
            "maze", "迷宫镇周报", "utf-8", "text/html; charset=utf-8",
            "/story/{n}{p}.html", "/{slug}/", "/{slug}/{page}.html", "{d:%Y-%m-%d %H:%M}", "{d:%m-%d}", byline="记者 {}",
        ),
    )
}  # fmt: skip

ENGINE_KEYS = ("baixun", "wansou", "kuaiwen")
KEYS = (*SITES, *ENGINE_KEYS)
"""Every site and engine, in the order of their ports."""

CRAWL_DELAY = 0.2  # seconds: short, so that tests wait little, but enough to test that it is obeyed

ALLOW_ALL = "User-agent: *\nAllow: /\n"
ROBOTS: dict[str, Response] = {
    "kunzhou": Response(content_type="text/plain", body=f"User-agent: *\nCrawl-delay: {CRAWL_DELAY}\nDisallow: /private/\n".encode()),
    "haitang": Response(content_type="text/plain", body=b"\xef\xbb\xbf" + b"# welcome\nUser-agent: *\nDisallow: /login.html\n"),
    "nanwan": page("<h1>404 Not Found</h1>", 404),
    "qingtai": page("<!doctype html><title>青苔科技</title><p>User-agent: *<br>Disallow: / 这里是网页，不是规则。</p>"),
    "xifeng": Response(content_type="text/plain", body=b"User-agent: badbot\nDisallow: /\n\nUser-agent: *\nDisallow: /private/\n"),
    "harbour": Response(content_type="text/plain", body=ALLOW_ALL.encode()),
    "quill": Response(content_type="text/plain", body=b""),
    "beichen": Response(content_type="text/plain", body=("\ufeff" + ALLOW_ALL).encode("utf-8")),
    "chaoyin": redirect("/robots/rules.txt", 301),
    "shenyuan": page("<h1>500 Internal Server Error</h1>", 500),
    "maze": page("<h1>404 Not Found</h1>", 404),
    "baixun": Response(content_type="text/plain", body=ALLOW_ALL.encode()),
    "wansou": page("<h1>404 Not Found</h1>", 404),
    "kuaiwen": page("<h1>404 Not Found</h1>", 404),
}
"""Responses for /robots.txt: rules, empty, 404 (allow), 500 (deny, RFC 9309), an HTML page, a redirect."""

MORE_ROBOTS = {("chaoyin", "/robots/rules.txt"): Response(content_type="text/plain", body=ALLOW_ALL.encode())}
