"""Three search engines over the made-up Web: one with redirect links, one that soon shows a captcha, one in a legacy encoding."""

from __future__ import annotations

from datetime import datetime
from hashlib import blake2b
from html import escape
from urllib.parse import quote

from madeup.characters import simplified
from madeup.exchange import Request, Response, page, redirect
from madeup.layouts import layout
from madeup.sites import SITES
from madeup.world import Copy, World

PAGE_RESULTS = 10
SUMMARY_CHARS = 90
CAPTCHA_AFTER = 3
"""Result pages before the second engine shows a captcha."""

PATHS = {
    "baixun": "/search?q=##QUERY##&start=##START##",
    "wansou": "/web?wd=##QUERY##&pn=##START##",
    "kuaiwen": "/s?word=##QUERY##&p=##START##",
}
"""Paths of each engine's result pages, in the form of ``sources.yaml``."""

UNLISTED = frozenset({"maze"})
"""Sites that the engines do not index."""


def found(world: World, query: str) -> list[Copy]:
    """Return the articles with every word of ``query`` in title, text or category, newest first."""
    words = simplified(query).lower().split()
    public = (copy for copy in world.copies if not copy.private and copy.site not in UNLISTED)
    return [copy for copy in public if all(word in _searched(copy) for word in words)] if words else []


def _searched(copy: Copy) -> str:
    return simplified(f"{copy.title}\n{copy.text}\n{copy.category}").lower()


def token(copy: Copy) -> str:
    """Return the identifier of an article in the first engine's redirect links."""
    return blake2b(f"{copy.site}/{copy.number}".encode(), digest_size=12).hexdigest()


def summary(copy: Copy, query: str) -> str:
    """Return the text around the first query word, or its beginning, with an ellipsis where it is cut."""
    text = copy.text.replace("\n", " ")
    start = max(0, text.find((query.split() or [""])[0]) - 20)
    end = start + SUMMARY_CHARS
    return ("..." if start else "") + text[start:end] + ("..." if end < len(text) else "")


def ago(moment: datetime, now: datetime) -> str:
    """Return a time as engines write it: minutes, hours, yesterday, else the date."""
    minutes = int((now - moment).total_seconds() // 60)
    if minutes < 60:
        return f"{minutes}分钟前"
    if minutes < 24 * 60 and moment.date() == now.date():
        return f"{minutes // 60}小时前"
    if (now.date() - moment.date()).days == 1:
        return f"昨天 {moment:%H:%M}"
    return f"{moment.year}年{moment.month}月{moment.day}日"


def engine_response(world: World, request: Request, captcha_after: int = CAPTCHA_AFTER) -> Response | None:
    """Return the response of an engine; ``None`` for an unknown path."""
    if request.path == "/":
        return page(f"<title>{request.site}</title><form action='{PATHS[request.site].partition('?')[0]}'><input name='q'></form>")
    if (request.site, request.path) == ("baixun", "/link"):
        copy = next((copy for copy in world.copies if token(copy) == request.parameter("url")), None)
        return redirect(world.url(copy.site, copy.path)) if copy else None
    if request.path != PATHS[request.site].partition("?")[0]:
        return None
    if request.site == "wansou" and request.nth > captcha_after:
        return captcha()
    return ENGINES[request.site](world, request)


def captcha() -> Response:
    return page(layout("wansou")["captcha"].template)


def _baixun(world: World, request: Request) -> Response:
    query, start = request.parameter("q"), _number(request.parameter("start"))
    ends = range(0, len(found(world, query)), PAGE_RESULTS)
    sections = layout("baixun")
    turns = "".join(
        sections["here" if end == start else "turn"].substitute(quoted=quote(query), start=end, number=number)
        for number, end in enumerate(ends, start=1)
    )
    return page(_filled(world, "baixun", query, start, turns))


def _wansou(world: World, request: Request) -> Response:
    query, start = request.parameter("wd"), _number(request.parameter("pn"))
    more = start + PAGE_RESULTS < len(found(world, query))
    turns = layout("wansou")["turn"].substitute(quoted=quote(query), start=start + PAGE_RESULTS) if more else ""
    return page(_filled(world, "wansou", query, start, turns))


def _kuaiwen(world: World, request: Request) -> Response:
    """Pages are numbered from 1, and words are encoded in GB 18030."""
    query, number = request.parameter("word", "gb18030"), max(1, _number(request.parameter("p")))
    turns = layout("kuaiwen")["turn"].substitute(quoted=quote(query.encode("gb18030")), next=number + 1)
    html = _filled(world, "kuaiwen", query, (number - 1) * PAGE_RESULTS, turns)
    return Response(content_type="text/html; charset=gb2312", body=html.encode("gb18030"))


ENGINES = {"baixun": _baixun, "wansou": _wansou, "kuaiwen": _kuaiwen}


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def _filled(world: World, key: str, query: str, start: int, turns: str) -> str:
    copies = found(world, query)
    sections = layout(key)
    numbered = enumerate(copies[start : start + PAGE_RESULTS], start=start + 1)
    rows = "".join(sections["row"].substitute(_row(world, copy, query), number=number) for number, copy in numbered)
    rows = rows or sections["none"].substitute(query=escape(query))
    return sections["page"].substitute(query=escape(query), count=len(copies), rows=rows, turns=turns)


def _row(world: World, copy: Copy, query: str) -> dict[str, str]:
    return {
        "title": escape(copy.title),
        "marked": _marked(copy.title, query),
        "url": escape(world.url(copy.site, copy.path)),
        "token": token(copy),
        "site": escape(SITES[copy.site].name),
        "ago": ago(copy.published, world.now),
        "date": f"{copy.published:%Y-%m-%d %H:%M}",
        "summary": _marked(summary(copy, query), query),
        "plain": escape(summary(copy, query)),
    }


def _marked(text: str, query: str) -> str:
    marked = escape(text)
    for word in query.split():
        marked = marked.replace(escape(word), f"<em>{escape(word)}</em>")
    return marked
