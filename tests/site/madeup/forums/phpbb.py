# ruff: noqa: E501  (markup and sentences are read best on one line)
"""The Lantern Boards, in the structure of phpBB 3 (prosilver): English, a session id in every link, pages by post offset, no floors."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import md5
from html import escape
from itertools import count

from madeup.exchange import Request, Response
from madeup.forums import markup
from madeup.forums.world import PAGE, Board, Forum, Post, Thread

SESSIONS = count()


def answer(forum: Forum, day: int, request: Request) -> Response:
    path, start = request.path, int(request.parameter("start") or 0)
    sid = md5(str(next(SESSIONS)).encode(), usedforsecurity=False).hexdigest()  # a new one for every request without cookies
    if path in ("/", "/index.php"):
        return _page(forum, "Index page", _front(forum, day), sid)
    if path == "/viewforum.php" and (board := forum.board(int(request.parameter("f") or 0))):
        return _walled(forum, sid) if board.walled else _page(forum, board.name, _board(forum, board, day, start // PAGE + 1), sid)
    if path == "/viewtopic.php":
        post = request.parameter("p")
        found = forum.thread_of(int(post)) if post else forum.thread(int(request.parameter("t") or 0))
        if found:
            board, thread = found
            at = _page_of(thread, int(post), day) if post else start // PAGE + 1
            return _walled(forum, sid) if board.walled else _page(forum, thread.title, _thread(board, thread, day, at), sid)
    if path == "/calendar.php":
        return _page(forum, "Calendar", _calendar(request.parameter("m")), sid)
    if path == "/memberlist.php":
        return _page(
            forum,
            "Viewing profile",
            "<div class='panel'><h2>Viewing profile</h2><dl><dt>Joined:</dt><dd>Mon May 04, 2015 9:00 am</dd></dl></div>",
            sid,
        )
    return markup.not_found()


def _page_of(thread: Thread, post: int, day: int) -> int:
    return next((place // PAGE + 1 for place, reply in enumerate(thread.shown(day)) if reply.number == post), 1)


def _page(forum: Forum, title: str, body: str, sid: str) -> Response:
    html = (
        f'<!DOCTYPE html><html dir="ltr" lang="en-gb"><head><meta charset="utf-8" /><title>{forum.name} - {escape(title)}</title></head>'
        '<body id="phpbb" class="nojs notouch section-viewtopic ltr"><div id="wrap"><div id="page-header"><ul class="linklist">'
        '<li><a href="./search.php?search_id=active_topics@SID">Active topics</a></li><li><a href="./ucp.php?mode=login@SID">Login</a></li>'
        '<li><a href="./calendar.php?m=2026-03@SID">Calendar</a></li><li><a href="./memberlist.php?mode=team@SID">The team</a></li></ul></div>'
        f'<div id="page-body">{body}</div><div id="page-footer">All times are <span title="UTC">UTC</span> Powered by phpBB&reg; Forum Software</div></div></body></html>'
    )
    return markup.page(html.replace("@SID", f"&amp;sid={sid}"))


def _walled(forum: Forum, sid: str) -> Response:
    body = (
        '<form action="./ucp.php?mode=login" method="post" id="login"><div class="panel"><h2>The board requires you to be registered and logged in to view this forum.</h2>'
        '<dl><dt><label>Username:</label></dt><dd><input name="username"></dd></dl><dl><dd><input type="password" name="password"></dd></dl></div></form>'
    )
    return _page(forum, "Login", body, sid)


def _when(moment: datetime) -> str:
    moment = moment.astimezone(UTC)
    return f"{moment:%a %b %d, %Y} {moment.hour % 12 or 12}:{moment:%M} {'am' if moment.hour < 12 else 'pm'}"


def _boards(boards: list[Board], day: int) -> str:
    rows = []
    for board in boards:
        last = max(board.listed(day), key=lambda thread: thread.last(day)) if not board.walled else None
        tail = (
            f'<a href="./viewtopic.php?p={last.shown(day)[-1].number}@SID#p{last.shown(day)[-1].number}" title="View the latest post">{escape(last.title[:24])}</a> '
            f'<br />by <a href="./memberlist.php?mode=viewprofile&amp;u={markup.member(last.shown(day)[-1].author)}@SID" class="username">{last.shown(day)[-1].author}</a><br />{_when(last.last(day))}'
            if last
            else "No posts"
        )
        rows.append(
            f'<li class="row"><dl class="row-item forum_read"><dt title="No unread posts"><div class="list-inner"><a href="./viewforum.php?f={board.number}@SID" class="forumtitle">{board.name}</a>'
            f'<br />All about {board.name.lower()}</div></dt><dd class="topics">{len(board.threads)} <dfn>Topics</dfn></dd><dd class="posts">{len(board.threads) * 8} <dfn>Posts</dfn></dd>'
            f'<dd class="lastpost"><span>{tail}</span></dd></dl></li>'
        )
    return f'<div class="forabg"><div class="inner"><ul class="topiclist forums">{"".join(rows)}</ul></div></div>'


def _front(forum: Forum, day: int) -> str:
    return _boards([board for board in forum.boards if not board.above], day)


def _pager(form: str, at: int, pages: int) -> str:
    if pages < 2:
        return ""
    numbers = "".join(
        f'<li class="active"><span>{n}</span></li>'
        if n == at
        else f'<li><a class="button" href="{form}{f"&amp;start={(n - 1) * PAGE}" if n > 1 else ""}@SID">{n}</a></li>'
        for n in range(1, pages + 1)
    )
    following = (
        f'<li class="arrow next"><a class="button" href="{form}&amp;start={at * PAGE}@SID" rel="next">Next</a></li>' if at < pages else ""
    )
    return f'<div class="pagination">{pages} pages <ul>{numbers}{following}</ul></div>'


def _board(forum: Forum, board: Board, day: int, at: int) -> str:
    below = [forum_board for forum_board in forum.boards if forum_board.above == board.number]
    threads = board.page(day, at)
    sticky = "".join(_row(board, thread, day) for thread in threads if thread.sticky)
    others = "".join(_row(board, thread, day) for thread in threads if not thread.sticky)
    return (
        f'<h2 class="forum-title"><a href="./viewforum.php?f={board.number}@SID">{board.name}</a></h2>'
        + (_boards(below, day) if below else "")
        + f'<div class="forumbg announcement"><ul class="topiclist topics">{sticky}</ul></div><div class="forumbg"><ul class="topiclist topics">{others}</ul></div>'
        + _pager(f"./viewforum.php?f={board.number}", at, board.pages(day))
    )


def _row(board: Board, thread: Thread, day: int) -> str:
    posts, first = thread.shown(day), thread.posts[0]
    link = f"./viewtopic.php?f={board.number}&amp;t={thread.number}"
    pages = "".join(f'<li><a class="button" href="{link}&amp;start={n * PAGE}@SID">{n + 1}</a></li>' for n in range(1, thread.pages(day)))
    last = posts[-1]
    return (
        f'<li class="row bg1{" sticky" if thread.sticky else ""}"><dl class="row-item {"sticky_read" if thread.sticky else "topic_read"}"><dt title="No unread posts"><div class="list-inner">'
        f'<a href="{link}@SID" class="topictitle">{escape(thread.title)}</a><br /><div class="topic-poster responsive-hide">by <a href="./memberlist.php?mode=viewprofile&amp;u={markup.member(first.author)}@SID" class="username">{first.author}</a> » {_when(first.written)}</div>'
        + (f'<div class="pagination"><ul>{pages}</ul></div>' if pages else "")
        + f'</div></dt><dd class="posts">{len(posts) - 1} <dfn>Replies</dfn></dd><dd class="views">{markup.views(thread, day)} <dfn>Views</dfn></dd>'
        f'<dd class="lastpost"><span><dfn>Last post </dfn>by <a href="./memberlist.php?mode=viewprofile&amp;u={markup.member(last.author)}@SID" class="username">{last.author}</a> '
        f'<a href="./viewtopic.php?f={board.number}&amp;t={thread.number}&amp;p={last.number}@SID#p{last.number}" title="Go to last post"><i class="icon"></i></a><br />{_when(last.written)}</span></dd></dl></li>'
    )


def _thread(board: Board, thread: Thread, day: int, at: int) -> str:
    at = min(max(at, 1), thread.pages(day))
    posts = "<hr class='divider' />".join(_post(thread, post, day) for post in thread.page(day, at))
    pager = _pager(f"./viewtopic.php?f={board.number}&amp;t={thread.number}", at, thread.pages(day))
    poll = ""
    if thread.poll and at == 1:
        poll = f'<form class="topic_poll"><div class="panel"><h2 class="poll-title">What do you think?</h2>{"".join(f"<dl><dt>{text}</dt><dd>3 (50%)</dd></dl>" for text in thread.poll)}</div></form>'
    return (
        f'<h2 class="topic-title"><a href="./viewtopic.php?f={board.number}&amp;t={thread.number}@SID">{escape(thread.title)}</a></h2>'
        f'<div class="action-bar bar-top"><a href="./posting.php?mode=reply&amp;t={thread.number}@SID">Post Reply</a>{pager}'
        f'<a href="./viewtopic.php?f={board.number}&amp;t={thread.number}&amp;view=print@SID">Print view</a></div>{poll}{posts}<div class="action-bar bar-bottom">{pager}</div>'
        f'<p class="jumpbox-return"><a href="./viewforum.php?f={board.number}@SID">Return to “{board.name}”</a></p>'
    )


def _post(thread: Thread, post: Post, day: int) -> str:
    user = f'<a href="./memberlist.php?mode=viewprofile&amp;u={markup.member(post.author)}@SID" class="username">{post.author}</a>'
    quote = (
        f"<blockquote><div><cite>{post.quote[0]} wrote: ↑Sun Mar 01, 2026 8:00 am</cite>{escape(post.quote[1])}</div></blockquote>"
        if post.quote
        else ""
    )
    extra = ""
    if post.floor == 1 and thread.attachment:
        extra = f'<dl class="attachbox"><dt>Attachments</dt><dd><dl class="file"><dt><a class="postlink" href="./download/file.php?id={thread.number}@SID">{thread.attachment}</a></dt><dd>(12.4 KiB) Downloaded 8 times</dd></dl></dd></dl>'
    picture = f'<br /><img src="{thread.picture}" class="postimage" alt="Image" />' if post.floor == 1 and thread.picture else ""
    notice = (
        '<div class="notice">Last edited by <a href="#">tealeaf</a> on Mon Mar 02, 2026 10:00 am, edited 1 time in total.</div>'
        if post.edited is not None and post.edited <= day
        else ""
    )
    return (
        f'<div id="p{post.number}" class="post has-profile bg2"><div class="inner"><dl class="postprofile" id="profile{post.number}"><dt class="has-avatar"><div class="avatar-container"></div>{user}</dt>'
        '<dd class="profile-rank">Member</dd><dd class="profile-posts"><strong>Posts:</strong> 88</dd><dd class="profile-joined"><strong>Joined:</strong> Mon May 04, 2015 9:00 am</dd></dl>'
        f'<div class="postbody"><div id="post_content{post.number}"><h3 {"class=first" if post.floor == 1 else ""}><a href="#p{post.number}">{"" if post.floor == 1 else "Re: "}{escape(thread.title)}</a></h3>'
        f'<ul class="post-buttons"><li><a href="./posting.php?mode=quote&amp;p={post.number}@SID" class="button"><span>Quote</span></a></li></ul>'
        f'<p class="author"><a class="unread" href="./viewtopic.php?p={post.number}@SID#p{post.number}" title="Post"><i class="icon"></i></a><span class="responsive-hide">by <strong>{user}</strong> » </span>{_when(post.written)}</p>'
        f'<div class="content">{quote}{markup.paragraphs(post, day)}{picture}</div>{extra}{notice}<div id="sig{post.number}" class="signature">Carry a lantern.</div></div></div></div></div>'
    )


def _calendar(text: str) -> str:
    return f'<h2>{text}</h2><a href="./calendar.php?m={markup.month(text, -1)}@SID">Previous month</a> <a href="./calendar.php?m={markup.month(text, 1)}@SID">Next month</a>'
