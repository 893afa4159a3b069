"""Google News as RSS: one page of up to 100 entries. Links are ``news.google.com/rss/articles/…``; see ``redirect`` for what they hold."""

from newsportal.engines.base import Engine
from newsportal.engines.feed_results import parse

ENGINE = Engine(
    name="google_news_rss", url="https://news.google.com/rss/search?q=##QUERY##&hl=zh-CN&gl=CN&ceid=CN:zh-Hans", parse=parse, kind="news"
)
