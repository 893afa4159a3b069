"""Convert similar nodes to posts: add siblings, drop other nodes, find an opening post outside their container."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from newsportal.extractors.forum.groups import Signs
from newsportal.extractors.forum.paths import Overlay, Record, is_aside, signature
from newsportal.extractors.forum.tree import Tree

USUAL_SHARE: Final = 0.6  # if so many posts have a part, a node without it and another is not a post
OPENING_CHARS: Final = 30  # minimum length of an opening post outside the other posts' container
HEADING_TAGS: Final = frozenset(("header", "nav", "footer", "form", "aside"))
NO_TEXT: Final = frozenset("h1 h2 h3 h4 h5 h6 a span ul ol li nav form header footer aside b strong em i label".split())


def add_siblings(tree: Tree, signs: Signs, members: Sequence[int]) -> list[Record]:
    """Return a record for each member; if text or times are in the siblings between members, each record includes those after or before."""
    single = [Record((at,)) for at in members]
    parents = {tree.nodes[at].parent for at in members}
    if len(parents) != 1 or len(members) < 2:
        return single
    siblings, member_set = list(tree.children(parents.pop())), set(members)
    place = {at: number for number, at in enumerate(siblings)}
    starts = [place[at] for at in members]
    gaps = [after - start for start, after in pairwise(starts)]
    usual = max(set(gaps), key=gaps.count)
    if usual == 1:
        return single
    others = [at for at in siblings if at not in member_set]
    within, between = (sum(signs.times[tree.nodes[at].stop] > signs.times[at] for at in nodes) for nodes in (members, others))
    # members have no less text than what stands between them, and times where that has
    if sum(map(tree.mass, others)) <= sum(map(tree.mass, members)) and not within < USUAL_SHARE * len(members) <= between:
        return single
    before = siblings[starts[0] - usual + 1 : starts[0]]
    if len(before) == usual - 1 and list(map(_kind(tree), before)) == list(map(_kind(tree), siblings[starts[0] + 1 : starts[1]])):
        return [Record((at, *siblings[start - usual + 1 : start])) for at, start in zip(members, starts, strict=True)]
    ends = [*starts[1:], min(starts[-1] + usual, len(siblings))]
    return [Record(tuple(siblings[start:end])) for start, end in zip(starts, ends, strict=True)]


def _kind(tree: Tree) -> Callable[[int], tuple[str, str]]:
    return lambda at: (tree.nodes[at].tag, signature(tree.nodes[at].names))


def filter_posts(tree: Tree, overlay: Overlay, body: int) -> list[Record]:
    """Return the records that are posts: with a name or a time if most have them, and with text or an image."""
    records = overlay.records
    authored = sum(record.author is not None for record in records) >= USUAL_SHARE * len(records)
    timed = sum(record.time is not None for record in records) >= USUAL_SHARE * len(records)
    posts = []
    for place, record in enumerate(records):
        missing = (authored and record.author is None) + (timed and record.time is None) + (place not in overlay.paths[body].at)
        if missing >= 2 or record.body is None:
            continue
        node = tree.nodes[record.body]
        has_text = any(not piece.isspace() for piece in tree.pieces[node.first : node.last])
        if has_text or any(tree.nodes[below].tag in ("img", "video", "audio", "picture") for below in tree.descendants(record.body)):
            posts.append(record)
    return posts


def find_opening_post(tree: Tree, signs: Signs, records: Sequence[Record]) -> Record | None:
    """Return the opening post in another container: the nearest node before ``records`` with a time, a name and text."""
    first = min(record.nodes[0] for record in records)
    for container in tree.ancestors(first):
        earlier = [
            child for child in tree.children(container) if tree.nodes[child].stop <= first and tree.nodes[child].tag not in HEADING_TAGS
        ]
        good = [at for at in earlier if _is_post_like(tree, signs, at) and not is_aside(tree.nodes[at].names)]
        if good:
            return Record((max(good, key=tree.mass),))
        if any(node.tag == "h1" for node in tree.nodes[container : tree.nodes[first].parent]):
            break  # what stands before the heading belongs to the site
    return None


def _is_post_like(tree: Tree, signs: Signs, at: int) -> bool:
    stop = tree.nodes[at].stop
    if tree.mass(at) < OPENING_CHARS or signs.times[stop] == signs.times[at] or signs.authors[stop] == signs.authors[at]:
        return False
    for below in tree.descendants(at):
        node = tree.nodes[below]
        bare = signs.times[node.stop] == signs.times[below] and signs.authors[node.stop] == signs.authors[below]
        if node.tag not in NO_TEXT and tree.mass(below) >= OPENING_CHARS and not is_aside(node.names) and bare:
            return True
    return False
