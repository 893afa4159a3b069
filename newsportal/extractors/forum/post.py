"""Convert a record to a post: its text as displayed, its own words without quotations, images, floor, id."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from newsportal.extractors.forum.anchors import OWN_LINK, floor_of
from newsportal.extractors.forum.authors import author_of
from newsportal.extractors.forum.paths import Record, is_aside
from newsportal.extractors.forum.times import Calendar, time_of
from newsportal.extractors.forum.tree import Tree, outermost
from newsportal.extractors.images.article_images import ICON, source_of
from newsportal.items import Image, Post
from newsportal.text import dom

EDIT_NOTE: Final = re.compile(
    r"^\W{0,3}(?:last (?:edited|modified)|edited (?:by|on|at)|this post (?:has been|was) (?:last )?(?:edited|modified)"
    r"|zuletzt (?:bearbeitet|geändert)|geändert von|bearbeitet von"
    r"|message (?:édité|cité)|dernière (?:modification|édition)|modifié (?:par|le)|édité par|ultima modifica|modificato da"
    r"|editado por|última edici|última vez editado"
    r"|отредактир|последний раз|редактировал|ostatnio (?:edytowa|zmienion)|laatst (?:bewerkt|gewijzigd)|senast redigera|本帖最后由"
    r"|本帖最後由|此帖.{0,20}编辑"
    r"|该帖.{0,40}编辑|该贴.{0,40}编辑|\[ ?(?:本帖|此帖).{0,60}(?:编辑|編輯) ?\]).{0,160}$",
    re.IGNORECASE,
)  # a template's line about an edit
NOISE: Final = re.compile(
    r"^(?:quote|reply|report|like|share|permalink|edit|引用|回复|举报|点评|登录/注册后可看大图"
    r"|发信人[:：].{1,120}信区.{0,120}|标\s{0,4}题[:：].{0,200}|发信站[:：].{0,160}|※\s?(?:来源|修改)[:：·].{0,200}|--"
    r"|.{0,40}下载次数[:：] ?\d+\)?|下载附件(?: ?保存到相册)?"
    r"|(?:点击)?查看(?:大图|完整图片)|\d{4}-\d{1,2}-\d{1,2} \d{1,2}:\d{2} 上传|attached (?:files|images)|attachments?:?"
    r"|miniaturansichten angehängter grafiken)$",
    re.IGNORECASE,
)  # a line that is a button, an attachment's tip, or the head and foot that Chinese boards of the Telnet age put into their posts
MAX_HEADER_CHARS: Final = 120  # a node with the name or the time within the body is cut out if it is not longer
SMILEY: Final = re.compile(r"smil|emot|emoji|/face|icon", re.IGNORECASE)
MIN_PIXELS: Final = 40
MAX_IMAGES: Final = 100
NUMBERED_ID: Final = re.compile(
    r"(?:post|pid|p|msg|message|comment|reply|answer|entry|read|elcomment|js-post|t1|r|id|m)[-_]?(?:id)?[-_]?(\d{2,})$", re.IGNORECASE
)
POST_LINK: Final = re.compile(r"(?:[?&](?:p|pid|post|postid|comment)=|#[a-z_-]{0,12}|/posts?[-/])(\d{2,})", re.IGNORECASE)
MAX_LOOKED: Final = 600
FLOOR_PIECES: Final = 6
MAX_SEARCHED_NODES: Final = 80  # Nodes of a post whose id or link may contain its number


@dataclass(frozen=True, slots=True)
class PostContext:
    """Shared input for all posts of a page. ``quotes``: the outermost quotations, ``posts``: the nodes of all posts, both in page order;
    ``calendar``: how to read times."""

    tree: Tree
    document: dom.Document
    quotes: Sequence[int]
    posts: Sequence[int]
    calendar: Calendar


def post_of(scene: PostContext, record: Record) -> Post:
    """Return the post of a record, without the text of nested posts."""
    tree = scene.tree
    body = record.nodes[0] if record.body is None else record.body
    when, date_text = time_of(tree, record.time, scene.calendar) if record.time is not None else (None, None)
    holes = _holes(scene, record, body)
    quotes = _outside(tree, body, holes, scene.quotes)
    full = _cleaned(tree.lines(body, holes))
    unquoted = _cleaned(tree.lines(body, outermost(tree, [*holes, *quotes]))) if quotes else full
    quoted = "\n".join(line for at in quotes for line in tree.lines(at))
    return Post(
        author=author_of(tree, record.nodes, record.author, record.time),
        published=when,
        text="\n".join(unquoted or full),
        floor=floor_in(tree, record.nodes, record.body),
        date_text=date_text,
        block_text="\n".join(tree.text(top, _inside(tree, top, scene.posts)) for top in sorted(record.nodes)),
        quoted=quoted or None,
        images=_images(scene, body, holes),
        xpath=tree.xpath(min(record.nodes)),
        full_text="\n".join(full),
        id=_number_of(tree, record),
        opening=record.opening,
    )


def _inside(tree: Tree, top: int, nodes: Sequence[int]) -> Sequence[int]:
    """Return those of ``nodes`` (in page order) that are below ``top``."""
    return nodes[bisect_right(nodes, top) : bisect_left(nodes, tree.nodes[top].stop)]


def _outside(tree: Tree, body: int, holes: Sequence[int], nodes: Sequence[int]) -> list[int]:
    """Return those of ``nodes`` that are below ``body`` and in none of its ``holes``; all are in page order, no hole is in another."""
    start, found = bisect_right(nodes, body), list[int]()
    for hole in holes:
        found += nodes[start : bisect_left(nodes, hole, start)]
        start = bisect_left(nodes, tree.nodes[hole].stop, start)
    return [*found, *nodes[start : bisect_left(nodes, tree.nodes[body].stop, start)]]


def _holes(scene: PostContext, record: Record, body: int) -> list[int]:
    """Return the nodes in a body that are not the post's text: signatures, buttons, hidden tips, nested posts, its header."""
    tree = scene.tree
    posts = frozenset(_inside(tree, body, scene.posts))
    found, at = [], body + 1
    while at < tree.nodes[body].stop:
        hole = at in posts or is_aside(tree.nodes[at].names)
        if hole:
            found.append(at)
        at = tree.nodes[at].stop if hole else at + 1
    parts = (part for part in (record.author, record.time) if part is not None and body < part < tree.nodes[body].stop)
    return outermost(tree, [*found, *(part for part in parts if len(tree.short(part)) <= MAX_HEADER_CHARS)])


def _cleaned(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if not EDIT_NOTE.match(line) and not NOISE.match(line)]


def _images(scene: PostContext, body: int, holes: Sequence[int]) -> tuple[Image, ...]:
    tree = scene.tree
    found: dict[str, Image] = {}
    for at in _outside(tree, body, holes, tree.tags.get("img", ())):
        image = tree.nodes[at].element
        if any((size := image.get(name, "")).isdecimal() and int(size) < MIN_PIXELS for name in ("width", "height")):
            continue
        url = source_of(image, scene.document.base)
        if url and not ICON.search(url) and not SMILEY.search(f"{url} {image.get('class', '')}"):
            found.setdefault(url, Image(url))
            if len(found) >= MAX_IMAGES:
                break
    return tuple(found.values())


def _number_of(tree: Tree, record: Record) -> str | None:
    """Return the site's number for a post: from an id, else from a permalink."""
    linked = None
    for top in sorted(record.nodes):
        for at in range(top, min(tree.nodes[top].stop, top + MAX_SEARCHED_NODES)):
            node = tree.nodes[at]
            if (ident := tree.values["id"].get(at)) and (match := NUMBERED_ID.search(ident)):
                return match[1]
            if linked is None and node.tag == "a" and OWN_LINK.search(href := node.element.get("href", "")):
                found = POST_LINK.search(href)
                linked = found[1] if found else None
    return linked


def floor_in(tree: Tree, nodes: Sequence[int], body: int | None) -> int | None:
    """Return the floor displayed in a post outside its text."""
    for top in nodes:
        at, stop = top, min(tree.nodes[top].stop, top + MAX_LOOKED)
        while at < stop:
            node = tree.nodes[at]
            if at == body:
                at = node.stop
                continue
            if 0 < node.last - node.first <= FLOOR_PIECES:
                if at not in tree.floors:
                    tree.floors[at] = floor_of(tree.short(at, FLOOR_PIECES))
                if (floor := tree.floors[at]) is not None:
                    return floor
            at += 1
    return None
