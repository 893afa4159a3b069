"""What pagers write on their links: 「下一页」 and its kin, page numbers, 「单页阅读」. Shared by the pagers of lists and of articles."""

from __future__ import annotations

import re
from typing import Final, Literal

from newsportal import dom

NEXT_PAGE: Final = (
    r"下一?[页頁]|[后後]一?[页頁]|翻下[页頁]|(?:余下|剩余)(?:全文|内容)|次(?:の)?ページ|次へ|다음\s?페이지|next\s?page"
    r"|(?:continue|go|continue reading) (?:on|to) (?:the next page|page \d+)|lesen sie (?:mehr )?auf (?:der n[äa]chsten )?seite"
    r"|weiter (?:zu|auf|mit) seite \d|auf seite \d|n[äa]chste[rn]? seite"
    r"|weiter zur n[äa]chsten seite|page suivante|p[áa]gina s(?:iguient|eguint)e|pagina successiva|prossima pagina"
    r"|volgende pagina|следующая страница"
)
"""Words that name the next *page*, in any of the languages of the development set."""

NEXT: Final = re.compile(
    r"^[\s\[(<【]*(?:下一?[页頁]|[后後]一?[页頁]|下一个?|翻下页|next(?: page| posts)?|older(?: posts| entries| articles)?|[>›»→]{1,2})"
    r"[\s\])>›»→】]*$",
    re.IGNORECASE,
)
"""A link to the next page of a list; the whole text of the link."""

FURTHER: Final = re.compile(rf"^[\s\[(（【<>›»→·|]*(?:{NEXT_PAGE})", re.IGNORECASE)
"""A link to the next page of an article; the words may be followed by the heading of that page."""

ONWARD: Final = re.compile(
    r"^[\s\[(（【]*(?:下一[个張张图幅]?|后一[个张]|next|weiter|suivante?|siguiente|seguinte|successiv[ao]|avanti|volgende|далее|[>›»→▶]{1,3})[\s\])）】>›»→▶]*$",
    re.IGNORECASE,
)
"""A link that goes on, to the next page or to something else: to be believed only where the address continues this one."""

NUMBER: Final = re.compile(
    r"^[\s\[(（【·]*(?:第|page|seite|p[áa]gina|pagina)?\s*(\d{1,3})\s*[页頁]?(?:[\s\])）】·]*$|\s*[:：—–-])", re.IGNORECASE
)
"""「2」, 「[2]」, 「第2页」, 「Page 2」, 「第2页：路上」."""

WHOLE: Final = re.compile(
    r"^[\s\[(（【>»]*(?:(?:在)?本[页頁](?:阅读|顯示|显示)?全文|(?:阅读|閱讀|查看|浏览|展开|显示|顯示)?(?:全文|全部(?:内容)?)(?:阅读|閱讀)?|单[页頁](?:阅读|浏览|显示)?"
    r"|單[页頁](?:閱讀|瀏覽|顯示)?"
    r"|(?:view|read|show)?\s*(?:as|on)?\s*(?:(?:a\s+)?(?:single|one)[- ]page|full article|all pages|entire article)(?:\s+view)?|view all"
    r"|(?:artikel )?auf einer seite(?: lesen| anzeigen)?|(?:lire )?(?:l.article )?(?:sur|en) une (?:seule )?page|todo en una p[áa]gina"
    r"|全て表示|1ページで(?:読む|表示))"
    r"[\s\])）】>»]*$",
    re.IGNORECASE,
)
"""A page that holds the whole article."""

BRACKETS: Final = " \t\n[(（【<>›»→·|▶"
BEGINNINGS: Final = frozenset("0123456789第下后後翻余剩次다页頁在本阅閱查浏展显顯全单單следСЛЕДдД") | frozenset(
    "acdefglnoprstvwACDEFGLNOPRSTVW"
)
"""How the words of a pager begin, brackets aside: the titles of other articles mostly begin otherwise."""

LONGEST: Final = 40  # characters: what is matched as a whole is no longer

Kind = Literal["next", "declared", "onward", "number", "whole", "canonical"]

NOTHING: Final[tuple[Kind | None, int]] = (None, 0)


def said(text: str) -> tuple[Kind | None, int]:
    """What the text of a link says about pages, and the page number if it is one."""
    if text[:1] not in BEGINNINGS:
        start = text.lstrip(BRACKETS)[:1]
        if start and start not in BEGINNINGS:
            return NOTHING
    match = NUMBER.match(text)
    if match:
        return "number", int(match[1])
    if FURTHER.match(text):
        return "next", 0
    if len(text) > LONGEST:
        return NOTHING
    if ONWARD.match(text):
        return "onward", 0
    return ("whole", 0) if WHOLE.match(text) else NOTHING


DEAD: Final = frozenset("disabled disable inactive nolink".split())


def dead(node: dom.Element) -> bool:
    """Whether a link says that it leads nowhere: the pager of the last page."""
    return bool(DEAD & set((node.get("class") or "").lower().split()))
