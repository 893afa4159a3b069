"""360 Search (好搜, so.com), Web pages. Links are ``so.com/link?m=…``; ``data-mdurl`` names the target. Pages count from 1.

360 News (好搜新闻, news.so.com). Pages count from 1.

Links are direct, or ``so.com/link?m=…`` with the target in ``data-mdurl`` or ``data-url``.
"""

from newsportal.extractors.lists.engines import HOUR, Engine, Redirect, Wall
from newsportal.extractors.lists.redirect import parameter
from newsportal.extractors.lists.wrapper import Wrapper, parse_with

HOSTS = ("so.com", "haosou.com")
WEB = Wrapper(
    block="li.res-list, ul.result > li, #container .result > li",
    title=("h3.res-title a", "h3 a", ".title a"),
    site=(".res-linkinfo cite", "cite", ".g-linkinfo-a", ".res-site-name", ".sitename"),
    summary=(".res-list-summary", ".res-desc", ".res-comm-con", ".res-rich p", ".mh-info", ".g-card p", "p"),
    date=(".res-desc .gray", ".gray", ".posttime", ".g-linkinfo"),
    skip=(".e_idea_pp", "[data-e-ad]", ".res-ad"),
    target=("h3 a@data-mdurl", "h3 a@data-url", "@data-url"),
)
NEWS = Wrapper(
    block="li.res-list, #news .res-list, ul.result > li, .news-list > li, div.item-list > .item",
    title=("a.news_title", "h3 a", "a.title", ".title a"),
    site=(".sitename", ".newsinfo", ".res-linkinfo cite", ".site", ".source"),
    summary=(".content", ".summary", ".res-desc", "p.desc", ".txtbox p", "p"),
    date=(".posttime", ".newsinfo .time", ".pdate", ".gray", ".time"),
    skip=(".e_idea_pp", "[data-e-ad]", ".res-ad"),
    target=("h3 a@data-mdurl", "h3 a@data-url", "a.news_title@data-url", "@data-url", "@data-surl"),
)
ENGINES = (
    Engine("so360_web", "https://www.so.com/s?q=##QUERY##&pn=##START##", parse_with(WEB), first=1, step=1, hosts=HOSTS),
    Engine(
        "so360_news",
        "https://news.so.com/ns?q=##QUERY##&pn=##START##&rank=rank&j=0&src=page",
        parse_with(NEWS),
        kind="news",
        first=1,
        step=1,
        hosts=HOSTS,
    ),
)
WALLS = (
    Wall(
        "captcha: 360",
        2 * HOUR,
        r"//qcaptcha\.so\.com/",
        "form[action*='qcaptcha'], script[src*='qcaptcha.so.com'], #captcha-form[action*='so.com']",
        r"系统检测到您操作过于频繁|访问异常页面|请输入验证码以便正常访问",
    ),
)
REDIRECTS = (Redirect(r"(^|\.)(so|haosou)\.com$", parameter("/link$", "url", "u")), Redirect(r"(^|\.)so\.com$", opaque=r"^/link$"))
ADVERTS = r"([^/]*\.)?(mediav\.com|e\.so\.com)(/|$)|[^/]*/search/(eclk|srv/.*adv)$"
