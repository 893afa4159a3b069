"""Bing, Web pages. Since 2023 links may be ``/ck/a?…&u=a1…`` with the target in base64. Offsets count from 1.

Generations: ``b_algo`` (since 2013), ``sa_wr`` with ``sb_tlst`` (before).
"""

from newsportal.engines.base import Engine
from newsportal.engines.wrapper import Wrapper, parse_with

CURRENT = Wrapper(
    block="#b_results > li.b_algo, #b_results .b_algo, li.b_algo",
    title=("h2 a", "a h2", ".b_title a", "h3 a"),
    site=(".b_attribution cite", "cite", ".tptt"),
    summary=(
        "p[class*='b_lineclamp']",
        ".b_caption > p",
        ".b_paractl",
        ".b_snippet p",
        ".b_lineclamp2",
        ".b_algoSlug",
        ".b_vlist2col li",
        "p",
    ),
    date=(".news_dt", ".b_factrow .news_dt", ".b_caption > p > span:first-child"),
    skip=".b_adSlug",
)
OLD = Wrapper(
    block="#results .sa_wr, #results li, .sa_cc",
    title=(".sb_tlst h3 a", "h3 a"),
    site=(".sb_meta cite", "cite"),
    summary=(".sa_cc p", "p"),
    skip=".sb_adsW",
)

ENGINE = Engine(name="bing_web", url="https://www.bing.com/search?q=##QUERY##&first=##START##", parse=parse_with(CURRENT, OLD), first=1)
