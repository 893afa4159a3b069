"""360 News (好搜新闻, news.so.com). Pages count from 1.

Links are direct, or ``so.com/link?m=…`` with the target in ``data-mdurl`` or ``data-url``.
"""

from newsportal.engines.base import Engine
from newsportal.engines.wrapper import Wrapper, parse_with

CURRENT = Wrapper(
    block="li.res-list, #news .res-list, ul.result > li, .news-list > li, div.item-list > .item",
    title=("a.news_title", "h3 a", "a.title", ".title a"),
    site=(".sitename", ".newsinfo", ".res-linkinfo cite", ".site", ".source"),
    summary=(".content", ".summary", ".res-desc", "p.desc", ".txtbox p", "p"),
    date=(".posttime", ".newsinfo .time", ".pdate", ".gray", ".time"),
    skip=(".e_idea_pp", "[data-e-ad]", ".res-ad"),
    target=("h3 a@data-mdurl", "h3 a@data-url", "a.news_title@data-url", "@data-url", "@data-surl"),
)

ENGINE = Engine(
    name="so360_news",
    url="https://news.so.com/ns?q=##QUERY##&pn=##START##&rank=rank&j=0&src=page",
    parse=parse_with(CURRENT),
    kind="news",
    first=1,
    step=1,
)
