"""Posts by an engine's hints."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from newsportal import dom
from newsportal.extractors.forum.engines import Engine
from newsportal.extractors.forum.groups import Signs
from newsportal.extractors.forum.paths import Record
from newsportal.extractors.forum.tree import Tree, outermost

MORE: Final = 1.5  # a later choice of bodies counts where it finds so many times more posts than one before it


def hinted(tree: Tree, signs: Signs, root: dom.Element, engine: Engine) -> list[Record]:
    """A record for each post that the engine's selectors find, in page order; none where they find nothing."""
    holders = set(numbers(tree, root, engine.post)) if engine.post else set()
    found: list[Record] = []
    for choice in engine.body.split(", "):
        bodies = outermost(tree, numbers(tree, root, choice)) if not holders else numbers(tree, root, choice)
        records = _in_holders(tree, holders, bodies) or [Record((around(tree, signs, at, bodies),), body=at) for at in bodies]
        found = records if len(records) > MORE * len(found) else found
        if holders and len(found) == len(holders):
            break
    if engine.author:
        named = select(tree, root, engine.author)
        for record in found:
            record.author = _within(tree, record, named)
    if engine.time:
        dated = select(tree, root, engine.time)
        for record in found:
            record.time = _within(tree, record, dated)
    return found


def select(tree: Tree, root: dom.Element, selector: str) -> list[int]:
    """The nodes that a selector finds, in page order. Of choices parted by commas the first counts that finds any."""
    return next((found for choice in selector.split(", ") if (found := numbers(tree, root, choice))), [])


def numbers(tree: Tree, root: dom.Element, selector: str) -> list[int]:
    """The nodes that a selector finds, in page order."""
    return [at for element in dom.css(root, selector) if (at := tree.number.get(element)) is not None]


def _in_holders(tree: Tree, holders: set[int], bodies: Sequence[int]) -> list[Record]:
    """The nearest holder around each body, with the first body in it. Posts may lie in one another where markup is broken."""
    found: dict[int, Record] = {}
    for body in bodies:
        at = body
        while at > 0 and at not in holders:
            at = tree.nodes[at].parent
        if at > 0:
            found.setdefault(at, Record((at,), body=body))
    return [found[at] for at in sorted(found)]


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
    top = record.nodes[0]
    place = bisect_left(nodes, top)
    while place < len(nodes) and nodes[place] < tree.nodes[top].stop:
        if record.body is None or not tree.holds(record.body, nodes[place]):
            return nodes[place]
        place += 1
    return None
