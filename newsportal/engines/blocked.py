"""Pages that engines answer instead of results: captcha, login, consent, quota; and pages that say there are no results.

What a page *is* shows in its address, its forms, its frames and the ids of its parts; a phrase counts only on a page that says little
else. A search for 「验证码」 gives results *about* such pages, and those must be read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from newsportal.dom import Document, Element, text_of

HOUR = 3600.0

LITTLE = 1_500
"""Characters of visible text up to which a phrase is believed. The captcha pages we know show 20 to 900, result pages over 2,000."""


@dataclass(frozen=True, slots=True)
class Wall:
    """One kind of page in the way. ``rest`` in seconds: captchas get worse when asked again, a consent page never goes by waiting."""

    reason: str
    rest: float
    address: str | None = None
    marks: str | None = None
    phrases: str | None = None


WALLS = (
    Wall(
        "captcha: Baidu",
        2 * HOUR,
        r"//wappass\.baidu\.com/|//[\w.]*baidu\.com/static/captcha|/tuxing\.html",
        "#captcha-mask, .passMod_slide-box, form[action*='wappass.baidu.com'], script[src*='wappass.baidu.com/static'], "
        "link[href*='wappass.baidu.com/static/captcha']",
        r"百度安全验证|网络不给力，请稍后重试",
    ),
    Wall(
        "captcha: Sogou",
        2 * HOUR,
        r"sogou\.com/antispider",
        "#seccodeForm, #seccodeImage, form[action*='antispider'], form[name='authform'], img[src*='util/seccode']",
        r"此验证码用于确认这些请求是您的正常行为|您的访问过于频繁，为确认本次访问为正常用户行为",
    ),
    Wall(
        "captcha: 360",
        2 * HOUR,
        r"//qcaptcha\.so\.com/",
        "form[action*='qcaptcha'], script[src*='qcaptcha.so.com'], #captcha-form[action*='so.com']",
        r"系统检测到您操作过于频繁|访问异常页面|请输入验证码以便正常访问",
    ),
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
    Wall(
        "captcha: DuckDuckGo",
        2 * HOUR,
        r"duckduckgo\.com/anomaly",
        "#challenge-form, form[action*='anomaly.js'], .anomaly-modal__modal, .anomaly-modal__title",
        r"unfortunately, bots use duckduckgo too|complete the following challenge to confirm this search was made by a human",
    ),
    Wall(
        "captcha: Bing",
        2 * HOUR,
        r"bing\.com/turing/",
        "#b_captcha, .captcha_header, form[action*='turing/captcha']",
        r"one last step\W+please solve the challenge|请完成验证后继续|最后一步\W+请解决以下难题",
    ),
    Wall(
        "consent: Yahoo",
        24 * HOUR,
        r"//(guce|consent)\.(yahoo|oath)\.com/",
        "form[action*='collectConsent'], form.consent-form",
        r"yahoo is part of the yahoo family of brands",
    ),
    Wall(
        "captcha",
        2 * HOUR,
        None,
        "form#challenge-form, #cf-challenge-running, #challenge-running, iframe[src*='hcaptcha.com'], .g-recaptcha, .geetest_captcha, "
        "iframe[src*='challenges.cloudflare.com'], #cf-turnstile, #nocaptcha, script[src*='captcha-delivery.com'], #px-captcha",
        r"请输入(图中的|下方的?|以下|右侧|下图中的)?(的)?验证码|請輸入(下方的?|圖中的?)?驗證碼|请完成(安全|下列|滑[动块])?验证|"
        r"拖动.{0,6}滑块|enter the characters you see|verify (that )?you are (a )?human|are you a robot|"
        r"i'?m not a robot|please enable (js|javascript) and disable any ad ?blocker",
    ),
    Wall(
        "login",
        24 * HOUR,
        r"//(passport|login|accounts)\.[\w.-]+/",
        None,
        r"请先?登录(后(再)?(查看|搜索|继续|访问)|您的账号)|登录后(才)?可(以)?(查看|搜索|继续)|"
        r"please (log|sign) in to continue|sign in to (search|continue)",
    ),
    Wall(
        "quota",
        HOUR,
        None,
        None,
        r"too many requests|rate limit(ed)? exceeded|quota exceeded|access denied|"
        r"访问(过于|太)频繁|请求(过于|太)频繁|操作(过于|太)频繁|超出.{0,6}(配额|限额)",
    ),
)

NOTHING_MARKS = (
    ".content_none, .nors, #noresult_part1_container, #no-result, .no-result, .no-results, .noresult, "
    ".result--no-result, .b_no, .mini-no-results, .msg.no-results, .zrp, #noResult, .result-none, .search-no-result, .no_result_content"
)
NOTHING_PHRASES = re.compile(
    r"(抱歉|很抱歉|对不起)[，,]?\s*(没有|未能?|找不到|暂无).{0,40}(找到|相关|结果|网页|新闻)|没有找到(与|和|该|相关|任何|符合|含有|您).{0,60}|"
    r"未找到(相关|与|符合|任何)|"
    r"找不到(和|与|和您).{0,60}(相符|相关)|暂无(相关)?(结果|内容|新闻)|"
    r"did not match any (documents|news|results|articles)|no results (were )?found( for)?|there are no results for|"
    r"we did not find (any )?results for|"
    r"no (more )?results\b|your search .{0,80}did not match|"
    r"keine ergebnisse|aucun résultat",
    re.IGNORECASE,
)


def wall(document: Document, *, certain: bool = False) -> Wall | None:
    """The wall ``document`` is, or ``None``. ``certain``: only by the addresses and parts of a known engine's wall, no phrases."""
    said = None if certain else _little_text(document)
    for kind in WALLS:
        if certain and kind.address is None:
            continue  # a captcha of nobody's in particular may guard a form on any page
        if kind.address and re.search(kind.address, document.url, re.IGNORECASE):
            return kind
        if kind.marks and document.css(kind.marks):
            return kind
        if kind.phrases and said and re.search(kind.phrases, said, re.IGNORECASE):
            return kind
    return None


def says_nothing_found(document: Document) -> bool:
    """Whether the page itself says that there are no results."""
    if any(not (_hides(node) or any(map(_hides, node.iterancestors()))) for node in document.css(NOTHING_MARKS)):
        return True
    said = len(NOTHING_PHRASES.findall(text_of(document.root)))
    hidden = (node for node in document.css(HIDDEN) if not any(map(_hides, node.iterancestors()))) if said else ()
    return said > sum(len(NOTHING_PHRASES.findall(text_of(node))) for node in hidden)


HIDDEN = "[style*='display:none'], [style*='display: none'], [hidden]"
"""Pages carry the sentence for no results hidden in them, for their scripts to show."""


def _hides(node: Element) -> bool:
    return node.get("hidden") is not None or "display:none" in (node.get("style") or "").replace(" ", "").lower()


def _little_text(document: Document) -> str | None:
    """Title and visible text of a page that says little; ``None`` for a page that says more."""
    body = text_of(document.root)
    if len(body) > LITTLE:
        return None
    titles = " ".join(text_of(title) for title in document.root.iter("title"))
    return f"{titles} {body}"
