"""Where in the posts the text stands: the path on which most posts have most words of their own, and no name and no time."""

from __future__ import annotations

from typing import Final

from newsportal.extractors.forum.anchors import CONTENT
from newsportal.extractors.forum.paths import Overlay, is_aside, same_leaf
from newsportal.extractors.forum.tree import Tree

COVERED: Final = 0.5  # a path counts that so many of the posts have: a poll, a picture, an attachment is not in most
MOST_CHARS: Final = 400  # of a longer text only so many characters weigh: one essay must not outweigh twenty answers
NAMED: Final = 1.6
IMPURE: Final = 0.3  # Worth of a path that calls itself content; of one that holds a name or a time in so large a share of the posts
DEEPER: Final = 1.02
STAY: Final = 0.8
# Of equal ones the inner path is better; but not one of those elements of which people's texts are made.
STAYS: Final = frozenset("p ul ol li dl dt dd pre thead tr b i em strong span a font h1 h2 h3 h4 h5 h6 br img code center".split())
MOSTLY: Final = 0.5


def find_bodies(tree: Tree, over: Overlay) -> int:
    """Set each record's ``body``; answers with the path that most have."""
    best, most = 0, 0.0
    depth = [0.0] * len(over.paths)
    for number, path in enumerate(over.paths):
        depth[number] = depth[path.above] * DEEPER if number else 1.0
        if number and not path.aside and len(path.masses) >= COVERED * len(over.records):
            worth = float(sum(min(max(one, 0), MOST_CHARS) for one in path.masses.values()))
            worth *= NAMED if CONTENT.search(path.names) else STAY if path.tag in STAYS else 1.0
            worth *= IMPURE if max(path.times, path.authors) >= MOSTLY * len(path.at) else 1.0
            worth *= depth[number]
            if worth > most:
                best, most = number, worth
    known = [over.of_node[record.body] for record in over.records if record.body in over.of_node]
    if known:
        best = max(set(known), key=known.count)
    for place, record in enumerate(over.records):
        if record.body is not None:
            continue
        at = over.paths[best].at.get(place)
        if at is None:
            at = same_leaf(tree, record, tree.nodes[next(iter(over.paths[best].at.values()))]) if best else None
        record.body = at if at is not None else _uncommon_body(tree, over, place, best)
    return best


def _uncommon_body(tree: Tree, over: Overlay, place: int, path: int) -> int:
    """The body of a post that is made otherwise: where the common path is left, the heaviest child with most of the text."""
    chain = []
    while path > 0:
        chain.append(path)
        path = over.paths[path].above
    record = over.records[place]
    at = record.nodes[0] if len(record.nodes) == 1 else max(record.nodes, key=tree.mass)
    for step in reversed(chain):
        at = over.paths[step].at.get(place, at)
    while True:
        children = [child for child in tree.children(at) if tree.nodes[child].tag not in STAYS and not is_aside(tree.nodes[child].names)]
        heaviest = max(children, key=tree.mass, default=None)
        if heaviest is None or tree.mass(heaviest) < MOSTLY * max(tree.mass(at), 1):
            return at
        at = heaviest
