"""Sogou, Web pages. Links are ``/link?url=…`` that only Sogou can resolve, or direct. Pages count from 1.

Generations: ``vrwrap`` (since 2013, for all results since 2021), ``rb`` (before, and beside it).

Sogou News (搜狗新闻). Links are direct (before 2019) or ``/link?url=…``. Pages count from 1.
"""

from newsportal.extractors.lists.engines import HOUR, Engine, Redirect, Wall
from newsportal.extractors.lists.redirect import parameter
from newsportal.extractors.lists.wrapper import Wrapper, parse_with

HOSTS = ("sogou.com",)
WEB = Wrapper(
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
NEWS = Wrapper(
    block=".results > .vrwrap, .results > .rb, .vrwrap, .rb, .news-list > li, .news151102",
    title=("h3.vrTitle a", "h3.vr-title a", "h3.pt a", "h3 a", ".vrTitle a"),
    site=(".news-from span:first-child", ".news-from", "p.news-from", ".citeurl", "cite", ".news-info cite"),
    summary=(".news-txt span", ".news-txt", ".news-detail .txt", ".fz-mid.space-txt", ".star-wiki", ".ft", "p"),
    date=(".news-from span:last-child", ".news-from", ".cite-date", ".citeurl", "cite"),
    skip=(".biz_title", ".biz_sponsor"),
)
ENGINES = (
    Engine("sogou_web", "https://www.sogou.com/web?query=##QUERY##&page=##START##&ie=utf8", parse_with(WEB), first=1, step=1, hosts=HOSTS),
    Engine(
        "sogou_news",
        "https://news.sogou.com/news?query=##QUERY##&page=##START##&sort=1&ie=utf8",
        parse_with(NEWS),
        kind="news",
        first=1,
        step=1,
        hosts=HOSTS,
    ),
)
WALLS = (
    Wall(
        "captcha: Sogou",
        2 * HOUR,
        r"sogou\.com/antispider",
        "#seccodeForm, #seccodeImage, form[action*='antispider'], form[name='authform'], img[src*='util/seccode']",
        r"此验证码用于确认这些请求是您的正常行为|您的访问过于频繁，为确认本次访问为正常用户行为",
    ),
)
REDIRECTS = (Redirect(r"(^|\.)sogou\.com$", parameter("/((websearch|sogou)/)?link$", "url"), opaque=r"^/(link|bill_cpc)$"),)
ADVERTS = r"[^/]*/bill_cpc$"
