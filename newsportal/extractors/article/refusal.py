"""Reject pages that are not articles, with a reason. When in doubt, accept: a rejected article is lost, a list page only shown."""

import re
from typing import Final

from newsportal.errors import NotApplicable
from newsportal.extractors.article.body import Body
from newsportal.extractors.article.page_kind import PageKind
from newsportal.extractors.article.reference_hints import terms
from newsportal.text import dom, visible_length

MIN_CHARS: Final = 12  # no 快讯 is shorter: the shortest in the development set has 25
LIST_CHARS: Final = 60
LIST_LINKS: Final = 40  # A page with so many links and less than ``LIST_CHARS`` characters without a sentence is a list
SENTENCE_END: Final = re.compile(r"[。！？；，]|[.!?](?:\s|$)")
MAX_ERROR_PAGE_CHARS: Final = 400  # a page with so much running text is not rejected for its words
_CODE: Final = (
    r"(?:^|[_|!！…:：]|\s[-–—]\s)\s*(?:(?:http|error|status|code|错误|代码)\W{0,3}){0,2}(?:%s)"
    r"(?=\s*(?:$|[_|!！:：]|[-–—]\s|error|错误|页面\W*$|not found|未找到|找不到|forbidden|internal|bad|service|gateway))"
)  # a status code alone or among typical words: 500 people, or an index called 500, may be news
CAPTCHA: Final = re.compile(
    r"(?:输入|填写)\S{0,6}验证码|^\W*验证码\W*$|安全验证|人机验证|请完成(?:下方|以下)?验证|滑动验证|访问异常|异常流量"
    r"|^\W*captcha\W*$|captcha (?:required|verification|check)|(?:complete|solve|enter) (?:the|this|a) captcha"
    r"|verify (?:that )?you are (?:a )?human"
    r"|checking your browser|just a moment|attention required|unusual traffic from|^\W*security check\W*$|are you a robot"
    r"|enable javascript and cookies",
    re.IGNORECASE | re.MULTILINE,
)
LOGIN: Final = re.compile(
    r"请(?:先)?登[录陆]|登[录陆]后(?:查看|可见|阅读)|用户登[录陆]|(?:log|sign) in to (?:continue|read|view)|please (?:log|sign) in",
    re.IGNORECASE,
)
MISSING: Final = re.compile(
    r"页面(?:不存在|未找到|找不到|已删除|没有找到)|(?:文章|内容|新闻|信息|网页|链接|帖子)(?:已被?删除|不存在|已下线|已过期|已失效)"
    r"|找不到(?:该|您|你|相关)?.{0,10}(?:页面|网页|文章)|您?(?:访问|请求|查看)的.{0,6}(?:不存在|已删除|出错)|^\W*not found\W*$"
    r"|(?:page|article|file|url|resource|document|object) (?:was |is |could )?(?:not|no longer) (?:be )?(?:found|available|exist)"
    rf"|{_CODE % '404'}",
    re.IGNORECASE | re.MULTILINE,
)
BROKEN: Final = re.compile(
    r"internal server error|bad gateway|service unavailable|gateway time-?out|access denied|^\W*forbidden\W*$"
    r"|服务器(?:错误|内部错误|繁忙)|系统(?:错误|繁忙|维护)|拒绝访问|无权访问|error (?:4|5)\d\d"
    rf"|{_CODE % '403|50[0234]'}",
    re.IGNORECASE | re.MULTILINE,
)
REASONS: Final = (("captcha", CAPTCHA), ("login", LOGIN), ("soft-404", MISSING), ("error-page", BROKEN))
NOT_HTML: Final = re.compile(
    r"\s*(?:%PDF-|\{\s*\"|\[\s*[{\"]|<\?xml[^>]*>\s*<(?:rss|feed|urlset|sitemapindex)|<(?:rss|feed|urlset|sitemapindex)\b|GIF8|\ufffdPNG|PK\x03)"
)
BINARY: Final = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # not in text, but every tenth byte of images, videos, archives
BINARY_CHARS: Final = 10  # … of the first 500; broken pages have a few
TEASER_END: Final = re.compile(
    r"(?:…|\.{3}|[\[(（【]?(?:详细|詳細|详情|更多|阅读全文|閱讀全文|全文|(?:read )?more)[\])）】]?\s*[>»]*)$", re.IGNORECASE
)
TEASER_END_CHARS: Final = 12
TEASER_TITLE: Final = 6
TEASERS: Final = 5
TEASER_SHARE: Final = 0.9  # A page of so many lines, nearly all of which start with a link and are cut off, lists other pages
# List page: a text with low confidence (one of 600 development articles is below this) and less than this share of the title's words, on a
# page with so many lines that consist of a link, each of so many characters (twice that in Latin letters).
MIN_LIST_CONFIDENCE: Final = 0.5
STORED_KINDS: Final = ("article", "documentation", "thread")
MIN_STORED_PROBABILITY: Final = 0.05
MIN_NEWS: Final = 0.5  # A page with a lower probability for ``STORED_KINDS``, and not news, is rejected: 2 of 792 unseen articles are
MIN_HEADLINES: Final = 10
MIN_HEADLINE_CHARS: Final = 8
TITLE_SHARE: Final = 0.3


def reject_list(body: Body, title: str | None) -> None:
    """Raise ``NotApplicable`` for a page of headlines whose text has low confidence. Short news may, too, but repeats its title."""
    if body.confidence >= MIN_LIST_CONFIDENCE or not body.chosen.any():
        return
    words, text = terms(title or ""), "\n".join(body.lines).lower()
    if words and sum(word in text for word in words) >= TITLE_SHARE * len(words):
        return
    links = (block for block, chosen in zip(body.page.blocks, body.chosen, strict=True) if not chosen and block.linked == block.length)
    headlines = sum(block.length >= MIN_HEADLINE_CHARS * (2 if block.text.isascii() else 1) for block in links)
    if headlines >= MIN_HEADLINES:
        raise NotApplicable("list-page", f"{headlines} headlines and hardly any text")


def reject_kind(kind: PageKind) -> None:
    """Raise ``NotApplicable`` (``product-page`` …) for a page that is almost certainly of a kind that the crawl does not store."""
    if kind.news < MIN_NEWS and sum(map(kind.probability_of, STORED_KINDS)) < MIN_STORED_PROBABILITY:
        raise NotApplicable(f"{kind.name}-page", f"with probability {kind.probability:.2f}")


def reject_binary(document: dom.Document) -> None:
    """Raise ``NotApplicable`` for content that is not HTML: a PDF, an image, a feed, an API response, whatever its media type."""
    start = document.html[:500]
    if NOT_HTML.match(start) or len(BINARY.findall(start)) >= BINARY_CHARS:
        raise NotApplicable("not-html")


def reject_page(
    document: dom.Document, title: str | None, lines: list[str], block: dom.Element | None = None, *, any_page: bool = False
) -> None:
    """Raise ``NotApplicable`` if the page is no article (``any_page``: nor list). ``block`` holds ``lines``; ``None``: it declares one."""
    reject_binary(document)
    length = sum(map(visible_length, lines))
    if length < MAX_ERROR_PAGE_CHARS:
        text = "\n".join([title or "", *lines])
        if length < MIN_CHARS:
            text += dom.text_of(document.root)[:MAX_ERROR_PAGE_CHARS]
        for reason, pattern in REASONS:
            if pattern.search(title or "") or (length < MAX_ERROR_PAGE_CHARS / 4 and pattern.search(text)):
                raise NotApplicable(reason, (title or text)[:80])
    if length < LIST_CHARS and not any_page and not any(SENTENCE_END.search(line) for line in lines):
        links = sum(1 for _ in document.root.iter("a"))
        if links >= LIST_LINKS:
            raise NotApplicable("list-page", f"{links} links, no sentence")
    if block is not None and not any_page and len(lines) >= TEASERS:
        truncated = [line for line in lines if TEASER_END.search(line[-TEASER_END_CHARS:])]
        if len(truncated) >= TEASER_SHARE * len(lines):
            linked = tuple(text for text in map(dom.text_of, block.iter("a")) if len(text) >= TEASER_TITLE)
            if sum(line.startswith(linked) for line in truncated) >= TEASER_SHARE * len(lines):
                raise NotApplicable("list-page", f"{len(lines)} teasers")
    if length < MIN_CHARS:
        raise NotApplicable("no-body", f"{length} characters")
