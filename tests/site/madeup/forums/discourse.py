# ruff: noqa: E501  (markup and sentences are read best on one line)
"""Millpond Talk, in the structure that Discourse serves to crawlers: the topic list is the front page, all content is in ``noscript``."""

from __future__ import annotations

import re
from html import escape

from madeup.exchange import Request, Response
from madeup.forums import markup
from madeup.forums.world import PAGE, Board, Forum, Post, Thread


def answer(forum: Forum, day: int, request: Request) -> Response:
    path, at = request.path, int(request.parameter("page") or 0)
    if path in ("/", "/latest"):
        return _page(forum, forum.name, _latest(forum, day, at))
    if path == "/categories":
        return _page(forum, "Categories", _categories(forum))
    if (found := re.fullmatch(r"/c/[\w-]+/(\d+)", path)) and (board := forum.board(int(found[1]))):
        return (
            _walled(forum)
            if board.walled
            else _page(forum, board.name, _list(forum, board, board.page(day, at + 1), day, at, board.pages(day), path))
        )
    if (found := re.fullmatch(r"/t/[\w-]+/(\d+)(?:/(\d+))?", path)) and (found_thread := forum.thread(int(found[1]))):
        board, thread = found_thread
        if board.walled:
            return _walled(forum)
        at = -(-int(found[2]) // PAGE) if found[2] else max(at, 1)
        return _page(forum, f"{thread.title} - {board.name}", _topic(forum, board, thread, day, at))
    if path == "/calendar":
        return _page(forum, "Calendar", _calendar(request.parameter("m")))
    if path.startswith("/u/"):
        return _page(forum, "Profile", "<h1>Profile</h1><p>Joined May 4, 2015</p>")
    return markup.not_found()


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _page(forum: Forum, title: str, body: str) -> Response:
    return markup.page(
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)} - {forum.name}</title><meta name="generator" content="Discourse 3.2.0">'
        f'</head><body class="docked"><div class="hidden" id="data-preloaded" data-preloaded="{{}}"></div><noscript data-path="/"><header class="d-header"><a href="/">{forum.name}</a> <a href="/login">Log In</a></header>'
        f'<div id="main-outlet" class="wrap" role="main">{body}</div><footer class="noscript-footer-nav"><nav><a href="/">Home</a> <a href="/categories">Categories</a>'
        ' <a href="/calendar?m=2026-03">Upcoming events</a> <a href="/guidelines">Guidelines</a></nav><p class="powered-by-link">Powered by Discourse, best viewed with JavaScript enabled</p></footer></noscript></body></html>'
    )


def _walled(forum: Forum) -> Response:
    return _page(
        forum,
        "Log in",
        "<div class='page-not-found'><h1>You need to be logged in to do that.</h1><form><input type='password'></form></div>",
    )


def _latest(forum: Forum, day: int, at: int) -> str:
    threads = [(board, thread) for board in forum.boards if not board.walled for thread in board.listed(day)]
    threads.sort(key=lambda pair: -pair[1].last(day).timestamp())
    rows = "".join(_row(board, thread, day) for board, thread in threads[at * PAGE * 2 : (at + 1) * PAGE * 2])
    following = (
        f'<div role="navigation"><span><b><a rel="next" href="/latest?page={at + 1}">next page →</a></b></span></div>'
        if len(threads) > (at + 1) * PAGE * 2
        else ""
    )
    return f'<div class="topic-list-container"><table class="topic-list"><thead><tr><th>Topic</th><th>Replies</th><th>Views</th><th>Activity</th></tr></thead><tbody>{rows}</tbody></table></div>{following}'


def _categories(forum: Forum) -> str:
    rows = "".join(
        f'<tr><td class="category"><h3><a href="/c/{slug(board.name)}/{board.number}">{board.name}</a></h3><div>About {board.name}</div></td><td>{len(board.threads)}</td></tr>'
        for board in forum.boards
    )
    return f'<table class="category-list"><tbody>{rows}</tbody></table>'


def _list(forum: Forum, board: Board, threads: list[Thread], day: int, at: int, pages: int, path: str) -> str:
    rows = "".join(_row(board, thread, day) for thread in threads)
    following = (
        f'<div role="navigation"><span><b><a rel="next" href="{path}?page={at + 1}">next page →</a></b></span></div>'
        if at + 1 < pages
        else ""
    )
    return (
        f'<h1>{board.name}</h1><div class="topic-list-container"><table class="topic-list"><tbody>{rows}</tbody></table></div>{following}'
    )


def _row(board: Board, thread: Thread, day: int) -> str:
    posts = thread.shown(day)
    href = f"/t/{slug(thread.title)}/{thread.number}"
    return (
        f'<tr class="topic-list-item" id="topic-list-item-{thread.number}"><td class="main-link" itemscope><meta itemprop="name" content="{escape(thread.title)}">'
        f'<span class="link-top-line">{"<i title=pinned class=pinned></i>" if thread.sticky else ""}<a href="{href}" class="title raw-link raw-topic-link">{escape(thread.title)}</a></span>'
        f'<div class="link-bottom-line"><a href="/c/{slug(board.name)}/{board.number}" class="badge-wrapper"><span class="badge-category-bg">{board.name}</span></a></div></td>'
        f'<td class="replies"><span class="posts" title="posts">{len(posts) - 1}</span></td><td class="views"><span class="views" title="views">{markup.views(thread, day)}</span></td>'
        f'<td><time datetime="{thread.last(day).isoformat()}">{thread.last(day):%B} {thread.last(day).day}, {thread.last(day).year}</time></td></tr>'
    )


def _topic(forum: Forum, board: Board, thread: Thread, day: int, at: int) -> str:
    at = min(max(at, 1), thread.pages(day))
    href = f"/t/{slug(thread.title)}/{thread.number}"
    posts = "".join(_post(href, thread, post, day) for post in thread.page(day, at))
    before = f'<a rel="prev" href="{href}{f"?page={at - 1}" if at > 2 else ""}">← previous page</a>' if at > 1 else ""
    after = f'<b><a rel="next" href="{href}?page={at + 1}">next page →</a></b>' if at < thread.pages(day) else ""
    related = "".join(
        f'<tr class="topic-list-item"><td><a href="/t/{slug(other.title)}/{other.number}" class="title">{escape(other.title)}</a></td></tr>'
        for other in board.threads[:4]
        if other is not thread and not other.sticky
    )
    return (
        f'<div id="topic-title"><h1><a href="{href}">{escape(thread.title)}</a></h1><div class="topic-category"><a href="/c/{slug(board.name)}/{board.number}" class="badge-wrapper"><span>{board.name}</span></a></div></div>'
        f'<div itemscope itemtype="http://schema.org/DiscussionForumPosting">{posts}</div><div role="navigation" class="topic-body crawler-post">{before} {after}</div>'
        f'<div id="related-topics"><h3>Related topics</h3><table class="topic-list"><tbody>{related}</tbody></table></div>'
    )


def _post(href: str, thread: Thread, post: Post, day: int) -> str:
    quote = (
        f'<aside class="quote no-group" data-username="{post.quote[0]}" data-post="{post.floor - 1}"><div class="title">{post.quote[0]}:</div><blockquote><p>{escape(post.quote[1])}</p></blockquote></aside>'
        if post.quote
        else ""
    )
    extra = ""
    if post.floor == 1 and thread.poll:
        extra += f'<div class="poll" data-poll-status="open"><ul>{"".join(f"<li>{text}</li>" for text in thread.poll)}</ul><div class="poll-info">24 voters</div></div>'
    if post.floor == 1 and thread.attachment:
        extra += f'<p><a class="attachment" href="/uploads/short/{thread.attachment}">{thread.attachment}</a> (12.4 KB)</p>'
    if post.floor == 1 and thread.picture:
        extra += f'<p><img src="{thread.picture}" width="600" height="400"></p>'
    text = "".join(f"<p>{escape(line)}</p>" for line in post.said(day))
    return (
        f'<div id="post_{post.floor}" itemprop="{"mainEntity" if post.floor == 1 else "comment"}" itemscope itemtype="http://schema.org/Comment" class="topic-body crawler-post"><div class="crawler-post-meta">'
        f'<span class="creator" itemprop="author" itemscope itemtype="http://schema.org/Person"><a itemprop="url" href="/u/{slug(post.author)}"><span itemprop="name">{post.author}</span></a></span>'
        f'<span class="crawler-post-infos"><time itemprop="datePublished" datetime="{post.written.isoformat()}" class="post-time">{post.written:%B} {post.written.day}, {post.written.year}, {post.written:%I:%M%p}</time>'
        f'<meta itemprop="position" content="{post.floor}"><span itemprop="position">{post.floor}</span></span></div><div class="post" itemprop="text">{quote}{text}{extra}</div>'
        '<div class="crawler-linkback-list"></div></div>'
    )


def _calendar(text: str) -> str:
    return (
        f'<h2>{text}</h2><a href="/calendar?m={markup.month(text, -1)}">Previous</a> <a href="/calendar?m={markup.month(text, 1)}">Next</a>'
    )
