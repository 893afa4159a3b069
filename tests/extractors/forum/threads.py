# ruff: noqa: E501  markup is written as engines write it
"""Made-up threads in the structure of several engines; all names, texts and URLs are invented."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Floor:
    """A post of a made-up thread."""

    author: str
    time: str
    text: str
    quote: str | None = None


TALK = (
    Floor("河边的芦苇", "2024-3-5 08:30", "滨海新线今天通车了，有人坐过首班车吗？听说六点就排起了队。"),
    Floor("早班司机", "2024-3-5 08:41", "坐了，人不多，比地图上说的快七分钟。"),
    Floor("Li_Wei", "2024-3-5 09:02", "票价多少？", "坐了，人不多，比地图上说的快七分钟。"),
    Floor("河边的芦苇", "2024-3-5 09:15", "全程六元，换乘优惠照旧。"),
    Floor("南站卖豆浆的", "2024-3-6 21:07", "顶"),
)

ENGLISH = (
    Floor(
        "harbour_tom", "Mar 5, 2024 at 8:30 AM", "Has anyone taken the first train on the new coast line? They say people queued at six."
    ),
    Floor("Early Bird", "Mar 5, 2024 at 8:41 AM", "I did. Hardly anybody on board, and seven minutes faster than the map says."),
    Floor("li.wei", "Mar 5, 2024 at 9:02 AM", "How much is a ticket?", "I did. Hardly anybody on board"),
    Floor("harbour_tom", "Mar 5, 2024 at 9:15 AM", "Six for the whole way."),
)


def page(body: str, head: str = "", title: str = "滨海新线通车讨论") -> str:
    return f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head><body>{MENU}<h1>{title}</h1>{body}{FOOT}</body></html>"


MENU = "<div id='hd'><ul class='nav'><li><a href='/'>首页</a></li><li><a href='/new'>最新帖子</a></li><li><a href='/help'>帮助</a></li></ul></div>"
FOOT = "<div id='ft'><p>© 2024 河畔论坛 · GMT+8, 2024-3-7 10:00</p></div>"


def discuz(talk: Sequence[Floor] = TALK) -> str:
    names = ["楼主", "沙发", "板凳", "地板"]
    posts = "".join(
        f"""<div id="post_{9000 + n}"><table id="pid{9000 + n}" class="plhin"><tr><td class="pls" rowspan="2">
        <div class="pi"><div class="authi"><a href="home.php?mod=space&uid={n}" class="xw1">{floor.author}</a></div></div>
        <div class="p_pop" style="display: none"><em>当前离线</em><dl><dt>注册时间</dt><dd>2011-8-{n + 1}</dd></dl></div>
        <p>签到天数: 61 天</p><p><em>中级会员</em></p><dl class="pil"><dt>积分</dt><dd>{n * 37}</dd></dl></td>
        <td class="plc"><div class="pi"><strong><a href="forum.php?mod=redirect&goto=findpost&pid={9000 + n}">{names[n] if n < 4 else f"{n + 1}楼"}</a></strong>
        <div class="pti"><div class="authi"><em id="authorposton{9000 + n}">发表于 {floor.time}</em> |
        <a href="forum.php?authorid={n}">只看该作者</a></div></div></div>
        <div class="pct"><div class="pcb"><div class="t_fsz"><table><tr><td class="t_f" id="postmessage_{9000 + n}">
        <i class="pstatus">本帖最后由 {floor.author} 于 2024-3-7 09:{n:02} 编辑</i><br>
        {f'<div class="quote"><blockquote>{floor.quote}</blockquote></div>' if floor.quote else ""}{floor.text}
        <div class="aimg_tip" style="display: none"><strong>1.jpg</strong> <em>(20 KB, 下载次数: 3)</em><p>2024-3-4 07:00 上传</p></div></td></tr></table></div>
        </div></div></td></tr><tr><td class="plc plm"><div class="sign">每天都是新的一天，2008-8-8 20:08 难忘</div></td></tr>
        <tr><td class="plc"><div class="po"><a href="#">回复</a><a href="#">举报</a></div></td></tr></table></div>"""
        for n, floor in enumerate(talk)
    )
    return page(f'<div id="postlist" class="pl bm">{posts}</div>')


def phpwind(talk: Sequence[Floor] = TALK) -> str:
    posts = "".join(
        f"""<a name="{n}"></a><div class="t t2"><table><tr class="tr1"><th rowspan="2" class="r_two"><b>{floor.author}</b>
        <div class="user-pic"><img src="/face/none.gif"></div>级别: <font>新手上路</font><br>精华: <span>0</span><br>
        <span class="gray">注册时间: 2008-02-{n + 10}<br>最后登录: 2024-03-0{n + 1}</span></th>
        <th class="r_one" id="td_{n}"><div class="tiptop"><span class="fr"><a>小</a> <a>中</a> <a>大</a></span></div>
        <h1 id="subject_{n}"></h1><div class="tpc_content" id="read_{400 + n}">
        {f'<blockquote class="blockquote">{floor.quote}</blockquote>' if floor.quote else ""}{floor.text}</div></th></tr>
        <tr class="tr1"><th class="r_one"><div class="tipad">Posted: {floor.time} | <a>{n} 楼</a></div></th></tr></table></div>"""
        for n, floor in enumerate(talk)
    )
    return page(posts)


def phpbb(talk: Sequence[Floor] = ENGLISH) -> str:
    posts = "".join(
        f"""<div id="p{700 + n}" class="post has-profile bg{n % 2 + 1}"><div class="inner"><dl class="postprofile" id="profile{700 + n}">
        <dt><a href="./memberlist.php?mode=viewprofile&u={n}" class="username">{floor.author}</a></dt><dd class="profile-rank">Registered</dd>
        <dd><strong>Posts:</strong> {n * 11}</dd><dd><strong>Joined:</strong> Fri Jan 0{n + 1}, 2010 10:00 am</dd></dl>
        <div class="postbody"><h3><a href="#p{700 + n}">Re: New coast line</a></h3>
        <p class="author"><a href="./viewtopic.php?p={700 + n}#p{700 + n}">Post</a> by <strong><a class="username">{floor.author}</a></strong> » {floor.time}</p>
        <div class="content">{f"<blockquote><div><cite>Early Bird wrote:</cite>{floor.quote}</div></blockquote>" if floor.quote else ""}{floor.text}</div>
        <div class="notice">Last edited by {floor.author} on Wed Mar 06, 2024 7:00 am, edited 1 time in total.</div>
        <div id="sig{700 + n}" class="signature">Everything was better by steam, 1 Jan 1990.</div></div></div></div>"""
        for n, floor in enumerate(talk)
    )
    return page(posts, title="New coast line")


def xenforo(talk: Sequence[Floor] = ENGLISH) -> str:
    posts = "".join(
        f"""<article class="message message--post js-post" data-author="{floor.author}" id="js-post-{800 + n}"><div class="message-inner">
        <div class="message-cell message-cell--user"><section class="message-user"><h4 class="message-name"><a class="username" href="/members/{n}/">{floor.author}</a></h4>
        <h5 class="userTitle">Member</h5><dl><dt>Joined</dt><dd>Jan {n + 1}, 2010</dd></dl></section></div>
        <div class="message-cell message-cell--main"><header class="message-attribution"><a href="/threads/1/post-{800 + n}"><time class="u-dt"
        datetime="2024-03-05T0{8 + n}:30:00+0100" title="{floor.time}">{n + 1} minutes ago</time></a><a href="/threads/1/post-{800 + n}">#{n + 1}</a></header>
        <div class="message-body"><div class="bbWrapper">
        {f'<blockquote class="bbCodeBlock bbCodeBlock--quote"><div>Early Bird said:</div><div>{floor.quote}</div></blockquote>' if floor.quote else ""}{floor.text}
        <img src="/attachments/train-{n}.jpg" width="800" height="600"></div></div><footer class="message-footer"><a>Like</a><a>Reply</a></footer></div></div></article>"""
        for n, floor in enumerate(talk)
    )
    return page(f'<div class="block-body js-replyNewMessageContainer">{posts}</div>', title="New coast line")


def discourse(talk: Sequence[Floor] = ENGLISH) -> str:
    """Return the page as served: an application for browsers, and the posts in ``noscript``."""
    posts = "".join(
        f"""<div itemprop="comment" itemscope itemtype="http://schema.org/Comment" class="topic-body crawler-post"><div class="crawler-post-meta">
        <span class="creator" itemprop="author" itemscope itemtype="http://schema.org/Person"><a itemprop="url" href="https://talk.example/u/{n}">
        <span itemprop="name">{floor.author}</span></a></span><link itemprop="mainEntityOfPage" href="/t/1"><span class="crawler-post-infos">
        <time itemprop="datePublished" datetime="2024-03-05T0{8 + n}:30:00Z" class="post-time">March 5, 2024, {8 + n}:30am</time></span></div>
        <div class="post" itemprop="text">{floor.text}</div></div>"""
        for n, floor in enumerate(talk)
    )
    return page(
        f"<section id='main'></section><noscript data-path='/t/1'><div id='main-outlet'>{posts}</div></noscript>", title="New coast line"
    )


def table_rows(talk: Sequence[Floor] = ENGLISH) -> str:
    """Return a thread of no known engine: one table, with a row for name and time and a row for the text."""
    rows = "".join(
        f"""<tr id="m{n}"><td><p><a href="#"></a><a>{floor.author}</a></p><p>{floor.time}</p></td></tr><tr><td class="says">{floor.text}</td></tr>
        <tr><td><a href="/answer/{n}">Answer</a></td></tr>"""
        for n, floor in enumerate(talk)
    )
    return page(f"<table>{rows}</table>", title="New coast line")


def plain_cards(talk: Sequence[Floor] = ENGLISH, opening_apart: bool = True) -> str:
    """Return cards with meaningless classes: the opening post in another container than the answers, names without links."""

    def card(floor: Floor, name: str) -> str:
        return f"""<div class="{name}"><div class="k2"><strong>{floor.author}</strong><span>{floor.time}</span></div>
        <div class="k3">{floor.text}</div><div class="k4"><a>Reply</a><a>Share</a></div></div>"""

    first = f'<section class="z9"><div class="byline"><a href="/user/1">{talk[0].author}</a> <span>{talk[0].time}</span></div><p>{talk[0].text}</p></section>'
    cards = "".join(card(floor, "k1") for floor in (talk[1:] if opening_apart else talk))
    return page(f"{first if opening_apart else ''}<div class='list'>{cards}</div>", title="New coast line")
