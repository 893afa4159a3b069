"""Find posts with the hints in ``engines.yaml`` for their forum software.

If a hint is missing or fails, author and time are found as on any page (``authors``, ``times``). Pages of other engines are read
without hints.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import Final

from newsportal.extractors import load_yaml
from newsportal.extractors.forum.groups import Signs
from newsportal.extractors.forum.paths import Record
from newsportal.extractors.forum.tree import Tree, outermost
from newsportal.text.expressions import word_matcher

MIN_GAIN: Final = 1.5  # a later selector for bodies is used if it finds so many times more posts than the best before
# A part of a selector: a tag, a class, an id or an attribute that equals or begins with a value
SIMPLE_SELECTOR: Final = re.compile(r"""((?:^([a-z][\w-]*)|\.([\w-]+)|\[([\w-]+)(\^?=)['"]?([^'"\]]+)['"]?\]))""")


@dataclass(frozen=True, slots=True)
class Step:
    """A part of a selector between spaces. ``child``: preceded by ``>``. ``attributes``: key, value, whether the value is only a prefix."""

    child: bool
    tag: str | None
    classes: tuple[str, ...]
    attributes: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True, slots=True)
class Engine:
    name: str
    marks: Sequence[str]
    body: str
    post: str | None = None
    author: str | None = None
    time: str | None = None


@cache
def engines() -> tuple[Engine, ...]:
    """The engines of ``engines.yaml``, in its order."""
    return tuple(Engine(name, **hints) for name, hints in load_yaml(__package__, "engines.yaml").items())


@cache
def _find_marks() -> Callable[[str], list[int]]:
    return word_matcher([mark for engine in engines() for mark in engine.marks])


def engines_of(html: str) -> Iterator[Engine]:
    """Return the engines that may have generated a page, by their marks; their selectors show which one it is."""
    marked = [engine.name for engine in engines() for _ in engine.marks]
    candidates = {marked[number] for number in _find_marks()(html)}
    return (engine for engine in engines() if engine.name in candidates)


def records_from_selectors(tree: Tree, signs: Signs, engine: Engine) -> list[Record]:
    """Return a record for each post that the engine's selectors find, in page order."""
    containers = {at for choice in engine.post.split(", ") for at in select_all(tree, choice)} if engine.post else set()
    found: list[Record] = []
    for choice in engine.body.split(", "):
        bodies = outermost(tree, select_all(tree, choice)) if not containers else select_all(tree, choice)
        nearest: dict[int, Record] = {}  # container around each body, with the first body in it; broken markup nests posts
        for body in bodies:
            at = next((node for node in chain((body,), tree.ancestors(body)) if node in containers), 0)
            if at > 0:
                nearest.setdefault(at, Record((at,), body=body))
        records = [nearest[at] for at in sorted(nearest)] or [Record((enclosing_post(tree, signs, at, bodies),), body=at) for at in bodies]
        found = records if len(records) > MIN_GAIN * len(found) else found
        if containers and len(found) == len(containers):
            break
    authors, times = (select(tree, selector) if selector else [] for selector in (engine.author, engine.time))
    for record in found:
        record.author, record.time = _within(tree, record, authors), _within(tree, record, times)
    return found


def select(tree: Tree, selector: str) -> list[int]:
    """Return the nodes that a selector matches, in page order. Of alternatives separated by commas, the first with a match is used."""
    return next((found for choice in selector.split(", ") if (found := select_all(tree, choice))), [])


def select_all(tree: Tree, selector: str) -> list[int]:
    """Return the nodes that a selector matches, in page order. Linear: it uses the tree's index; XPath reads all classes each time."""
    found: list[int] = []
    for place, step in enumerate(_steps_of(selector)):
        if step.classes:
            nodes = tree.classes.get(step.classes[0], [])
        elif step.tag:
            nodes = tree.tags.get(step.tag, [])
        else:
            nodes = list(tree.values[step.attributes[0][0]])
        if len(step.classes) + (step.tag is not None) > 1 or step.attributes:  # the index covers one class or tag
            nodes = [at for at in nodes if _matches(tree, at, step)]
        if place and step.child:
            above = frozenset(found)
            nodes = [at for at in nodes if tree.nodes[at].parent in above]
        found = _below(tree, nodes, found) if place and not step.child else nodes
    return found


def _below(tree: Tree, nodes: Sequence[int], tops: Sequence[int]) -> list[int]:
    """Return those of ``nodes`` that are descendants of one of ``tops``; both are in page order."""
    found, place, reach = [], 0, 0
    for at in nodes:
        while place < len(tops) and tops[place] < at:
            reach, place = max(reach, tree.nodes[tops[place]].stop), place + 1
        if at < reach:
            found.append(at)
    return found


def _matches(tree: Tree, at: int, step: Step) -> bool:
    if step.tag not in (None, tree.nodes[at].tag):
        return False
    if len(step.classes) > 1 and not set(step.classes) <= set(tree.nodes[at].element.get("class", "").split()):
        return False
    comparisons = ((tree.values[key].get(at, ""), value, begins) for key, value, begins in step.attributes)
    return all(actual.startswith(value) if begins else actual == value for actual, value, begins in comparisons)


@lru_cache(maxsize=512)
def _steps_of(selector: str) -> tuple[Step, ...]:
    """Parse a selector such as ``div.a > [id^=b] .c``, the only CSS supported. Raises ``ValueError`` for anything else."""
    steps = []
    for combinator, compound in re.findall(r"(?:^|( > | ))([^\s>]+)", selector):
        parts = SIMPLE_SELECTOR.findall(compound)
        if not parts or "".join(part[0] for part in parts) != compound:
            raise ValueError(f"not a selector of an engine: {selector!r}")
        attributes = tuple((key, value, operator == "^=") for _, _, _, key, operator, value in parts if key)
        tag = next((tag for _, tag, *_ in parts if tag), None)
        steps.append(Step(combinator == " > ", tag, tuple(name for _, _, name, *_ in parts if name), attributes))
    return tuple(steps)


def enclosing_post(tree: Tree, signs: Signs, body: int, bodies: Sequence[int]) -> int:
    """Return the largest node around a body without other bodies; for a page's only body, the smallest with a name and a time."""
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
    return next((nodes[place] for place in places if record.body is None or not tree.contains(record.body, nodes[place])), None)
