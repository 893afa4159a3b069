"""Yahoo, Web pages. Links are ``r.search.yahoo.com/…/RU=…/`` with the target inside. Offsets count from 1.

Generations: ``algo`` (since 2013; since 2020 the title link also holds the address), ``res`` (before).
"""

from newsportal.engines.base import Engine
from newsportal.engines.wrapper import Wrapper, parse_with

CURRENT = Wrapper(
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

ENGINE = Engine(
    name="yahoo_web", url="https://search.yahoo.com/search?p=##QUERY##&b=##START##&ei=UTF-8", parse=parse_with(CURRENT), first=1
)
