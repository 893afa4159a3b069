"""Likelihood that a link of a list page leads to an article: a sum of weighted features, adjusted by the links with the same URL pattern.

    own(l)   = BIAS + Σ WEIGHTS[f] for every feature f of the link
    score(l) = σ( own(l) + PATTERN_SHARE · n/(n + 2) · (mean own of the n links of l's pattern − own(l)) )

Because of the second line 「宝马i4」 is an article where fifty links of the same template have full headlines, and a long slogan in
a menu is none. The weights are set by hand; ``docs/algorithms/hub.md`` describes the data they were measured on.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from newsportal.extractors.lists.hub_anchors import MIN_HEADLINE_LENGTH, Anchor
from newsportal.extractors.lists.hub_urls import BOARD, MAX_EXAMINED_CHARS, URL_FEATURES, Address, url_pattern

ThreadForm = tuple[str, str]
BIAS = -1.5
PATTERN_SHARE = 0.6  # weight of the pattern's mean against a link's own score; 0.5 to 0.7 perform alike
MAX_LOGIT = 30.0
BOARD_SHARE = 0.5  # share of a page's headlines that link to threads from which the page is a board
BOARD_HEADLINES = 8
MIN_SUBJECT = 4  # title lengths; shorter thread titles are not counted
WEIGHTS: Mapping[str, float] = {
    **{name: worth for name, (worth, _) in URL_FEATURES.items()},
    "url-self": -6.0,
    "url-foreign": -0.5,
    "thread-on-board": 2.5,
    "thread-elsewhere": -2.0,
    # text
    "text-none": -5.0,
    "text-number": -4.0,
    "text-command": -5.0,
    "text-tiny": -2.0,
    "text-short": -1.0,
    "text-middling": 0.5,
    "text-title": 1.5,
    "text-long": 2.0,
    "text-sentence": 0.5,
    # position
    "place-nav": -1.5,
    "place-foot": -2.0,
    "place-head": -0.5,
    "place-aside": -1.0,
    "place-heading": 0.7,
}  # weight of each feature, in logits
# features of links that are excluded from their pattern's mean: 「评论」 behind a headline has the headline's URL
NOT_AVERAGED = frozenset(("url-comments",))
COMMAND = re.compile(
    r"^(?:更多\S{0,4}|more|read more|see all|view all|查看(?:全部|更多|详情|原文)?\w{0,4}|全部\w{0,4}|详细|详情|点击\w{0,6}|阅读全文|全文"
    r"|下一页|上一页|首页|尾页|末页|返回\w{0,4}|next|prev(?:ious)?|home|登[录陆]|注册|login|log in|sign (?:in|up)"
    r"|rss|订阅|分享|评论|收藏|打印|投稿"
    r"|关于我们|联系我们|广告服务|网站地图|招聘\w{0,4}|帮助(?:中心)?|(?:意见)?反馈|举报\w{0,4}|免责声明|版权\w{0,4}|隐私\w{0,4}"
    r"|设为首页|加入收藏|客户端|手机版|app\w{0,4}|contact(?: us)?|about(?: us)?|privacy\b.{0,12}|terms\b.{0,30}|subscribe"
    r"|advertise\b.{0,12}|comments?|.{0,12}许可证.{0,40}|.{0,6}icp[备证].{0,30}|.{0,10}公网安备.{0,20})\s*[>》»›→…|]*$",
    re.IGNORECASE,
)  # texts that are entirely a command to the reader, or the name of a page that every site has
NUMBER = re.compile(
    r"^[\W\d_]*(?:\d[\W\d_]*)?(?:万?\s?(?:阅读|评论|回复|跟贴|浏览|次|条)|分钟前|小时前|天前|comments?|views?)?$", re.IGNORECASE
)
SENTENCE = re.compile(r"[，。！？：；“”《》、—…]|[!?:;]\s|['’]s\b|\w, \w|[!?]$|(?<=[\u3400-\u9fff])[\s:!?,](?=[\u3400-\u9fff])")
# Upper limits of title lengths and their features; headlines on Chinese front pages have 7 to 30 characters.
LENGTHS = ((1, "text-none"), (4, "text-tiny"), (7, "text-short"), (11, "text-middling"), (18, "text-title"))


def score_anchors(anchors: Sequence[Anchor], page: Address) -> list[float]:
    """Return a score from 0 to 1 for each anchor of a page, in order; 0.5 and more means article."""
    form = find_board_form(anchors, page)
    all_facts = [link_features(anchor, page, form) for anchor in anchors]
    logits = [BIAS + sum(filter(None, map(WEIGHTS.get, found))) for found in all_facts]
    patterns = [url_pattern(anchor.address) for anchor in anchors]
    voters: dict[str, list[float]] = defaultdict(list)
    for shape, found, value in zip(patterns, all_facts, logits, strict=True):
        if not found & NOT_AVERAGED:
            voters[shape].append(value)
    found_scores = []
    for shape, value in zip(patterns, logits, strict=True):
        peers = voters.get(shape, ())
        share = PATTERN_SHARE * len(peers) / (len(peers) + 2)
        found_scores.append(_sigmoid(value + share * (sum(peers) / len(peers) - value) if peers else value))
    return found_scores


def link_features(anchor: Anchor, page: Address, form: ThreadForm | None) -> set[str]:
    """Return the names of all features of a link; those without a weight do not affect its score."""
    length = anchor.length
    found = {next((name for limit, name in LENGTHS if length < limit), "text-long")} | anchor.places | anchor.address.features
    if length and COMMAND.match(anchor.text[:80]):
        found.add("text-command")
    if length and NUMBER.match(anchor.text[:40]):
        found.add("text-number")
    if SENTENCE.search(anchor.text):
        found.add("text-sentence")
    if "url-thread" in found:
        found.add("thread-on-board" if form and anchor.address.thread_form == form else "thread-elsewhere")
    if anchor.address.same_page.rstrip("/") == page.same_page.rstrip("/"):
        found.add("url-self")
    if anchor.address.domain != page.domain:
        found.add("url-foreign")
    return found


def find_board_form(anchors: Sequence[Anchor], page: Address) -> ThreadForm | None:
    """Return the URL form of the threads of a board, or ``None`` if the page is no board: neither its URL nor most of its headlines look
    like one. All threads of a board's list have one form, those in boxes beside it have others."""
    titled = [anchor for anchor in anchors if anchor.length >= MIN_SUBJECT and "url-later-page" not in anchor.address.features]
    forms = Counter(form for anchor in titled if (form := anchor.address.thread_form))
    if not forms:
        return None
    headlines = [anchor for anchor in titled if anchor.length >= MIN_HEADLINE_LENGTH]
    threads = sum(1 for anchor in headlines if anchor.address.thread_form)
    many = threads >= max(BOARD_HEADLINES, BOARD_SHARE * len(headlines))
    return max(forms, key=lambda form: forms[form]) if many or BOARD.search(page.url[:MAX_EXAMINED_CHARS]) else None


def add_evidence(score: float, logits: float) -> float:
    """Return ``score`` raised by ``logits`` of evidence."""
    share = min(max(score, 1e-9), 1 - 1e-9)
    return _sigmoid(math.log(share / (1 - share)) + logits)


def _sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-max(-MAX_LOGIT, min(MAX_LOGIT, logit))))
