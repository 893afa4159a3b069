"""DuckDuckGo, Web pages. Links are direct, or ``/l/?uddg=…`` with the target inside.

Generations: articles (since 2022), ``result`` (2013 to 2022, and the HTML version we ask for), ``links_main`` (before), and Lite, whose
results are rows of one table.
"""

from newsportal.extractors.lists.engines import HOUR, Engine, Redirect, Wall
from newsportal.extractors.lists.redirect import parameter
from newsportal.extractors.lists.wrapper import Wrapper, parse_with

HOSTS = ("duckduckgo.com",)
WEB = Wrapper(
    block=".result, .web-result",
    title=("a.result__a", ".result__title a", "h2 a"),
    site=(".result__url", ".result__extras__url", ".url"),
    summary=(".result__snippet", ".snippet"),
    date=(".result__date", ".result__extras__url > span:last-child"),
    skip=(".badge--ad", ".result__badge--ad", "xpath:self::*[contains(concat(' ', @class, ' '), ' result--ad ')]"),
)
WEB_ARTICLES = Wrapper(
    block="article[data-testid='result'], article[data-nrn='result'], #react-layout article",
    title=("a[data-testid='result-title-a']", "h2 a"),
    site=("a[data-testid='result-extras-url-link']", "[data-testid='result-extras-site-search-link']", "p.veU5I0hFkgFGOPhX2RBE"),
    summary=("[data-result='snippet']", "[data-testid='result-snippet']"),
    date=("[data-result='snippet'] > div > span:first-child", "time"),
    skip="[data-testid='ad']",
)
WEB_OLD = Wrapper(block=".links_main, .results_links", title=("a.large", "h2 a", ".links_zero_click a"), site=".url", summary=".snippet")
WEB_LITE = Wrapper(
    block="xpath://a[contains(concat(' ', @class, ' '), ' result-link ')]/ancestor::tr[1]",
    title="a.result-link",
    site="xpath:following-sibling::tr[position() < 4]//*[contains(@class, 'link-text')]",
    summary="xpath:following-sibling::tr[position() < 4]/td[contains(@class, 'result-snippet')]",
    skip="xpath:self::*[contains(@class, 'result-sponsored')]",
)
ENGINES = (
    Engine(
        "duckduckgo_web",
        "https://html.duckduckgo.com/html/?q=##QUERY##&s=##START##",
        parse_with(WEB, WEB_ARTICLES, WEB_OLD, WEB_LITE),
        step=30,
        hosts=HOSTS,
    ),
)
WALLS = (
    Wall(
        "captcha: DuckDuckGo",
        2 * HOUR,
        r"duckduckgo\.com/anomaly",
        "#challenge-form, form[action*='anomaly.js'], .anomaly-modal__modal, .anomaly-modal__title",
        r"unfortunately, bots use duckduckgo too|complete the following challenge to confirm this search was made by a human",
    ),
)
REDIRECTS = (Redirect(r"(^|\.)duckduckgo\.com$", parameter(r"/(l/|y\.js)", "uddg", "u3")),)
ADVERTS = r"[^/]*/y\.js$"
