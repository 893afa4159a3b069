"""Traps and false claims of servers, all harmless, with the expected handling by a crawler.

``expect`` is one of: ``store`` (a good article with misleading URLs or errors, stored once), ``skip`` (responds, but is no article),
``fail`` (a counted failure), ``refuse`` (its redirect must not be followed), ``bounded`` (the crawl ends although the server does not),
``survive`` (stored or failed, without harm to the rest).
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from html import escape
from zlib import crc32

from madeup.exchange import Request, Response, page, redirect
from madeup.hubs import Hub
from madeup.layouts import layout
from madeup.pictures import png
from madeup.render import article_page, comments_path
from madeup.world import LARGEST, Copy, World

MAZE = "maze"
NESTED_TAGS = 49_000
PAYLOADS = (
    "<script>document.title='stolen'</script>",
    '<img src="x" onerror="document.title=1">',
    '<a href="java&#9;script:alert(1)">按这里</a>',
    '<svg><p><style><g title="</style><img src=x onerror=alert(1)>"></svg>',
    '<iframe srcdoc="&lt;script&gt;alert(1)&lt;/script&gt;"></iframe>',
    '<meta http-equiv="refresh" content="9;url=/story/1.html"><base href="/elsewhere/">',
    '<form action="/login"><input name="password"></form>',
)
"""Must not be active when the stored page is shown."""

XSS_TITLE = "<script>alert('title')</script>"
MARKS = "\u200b\u202e\u00ad\ufeff"
"""Zero-width space, right-to-left override, soft hyphen, byte order mark."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of the endless traps: bytes, seconds, and tags of one page."""

    slow: float = 0.3
    endless: int = 32 * 1024 * 1024
    bomb: int = 64 * 1024 * 1024
    tags: int = 1_500_000


Answer = Callable[[World, Request, Limits], Response]


@dataclass(frozen=True, slots=True)
class Trap:
    """``title`` is the text of the link to it. A trap in an article has the article's id as name, and no title."""

    name: str
    title: str
    expect: str
    why: str
    answer: Answer

    @property
    def path(self) -> str:
        return path_of(self.name)


def path_of(name: str) -> str:
    """Return the path of a trap: like those of articles, so that a crawler requests it, but with a number that no article has."""
    return f"/story/{LARGEST + crc32(name.encode()) % 100_000}.html"


def _text(html: str, status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> Answer:
    return lambda world, request, limits: page(html, status, headers)


def _to(location: str) -> Answer:
    return lambda world, request, limits: redirect(location)


def _copy(world: World, story: str) -> Copy:
    return next(copy for copy in world.of(MAZE) if copy.story == story)


def _session(world: World, request: Request, limits: Limits) -> Response:
    return article_page(world, _copy(world, "maze-session"))


def _slugs(world: World, request: Request, limits: Limits) -> Response:
    """The page declares its canonical URL; the links to it differ."""
    copy = _copy(world, "maze-slugs")
    return article_page(world, copy, head=f'<link rel="canonical" href="{copy.path}">')


def _xss(world: World, request: Request, limits: Limits) -> Response:
    copy = _copy(world, "maze-xss")
    body = "".join(f"<p>{escape(block.text)}{payload}</p>" for block, payload in zip(copy.blocks * 4, PAYLOADS, strict=False))
    return article_page(world, copy, title=escape(f"{copy.title} {XSS_TITLE}"), body=f'<div onmouseover="alert(2)">{body}</div>')


def _marks(world: World, request: Request, limits: Limits) -> Response:
    copy = _copy(world, "maze-marks")
    title = escape(copy.title)
    return article_page(world, copy, title=f"{title[:2]}{MARKS}{title[2:]}\x00")


def _canonical(world: World, request: Request, limits: Limits) -> Response:
    return article_page(world, _copy(world, "maze-canonical"), head='<link rel="canonical" href="/">')


def _flaky(world: World, request: Request, limits: Limits) -> Response:
    if request.nth == 1:
        return page("<h1>503 Service Unavailable</h1>", 503, (("Retry-After", "0"),))
    return article_page(world, _copy(world, "maze-flaky"))


def _circle(world: World, request: Request, limits: Limits) -> Response:
    """Every page links to a next one; the last one to the second."""
    copy = _copy(world, "maze-circle")
    _, number = world.by_path[copy.site, request.path]
    following = copy.paths[number if number < len(copy.paths) else 1]
    return article_page(world, copy, number, related=f'<a href="{following}">下一页</a>')


def _slow(world: World, request: Request, limits: Limits) -> Response:
    return replace(article_page(world, _copy(world, "maze-slow")), wait=limits.slow)


def _nested(world: World, request: Request, limits: Limits) -> Response:
    return article_page(world, _copy(world, "maze-nested"), head="<div>" * NESTED_TAGS)


def _wrong_type(world: World, request: Request, limits: Limits) -> Response:
    return replace(article_page(world, _copy(world, "maze-type")), content_type="application/octet-stream")


def _endless(world: World, request: Request, limits: Limits) -> Response:
    def chunks() -> Iterator[bytes]:
        yield "<html><head><title>没有尽头的一页</title></head><body>".encode()
        for _ in range(limits.endless // 65_536):
            yield b"<p>" + b"endless " * 8_191 + b"</p>\n"

    return Response(stream=chunks())


def _trickle(world: World, request: Request, limits: Limits) -> Response:
    def drops() -> Iterator[bytes]:
        for letter in b"<p>one at a time</p></html>":
            time.sleep(limits.slow / 10)
            yield bytes((letter,))

    return Response(stream=drops())


def _bomb(world: World, request: Request, limits: Limits) -> Response:
    packed = gzip.compress(b"<p>" + b"0" * limits.bomb, compresslevel=6, mtime=0)
    return Response(body=packed, headers=(("Content-Encoding", "gzip"),))


def _tags(world: World, request: Request, limits: Limits) -> Response:
    packed = gzip.compress(b"<p>a" * limits.tags, compresslevel=6, mtime=0)
    return Response(body=packed, headers=(("Content-Encoding", "gzip"),))


def _digest(world: World, request: Request, limits: Limits) -> Response:
    lines = "".join(f'<p><a href="{copy.path}">{escape(copy.title)}</a>：{escape(copy.lead[:50])}……</p>' for copy in world.of(MAZE))
    return _shell("今日要闻速览", f"<p>{world.now:%Y-%m-%d %H:%M}</p>{lines}")


def _photo(world: World, request: Request, limits: Limits) -> Response:
    return Response(body=png("a picture that says it is a page"))


def _shell(title: str, text: str) -> Response:
    return page(layout("traps")["shell"].substitute(title=escape(title), text=text))


def _told(title: str, section: str) -> Answer:
    return lambda world, request, limits: _shell(title, layout("traps")[section].template)


def _busy(retry_after: str) -> Answer:
    return _text("<h1>503 Service Unavailable</h1>", 503, (("Retry-After", retry_after),))


METADATA = "http://169.254.169.254/latest/meta-data/"

TRAPS: tuple[Trap, ...] = (
    Trap("missing", "有人在镇外寻找一条不存在的路", "fail", "404", _text("<h1>404</h1>", status=404)),
    Trap("broken", "老磨坊的机器说它今天不想上班", "fail", "500 every time", _text("<h1>500</h1>", status=500)),
    Trap("busy", "豆腐铺门前今天排队的人太多了", "fail", "503 with Retry-After in seconds", _busy("120")),
    Trap("busy-date", "时间胶囊封存 请十年以后再来看看", "fail", "503, Retry-After in 2038", _busy("Fri, 31 Dec 2038 23:59:59 GMT")),
    Trap("busy-negative", "旅店等来一位昨天就该到的客人", "fail", "503 with a negative Retry-After", _busy("-5")),
    Trap("soft404", "开了四十年的老照相馆搬走了", "skip", "a missing page answered with 200", _told("页面不存在", "gone")),
    Trap("empty", "展览馆里一张白纸也有话要说", "skip", "200 without a body", _text("")),
    Trap("login", "深度：迷宫镇地下水道的一百年", "skip", "a login page answered with 200", _told("会员登录", "login")),
    Trap("challenge", "迷宫镇来了一位不说话的检票员", "skip", "a captcha page answered with 200", _told("安全验证", "challenge")),
    Trap("photo", "三十张照片里的迷宫镇集市", "skip", "a PNG labelled text/html", _photo),
    Trap("digest", "今日要闻速览", "skip", "a list of links that looks like an article", _digest),
    Trap("loop-a", "绕镇一圈的环形公路今天通车", "fail", "a redirect loop", _to(path_of("loop-b"))),
    Trap("loop-b", "环形公路的另外一半明年动工", "fail", "a redirect loop", _to(path_of("loop-a"))),
    Trap("hop-a", "一步一步走到云端去的登山队", "refuse", "169.254.169.254 at the third hop", _to(path_of("hop-b"))),
    Trap("hop-b", "登山队来信：再走一步就到云端", "refuse", "169.254.169.254 at the second hop", _to(path_of("to-metadata"))),
    Trap("to-file", "档案室里找到一份没有署名的文件", "refuse", "a redirect to file:///etc/passwd", _to("file:///etc/passwd")),
    Trap("to-metadata", "云端来信：一座机房的自我介绍", "refuse", "a redirect to 169.254.169.254", _to(METADATA)),
    Trap("endless", "说书人开讲 一个没有结尾的故事", "bounded", "a body that does not end", _endless),
    Trap("trickle", "电报局最后一夜 一个字一个字地说话", "survive", "a body that arrives byte by byte", _trickle),
    Trap("bomb", "儿童乐园新添打开就变大的气球屋", "bounded", "a small gzip body that becomes large", _bomb),
    Trap("tags", "糖果店的货架上数不清有多少颗糖", "bounded", "a small gzip body of more tags than a page can have", _tags),
)
STORY_TRAPS: tuple[Trap, ...] = (
    Trap("maze-xss", "", "store", "script in title and body", _xss),
    Trap("maze-marks", "", "store", "NUL, zero-width and direction marks in the title", _marks),
    Trap("maze-canonical", "", "store", "rel=canonical points at the front page", _canonical),
    Trap("maze-flaky", "", "store", "503 at the first visit, then 200", _flaky),
    Trap("maze-slow", "", "store", "answers late", _slow),
    Trap("maze-nested", "", "survive", "100,000 nested elements", _nested),
    Trap("maze-type", "", "survive", "an article labelled application/octet-stream", _wrong_type),
    Trap("maze-circle", "", "store", "a pager that runs in a circle", _circle),
    Trap("maze-session", "", "store", "a session id that differs on every list", _session),
    Trap("maze-slugs", "", "store", "one article under any slug", _slugs),
)
BY_PATH = {trap.path: trap for trap in TRAPS}
BY_STORY = {trap.name: trap for trap in STORY_TRAPS}


def links(world: World, hub: Hub) -> str:
    """Return the links of a maze list besides its articles. Session ids and slugs differ from list to list."""
    session, slugs = _copy(world, "maze-session"), _copy(world, "maze-slugs")
    mark = blake2b(hub.path.encode(), digest_size=16).hexdigest()
    ways = (f"?sid={mark}", f";jsessionid={mark.upper()}", f"?utm_source={hub.kind}&utm_medium=list", "?from=list")
    more = [(session.path + way, session.title) for way in ways]
    more += [(f"/story/{slugs.number}/{slug}-{mark[:4]}", slugs.title) for slug in ("qiao", "bridge", "nine-names")]
    more += [(calendar_path(world.now.year, world.now.month), "活动日历"), ("/deep/a/b/", "镇志目录")]
    more += [(trap.path, trap.title) for trap in TRAPS] if hub.kind == "front" else []
    return "".join(f'<li><a href="{escape(href)}">{escape(title)}</a></li>' for href, title in more)


def calendar_path(year: int, month: int) -> str:
    return f"/calendar?month={year + (month - 1) // 12}-{(month - 1) % 12 + 1:02}"


def maze_response(world: World, request: Request, limits: Limits) -> Response | None:
    """Return the response of a trap; ``None`` if there is none."""
    trap = BY_PATH.get(request.path)
    if trap:
        return trap.answer(world, request, limits)
    if request.path == "/calendar":
        return _calendar(request.parameter("month"))
    if request.path.startswith("/deep/"):
        return _shell("镇志目录", layout("traps")["deep"].template)
    for story, sign, answer in (("maze-slugs", "/", _slugs), ("maze-session", ".html;", _session)):
        if request.path.startswith(f"/story/{_copy(world, story).number}{sign}"):
            return answer(world, request, limits)
    return None


def _calendar(month: str) -> Response | None:
    year, _, number = month.partition("-")
    if not (year.isdecimal() and number.isdecimal() and len(year) <= 6 and 1 <= int(number) <= 12):
        return None
    steps = ((-1, "上个月"), (1, "下个月"))
    ways = "".join(f'<a href="{calendar_path(int(year), int(number) + step)}">{word}</a> ' for step, word in steps)
    days = "".join(f'<a href="/calendar?month={month}&amp;day={day}">{day}</a> ' for day in range(1, 29))
    return _shell(f"活动日历 {month}", f"<p>{days}</p><p>{ways}</p>")


COMMENTS = (
    "这条消息我等了很久，终于有人写出来了。",
    "写得真好，转给家里的老人看了。",
    "有没有去过的朋友说说实际情况？",
    "记者能不能再跟进一下后续？",
)


def comments_response(world: World, request: Request) -> Response | None:
    """Return the comment page of an article, whose title and URL look like the article's."""
    copy = next((copy for copy in world.of(request.site) if comments_path(copy) == request.path), None)
    if copy is None:
        return None
    row = layout("traps")["comment"]
    rows = "".join(row.substitute(number=copy.number % 89 + floor, floor=floor, said=text) for floor, text in enumerate(COMMENTS, start=1))
    return _shell(f"{copy.title}_评论", f"<p><a href='{copy.path}'>查看原文</a> 共{len(COMMENTS)}条评论</p>{rows}")
