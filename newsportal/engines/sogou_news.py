"""Sogou News (搜狗新闻). Links are direct (before 2019) or ``/link?url=…``. Pages count from 1."""

from newsportal.engines.base import Engine
from newsportal.engines.wrapper import Wrapper, parse_with

CURRENT = Wrapper(
    block=".results > .vrwrap, .results > .rb, .vrwrap, .rb, .news-list > li, .news151102",
    title=("h3.vrTitle a", "h3.vr-title a", "h3.pt a", "h3 a", ".vrTitle a"),
    site=(".news-from span:first-child", ".news-from", "p.news-from", ".citeurl", "cite", ".news-info cite"),
    summary=(".news-txt span", ".news-txt", ".news-detail .txt", ".fz-mid.space-txt", ".star-wiki", ".ft", "p"),
    date=(".news-from span:last-child", ".news-from", ".cite-date", ".citeurl", "cite"),
    skip=(".biz_title", ".biz_sponsor"),
)

ENGINE = Engine(
    name="sogou_news",
    url="https://news.sogou.com/news?query=##QUERY##&page=##START##&sort=1&ie=utf8",
    parse=parse_with(CURRENT),
    kind="news",
    first=1,
    step=1,
)
