"""Baidu, Web pages. Links are ``/link?url=…`` that only Baidu can resolve; newer layouts name the target in ``mu``.

Generations: ``c-container`` (since 2013), ``table.result`` (2010 to 2013), ``td.f`` (before).

Baidu News (百度资讯). Links are direct; a result whose publisher is also on Baijiahao is served from there.

Generations: news tab of the Web search (since 2019), ``news.baidu.com/ns`` with ``div.result`` (2013 to 2019), with ``li.result`` and
tables (before). There ``.c-author`` holds site and date in one: 「新华网 2015年05月12日 08:00」.
"""

from newsportal.extractors.lists.engines import HOUR, Engine, Redirect, Wall
from newsportal.extractors.lists.redirect import parameter
from newsportal.extractors.lists.wrapper import Wrapper, parse_with

HOSTS = ("baidu.com",)
SITE = (
    ".c-showurl",
    ".cosc-source-text",
    ".siteLink",
    "[class*='source'] .c-color-gray",
    "[class*='source']",
    ".c-color-gray",
    ".c-author",
    "span.g",
    "font[color='#008000']",
)
DATE = (".newTimeFactor_before_abs", "span.c-color-gray2", ".c-abstract > .m", "[aria-label^='发布于']", ".c-showurl", "span.g")
WEB = Wrapper(
    block="#content_left > .c-container, #content_left > .result, #content_left > .result-op, #content_left > div > .c-container",
    title=("h3 a", ".c-title a", ".cosc-title a", ".t a"),
    site=SITE,
    summary=(
        ".c-abstract",
        "[class*='content-right']",
        "[class*='summary']",
        ".c-span-last p",
        ".c-span-last .c-color-text",
        ".c-row p",
        "font[size='-1']",
    ),
    date=DATE,
    skip=("[data-tuiguang]", ".ec_tuiguang_pplink", "[class*='tuiguang']", "font.ec_tuiguang"),
    drop=".c-showurl, .c-cache, .newTimeFactor_before_abs",
    target="xpath:self::*[not(contains(@mu, '//nourl.'))]/@mu",  # nourl.ubs.baidu.com stands for "no address"
)
WEB_TABLES = Wrapper(
    block="table.result, table[id] td.f, td.f",
    title=("h3 a", "a[onmousedown]", "a"),
    site=SITE,
    summary="font[size='-1']",
    date=DATE,
    drop="span.g, a.m, font[color='#008000']",
)
NEWS = Wrapper(
    block="#content_left .result-op, #content_left .result, #content_left .c-container, .news-list-item, #content_left li.result",
    title=("h3 a", ".c-title a", ".cosc-title a", "a[class*='news-title']"),
    site=(
        "[aria-label^='新闻来源']",
        "[class*='news-source'] .c-color-gray",
        ".c-author",
        "[class*='source']",
        "span.c-color-gray",
        ".c-title-author",
    ),
    summary=("[aria-label^='摘要']", ".c-font-normal.c-color-text", ".c-summary", ".c-span-last", ".c-row"),
    date=("[aria-label^='发布于']", ".c-color-gray2", "span[class*='time']", ".c-author", ".c-title-author"),
    drop=".c-author, .c-info, .c-cache, .c-title-author",
    skip=("[data-tuiguang]", "[class*='tuiguang']"),
)
NEWS_OLD = Wrapper(
    block="table td.text, #r table, table[id='r'] td, div#results li",
    title=("a[mon]", "h3 a", "a"),
    site=("nobr", "font.g", "font[color='#666666']", ".c-author"),
    summary=(".c-summary", "font[size='-1']", "font"),
    date=("nobr", "font.g", "font[color='#666666']"),
    drop="nobr, font.g, a.m",
)
ENGINES = (
    Engine("baidu_web", "https://www.baidu.com/s?wd=##QUERY##&pn=##START##&ie=utf-8", parse_with(WEB, WEB_TABLES), hosts=HOSTS),
    Engine(
        "baidu_news",
        "https://www.baidu.com/s?tn=news&rtt=1&bsst=1&cl=2&word=##QUERY##&pn=##START##&ie=utf-8",
        parse_with(NEWS, NEWS_OLD),
        kind="news",
        hosts=HOSTS,
    ),
)
WALLS = (
    Wall(
        "captcha: Baidu",
        2 * HOUR,
        r"//wappass\.baidu\.com/|//[\w.]*baidu\.com/static/captcha|/tuxing\.html",
        "#captcha-mask, .passMod_slide-box, form[action*='wappass.baidu.com'], script[src*='wappass.baidu.com/static'], "
        "link[href*='wappass.baidu.com/static/captcha']",
        r"百度安全验证|网络不给力，请稍后重试",
    ),
)
REDIRECTS = (Redirect(r"(^|\.)baidu\.com$", parameter("/(link|from|tc|ssid)$", "url", "src"), opaque=r"^/(link|baidu\.php)$"),)
ADVERTS = r"([^/]*\.)?cpro\.baidu\.com(/|$)|[^/]*/baidu\.php$"
