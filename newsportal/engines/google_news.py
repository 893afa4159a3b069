"""Google, news tab of the Web search (``tbm=nws``).

Generations: cards with a heading by role (``SoaBEf`` since 2021, ``dbsr`` before), ``h3.r > a`` with ``.slp`` (until 2019), the page
without JavaScript, and the front of news.google.com, whose links are ``./articles/…`` that only Google can resolve.
"""

from newsportal.engines.base import Engine
from newsportal.engines.wrapper import Wrapper, parse_with

CURRENT = Wrapper(
    block=".SoaBEf, .dbsr, .WlydOe, #rso g-card, .MjjYud g-card",
    title=("[role='heading']", ".n0jPhd", ".JheGif", ".mCBkyc", "a h3", "h3 a"),
    site=(".MgUUmf", ".NUnG9d", ".CEMjEf", ".XTjFC", ".UPmit", "cite"),
    summary=(".GI74Re", ".Y3v8qd", ".UqSP2b", ".nDgy9d + div"),
    date=(".OSrXXb span", ".OSrXXb", ".LfVVr", ".WG9SHc", ".ZE0LJd", ".hvbAAd", "[data-ts]"),
)
HEADINGS = Wrapper(
    block="#ires .g, #search .g, #rso .g, #rso .gG0TJc, #rso .card-section, li.w0",
    title=("h3.r a", "h3 a", "a.l", "a.RTNUJf", "a h3"),
    site=(".slp .xQ82C", ".slp > span:first-child", ".slp", "cite", ".f"),
    summary=(".st", ".s"),
    date=(".slp .fwzPFf", ".slp > span:last-child", ".slp", ".f", "cite"),
)
PLAIN = Wrapper(
    block="#main .ZINbbc, #main .Gx5Zad, #main .xpd, #main .ezO2md",
    title=("a h3", "a .vvjwJb", "a [role='heading']", "a .CVA68e"),
    site=(".UPmit", "a .fYyStc:last-child"),
    summary=(".s3v9rd .s3v9rd", ".s3v9rd", ".FrIlee"),
    date=(".r0bn4c", ".YVIcad"),
)
FRONT = Wrapper(
    block="article, .story .title-wrapper, .esc-wrapper",
    title=("a.JtKRv", "h3 a", "h4 a", "a.gPFEn", "h2 a", ".titletext"),
    link=("a.JtKRv", "h3 a", "h4 a", "a.gPFEn", "h2 a"),
    site=(".vr1PYe", "a.wEwyrc", ".al-attribution-source", ".esc-lead-article-source-wrapper"),
    summary=(".xBbh9", ".esc-lead-snippet-wrapper"),
    date=("time", ".al-attribution-timestamp"),
    target='re:jslog="[^"]*?\\b4:(https?://[^;"]+)',
)

ENGINE = Engine(
    name="google_news",
    url="https://www.google.com/search?tbm=nws&q=##QUERY##&start=##START##&num=10",
    parse=parse_with(CURRENT, HEADINGS, PLAIN, FRONT),
    kind="news",
)
