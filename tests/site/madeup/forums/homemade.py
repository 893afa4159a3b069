# ruff: noqa: E501  (markup and sentences are read best on one line)
"""半坡村口, a forum with home-made software: its paths have no pattern (``/s/3``, ``/v/501``) and contain a session id."""

from __future__ import annotations

import re
from hashlib import md5
from html import escape
from itertools import count

from madeup.exchange import Request, Response
from madeup.forums import markup
from madeup.forums.world import Board, Forum, Post, Thread

SESSIONS = count()


def answer(forum: Forum, day: int, request: Request) -> Response:
    path = request.path.partition(";")[0]
    sid = md5(str(next(SESSIONS)).encode(), usedforsecurity=False).hexdigest().upper()
    parts = [part for part in path.split("/") if part]
    if not parts:
        return _page(forum, forum.name, _front(forum, day), sid)
    number = int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else 0
    at = int(parts[2]) if len(parts) > 2 and parts[2].isdigit() else 1
    if parts[0] == "s" and (board := forum.board(number)):
        return _walled(forum, sid) if board.walled else _page(forum, board.name, _board(forum, board, day, at), sid)
    if parts[0] == "v" and (found := forum.thread(number)):
        return _walled(forum, sid) if found[0].walled else _page(forum, found[1].title, _thread(*found, day, at), sid)
    if parts[0] == "k":
        return _page(forum, "日历", _calendar("-".join(parts[1:3])), sid)
    if parts[0] == "m":
        return _page(forum, "村民", "<h2>村民资料</h2><p>入村时间：2018-06-09</p>", sid)
    return markup.not_found()


def _page(forum: Forum, title: str, body: str, sid: str) -> Response:
    html = (
        f'<!doctype html><html lang="zh"><head><meta charset="utf-8"><title>{escape(title)} | {forum.name}</title></head><body><nav><a href="/">村口</a> <a href="/login">登录</a> <a href="/k/2026/03">农历</a></nav>'
        f'<main>{body}</main><footer><a href="/about">关于</a></footer></body></html>'
    )
    return markup.page(re.sub(r'href="(/[svm]/[^"]*)"', rf'href="\1;jsessionid={sid}"', html))


def _walled(forum: Forum, sid: str) -> Response:
    return _page(
        forum,
        "请先登录",
        "<div class=tip><p>登录以后才能看这个版块。</p><form><input name=u><input type=password name=p></form></div>",
        sid,
    )


def _front(forum: Forum, day: int) -> str:
    rows = "".join(
        f'<li><a href="/s/{board.number}">{board.name}</a> <span>主题 {len(board.threads)}</span> <small>最后发言 {markup.stamp(board.listed(day)[-2].last(day))}</small></li>'
        for board in forum.boards
        if not board.above
    )
    return f"<h1>{forum.name}</h1><ul class=sections>{rows}</ul>"


def _pager(form: str, at: int, pages: int) -> str:
    links = [f"<b>{n}</b>" if n == at else f'<a href="{form}{f"/{n}" if n > 1 else ""}">{n}</a>' for n in range(1, pages + 1)]
    following = f' <a href="{form}/{at + 1}">下一页</a>' if at < pages else ""
    return f"<p class=pager>{' '.join(links)}{following}</p>" if pages > 1 else ""


def _board(forum: Forum, board: Board, day: int, at: int) -> str:
    below = "".join(
        f'<li><a href="/s/{other.number}">{other.name}</a> <span>主题 {len(other.threads)}</span></li>'
        for other in forum.boards
        if other.above == board.number
    )
    rows = "".join(
        f'<li>{"<i class=top>顶</i> " if thread.sticky else ""}<a href="/v/{thread.number}">{escape(thread.title)}</a> <a href="/m/{markup.member(thread.posts[0].author)}">{thread.posts[0].author}</a>'
        f" <span>{len(thread.shown(day)) - 1} 回复</span> <time>{markup.stamp(thread.last(day))}</time></li>"
        for thread in board.page(day, at)
    )
    return f"<h1>{board.name}</h1>{f'<ul class=sections>{below}</ul>' if below else ''}<ul class=topics>{rows}</ul>{_pager(f'/s/{board.number}', at, board.pages(day))}"


def _thread(board: Board, thread: Thread, day: int, at: int) -> str:
    at = min(max(at, 1), thread.pages(day))
    posts = "".join(_post(thread, post, day) for post in thread.page(day, at))
    return f'<p><a href="/s/{board.number}">{board.name}</a></p><h1>{escape(thread.title)}</h1>{posts}{_pager(f"/v/{thread.number}", at, thread.pages(day))}<form><textarea></textarea><button>回复</button></form>'


def _post(thread: Thread, post: Post, day: int) -> str:
    quote = f"<blockquote>{post.quote[0]}：{escape(post.quote[1])}</blockquote>" if post.quote else ""
    picture = f'<p><img src="{thread.picture}" width=500></p>' if post.floor == 1 and thread.picture else ""
    text = "".join(f"<p>{escape(line)}</p>" for line in post.said(day))
    return (
        f'<section class=floor id="f{post.number}"><header><a class=who href="/m/{markup.member(post.author)}">{post.author}</a> <time>{markup.stamp(post.written)}</time> <span class=nr>{post.floor}楼</span></header>'
        f'<div class=words>{quote}{text}{picture}</div><footer><a href="/reply/{post.number}">回复</a> <a href="/report/{post.number}">举报</a></footer></section>'
    )


def _calendar(text: str) -> str:
    before, after = (markup.month(text, step).replace("-", "/") for step in (-1, 1))
    return f'<h1>{text}</h1><a href="/k/{before}">上个月</a> <a href="/k/{after}">下个月</a>'
