"""Baidu, Web pages. Links are ``/link?url=…`` that only Baidu can resolve; newer layouts name the target in ``mu``.

Generations: ``c-container`` (since 2013), ``table.result`` (2010 to 2013), ``td.f`` (before).
"""

from newsportal.engines.base import Engine
from newsportal.engines.wrapper import Wrapper, parse_with

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

CURRENT = Wrapper(
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
TABLES = Wrapper(
    block="table.result, table[id] td.f, td.f",
    title=("h3 a", "a[onmousedown]", "a"),
    site=SITE,
    summary="font[size='-1']",
    date=DATE,
    drop="span.g, a.m, font[color='#008000']",
)

ENGINE = Engine(name="baidu_web", url="https://www.baidu.com/s?wd=##QUERY##&pn=##START##&ie=utf-8", parse=parse_with(CURRENT, TABLES))
