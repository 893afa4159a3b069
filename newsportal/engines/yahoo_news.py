"""Yahoo, news search. Links are ``r.search.yahoo.com/…/RU=…/`` with the target inside. Offsets count from 1."""

from newsportal.engines.base import Engine
from newsportal.engines.wrapper import Wrapper, parse_with

CURRENT = Wrapper(
    block=".NewsArticle, #web li > .dd, #web .compArticleList li, #web > ol > li, #web li > .res",
    title=("h4.s-title a", "h3.title a", "h3 a", "h4 a", "a.yschttl"),
    site=(".s-source", ".csub span.cite-co", ".cite-co", ".url", ".compTitle .fc-12th", "cite"),
    summary=(".s-desc", "p.s-desc", ".compText p", ".compText", ".abstr"),
    date=(".s-time", ".fc-2nd", ".tri.fc-2nd", ".timestamp"),
    skip=(".ads", ".ad-ttl"),
)

ENGINE = Engine(
    name="yahoo_news",
    url="https://news.search.yahoo.com/search?p=##QUERY##&b=##START##&ei=UTF-8",
    parse=parse_with(CURRENT),
    kind="news",
    first=1,
)
