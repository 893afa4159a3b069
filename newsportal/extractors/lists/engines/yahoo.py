"""Yahoo, Web pages. Links are ``r.search.yahoo.com/…/RU=…/`` with the target inside. Offsets count from 1.

Generations: ``algo`` (since 2013; since 2020 the title link also holds the address), ``res`` (before).

Yahoo, news search. Links are ``r.search.yahoo.com/…/RU=…/`` with the target inside. Offsets count from 1.
"""

import re
from urllib.parse import SplitResult, unquote

from newsportal.extractors.lists.engines import HOUR, Engine, Redirect, Wall
from newsportal.extractors.lists.wrapper import Wrapper, parse_with

HOSTS = ("yahoo.",)
WEB = Wrapper(
    block="#web li > .algo, #web .algo-sr, #web .dd.algo, #web li > .res, #web > ol > li, .searchCenterMiddle > li",
    title=("h3.title a", "h3 a", "a > h3", "a.yschttl"),
    site=(
        "h3 a > span.d-ib > span:last-child",
        ".compTitle span.fz-ms",
        ".compTitle > div",
        ".url",
        "h3 a span.d-ib",
        "span.fz-ms",
        "cite",
    ),
    summary=(".compText p", ".compText", ".abstr", ".sm-abs", ".abs", ".fbox p"),
    date=(".compText .fc-2nd", ".compText span.fc-smoke", ".timestamp"),
    skip=(".ads", "[class*='-ad']", ".ad-ttl"),
    drop="span.d-ib, span.d-b, span.fz-ms, span.fz-14, .p-abs, img",
)
NEWS = Wrapper(
    block=".NewsArticle, #web li > .dd, #web .compArticleList li, #web > ol > li, #web li > .res",
    title=("h4.s-title a", "h3.title a", "h3 a", "h4 a", "a.yschttl"),
    site=(".s-source", ".csub span.cite-co", ".cite-co", ".url", ".compTitle .fc-12th", "cite"),
    summary=(".s-desc", "p.s-desc", ".compText p", ".compText", ".abstr"),
    date=(".s-time", ".fc-2nd", ".tri.fc-2nd", ".timestamp"),
    skip=(".ads", ".ad-ttl"),
)


def read_target(parts: SplitResult) -> str | None:
    """``/RU=…/``, or everything after ``**`` (before 2013)."""
    match = re.search(r"/RU=([^/]+)/", parts.path + "/")
    if match:
        return unquote(match[1])
    match = re.search(r"\*\*(https?(?::|%3a).+)$", parts.path + (f"?{parts.query}" if parts.query else ""), re.IGNORECASE)
    return unquote(match[1]) if match else None


ENGINES = (
    Engine("yahoo_web", "https://search.yahoo.com/search?p=##QUERY##&b=##START##&ei=UTF-8", parse_with(WEB), first=1, hosts=HOSTS),
    Engine(
        "yahoo_news",
        "https://news.search.yahoo.com/search?p=##QUERY##&b=##START##&ei=UTF-8",
        parse_with(NEWS),
        kind="news",
        first=1,
        hosts=HOSTS,
    ),
)
WALLS = (
    Wall(
        "consent: Yahoo",
        24 * HOUR,
        r"//(guce|consent)\.(yahoo|oath)\.com/",
        "form[action*='collectConsent'], form.consent-form",
        r"yahoo is part of the yahoo family of brands",
    ),
)
REDIRECTS = (Redirect(r"(^|\.)search\.yahoo\.(com|co\.jp)$", read_target),)
ADVERTS = r"[^/]*/cbclk2?$"
