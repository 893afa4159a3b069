"""Challenge pages: browser checks, captchas, logins. Sent with status 200, they would be stored as articles.

Recognised by marks that their vendors use on no other pages, and by short pages whose title consists of the demand alone.
"""

import re
from collections.abc import Mapping

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from newsportal.crawl.addon import CrawlerComponent, SignIns
from newsportal.text.dom import decode

MAX_PAGE = 200_000  # Bytes. Challenge pages contain their scripts inline, the longest seen have some 40 kB; longer pages are not searched.
HEAD_BYTES = 20_000  # bytes searched for the title
MAX_TEXT = 600  # characters of visible text: an article with such a title has more, a challenge a sentence or two
HEADERS = {"cf-mitigated": "challenge", "x-amzn-waf-action": "c"}
"""Headers set by Cloudflare and AWS (``challenge``, ``captcha``); value: its beginning."""

MARKS = (
    b"window._cf_chl_opt",  # Cloudflare
    b"_cf_chl_ctx",
    b"geo.captcha-delivery.com/",  # DataDome
    b"px-captcha",  # HUMAN, PerimeterX
    b"window.gokuProps",  # AWS WAF
    b"sucuri_cloudproxy_js",  # Sucuri
    b"__jsl_clearance",  # Knownsec
    b"acw_sc__v2",  # Alibaba Cloud
    b"/_____tmd_____/punish",
    b"window['$_ts']",  # River Security
    b"Sina Visitor System",  # Weibo
)
"""Marks in the challenge pages of these vendors; the page must also be short."""

TITLE = re.compile(rb"<title[^>]*>([^<]{0,400})</title>", re.IGNORECASE)
INVISIBLE = re.compile(r"<(script|style|noscript|head)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>", re.IGNORECASE | re.DOTALL)

TITLE_BEGINNINGS = re.compile(
    r"just a moment\.\.\.|attention required!|one moment, please|checking your browser|ddos protection by"
    r"|access to this page has been denied|pardon our interruption|verify you are human|are you (a )?(human|robot)\?",
    re.IGNORECASE,
)
"""Beginnings of challenge titles."""

WHOLE_TITLES = re.compile(
    r"(robot check|human verification|security (check|verification)|captcha"
    r"|(百度)?安全(验证|检查|检测)|访问(验证|受限|异常)|人机(验证|识别)|滑动验证|(请?(输入|完成))?验证码?|身份验证|环境异常|浏览器安全检查)[\s.…!！]*",
    re.IGNORECASE,
)
"""Challenge titles without the site's name: an article's title would continue (安全检查不放松)."""

LOGIN = re.compile(r"((用户|会员|账号|帐号)?(登录|登陆|登入)|log ?in|sign ?in)\b", re.IGNORECASE)
PASSWORD = re.compile(rb"type\s*=\s*[\"']?password", re.IGNORECASE)
SEPARATOR = re.compile(r"\s[-|·—–]\s|[-_|—–]")


class ChallengePage(IgnoreRequest):
    """Raised for a challenge page: ``challenge``, ``login``, or ``sign-in`` for expired credentials. Counted; may be transient."""

    transient = True

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"the server answered with a {reason} page: {url}")
        self.reason = reason


def challenge_of(body: bytes, content_type: str | None = None, headers: Mapping[str, str] | None = None) -> str | None:
    """Return ``challenge``, ``login``, or ``None`` for an ordinary page. Names of ``headers`` are in lower case."""
    for name, prefix in HEADERS.items():
        if (headers or {}).get(name, "").strip().lower().startswith(prefix):
            return "challenge"
    if len(body) > MAX_PAGE:
        return None
    reason = "challenge" if any(mark in body for mark in MARKS) else _demanded(body)
    return reason if reason and len("".join(INVISIBLE.sub(" ", decode(body, content_type)[0]).split())) <= MAX_TEXT else None


def _demanded(body: bytes) -> str | None:
    """Return the demand in the title, without detecting the page's encoding."""
    match = TITLE.search(body, 0, HEAD_BYTES)
    if match is None:
        return None
    try:
        title = match[1].decode("utf-8").strip()
    except UnicodeDecodeError:
        title = match[1].decode("gb18030", "replace").strip()
    first = SEPARATOR.split(title, maxsplit=1)[0].strip()
    if TITLE_BEGINNINGS.match(title) or WHOLE_TITLES.fullmatch(first):
        return "challenge"
    return "login" if LOGIN.fullmatch(first) and PASSWORD.search(body) else None


class ChallengeMiddleware(CrawlerComponent):
    """Turns challenge pages of sources into counted failures. Search engines detect their own, and pause."""

    def __init__(self, crawler: Crawler) -> None:
        self._sign_ins = SignIns(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        """Raises :class:`ChallengePage`."""
        source = str(request.meta.get("source") or "engine:")
        if source.startswith("engine:"):
            return response
        headers = {name: (response.headers.get(name) or b"").decode("latin-1") for name in HEADERS}
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1") or None
        reason = challenge_of(response.body, content_type, headers) if response.body else None
        if self._sign_ins.is_refused(request, response, reason):
            raise ChallengePage(request.url, "sign-in")
        if reason:
            raise ChallengePage(request.url, reason)
        return response
