"""Bing News. Links are direct, or ``/news/apiclick.aspx?…&url=…`` in its feed. Offsets count from 1.

Generations: ``news-card`` (since 2016), ``newsitem`` (2014 to 2016), ``sn_r`` (before).
"""

from newsportal.engines.base import Engine
from newsportal.engines.wrapper import Wrapper, parse_with

CURRENT = Wrapper(
    block=".news-card, .newsitem, .news-item",
    title=("a.title", ".t_t a", ".newstitle a", ".caption a.title", "h3 a", ".na_t a"),
    site=(".source a:not(.biglogo_link)", "@data-author", ".source img@title", ".source > span:first-child", "cite", ".source"),
    summary=(".snippet", ".na_body .snippet", ".caption .snippet", ".summary"),
    date=(
        ".source span[aria-label]",
        ".source span[tabindex]",
        ".source .timestamp",
        ".source > span:last-child",
        ".na_ccw .timestamp",
        ".timestamp",
    ),
)
OLD = Wrapper(
    block=".sn_r, .NewsBest, div[class~='nd']",
    title=(".newstitle a", "h3 a", ".sn_hd a"),
    site=("cite.sn_src", ".sn_src", "cite"),
    summary=(".sn_snip", ".sn_txt"),
    date=(".sn_tm", "span.sn_tm"),
)

ENGINE = Engine(
    name="bing_news",
    url="https://www.bing.com/news/search?q=##QUERY##&first=##START##&qft=sortbydate%3d%221%22",
    parse=parse_with(CURRENT, OLD),
    kind="news",
    first=1,
)
