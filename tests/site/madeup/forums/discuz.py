# ruff: noqa: E501  (markup and sentences are read best on one line)
"""青梧社区, in the structure of Discuz! X: GBK, tables, named floors, a member box beside each post, a login form on every page."""

from __future__ import annotations

import re
from html import escape

from madeup.exchange import Request, Response
from madeup.forums import markup
from madeup.forums.world import Board, Forum, Post, Thread

FLOORS = {1: "楼主", 2: "沙发", 3: "板凳", 4: "地板"}
LOGIN = (
    '<form method="post" id="lsform" action="member.php?mod=logging&amp;action=login"><input name="username" class="px">'
    '<input type="password" name="password" class="px"><a href="member.php?mod=register">立即注册</a></form>'
)


def answer(forum: Forum, day: int, request: Request) -> Response:
    path, tid = request.path, request.parameter("tid")
    if path in ("/", "/forum.php") and request.parameter("mod") in ("", "forum"):
        return _page(forum, forum.name, _front(forum, day))
    if (found := re.fullmatch(r"/forum-(\d+)-(\d+)\.html", path)) and (board := forum.board(int(found[1]))):
        return _walled(forum) if board.walled else _page(forum, board.name, _board(forum, board, day, int(found[2])))
    found = re.fullmatch(r"/thread-(\d+)-(\d+)-\d+\.html", path)
    number, at = (found[1], found[2]) if found else (tid, request.parameter("page") or "1")
    if number.isdigit() and (found_thread := forum.thread(int(number))) and (found or request.parameter("mod") == "viewthread"):
        board, thread = found_thread
        return (
            _walled(forum) if board.walled else _page(forum, f"{thread.title} - {board.name}", _thread(forum, board, thread, day, int(at)))
        )
    if path == "/plugin.php":
        return _page(forum, "日历", _calendar(request.parameter("month")))
    if path.startswith("/space-uid-"):
        return _page(forum, "个人空间", "<div class='bm'><h1>个人空间</h1><p>注册时间 2019-5-4</p><ul><li>积分 312</li></ul></div>")
    return markup.not_found("gbk")


def _page(forum: Forum, title: str, body: str) -> Response:
    html = (
        f'<!DOCTYPE html><html><head><meta charset="gbk"><title>{escape(title)} - {forum.name} - Powered by Discuz!</title>'
        f'<meta name="generator" content="Discuz! X3.4"></head><body id="nv_forum"><div id="hd">{LOGIN}<ul id="nv">'
        '<li><a href="forum.php">论坛</a></li><li><a href="plugin.php?id=calendar&amp;month=2026-03">签到日历</a></li>'
        '<li><a href="search.php?mod=forum">搜索</a></li><li><a href="misc.php?mod=faq">帮助</a></li></ul></div>'
        f'<div id="wp" class="wp">{body}</div><div id="ft"><p><a href="archiver/">Archiver</a> <a href="misc.php?mod=mobile">手机版</a></p>'
        "<p>Powered by <strong>Discuz!</strong> X3.4</p></div></body></html>"
    )
    return markup.page(html, "gbk")


def _walled(forum: Forum) -> Response:
    body = f'<div id="messagetext" class="alert_info"><p>抱歉，您尚未登录，没有权限访问该版块</p></div><div class="bm">{LOGIN}</div>'
    return _page(forum, "提示信息", body)


def _front(forum: Forum, day: int) -> str:
    rows = []
    for board in forum.boards:
        if board.above:
            continue
        threads = board.listed(day)
        last = max(threads, key=lambda thread: thread.last(day)) if not board.walled else None
        last_post = (
            f'<a href="forum.php?mod=redirect&amp;tid={last.number}&amp;goto=lastpost#lastpost" class="xi2">{escape(last.title[:18])}</a>'
            f'<cite><span title="{markup.stamp(last.last(day))}">{markup.today(forum, last.last(day))}</span> '
            f'<a href="space-uid-101.html">{last.shown(day)[-1].author}</a></cite>'
            if last
            else "私密版块"
        )
        rows.append(
            f'<tr class="fl_row"><td class="fl_icn"><a href="forum-{board.number}-1.html"><img src="static/forum.gif" alt=""></a></td>'
            f'<td><h2><a href="forum-{board.number}-1.html">{board.name}</a></h2><p class="xg2">{board.name}的讨论都在这里</p></td>'
            f'<td class="fl_i"><span class="xi2">{len(threads)}</span><span class="xg1"> / {len(threads) * 9}</span></td>'
            f'<td class="fl_by"><div>{last_post}</div></td></tr>'
        )
    return f'<div class="fl bm"><div class="bm_h"><h2>{forum.name}</h2></div><table class="fl_tb">{"".join(rows)}</table></div>'


def _pager(form: str, at: int, pages: int) -> str:
    if pages < 2:
        return ""
    numbers = "".join(
        f"<strong>{n}</strong>" if n == at else f'<a href="{form.format(n)}">{n}</a>' for n in range(max(1, at - 4), min(pages, at + 5) + 1)
    )
    following = f'<a href="{form.format(at + 1)}" class="nxt">下一页</a>' if at < pages else ""
    return f'<div class="pg">{numbers}<label><input type="text" name="custompage" value="{at}"><span> / {pages} 页</span></label>{following}</div>'


def _board(forum: Forum, board: Board, day: int, at: int) -> str:
    below = "".join(
        f'<dl><dt><a href="forum-{other.number}-1.html">{other.name}</a></dt><dd>主题: {len(other.threads)}</dd></dl>'
        for other in forum.boards
        if other.above == board.number
    )
    rows = "".join(_row(forum, thread, day, at) for thread in board.page(day, at))
    return (
        f'<div id="pt" class="bm cl"><a href="forum.php">论坛</a> › <a href="forum-{board.number}-1.html">{board.name}</a></div>'
        + (f'<div class="bm bmw fl"><h2>子版块</h2>{below}</div>' if below else "")
        + f'<div id="threadlist" class="tl bm"><div class="th"><a href="forum.php?mod=forumdisplay&amp;fid={board.number}&amp;orderby=views">查看</a></div>'
        f'<table id="threadlisttableid">{rows}</table></div>{_pager(f"forum-{board.number}-{{}}.html", at, board.pages(day))}'
    )


def _row(forum: Forum, thread: Thread, day: int, at: int) -> str:
    posts = thread.shown(day)
    href = f"thread-{thread.number}-1-{at}.html"
    if thread.number % 2 == 0:
        href = f"forum.php?mod=viewthread&amp;tid={thread.number}&amp;extra=page%3D{at}"
    kind = "stickthread" if thread.sticky else "normalthread"
    pages = "".join(f'<a href="thread-{thread.number}-{n}-{at}.html">{n}</a>' for n in range(2, thread.pages(day) + 1))
    return (
        f'<tbody id="{kind}_{thread.number}"><tr><td class="icn"><a href="{href}" title="新窗口打开"><img src="static/'
        f'{"pin_1.gif" if thread.sticky else "folder_common.gif"}" alt="{"本版置顶主题" if thread.sticky else "普通主题"}"></a></td>'
        f'<th class="common"><a href="{href}" class="s xst">{escape(thread.title)}</a>'
        + (f'<span class="tps">...{pages}</span>' if pages else "")
        + f'</th><td class="by"><cite><a href="space-uid-{markup.member(thread.posts[0].author)}.html">{thread.posts[0].author}</a></cite>'
        f"<em><span>{markup.stamp(thread.posts[0].written)}</span></em></td>"
        f'<td class="num"><a href="{href}" class="xi2">{len(posts) - 1}</a><em>{markup.views(thread, day)}</em></td>'
        f'<td class="by"><cite><a href="space-username-{posts[-1].author}.html">{posts[-1].author}</a></cite>'
        f'<em><a href="forum.php?mod=redirect&amp;tid={thread.number}&amp;goto=lastpost#lastpost">'
        f'<span title="{markup.stamp(thread.last(day))}">{markup.today(forum, thread.last(day))}</span></a></em></td></tr></tbody>'
    )


def _thread(forum: Forum, board: Board, thread: Thread, day: int, at: int) -> str:
    at = min(max(at, 1), thread.pages(day))
    posts = "".join(_post(thread, post, day) for post in thread.page(day, at))
    pager = _pager(f"thread-{thread.number}-{{}}-1.html", at, thread.pages(day))
    return (
        f'<div id="pt" class="bm cl"><a href="forum.php">论坛</a> › <a href="forum-{board.number}-1.html">{board.name}</a> › '
        f'<a href="thread-{thread.number}-1-1.html">{escape(thread.title)}</a></div><div class="pgt">{pager}</div>'
        f'<div id="postlist" class="pl bm"><h1 class="ts"><span id="thread_subject">{escape(thread.title)}</span></h1>{posts}</div>'
        f'<div class="pgs">{pager}</div><form id="fastpostform" action="forum.php?mod=post&amp;action=reply&amp;tid={thread.number}">'
        '<textarea name="message"></textarea><p>您需要登录后才可以回帖 <a href="member.php?mod=logging">登录</a></p></form>'
    )


def _post(thread: Thread, post: Post, day: int) -> str:
    name = FLOORS.get(post.floor, f"<em>{post.floor}</em><sup>#</sup>")
    quote = (
        f'<div class="quote"><blockquote><font color="#999999">{post.quote[0]} 发表于 2026-3-1 08:00</font><br />{escape(post.quote[1])}</blockquote></div>'
        if post.quote
        else ""
    )
    edited = (
        '<i class="pstatus"> 本帖最后由 管理员 于 2026-3-2 10:00 编辑 </i><br /><br />'
        if post.edited is not None and post.edited <= day
        else ""
    )
    extra = ""
    if post.floor == 1 and thread.poll:
        options = "".join(
            f'<tr><td><label for="option_{n}">{n}. &nbsp;{text}</label></td><td>12.50% (3)</td></tr>'
            for n, text in enumerate(thread.poll, 1)
        )
        extra += f'<form id="poll" name="poll"><div class="pinf">单选投票, 共有 24 人参与投票</div><table>{options}</table><button>提交</button></form>'
    if post.floor == 1 and thread.attachment:
        extra += (
            f'<div class="pattl"><dl class="tattl"><dd><p class="attnm"><a href="forum.php?mod=attachment&amp;aid={thread.number}">{thread.attachment}</a></p>'
            '<div class="tip tip_4" style="display:none"><p>2026-2-28 09:12 上传</p><p>点击文件名下载附件</p></div><p>12.4 KB, 下载次数: 8</p></dd></dl></div>'
        )
    if post.floor == 1 and thread.picture:
        extra += f'<ignore_js_op><img src="static/none.gif" file="{thread.picture}" class="zoom" width="600" height="400" /></ignore_js_op>'
    return (
        f'<div id="post_{post.number}"><table id="pid{post.number}" class="plhin" summary="pid{post.number}"><tr><td class="pls" rowspan="2">'
        f'<div class="pi"><div class="authi"><a href="space-uid-{markup.member(post.author)}.html" class="xw1">{post.author}</a></div></div>'
        f'<div class="avatar"><a href="space-uid-{markup.member(post.author)}.html"><img src="avatar.php?uid={markup.member(post.author)}"></a></div>'
        '<div class="tns"><p><a href="#">12</a>主题</p><p>帖子</p></div><dl class="pil"><dt>注册时间</dt><dd>2018-6-9</dd><dt>积分</dt><dd>432</dd></dl></td>'
        f'<td class="plc"><div class="pi"><strong><a href="forum.php?mod=redirect&amp;goto=findpost&amp;ptid={thread.number}&amp;pid={post.number}" id="postnum{post.number}">'
        f'{name}</a></strong><div class="pti"><div class="authi"><em id="authorposton{post.number}">发表于 {markup.stamp(post.written)}</em>'
        '<span class="pipe">|</span><a href="#" rel="nofollow">只看该作者</a></div></div></div>'
        f'<div class="pct"><div class="pcb"><div class="t_fsz"><table><tr><td class="t_f" id="postmessage_{post.number}">{edited}{quote}'
        f"{markup.paragraphs(post, day)}{extra}</td></tr></table></div></div></div></td></tr>"
        f'<tr><td class="plc plm"><div class="sign">{post.author}的签名：走慢一点，看仔细一点</div></td></tr>'
        f'<tr><td class="pls"></td><td class="plc"><div class="po"><a class="fastre" href="forum.php?mod=post&amp;action=reply&amp;repquote={post.number}">回复</a>'
        '<a href="javascript:;">举报</a></div></td></tr></table></div>'
    )


def _calendar(text: str) -> str:
    before, after = markup.month(text, -1), markup.month(text, 1)
    days = "".join(
        f'<td><a href="plugin.php?id=calendar&amp;month={text or "2026-03"}&amp;day={day}">{day}</a></td>' for day in range(1, 29)
    )
    return (
        f'<h1>{text}</h1><a href="plugin.php?id=calendar&amp;month={before}">上一月</a> <a href="plugin.php?id=calendar&amp;month={after}">下一月</a>'
        f"<table><tr>{days}</tr></table>"
    )
