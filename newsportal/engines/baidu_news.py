"""Baidu News (百度资讯). Links are direct; a result whose publisher is also on Baijiahao is served from there.

Generations: news tab of the Web search (since 2019), ``news.baidu.com/ns`` with ``div.result`` (2013 to 2019), with ``li.result`` and
tables (before). There ``.c-author`` holds site and date in one: 「新华网 2015年05月12日 08:00」.
"""

from newsportal.engines.base import Engine
from newsportal.engines.wrapper import Wrapper, parse_with

CURRENT = Wrapper(
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
OLD = Wrapper(
    block="table td.text, #r table, table[id='r'] td, div#results li",
    title=("a[mon]", "h3 a", "a"),
    site=("nobr", "font.g", "font[color='#666666']", ".c-author"),
    summary=(".c-summary", "font[size='-1']", "font"),
    date=("nobr", "font.g", "font[color='#666666']"),
    drop="nobr, font.g, a.m",
)

ENGINE = Engine(
    name="baidu_news",
    url="https://www.baidu.com/s?tn=news&rtt=1&bsst=1&cl=2&word=##QUERY##&pn=##START##&ie=utf-8",
    parse=parse_with(CURRENT, OLD),
    kind="news",
)
