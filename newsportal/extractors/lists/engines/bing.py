"""Bing, Web pages. Since 2023 links may be ``/ck/a?…&u=a1…`` with the target in base64. Offsets count from 1.

Generations: ``b_algo`` (since 2013), ``sa_wr`` with ``sb_tlst`` (before).

Bing News. Links are direct, or ``/news/apiclick.aspx?…&url=…`` in its feed. Offsets count from 1.

Generations: ``news-card`` (since 2016), ``newsitem`` (2014 to 2016), ``sn_r`` (before).
"""

from urllib.parse import SplitResult, parse_qs

from newsportal.extractors.lists.engines import HOUR, Engine, Redirect, Wall
from newsportal.extractors.lists.redirect import decode_base64, first_address
from newsportal.extractors.lists.wrapper import Wrapper, parse_with

HOSTS = ("bing.com",)
WEB = Wrapper(
    block="#b_results > li.b_algo, #b_results .b_algo, li.b_algo",
    title=("h2 a", "a h2", ".b_title a", "h3 a"),
    site=(".b_attribution cite", "cite", ".tptt"),
    summary=(
        "p[class*='b_lineclamp']",
        ".b_caption > p",
        ".b_paractl",
        ".b_snippet p",
        ".b_lineclamp2",
        ".b_algoSlug",
        ".b_vlist2col li",
        "p",
    ),
    date=(".news_dt", ".b_factrow .news_dt", ".b_caption > p > span:first-child"),
    skip=".b_adSlug",
)
WEB_OLD = Wrapper(
    block="#results .sa_wr, #results li, .sa_cc",
    title=(".sb_tlst h3 a", "h3 a"),
    site=(".sb_meta cite", "cite"),
    summary=(".sa_cc p", "p"),
    skip=".sb_adsW",
)
NEWS = Wrapper(
    block=".news-card, .newsitem, .news-item",
    title=("a.title", ".t_t a", ".newstitle a", ".caption a.title", "h3 a", ".na_t a"),
    site=(".source a:not(.biglogo_link)", "@data-author", ".source img@title", ".source > span:first-child", "cite", ".source"),
    summary=(".snippet", ".na_body .snippet", ".caption .snippet", ".summary"),
    date=(
        ".source span[aria-label]",
        ".source span[tabindex]",
        ".source .timestamp",
        ".source > span:last-child",
        ".na_ccw .timestamp",
        ".timestamp",
    ),
)
NEWS_OLD = Wrapper(
    block=".sn_r, .NewsBest, div[class~='nd']",
    title=(".newstitle a", "h3 a", ".sn_hd a"),
    site=("cite.sn_src", ".sn_src", "cite"),
    summary=(".sn_snip", ".sn_txt"),
    date=(".sn_tm", "span.sn_tm"),
)


def read_target(parts: SplitResult) -> str | None:
    """``/ck/a?…&u=a1…`` with the address in base64, or a parameter with it in clear."""
    if not parts.path.startswith(("/ck/a", "/news/apiclick.aspx", "/fd/ls", "/aclick")):
        return None
    packed = parse_qs(parts.query).get("u", [""])[0]
    if packed.startswith("a1"):
        data = decode_base64(packed[2:])
        return data.decode("utf-8", "replace") if data else None
    return first_address(parts, "url", "u", "r")


ENGINES = (
    Engine("bing_web", "https://www.bing.com/search?q=##QUERY##&first=##START##", parse_with(WEB, WEB_OLD), first=1, hosts=HOSTS),
    Engine(
        "bing_news",
        "https://www.bing.com/news/search?q=##QUERY##&first=##START##&qft=sortbydate%3d%221%22",
        parse_with(NEWS, NEWS_OLD),
        kind="news",
        first=1,
        hosts=HOSTS,
    ),
)
WALLS = (
    Wall(
        "captcha: Bing",
        2 * HOUR,
        r"bing\.com/turing/",
        "#b_captcha, .captcha_header, form[action*='turing/captcha']",
        r"one last step\W+please solve the challenge|请完成验证后继续|最后一步\W+请解决以下难题",
    ),
)
REDIRECTS = (Redirect(r"(^|\.)bing\.com$", read_target),)
ADVERTS = r"([^/]*\.)?bat\.bing\.com(/|$)|[^/]*/aclick$"
