"""Google, Web pages. Links are direct with JavaScript, ``/url?q=…`` without.

Generations: title in ``a > h3`` (since 2019), ``h3.r > a`` (2009 to 2019), ``h2.r > a.l`` and ``p.g > a`` (before), and the page without
JavaScript (``ZINbbc``, ``Gx5Zad``). Google renames its classes often: what stays is a heading in a link.

Google, news tab of the Web search (``tbm=nws``).

Generations: cards with a heading by role (``SoaBEf`` since 2021, ``dbsr`` before), ``h3.r > a`` with ``.slp`` (until 2019), the page
without JavaScript, and the front of news.google.com, whose links are ``./articles/…`` that only Google can resolve.

Google News as RSS: one page of up to 100 entries. Links are ``news.google.com/rss/articles/…``; see ``redirect`` for what they hold.
"""

import re
from dataclasses import replace
from urllib.parse import SplitResult

from newsportal.extractors.lists import feed_results
from newsportal.extractors.lists.engines import HOUR, Engine, Redirect, Wall
from newsportal.extractors.lists.redirect import decode_base64, first_address
from newsportal.extractors.lists.wrapper import Wrapper, parse_with

HOSTS = ("google.",)
PAID = (".ads-ad", "[data-text-ad]", ".uEierd", ".ad_cclk")
WEB = Wrapper(
    block="#rso .g, #search .g, #rso .MjjYud, #rso .tF2Cxc, #ires .g, #botstuff .MjjYud",
    title=(".r > a > h3", ".yuRUbf a h3", "a > h3", "a h3", "h3.r > a", "h3 a", "a [role='heading']"),
    site=(".TbwUpd cite", "cite", ".UPmit", ".VuuXrf"),
    summary=(".st", ".VwiC3b", ".aCOpRe > span", ".IsZvec", "[data-sncf]", "[style*='webkit-line-clamp']", ".s"),
    date=(".st .f", ".f", ".LEwnzc", ".MUxGbd.wuQ4Ob", ".VwiC3b > span:first-child"),
    skip=PAID,
)
WEB_PLAIN = Wrapper(
    block="#main .ZINbbc, #main .Gx5Zad, #main .xpd, #main .ezO2md",
    title=("a h3", "a .vvjwJb", "a [role='heading']", "a .CVA68e"),
    site=(".UPmit", "a .fYyStc:last-child"),
    summary=(".s3v9rd .s3v9rd", ".s3v9rd", ".FrIlee"),
    date=(".r0bn4c", ".YVIcad"),
    skip=PAID,
)
WEB_OLD = Wrapper(
    block="#res .g, #res li.g, p.g, div.g, td.j",
    title=("h3.r a", "h2.r a", "a.l", "a:not([class])"),
    site=("cite", ".a", "font[color='#008000']"),
    summary=(".st", ".s", "td.j font", "font[size='-1']"),
    date=".f",
    skip=PAID,
)
NEWS = Wrapper(
    block=".SoaBEf, .dbsr, .WlydOe, #rso g-card, .MjjYud g-card",
    title=("[role='heading']", ".n0jPhd", ".JheGif", ".mCBkyc", "a h3", "h3 a"),
    site=(".MgUUmf", ".NUnG9d", ".CEMjEf", ".XTjFC", ".UPmit", "cite"),
    summary=(".GI74Re", ".Y3v8qd", ".UqSP2b", ".nDgy9d + div"),
    date=(".OSrXXb span", ".OSrXXb", ".LfVVr", ".WG9SHc", ".ZE0LJd", ".hvbAAd", "[data-ts]"),
)
NEWS_HEADINGS = Wrapper(
    block="#ires .g, #search .g, #rso .g, #rso .gG0TJc, #rso .card-section, li.w0",
    title=("h3.r a", "h3 a", "a.l", "a.RTNUJf", "a h3"),
    site=(".slp .xQ82C", ".slp > span:first-child", ".slp", "cite", ".f"),
    summary=(".st", ".s"),
    date=(".slp .fwzPFf", ".slp > span:last-child", ".slp", ".f", "cite"),
)
NEWS_PLAIN = replace(WEB_PLAIN, skip=())
NEWS_FRONT = Wrapper(
    block="article, .story .title-wrapper, .esc-wrapper",
    title=("a.JtKRv", "h3 a", "h4 a", "a.gPFEn", "h2 a", ".titletext"),
    link=("a.JtKRv", "h3 a", "h4 a", "a.gPFEn", "h2 a"),
    site=(".vr1PYe", "a.wEwyrc", ".al-attribution-source", ".esc-lead-article-source-wrapper"),
    summary=(".xBbh9", ".esc-lead-snippet-wrapper"),
    date=("time", ".al-attribution-timestamp"),
    target='re:jslog="[^"]*?\\b4:(https?://[^;"]+)',
)


def read_target(parts: SplitResult) -> str | None:
    """``/url?q=…``; an article's id of Google News was a base64 message with the address until 2024, since then it holds a key."""
    if parts.path in ("/url", "/imgres", "/interstitial"):
        return first_address(parts, "q", "url", "imgrefurl")
    if "/articles/" not in parts.path:
        return None
    match = re.search(rb"https?://[\x21-\x7e]+", decode_base64(parts.path.rsplit("/", 1)[-1]) or b"")
    return match[0].decode("ascii") if match else None


ENGINES = (
    Engine(
        "google_web", "https://www.google.com/search?q=##QUERY##&start=##START##&num=10", parse_with(WEB, WEB_PLAIN, WEB_OLD), hosts=HOSTS
    ),
    Engine(
        "google_news",
        "https://www.google.com/search?tbm=nws&q=##QUERY##&start=##START##&num=10",
        parse_with(NEWS, NEWS_HEADINGS, NEWS_PLAIN, NEWS_FRONT),
        kind="news",
        hosts=HOSTS,
    ),
    Engine(
        "google_news_rss", "https://news.google.com/rss/search?q=##QUERY##&hl=zh-CN&gl=CN&ceid=CN:zh-Hans", feed_results.parse, kind="news"
    ),
)
WALLS = (
    Wall(
        "captcha: Google",
        4 * HOUR,
        r"//(www|ipv4|ipv6)\.google\.[\w.]+/sorry/|/sorry/index",
        "#captcha-form, form[action*='/sorry/'], #recaptcha[data-sitekey]",
        r"our systems have detected unusual traffic|检测到您的计算机网络中存在异常流量|我們的系統偵測到|异常流量",
    ),
    Wall(
        "consent: Google",
        24 * HOUR,
        r"//consent\.(google|youtube)\.[\w.]+/",
        "form[action*='consent.google.'], form[action*='consent.youtube.']",
        r"before you continue to google|bevor sie zu google weitergehen|avant d.accéder à google|继续前须知",
    ),
)
REDIRECTS = (
    Redirect(r"(^|\.)google\.[a-z]{2,3}(\.[a-z]{2})?$", read_target),
    Redirect(r"^news\.google\.[a-z.]+$", opaque=r"^/(rss/|__i/rss/rd/)?(articles|read|stories)/"),
)
ADVERTS = r"([^/]*\.)?(doubleclick\.net|googleadservices\.com|googlesyndication\.com)(/|$)|[^/]*/(aclk?|pagead/.*)$"
