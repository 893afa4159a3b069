"""Pages that engines answer instead of results: captcha, login, consent, quota; and pages that say there are no results.

What a page *is* shows in its address, its forms, its frames and the ids of its parts; a phrase counts only on a page that says little
else. A search for 「验证码」 gives results *about* such pages, and those must be read.
"""

from __future__ import annotations

import re

from newsportal.extractors.lists.engines import HOUR, Wall, walls
from newsportal.text.dom import Document, Element, text_of

LITTLE = 1_500  # visible characters up to which a phrase is believed: captcha pages show 20 to 900, result pages over 2,000
WALLS = (
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
    said = None
    if not certain and len(body := text_of(document.root)) <= LITTLE:  # a phrase is believed only of a page that says little
        titles = " ".join(text_of(title) for title in document.root.iter("title"))
        said = f"{titles} {body}"
    for kind in (*walls(), *WALLS):
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
    if any(not (_hides(node) or any(map(_hides, node.iterancestors()))) for node in document.css(NOTHING_MARKS)):
        return True
    said = len(NOTHING_PHRASES.findall(text_of(document.root)))
    hidden = (node for node in document.css(HIDDEN) if not any(map(_hides, node.iterancestors()))) if said else ()
    return said > sum(len(NOTHING_PHRASES.findall(text_of(node))) for node in hidden)


HIDDEN = "[style*='display:none'], [style*='display: none'], [hidden]"  # many pages hide a sentence for no results, for their scripts


def _hides(node: Element) -> bool:
    return node.get("hidden") is not None or "display:none" in (node.get("style") or "").replace(" ", "").lower()
