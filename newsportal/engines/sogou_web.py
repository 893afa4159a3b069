"""Sogou, Web pages. Links are ``/link?url=…`` that only Sogou can resolve, or direct. Pages count from 1.

Generations: ``vrwrap`` (since 2013, for all results since 2021), ``rb`` (before, and beside it).
"""

from newsportal.engines.base import Engine
from newsportal.engines.wrapper import Wrapper, parse_with

CURRENT = Wrapper(
    block=".results > .vrwrap, .results > .rb, .results > div[class], .vrwrap, .rb",
    title=("h3.vr-title a", "h3.vrTitle a", "h3.pt a", "h3 a", ".vrTitle a"),
    site=(".citeurl", ".fb cite", "cite", ".citeLinkClass", ".site", ".news-from"),
    summary=(
        ".fz-mid.space-txt",
        ".star-wiki",
        ".str_info",
        ".str-text-info",
        ".text-layout p",
        ".attribute-centent",
        ".news-txt",
        ".ft",
        "p",
    ),
    date=(".cite-date", ".citeurl", ".fb cite", "cite", ".news-from"),
    skip=(".biz_title", ".biz_sponsor", "[class*='hint-mid']"),
    target=("@data-url", ".r-sech@data-url", "[data-url]@data-url"),
)

ENGINE = Engine(
    name="sogou_web", url="https://www.sogou.com/web?query=##QUERY##&page=##START##&ie=utf8", parse=parse_with(CURRENT), first=1, step=1
)
