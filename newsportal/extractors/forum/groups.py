"""Which nodes of a page are its posts: nodes alike, each with a time, a member's name and words of its own.

A candidate is a set of nodes that share a word of their class or id, or the tags from the top down. Each of its nodes is worth
(0.4 + 0.6 t)(0.4 + 0.6 a)(0.4 + 0.6 x) − 0.064, with t, a, x whether it holds a time, a name and text; what lies in a nested member of the
same set counts there alone. The set's score is the sum of these, times the square roots of the share of the page's text that it holds and
of its members' mean worth: all of the posts, whole, and little else.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import sqrt
from typing import Final

from newsportal.extractors.forum.tree import Tree

INLINE: Final = frozenset(
    "a span b i em strong img br p font time abbr small u s h1 h2 h3 h4 h5 h6 label sup sub code pre svg button figure picture "
    "hr cite q meta link".split()
)  # Elements that are not posts
MIN_FACTOR: Final = 0.4
EMPTY_WORTH: Final = MIN_FACTOR**3
FULL_TEXT_CHARS: Final = 6  # the shortest posts have one character, but share their block with a member's rank and location
DIGIT: Final = re.compile(r"\d")
NUMBERED_FACTOR: Final = 1.3
NAME_FACTOR: Final = 1.25
POST_NAME: Final = re.compile(
    r"(?<![a-z])(?:posts?|messages?|msg|repl(?:y|ies)|answers?|topic|thread|floor|pid|hentry|cpost)(?![a-z])|post(?:bit|id|row|_)",
    re.IGNORECASE,
)  # names of posts on many sites; a small bonus between similar candidates
COMMENT_NAME: Final = re.compile(r"comment|lzl|reply-list|sub-?repl|nested|child", re.IGNORECASE)  # such names may be comments under a post
MAX_KEYS: Final = 7
MIN_WORTH: Final = 0.2
MIN_CONTAINED_SHARE: Final = 0.8
MIN_REGULAR_SHARE: Final = 0.8
MIN_OUTER_SHARE: Final = 0.2
MAX_GROUPS: Final = 150


@dataclass(frozen=True, slots=True)
class Group:
    """Similar nodes, and how much they look like posts."""

    names: str
    members: tuple[int, ...]
    worth: tuple[float, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Signs:
    """Cumulative counts by node: times and names before it."""

    times: list[int]
    authors: list[int]


def signs_of(times: Sequence[bool], authors: Sequence[bool]) -> Signs:
    return Signs([0, *accumulate(map(int, times))], [0, *accumulate(map(int, authors))])


def _scored(tree: Tree, signs: Signs, names: str, members: Sequence[int], total: int) -> Group:
    worth, mass, rest = [], 0, 1 - MIN_FACTOR
    for times, authors, chars in own_counts(tree, signs, members):
        text = MIN_FACTOR + rest * min(1.0, chars / FULL_TEXT_CHARS)
        worth.append((MIN_FACTOR + rest * (times > 0)) * (MIN_FACTOR + rest * (authors > 0)) * text - EMPTY_WORTH)
        mass += chars
    sum_worth = sum(worth)
    score = sum_worth * sqrt(max(mass, 0) / total) * (sum_worth / len(worth)) * (NAME_FACTOR if POST_NAME.search(names) else 1)
    # the share of the members whose first name is the commonest one
    first = Counter(tree.nodes[at].names.split(None, 1)[0] if tree.nodes[at].names else "" for at in members)
    score *= first.most_common(1)[0][1] / len(members)
    # whether most members have an id with a number, each another
    ids = {ident for at in members if (ident := tree.values["id"].get(at)) and DIGIT.search(ident)}
    score *= NUMBERED_FACTOR if len(ids) >= MIN_REGULAR_SHARE * len(members) else 1
    return Group(names, tuple(members), tuple(worth), score)


def own_counts(tree: Tree, signs: Signs, members: Sequence[int]) -> list[list[int]]:
    """Return times, names and characters of each member, without those of nested members. Linear."""
    found: list[list[int]] = []
    open_: list[int] = []
    for place, at in enumerate(members):
        stop = tree.nodes[at].stop
        counts = [signs.times[stop] - signs.times[at], signs.authors[stop] - signs.authors[at], tree.mass(at)]
        while open_ and tree.nodes[members[open_[-1]]].stop <= at:
            open_.pop()
        if open_:
            outer = found[open_[-1]]
            for number, count in enumerate(counts):
                outer[number] -= count
        found.append(counts)
        open_.append(place)
    return found


def posts_of(tree: Tree, signs: Signs) -> Group | None:
    """Return the best candidate, or one around it whose members contain complete posts (it may match rows of posts, or comments)."""
    candidates: dict[tuple[str, str], list[int]] = defaultdict(list)
    paths: list[int] = []
    path_ids: dict[tuple[int, str], int] = {}
    for at, node in enumerate(tree.nodes):
        above = paths[node.parent] if node.parent >= 0 else 0
        paths.append(path_ids.setdefault((above, node.tag), len(path_ids) + 1))
        if node.tag in INLINE or (signs.times[node.stop] == signs.times[at] and signs.authors[node.stop] == signs.authors[at]):
            continue
        candidates["path", str(paths[at])].append(at)
        for word in dict.fromkeys(node.names.split()[:MAX_KEYS]):
            candidates[node.tag, word].append(at)
    total = tree.plain[-1] or 1
    names: dict[tuple[int, ...], str] = {}
    for (_, name), members in candidates.items():
        if len(members) > 1:
            names[tuple(members)] = f"{names.get(tuple(members), '')} {name}"
    found = [_scored(tree, signs, name, members, total) for members, name in names.items()]
    ranked = sorted((group for group in found if group.score > 0), key=lambda group: (-group.score, group.members))[:MAX_GROUPS]
    if not ranked:
        return None
    best = ranked[0]
    for other in ranked[1:]:
        if other.score >= MIN_OUTER_SHARE * best.score and _is_around(tree, signs, other, best):
            best = other
    return best


def _is_around(tree: Tree, signs: Signs, outer: Group, inner: Group) -> bool:
    """Return whether most of ``inner`` is in ``outer``: the same number in each member, or next to its own text, time and name."""
    members = [at for at, worth in zip(outer.members, outer.worth, strict=True) if worth >= MIN_WORTH]
    starts, counts = inner.members, []
    for at in members:
        counts.append(bisect_left(starts, tree.nodes[at].stop) - bisect_left(starts, at))
        if at in inner.members:
            return False
    if len(members) < (2 if COMMENT_NAME.search(inner.names) else 3) or sum(counts) < MIN_CONTAINED_SHARE * len(starts) or max(counts) < 2:
        return False
    usual = max(set(counts), key=counts.count)
    if usual > 1 and counts.count(usual) >= MIN_REGULAR_SHARE * len(counts):
        return True
    both = sorted((*members, *starts))
    counts_by_node = dict(zip(both, own_counts(tree, signs, both), strict=True))
    good = sum(all(count > least for count, least in zip(counts_by_node[at], (0, 0, FULL_TEXT_CHARS), strict=True)) for at in members)
    return good >= MIN_REGULAR_SHARE * len(members)
