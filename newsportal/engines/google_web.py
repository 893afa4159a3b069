"""Google, Web pages. Links are direct with JavaScript, ``/url?q=…`` without.

Generations: title in ``a > h3`` (since 2019), ``h3.r > a`` (2009 to 2019), ``h2.r > a.l`` and ``p.g > a`` (before), and the page without
JavaScript (``ZINbbc``, ``Gx5Zad``). Google renames its classes often: what stays is a heading in a link.
"""

from newsportal.engines.base import Engine
from newsportal.engines.wrapper import Wrapper, parse_with

ADVERTS = (".ads-ad", "[data-text-ad]", ".uEierd", ".ad_cclk")

CURRENT = Wrapper(
    block="#rso .g, #search .g, #rso .MjjYud, #rso .tF2Cxc, #ires .g, #botstuff .MjjYud",
    title=(".r > a > h3", ".yuRUbf a h3", "a > h3", "a h3", "h3.r > a", "h3 a", "a [role='heading']"),
    site=(".TbwUpd cite", "cite", ".UPmit", ".VuuXrf"),
    summary=(".st", ".VwiC3b", ".aCOpRe > span", ".IsZvec", "[data-sncf]", "[style*='webkit-line-clamp']", ".s"),
    date=(".st .f", ".f", ".LEwnzc", ".MUxGbd.wuQ4Ob", ".VwiC3b > span:first-child"),
    skip=ADVERTS,
)
PLAIN = Wrapper(
    block="#main .ZINbbc, #main .Gx5Zad, #main .xpd, #main .ezO2md",
    title=("a h3", "a .vvjwJb", "a [role='heading']", "a .CVA68e"),
    site=(".UPmit", ".BNeawe.UPmit", "a .fYyStc:last-child"),
    summary=(".s3v9rd .s3v9rd", ".s3v9rd", ".FrIlee", ".BNeawe.s3v9rd"),
    date=(".r0bn4c", ".YVIcad"),
    skip=ADVERTS,
)
OLD = Wrapper(
    block="#res .g, #res li.g, p.g, div.g, td.j",
    title=("h3.r a", "h2.r a", "a.l", "a:not([class])"),
    site=("cite", ".a", "font[color='#008000']"),
    summary=(".st", ".s", "td.j font", "font[size='-1']"),
    date=".f",
    skip=ADVERTS,
)

ENGINE = Engine(
    name="google_web", url="https://www.google.com/search?q=##QUERY##&start=##START##&num=10", parse=parse_with(CURRENT, PLAIN, OLD)
)
