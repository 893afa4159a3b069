"""360 Search (好搜, so.com), Web pages. Links are ``so.com/link?m=…``; ``data-mdurl`` names the target. Pages count from 1."""

from newsportal.engines.base import Engine
from newsportal.engines.wrapper import Wrapper, parse_with

CURRENT = Wrapper(
    block="li.res-list, ul.result > li, #container .result > li",
    title=("h3.res-title a", "h3 a", ".title a"),
    site=(".res-linkinfo cite", "cite", ".g-linkinfo-a", ".res-site-name", ".sitename"),
    summary=(".res-list-summary", ".res-desc", ".res-comm-con", ".res-rich p", ".mh-info", ".g-card p", "p"),
    date=(".res-desc .gray", ".gray", ".posttime", ".g-linkinfo"),
    skip=(".e_idea_pp", "[data-e-ad]", ".res-ad"),
    target=("h3 a@data-mdurl", "h3 a@data-url", "@data-url"),
)

ENGINE = Engine(name="so360_web", url="https://www.so.com/s?q=##QUERY##&pn=##START##", parse=parse_with(CURRENT), first=1, step=1)
