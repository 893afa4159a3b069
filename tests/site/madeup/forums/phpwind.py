# ruff: noqa: E501  (markup and sentences are read best on one line)
"""渡口论坛, in the structure of phpwind 8: a box per floor, the text beside the member, ``page=e`` for the last page."""

from __future__ import annotations

from html import escape

from madeup.exchange import Request, Response
from madeup.forums import markup
from madeup.forums.world import Board, Forum, Post, Thread


def answer(forum: Forum, day: int, request: Request) -> Response:
    path, at = request.path, request.parameter("page") or "1"
    if path in ("/", "/index.php"):
        return _page(forum, forum.name, _front(forum, day))
    if path == "/thread.php" and (board := forum.board(int(request.parameter("fid") or 0))):
        return _walled(forum) if board.walled else _page(forum, board.name, _board(forum, board, day, int(at)))
    if path == "/read.php" and (found_thread := forum.thread(int(request.parameter("tid") or 0))):
        board, thread = found_thread
        number = thread.pages(day) if at == "e" else int(at)
        return _walled(forum) if board.walled else _page(forum, f"{thread.title}|{board.name}", _thread(board, thread, day, number))
    if path == "/calendar.php":
        return _page(forum, "日历", _calendar(request.parameter("m")))
    if path == "/u.php":
        return _page(forum, "个人主页", "<div id='u-content'><h1>个人主页</h1><p>注册日期 2017-05-04</p><p>发帖 12</p></div>")
    return markup.not_found()


def _page(forum: Forum, title: str, body: str) -> Response:
    return markup.page(
        f'<!doctype html><html><head><meta charset="utf-8"><title>{escape(title)} - {forum.name} - Powered by phpwind</title>'
        '<meta name="generator" content="phpwind v8.7"></head><body><div id="header"><a href="login.php">登录</a> <a href="register.php">注册</a>'
        ' <a href="searcher.php">搜索</a> <a href="calendar.php?m=2026-03">日历</a></div>'
        f'<div id="main">{body}</div><div id="footer">Powered by <a href="http://www.example.org/">phpwind v8.7</a></div></body></html>'
    )


def _walled(forum: Forum) -> Response:
    return _page(
        forum,
        "提示信息",
        '<div class="regMessage"><p>您还没有登录或注册，暂时不能使用此功能!</p><form action="login.php"><input name="pwuser"><input type="password" name="pwpwd">'
        "<button>登录</button></form></div>",
    )


def _front(forum: Forum, day: int) -> str:
    rows = []
    for board in forum.boards:
        if board.above:
            continue
        last = board.listed(day)[0]
        tail = (
            f'<a href="read.php?tid={last.number}&amp;page=e#a" title="{escape(last.title)}">{escape(last.title[:14])}..</a>'
            f'<p><a href="u.php?username={last.posts[0].author}">{last.posts[0].author}</a> {last.last(day):%m-%d %H:%M}</p>'
        )
        rows.append(
            f'<tr class="tr3"><th><h3 class="fnamecolor"><a href="thread.php?fid={board.number}">{board.name}</a></h3><p class="smalltxt">欢迎来坐</p></th>'
            f"<td class='f10'>{len(board.threads)}/{len(board.threads) * 8}</td><td>{'' if board.walled else tail}</td></tr>"
        )
    return f'<div class="t"><table width="100%"><tr><td class="h" colspan="3">{forum.name}</td></tr>{"".join(rows)}</table></div>'


def _pager(form: str, at: int, pages: int) -> str:
    if pages < 2:
        return ""
    numbers = "".join(f"<b>{n}</b>" if n == at else f'<a href="{form}{n}">{n}</a>' for n in range(1, pages + 1))
    following = f'<a href="{form}{at + 1}" class="pages_next">下一页»</a>' if at < pages else ""
    return f'<div class="pages">{numbers}{following}<div class="fl">共{pages}页</div></div>'


def _board(forum: Forum, board: Board, day: int, at: int) -> str:
    below = "".join(
        f'<tr class="tr3"><th><h3><a href="thread.php?fid={other.number}">{other.name}</a></h3></th><td>{len(other.threads)}</td></tr>'
        for other in forum.boards
        if other.above == board.number
    )
    rows = "".join(_row(thread, day, at) for thread in board.page(day, at))
    return (
        f'<div id="breadCrumb"><a href="index.php">{forum.name}</a> &gt; <a href="thread.php?fid={board.number}">{board.name}</a></div>'
        + (f'<div id="cate_thread"><table>{below}</table></div>' if below else "")
        + f'<div id="ajaxtable"><table class="z"><tbody id="threadlist">{rows}</tbody></table></div>'
        + _pager(f"thread.php?fid={board.number}&amp;page=", at, board.pages(day))
    )


def _row(thread: Thread, day: int, at: int) -> str:
    posts = thread.shown(day)
    pages = " ".join(f'<a href="read.php?tid={thread.number}&amp;fpage={at}&amp;page={n}">{n}</a>' for n in range(2, thread.pages(day) + 1))
    icon = (
        '<img src="images/headtopic_1.gif" alt="置顶帖标志" title="置顶帖">'
        if thread.sticky
        else '<img src="images/topicnew.gif" alt="开放主题">'
    )
    return (
        f'<tr class="tr3"><td class="icon"><a href="read.php?tid={thread.number}" target="_blank">{icon}</a></td>'
        f'<td class="subject" id="td_{thread.number}"><a href="read.php?tid={thread.number}&amp;fpage={at}" id="a_ajax_{thread.number}" class="subject_t">'
        f"{escape(thread.title)}</a>{f'<span class=tpage>{pages}</span>' if pages else ''}</td>"
        f'<td class="author"><a href="u.php?username={thread.posts[0].author}">{thread.posts[0].author}</a><p>{thread.posts[0].written:%Y-%m-%d}</p></td>'
        f'<td class="num"><em>{len(posts) - 1}</em>/{markup.views(thread, day)}</td>'
        f'<td class="author"><a href="u.php?username={posts[-1].author}">{posts[-1].author}</a>'
        f'<p><a href="read.php?tid={thread.number}&amp;page=e#a">{thread.last(day):%Y-%m-%d %H:%M}</a></p></td></tr>'
    )


def _thread(board: Board, thread: Thread, day: int, at: int) -> str:
    at = min(max(at, 1), thread.pages(day))
    posts = "".join(_post(thread, post, day) for post in thread.page(day, at))
    pager = _pager(f"read.php?tid={thread.number}&amp;page=", at, thread.pages(day))
    return (
        f'<div id="breadCrumb"><a href="index.php">首页</a> &gt; <a href="thread.php?fid={board.number}">{board.name}</a> &gt; {escape(thread.title)}</div>{pager}'
        f'<form name="delatc"><div id="pw_content">{posts}</div></form>{pager}<div id="fastreply"><textarea></textarea><button>发表回复</button></div>'
    )


def _post(thread: Thread, post: Post, day: int) -> str:
    place = "tpc" if post.floor == 1 else str(post.number)
    quote = (
        f'<blockquote class="blockquote3"><div class="quote2">引用</div><div class="text">引用第{post.floor - 1}楼{post.quote[0]}于2026-03-01 08:00发表的&nbsp; :<br>{escape(post.quote[1])}</div></blockquote>'
        if post.quote
        else ""
    )
    extra = ""
    if post.floor == 1 and thread.poll:
        extra += f'<div class="vote"><h4>投票（单选）</h4>{"".join(f"<p><input type=radio> {text} 3票</p>" for text in thread.poll)}</div>'
    if post.floor == 1 and thread.attachment:
        extra += f'<div class="attach"><a href="job.php?action=download&amp;aid={thread.number}">附件：{thread.attachment}</a> (12 K) 下载次数:8</div>'
    if post.floor == 1 and thread.picture:
        extra += f'<br><img src="{thread.picture}" border="0" onclick="window.open(this.src)" />'
    title = f'<h1 id="subject_tpc" class="read_h1">{escape(thread.title)}</h1>' if post.floor == 1 else ""
    name = "楼主" if post.floor == 1 else f"{post.floor - 1}楼"
    return (
        f'<div class="read_t" id="readfloor_{place}"><a name="{post.number}"></a><table width="100%"><tr><td class="floot_left" rowspan="2">'
        f'<div class="readName"><a href="u.php?uid={markup.member(post.author)}">{post.author}</a></div><img src="images/face.jpg" width="120">'
        '<ul class="user-info"><li>级别: 侠客</li><li>发帖: <span>88</span></li><li>注册时间: 2017-05-04</li></ul></td>'
        f'<td class="floot_right"><div class="tipTop"><a class="s2 b cp" onclick="copyFloorUrl()">{name}</a>&nbsp;<span title="{post.written:%Y-%m-%d %H:%M}">发表于: {post.written:%Y-%m-%d %H:%M}</span>'
        ' &nbsp;<a href="#">只看楼主</a></div>'
        f'{title}<div class="tpc_content"><div class="f14" id="read_{place}">{quote}{markup.paragraphs(post, day)}{extra}</div></div></td></tr>'
        '<tr><td class="floot_bottom"><div class="sigline"></div><div class="signature">渡口在此，常来坐坐</div>'
        f'<div class="tipad"><a href="post.php?action=quote&amp;pid={post.number}">引用</a> <a href="post.php?action=reply&amp;tid={thread.number}">回复</a> <a href="#">顶端</a></div></td></tr></table></div>'
    )


def _calendar(text: str) -> str:
    return f'<h1>{text}</h1><a href="calendar.php?m={markup.month(text, -1)}">上月</a> <a href="calendar.php?m={markup.month(text, 1)}">下月</a>'
