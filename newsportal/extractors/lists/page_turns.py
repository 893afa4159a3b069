"""Links that turn the page: next pages, page numbers, single-page views; and the context they are in."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from newsportal.extractors.article.hints import ancestors
from newsportal.extractors.lists.page_marks import last_id, last_name, marks_of
from newsportal.text import dom

# Texts of pager links: 「下一页」 and similar, page numbers, 「单页阅读」. Shared by the pagers of lists and of articles.

NEXT_PAGE: Final = (
    r"下一?[页頁]|[后後]一?[页頁]|翻下[页頁]|(?:余下|剩余)(?:全文|内容)|次(?:の)?ページ|次へ|다음\s?페이지|next\s?page"
    r"|(?:continue|go|continue reading) (?:on|to) (?:the next page|page \d+)|lesen sie (?:mehr )?auf (?:der n[äa]chsten )?seite"
    r"|weiter (?:zu|auf|mit) seite \d|auf seite \d|n[äa]chste[rn]? seite"
    r"|weiter zur n[äa]chsten seite|page suivante|p[áa]gina s(?:iguient|eguint)e|pagina successiva|prossima pagina"
    r"|volgende pagina|следующая страница"
)  # words that name the next *page*, in the languages of the development set
NEXT: Final = re.compile(
    r"^[\s\[(<【]*(?:下一?[页頁]|[后後]一?[页頁]|下一个?|翻下页|next(?: page| posts)?|older(?: posts| entries| articles)?|[>›»→]{1,2})"
    r"[\s\])>›»→】]*$",
    re.IGNORECASE,
)  # a link to the next page of a list; matches the full link text
NEXT_PAGE_LINK: Final = re.compile(rf"^[\s\[(（【<>›»→·|]*(?:{NEXT_PAGE})", re.IGNORECASE)  # the heading of the next page may follow
NEXT_ITEM: Final = re.compile(
    r"^[\s\[(（【]*(?:下一[个張张图幅]?|后一[个张]|next|weiter|suivante?|siguiente|seguinte|successiv[ao]|avanti|volgende|далее|[>›»→▶]{1,3})[\s\])）】>›»→▶]*$",
    re.IGNORECASE,
)  # a link to the next page or to something else: accepted only if its URL continues this one
NUMBER: Final = re.compile(
    r"^[\s\[(（【·]*(?:第|page|seite|p[áa]gina|pagina)?\s*(\d{1,3})\s*[页頁]?(?:[\s\])）】·]*$|\s*[:：—–-])", re.IGNORECASE
)  # 「2」, 「[2]」, 「第2页」, 「Page 2」, 「第2页：路上」
SINGLE_PAGE: Final = re.compile(
    r"^[\s\[(（【>»]*(?:(?:在)?本[页頁](?:阅读|顯示|显示)?全文|(?:阅读|閱讀|查看|浏览|展开|显示|顯示)?(?:全文|全部(?:内容)?)(?:阅读|閱讀)?|单[页頁](?:阅读|浏览|显示)?"
    r"|單[页頁](?:閱讀|瀏覽|顯示)?"
    r"|(?:view|read|show)?\s*(?:as|on)?\s*(?:(?:a\s+)?(?:single|one)[- ]page|full article|all pages|entire article)(?:\s+view)?|view all"
    r"|(?:artikel )?auf einer seite(?: lesen| anzeigen)?|(?:lire )?(?:l.article )?(?:sur|en) une (?:seule )?page|todo en una p[áa]gina"
    r"|全て表示|1ページで(?:読む|表示))"
    r"[\s\])）】>»]*$",
    re.IGNORECASE,
)  # a link to a single-page view of the article
BRACKETS: Final = " \t\n[(（【<>›»→·|▶"
BEGINNINGS: Final = frozenset("0123456789第下后後翻余剩次다页頁在本阅閱查浏展显顯全单單следСЛЕДдД") | frozenset(
    "acdefglnoprstvwACDEFGLNOPRSTVW"
)  # first characters of pager texts, after brackets; titles of other articles mostly begin otherwise
POSSIBLE_BEGINNINGS: Final = BEGINNINGS.union(BRACKETS, filter(str.isspace, map(chr, range(0x3001))))
MAX_FULL_MATCH: Final = 40  # characters: longest text that is matched in full
Kind = Literal["next", "declared", "onward", "number", "whole", "canonical"]
NO_LABEL: Final[tuple[Kind | None, int]] = (None, 0)
DISABLED_CLASSES: Final = frozenset("disabled disable inactive nolink".split())
MAX_ANCHORS: Final = 5_000
MAX_LABEL: Final = 60  # characters of a link's text that are read: the heading of the next page may follow 「下一页」
MAX_INSIDE: Final = 30  # elements within a link; pager links contain few
MIN_KEY_CHARS: Final = 4  # shorter names (``/t/1.html``) occur in too many URLs to filter links by them
BASE_URL: Final = "http://page.invalid/"  # base URL to join the relative links of a page without URL (reserved by RFC 6761)
ASIDE: Final = re.compile(
    r"(?:^|[\s_-])(?:js-)?(?:comments?|commentlist|comment-?(?:section|list|area|box|page)|cmts?|repl(?:y|ies)|pinglun|liuyan|disqus|respond|related|"
    r"recommend(?:ed|ation)?s?|xiangguan|tuijian|calendar|rili)(?:$|[\s_-])",
    re.IGNORECASE,
)  # class and id of elements beside an article
ASIDE_LEVELS: Final = 6
COMMENTS: Final = re.compile(
    r"(?:评论|評論|留言|跟帖|回复|回覆|コメント|댓글|comment|repl(?:y|ies)|discussion|отзыв|комментари|coment[aá]rio|commentaire)",
    re.IGNORECASE,
)
MAX_HEADING: Final = 40  # characters: a longer text above a pager is not a heading but the article's text
COMMENT_LINK: Final = re.compile(r"#\w*(?:comment|reply|respond|cmt|pinglun)|[?&](?:cpage|comment\w*|replytocom)=", re.IGNORECASE)


def page_turn_text(text: str) -> tuple[Kind | None, int]:
    if text[:1] not in BEGINNINGS:
        start = text.lstrip(BRACKETS)[:1]
        if start and start not in BEGINNINGS:
            return NO_LABEL
    if match := NUMBER.match(text):
        return "number", int(match[1])
    if NEXT_PAGE_LINK.match(text):
        return "next", 0
    if len(text) > MAX_FULL_MATCH:
        return NO_LABEL
    if NEXT_ITEM.match(text):
        return "onward", 0
    return ("whole", 0) if SINGLE_PAGE.match(text) else NO_LABEL


def is_disabled(node: dom.Element) -> bool:
    """Return whether a link is marked as disabled: the next link on the last page."""
    return bool(DISABLED_CLASSES & set((node.get("class") or "").lower().split()))


@dataclass(frozen=True, slots=True)
class PagerLink:
    """A link that turns the page. ``number``: the page number in its text, for the kind ``number``, else 0."""

    kind: Kind
    number: int
    url: str
    node: dom.Element


def pager_links(document: dom.Document) -> Iterator[PagerLink]:
    """Yield the links that turn the page. Two cheap checks of URL and first character exclude most of a page's hundreds of links."""
    # a URL that continues this one is relative or contains this: the shortest last name of its interpretations
    key = min((last_id(place.stem) or last_name(place.stem) for place in marks_of(document.url)), key=len, default="")
    selective = len(key) >= MIN_KEY_CHARS and key.isascii()
    for number, node in enumerate(document.root.iter("a", "link", "option")):
        href = node.get("href") or node.get("value")
        if not href or number > MAX_ANCHORS:
            continue
        if selective and key not in href and "/" in href and not href.startswith(("?", "./")):
            continue
        text = node.text
        if text and text[0] not in POSSIBLE_BEGINNINGS and not len(node) and node.get("rel") is None and node.tag != "link":
            continue  # as most links: the title of another page
        kind, page = _link_label(node)
        if kind is None or COMMENT_LINK.search(href) or is_disabled(node):
            continue
        if (url := absolute_url(document, href)) is not None:
            yield PagerLink(kind, page, url, node)


def absolute_url(document: dom.Document, href: str) -> str | None:
    base = document.base
    return dom.join(base if base.startswith("http") else BASE_URL, href)


def _link_label(node: dom.Element) -> tuple[Kind | None, int]:
    """Return kind and page number of a link by its text, else by its ``rel``."""
    head = node.tag == "link"
    if not head:
        text = link_label(node) or node.get("title") or node.get("aria-label")
        if not text:
            image = next(node.iter("img"), None) if len(node) else None
            text = image.get("alt") if image is not None else None
        kind, page = page_turn_text((text or "")[:MAX_LABEL])
        if kind is not None:
            return kind, page
    rel = node.get("rel")
    if not rel:
        return None, 0
    words = rel.lower().split()
    return ("declared" if "next" in words else "canonical" if head and "canonical" in words else None), 0


def link_label(node: dom.Element) -> str:
    """Return the text of a link; empty for links with many elements, so that unclosed links are cheap."""
    if not len(node):
        text = node.text
        return text.strip() if text else ""
    return dom.text_of(node) if sum(1 for _ in islice(node.iterdescendants(), MAX_INSIDE + 1)) <= MAX_INSIDE else ""


def is_aside(node: dom.Element) -> bool:
    around = (node, *ancestors(node, ASIDE_LEVELS - 1, ("body", "html", "article", "main")))
    return any(ASIDE.search(f"{above.get('class') or ''} {above.get('id') or ''}") for above in around)


def is_under_comments(node: dom.Element) -> bool:
    """Return whether a comment form or heading is just above: pagers of comments continue the article's URL with a parameter."""
    for above in (node, *ancestors(node, ASIDE_LEVELS - 1)):
        before = above.getprevious()
        for _ in range(ASIDE_LEVELS):
            if before is None:
                break
            text = dom.text_of(before)
            if len(text) > MAX_HEADING * 5:
                return False  # the article's text, which the pager belongs to
            if (len(text) <= MAX_HEADING and COMMENTS.search(text)) or next(before.iter("textarea"), None) is not None:
                return True
            before = before.getprevious()
    return False
