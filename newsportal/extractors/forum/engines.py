"""What the forum engines that many sites run call the parts of a post: hints by engine, never by site.

From the engines' public templates. One of ``marks`` stands in the page's markup; the selectors are CSS. ``body`` alone is needed: where
``post`` says nothing, a post is the largest node around one body. Of selectors parted by commas the first counts that finds something,
but of ``post`` all. Author and time are found as on any page (``authors``, ``times``) where a hint is missing or fails. A page whose
engine has no row here is read without hints.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Final

from newsportal.extractors.forum.groups import Signs
from newsportal.extractors.forum.paths import Record
from newsportal.extractors.forum.tree import Tree, outermost
from newsportal.text.expressions import word_set

MORE: Final = 1.5  # a later choice of bodies counts where it finds so many times more posts than one before it

# A part of a selector: a tag, a class, an id or an attribute that is, or begins with, a value
SIMPLE: Final = re.compile(r"""((?:^([a-z][\w-]*)|\.([\w-]+)|\[([\w-]+)(\^?=)['"]?([^'"\]]+)['"]?\]))""")


@dataclass(frozen=True, slots=True)
class Step:
    """What stands between a selector's spaces; ``child``: of what stands before. Of an attribute: key, value, whether it only begins so."""

    child: bool
    tag: str | None
    classes: tuple[str, ...]
    attributes: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True, slots=True)
class Engine:
    name: str
    marks: tuple[str, ...]
    body: str
    post: str | None = None
    author: str | None = None
    time: str | None = None


ENGINES: Final[tuple[Engine, ...]] = (
    Engine(
        "discuz",
        marks=("postmessage_",),
        post="div[id^=post_], table[id^=pid]",
        body="[id^=postmessage_]",
        author=".authi > a, .postauthor cite a, td.postauthor > a",
        time="em[id^=authorposton]",
    ),
    Engine("phpwind", marks=("tpc_content", 'id="read_tpc'), body="[id^=read_].tpc_content, .tpc_content, div[id^=read_]"),
    Engine("tieba", marks=("d_post_content",), post=".l_post", body=".d_post_content", author=".p_author_name"),
    Engine(
        "discourse",
        marks=("crawler-post", "topic-body", "topic-post"),
        body=".topic-post .cooked, .topic-body .cooked, .crawler-post .post, .topic-body > .post, .cooked",
        author=".names .username a, .names .username, .creator [itemprop=name], [itemprop=author] [itemprop=name]",
        time=".post-date .relative-date, .post-date a, .crawler-post-infos time, time.post-time",
    ),
    Engine(
        "xenforo2",
        marks=("message--post", "js-post "),
        post="article.message",
        body=".message-body .bbWrapper, .message-userContent .bbWrapper, .message-body",
        author=".message-name .username, .message-name",
        time=".message-attribution-main time, .message-attribution time, time.u-dt",
    ),
    Engine(
        "xenforo",
        marks=("messageText", "messageContent"),
        post="li.message, .messageList > .message",
        body=".messageContent .messageText, .messageContent > article, .messageContent",
        author=".messageUserInfo .username",
        time=".messageMeta .DateTime, .messageMeta .datePermalink, .privateControls .DateTime",
    ),
    Engine(
        "vbulletin5",
        marks=("js-post__content-text",),
        post="li.b-post",
        body=".js-post__content-text",
        author=".b-userinfo a, .author a",
        time="time",
    ),
    Engine(
        "vbulletin",
        marks=("post_message_", "postbitlegacy", 'class="postbit', "postcontent"),
        post="li.postbit, li.postbitlegacy, li.postcontainer, table[id^=post], div[id^=edit]",
        body="[id^=post_message_], .postcontent, .postbody .content",
        author="a.bigusername, .username_container .username, .username",
        time=".postdate, .posthead .date",
    ),
    Engine("fluxbb", marks=("blockpost",), post="div.blockpost", body=".postmsg", author=".postleft dt strong", time="h2 a"),
    Engine(
        "phpbb",
        marks=("postbody", "postprofile"),
        post="div.post, table.tablebg",
        body=".postbody .content, div.content, .postbody",
        author=(
            ".author .username, .author .username-coloured, .postauthor, .author strong a, .author strong, "
            ".postprofile .username-coloured, .postprofile .username"
        ),
        time=".author time, p.author",
    ),
    Engine(
        "ipb4",
        marks=('data-role="commentContent"', "data-role='commentContent'"),
        post="article.cPost, article.ipsComment, article.ipsEntry",
        body="[data-role=commentContent]",
        time="time",
        author=".cAuthorPane_author strong, .cAuthorPane_author, [itemprop=author]",
    ),
    Engine(
        "ipb",
        marks=("post_block",),
        post="div.post_block",
        body=".entry-content, .post.entry-content",
        author=".author, .post_username",
        time="abbr.published, [itemprop=commentTime]",
    ),
    Engine(
        "mybb",
        marks=("post_body",),
        post="div.post, table[id^=post_]",
        body=".post_body",
        author=".author_information .largetext, .author_information a",
        time=".post_date",
    ),
    Engine(
        "smf",
        marks=("post_wrapper", 'class="keyinfo'),
        post=".post_wrapper, div[id^=msg].windowbg, div.windowbg",
        body=".post .inner, .postarea .inner, .inner[id^=msg_]",
        author=".poster h4 a, .poster h4",
        time=".keyinfo .smalltext, .postinfo .smalltext, .postinfo a.smalltext",
    ),
    Engine(
        "vanilla",
        marks=("Message userContent", 'class="Message"'),
        body=".Message.userContent, .Message",
        author=".Author .Username, a.Username",
        time=".DateCreated time, .DateCreated",
    ),
    Engine(
        "flarum",
        marks=("Post-body",),
        post=".PostStream-item, article.Post",
        body=".Post-body",
        author=".PostUser-name .username, .username",
        time="time",
    ),
    Engine("nodebb", marks=("post/content",), post="li[component=post]", body="[component='post/content']", time="time, .timeago"),
    Engine(
        "bbpress",
        marks=("bbp-reply-content", "bbp-topic-content"),
        post=".type-topic, .type-reply",
        body=".bbp-reply-content, .bbp-topic-content",
        author=".bbp-author-name, .bbp-author-link",
        time=".bbp-reply-post-date, .bbp-topic-post-date",
    ),
    Engine("wpforo", marks=("wpforo-post-content",), post=".wpforo-post, .post-wrap", body=".wpforo-post-content"),
    Engine(
        "woltlab",
        marks=("wbbPost",),
        post="article.message",
        body=".messageText",
        author=".messageHeader .username, .username",
        time="time.datetime, time",
    ),
    Engine(
        "kunena", marks=('class="kmsg', "kmessage"), body=".kmsgtext, .kmsgbody, .kmsg", author=".kwho, .kpost-username", time=".kmsgdate"
    ),
    Engine(
        "simplepress",
        marks=("spPostContent",),
        post=".spTopicPostSection",
        body=".spPostContent",
        author=".spPostUserName",
        time=".spPostUserDate",
    ),
    Engine(
        "asgaros",
        marks=("post-element",),
        post=".post-element",
        body=".post-message",
        author=".post-author-block-name .profile-link, .post-author-block-name a, .post-username",
        time=".forum-post-date, .post-meta",
    ),
    Engine(
        "phorum", marks=('class="message-body',), post="div.message", body=".message-body", author=".message-author", time=".message-date"
    ),
    Engine(
        "stackexchange",
        marks=("js-post-body", 'class="post-text'),
        post="[id=question], .answer",
        body=".js-post-body, .post-text",
        author="[itemprop=author] > a, [itemprop=author]",
        time="time[itemprop=dateCreated]",
    ),
    Engine(
        "ubbthreads",
        marks=("ubbthreads.php", "/ubbthreads"),
        post="table.t_outer, div.post_outer",
        body="[id^=body]",
        author=".author-name a, .author-name",
        time=".subjecttable .date, .date",
    ),
    Engine("nforum", marks=('class="a-content',), post=".a-wrap", body=".a-content", author=".a-u-name"),
)  # Asked in this order: the first whose mark and whose bodies are on the page made it


_MARKED: Final = [engine.name for engine in ENGINES for _ in engine.marks]
_MARKS: Final = word_set([mark for engine in ENGINES for mark in engine.marks])


def engines_of(html: str) -> Iterator[Engine]:
    """The engines that may have made a page, by their marks; which one did, its selectors show."""
    made = {_MARKED[number] for number in _MARKS(html)}
    return (engine for engine in ENGINES if engine.name in made)


def hinted(tree: Tree, signs: Signs, engine: Engine) -> list[Record]:
    """A record for each post that the engine's selectors find, in page order; none where they find nothing."""
    holders = {at for choice in engine.post.split(", ") for at in numbers(tree, choice)} if engine.post else set()
    found: list[Record] = []
    for choice in engine.body.split(", "):
        bodies = outermost(tree, numbers(tree, choice)) if not holders else numbers(tree, choice)
        held: dict[int, Record] = {}  # the nearest holder around each body, with the first body in it; broken markup nests posts
        for body in bodies:
            at = next((one for one in chain((body,), tree.above(body)) if one in holders), 0)
            if at > 0:
                held.setdefault(at, Record((at,), body=body))
        records = [held[at] for at in sorted(held)] or [Record((around(tree, signs, at, bodies),), body=at) for at in bodies]
        found = records if len(records) > MORE * len(found) else found
        if holders and len(found) == len(holders):
            break
    named, dated = (select(tree, selector) if selector else [] for selector in (engine.author, engine.time))
    for record in found:
        record.author, record.time = _within(tree, record, named), _within(tree, record, dated)
    return found


def select(tree: Tree, selector: str) -> list[int]:
    """The nodes that a selector finds, in page order. Of choices parted by commas the first counts that finds any."""
    return next((found for choice in selector.split(", ") if (found := numbers(tree, choice))), [])


def numbers(tree: Tree, selector: str) -> list[int]:
    """The nodes that a selector finds, in page order: of the tree at hand, since XPath reads all classes again for each. Linear."""
    found: list[int] = []
    for place, step in enumerate(_steps_of(selector)):
        if step.classes:
            named = tree.classes.get(step.classes[0], [])
        elif step.tag:
            named = [at for at, node in enumerate(tree.nodes) if node.tag == step.tag]
        else:
            named = list(tree.values[step.attributes[0][0]])
        fit = [at for at in named if _fits(tree, at, step)]  # one class of several is known of each
        if place and step.child:
            above = frozenset(found)
            fit = [at for at in fit if tree.nodes[at].parent in above]
        found = _below(tree, fit, found) if place and not step.child else fit
    return found


def _below(tree: Tree, nodes: Sequence[int], tops: Sequence[int]) -> list[int]:
    """Those of ``nodes`` that lie in one of ``tops``; both are in page order."""
    found, place, reach = [], 0, 0
    for at in nodes:
        while place < len(tops) and tops[place] < at:
            reach, place = max(reach, tree.nodes[tops[place]].stop), place + 1
        if at < reach:
            found.append(at)
    return found


def _fits(tree: Tree, at: int, step: Step) -> bool:
    if step.tag not in (None, tree.nodes[at].tag):
        return False
    if len(step.classes) > 1 and not set(step.classes) <= set(tree.nodes[at].element.get("class", "").split()):
        return False
    said = ((tree.values[key].get(at, ""), value, begins) for key, value, begins in step.attributes)
    return all(found.startswith(value) if begins else found == value for found, value, begins in said)


@lru_cache(maxsize=512)
def _steps_of(selector: str) -> tuple[Step, ...]:
    """``div.a > [id^=b] .c``, without more of CSS. Raises ``ValueError`` for anything else."""
    steps = []
    for joint, compound in re.findall(r"(?:^|( > | ))([^\s>]+)", selector):
        parts = SIMPLE.findall(compound)
        if not parts or "".join(part[0] for part in parts) != compound:
            raise ValueError(f"not a selector of an engine: {selector!r}")
        attributes = tuple((key, value, how == "^=") for _, _, _, key, how, value in parts if key)
        tag = next((tag for _, tag, *_ in parts if tag), None)
        steps.append(Step(joint == " > ", tag, tuple(name for _, _, name, *_ in parts if name), attributes))
    return tuple(steps)


def around(tree: Tree, signs: Signs, body: int, bodies: Sequence[int]) -> int:
    """The largest node around a body that holds no other; of a page's only body the smallest that holds a name and a time."""
    place, top = bisect_left(bodies, body), body
    before = bodies[place - 1] if place else -1
    after = bodies[place + 1] if place + 1 < len(bodies) else len(tree.nodes)
    while (above := tree.nodes[top].parent) > 0 and above > before and tree.nodes[above].stop <= after:
        top = above
        stop = tree.nodes[top].stop
        if len(bodies) == 1 and signs.times[stop] > signs.times[top] and signs.authors[stop] > signs.authors[top]:
            break
    return top


def _within(tree: Tree, record: Record, nodes: Sequence[int]) -> int | None:
    places = range(*(bisect_left(nodes, at) for at in (record.nodes[0], tree.nodes[record.nodes[0]].stop)))
    return next((nodes[place] for place in places if record.body is None or not tree.holds(record.body, nodes[place])), None)
