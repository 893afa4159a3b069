"""All posts of a page overlaid: nodes at the same position in their posts share a path.

A path consists of the tags with their classes from the post down; siblings without a class are numbered. The statistics of a path over
all posts are more reliable than those of one post: bodies are long and differ, names are short and differ, buttons are equal.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from newsportal.extractors.forum.anchors import CONTENT
from newsportal.extractors.forum.groups import Signs
from newsportal.extractors.forum.tree import Node, Tree
from newsportal.text.characters import cached_search

is_aside: Final = cached_search(
    r"(?<![a-z])(?:sig(?:nature\w*|block|n)?|user-?_?(?:sig\w*|info\w*|details?|stats|profile|card|title|rank|extras?|badges?"
    r"|meta|cell)|profile\w*"
    r"|post-?_?(?:profile|details|author\w*|user\w*|buttons?|controls?|foot\w*|options|actions?|meta|info|menu|head\w*)|author\w*"
    r"|avatar\w*|poster\w*"
    r"|member\w*|badges?|rank|reputation|karma|buttons?|btns?|controls?|actions?|toolbar|tools|likes?|reactions?|rating|score"
    r"|votes?|share\w*|social"
    r"|report|modal|dropdown|popup|popover|tooltip|tip|tips|aimg_tip|attach_tips?|menu|nav|pager|pagination|breadcrumbs?"
    r"|last-?_?edit\w*|lastedited|edit-?_?(?:by|note|date|info)\w*"
    r"|editdate|pstatus|notice|rodape|signat\w*|thank\w*|message-(?:user(?!content)\w*|signature|lastEdit|attribution\w*|footer"
    r"|actionBar|cell--user)|privateControls|publicControls"
    r"|messageUserInfo|messageMeta|signature|pls|ratelog|rate|cm|pcb-comment|psth|modact|advert\w*|ads?|sponsor\w*|banner|sr-only"
    r"|visually-hidden|screen-reader-text"
    r"|js-comments|comments-link|hidden|d-none|editor|quick-?reply|post-?signature|reply-?(?:to|links?|form)|comment-?(?:form"
    r"|actions?|tools|meta|footer))(?![a-z])"
)  # names of a post's parts other than its text: user card, signature, buttons, edit notes, hidden tips
STATE_CLASSES: Final = frozenset(
    "odd even first last alt active online offline unread read new clearfix clear cl fadeIn bg bg1 bg2 row1 row2 rowodd roweven "
    "seen hidden".split()
)
ASIDE_TAG_SHARE: Final = 0.9
ASIDE_TAGS: Final = frozenset(("aside", "footer", "nav", "form"))
UNCOUNTED_TAGS: Final = frozenset("br img".split())
MAX_PLACE: Final = 4
SIGNATURE_CLASSES: Final = 2
MIN_BODY_SHARE: Final = 0.8
MAX_PLACES: Final = 12
MAX_NODES: Final = 600  # Nodes of a post that are overlaid: later ones in a longer post belong to its text
Key = tuple[int, str, str, int]
COMMENTS: Final = re.compile(r"comments?(?![a-z])|(?<![a-z])(?:lzl|pstl|cm|repl(?:y|ies)|nested|children)(?![a-z])", re.IGNORECASE)
MIN_COMMENT_SHARE: Final = 0.3
MAX_ASIDE_SHARE: Final = 0.5  # share of all posts' text: with more, a path is never aside (``postdetails`` is a card here, the post there)


@dataclass(slots=True)
class Record:
    """A post: one node, or several siblings. The parts found in it are node numbers."""

    nodes: tuple[int, ...]
    body: int | None = None
    author: int | None = None
    time: int | None = None
    opening: bool = False


@dataclass(slots=True)
class Path:
    """The nodes at one position in the posts. ``at``: post number → the first node there."""

    above: int
    tag: str
    names: str
    at: dict[int, int] = field(default_factory=dict)
    mass: int = 0
    masses: dict[int, int] = field(default_factory=dict)
    times: int = 0
    authors: int = 0
    aside: bool = False

    @property
    def first(self) -> int:
        """Return the node of the first post that has this path."""
        return next(iter(self.at.values()))


@dataclass(slots=True)
class Overlay:
    """The paths of overlaid posts; path 0 is the post itself."""

    paths: list[Path]
    of_node: dict[int, int]
    records: Sequence[Record]

    def inside(self, body: int, count: int) -> set[int]:
        """Return the paths at and below the body, where names and times belong to others; none if most bodies contain one (``count``)."""
        found: set[int] = set()
        if body and count < MIN_BODY_SHARE * len(self.paths[body].at):
            for number, path in enumerate(self.paths):
                if number == body or path.above in found:
                    found.add(number)
        return found


@lru_cache(maxsize=4096)
def signature(names: str) -> str:
    """Return the words that identify a node within posts: its first classes, or its id if it has none."""
    words = [word for word in names.split() if word not in STATE_CLASSES]
    classes = [word for word in words if not word.startswith("#")][:SIGNATURE_CLASSES]
    return " ".join(classes or words[:1])


def overlay_records(tree: Tree, signs: Signs, records: Sequence[Record]) -> Overlay:
    """Overlay the records. Nodes of another record inside one (nested posts) are left out."""
    paths = [Path(-1, "", "")]
    numbers: dict[Key, int] = {}
    of_node: dict[int, int] = {}
    nodes, plain = tree.nodes, tree.plain
    roots = {at for record in records for at in record.nodes}
    for number, record in enumerate(records):
        paths[0].at[number] = record.nodes[0]
        for at, key in keys_of(tree, record, roots, of_node):
            if (found := numbers.get(key)) is None:
                found = numbers[key] = len(paths)
                paths.append(Path(key[0], key[1], nodes[at].names))
            path, node, of_node[at] = paths[found], nodes[at], found
            path.at.setdefault(number, at)
            if mass := plain[node.last] - plain[node.first]:
                path.mass += mass
                path.masses[number] = path.masses.get(number, 0) + mass
            path.times += signs.times[node.stop] > signs.times[at]
            path.authors += signs.authors[node.stop] > signs.authors[at]
    total = paths[0].mass = sum(tree.mass(at) for record in records for at in record.nodes)
    for path in paths[1:]:
        above = paths[path.above]
        most = total * (ASIDE_TAG_SHARE if path.tag in ASIDE_TAGS else MAX_ASIDE_SHARE)
        marked = path.tag in ASIDE_TAGS or is_aside(path.names)
        # replies nested in a post have names and times of their own
        comments = min(path.times, path.authors) >= MIN_COMMENT_SHARE * len(path.at) and COMMENTS.search(path.names) is not None
        path.aside = above.aside or (path.mass <= most and marked) or comments
        if path.aside and not above.aside:
            outer = path.above
            while outer >= 0:
                paths[outer].mass -= path.mass
                for number, mass in path.masses.items():
                    if outer:
                        paths[outer].masses[number] -= mass
                outer = paths[outer].above
    paths[0].times = paths[0].authors = len(records)
    return Overlay(paths, of_node, records)


def keys_of(tree: Tree, record: Record, roots: Collection[int], of_node: dict[int, int]) -> Iterator[tuple[int, Key]]:
    """Yield the nodes of a post with the keys of their paths, which the caller numbers (``of_node``); its only node has path 0."""
    nodes = tree.nodes
    for place, top in enumerate(record.nodes):
        of_node[top] = 0
        if len(record.nodes) > 1:
            yield top, (0, nodes[top].tag, signature(nodes[top].names), min(place, 3))
        at, count, stop = top + 1, 0, nodes[top].stop
        places: dict[tuple[int, str, str], int] = {}
        while at < stop and count < MAX_NODES:
            if at in roots:
                at = nodes[at].stop
                continue
            node = nodes[at]
            count += 1
            ordinal, name, tag = 0, signature(node.names) if node.names else "", node.tag
            if tag not in UNCOUNTED_TAGS:
                form = (node.parent, tag, name)
                ordinal = places[form] = places.get(form, -1) + 1
            yield at, (of_node[node.parent], tag, name, ordinal if ordinal < MAX_PLACE else MAX_PLACE)
            at += 1


def best_paths(scores: Iterable[tuple[float, int]]) -> list[int]:
    """Return the numbers of the best paths, the best first; ties keep their order, and paths without points are left out."""
    best = sorted((-score, number) for score, number in scores if score > 0)
    return [number for _, number in best[:MAX_PLACES]]


def same_leaf(tree: Tree, record: Record, like: Node, flags: Sequence[bool] | None = None) -> int | None:
    """Return the first node of a post with the tag and the names of ``like``, anywhere in it; with ``flags``, the first flagged one."""
    names = signature(like.names)
    if not names:
        return None
    nodes = ((at, tree.nodes[at]) for top in record.nodes for at in range(top, min(tree.nodes[top].stop, top + MAX_NODES)))
    alike = (at for at, node in nodes if node.tag == like.tag and signature(node.names) == names)
    return next((at for at in alike if flags is None or flags[at]), None)


# The path of the posts' text: the one on which most posts have most text of their own, without name and time.

MIN_COVERAGE: Final = 0.5  # share of posts that must have the path: most have no poll, picture or attachment
MAX_CHARS: Final = 400  # characters of a text that count: one essay must not outweigh twenty answers
CONTENT_FACTOR: Final = 1.6
IMPURE_FACTOR: Final = 0.3  # Factor for a path named as content; for one with a name or time in at least ``MIN_MOST_SHARE`` of the posts
DEPTH_FACTOR: Final = 1.02
TEXTUAL_FACTOR: Final = 0.8
# Of equal paths the inner one is better, unless it is an element of which texts consist.
TEXTUAL: Final = frozenset("p ul ol li dl dt dd pre thead tr b i em strong span a font h1 h2 h3 h4 h5 h6 br img code center".split())
MIN_MOST_SHARE: Final = 0.5


def find_bodies(tree: Tree, overlay: Overlay) -> int:
    """Set each record's ``body``. Return the path that most of them have."""
    best, most = 0, 0.0
    depth = [0.0] * len(overlay.paths)
    for number, path in enumerate(overlay.paths):
        depth[number] = depth[path.above] * DEPTH_FACTOR if number else 1.0
        if number and not path.aside and len(path.masses) >= MIN_COVERAGE * len(overlay.records):
            worth = float(sum(min(max(mass, 0), MAX_CHARS) for mass in path.masses.values()))
            worth *= CONTENT_FACTOR if CONTENT.search(path.names) else TEXTUAL_FACTOR if path.tag in TEXTUAL else 1.0
            worth *= IMPURE_FACTOR if max(path.times, path.authors) >= MIN_MOST_SHARE * len(path.at) else 1.0
            worth *= depth[number]
            if worth > most:
                best, most = number, worth
    hinted = [overlay.of_node[record.body] for record in overlay.records if record.body in overlay.of_node]
    if hinted:
        best = max(set(hinted), key=hinted.count)
    for place, record in enumerate(overlay.records):
        if record.body is not None:
            continue
        at = overlay.paths[best].at.get(place)
        if at is None:
            at = same_leaf(tree, record, tree.nodes[overlay.paths[best].first]) if best else None
        record.body = at if at is not None else _uncommon_body(tree, overlay, place, best)
    return best


def _uncommon_body(tree: Tree, overlay: Overlay, place: int, path: int) -> int:
    """Return the body of a post with another structure: from the point where it leaves the common path, the child with most of the text."""
    chain = []
    while path > 0:
        chain.append(path)
        path = overlay.paths[path].above
    record = overlay.records[place]
    at = record.nodes[0] if len(record.nodes) == 1 else max(record.nodes, key=tree.mass)
    for step in reversed(chain):
        at = overlay.paths[step].at.get(place, at)
    while True:
        children = [child for child in tree.children(at) if tree.nodes[child].tag not in TEXTUAL and not is_aside(tree.nodes[child].names)]
        heaviest = max(children, key=tree.mass, default=None)
        if heaviest is None or tree.mass(heaviest) < MIN_MOST_SHARE * max(tree.mass(at), 1):
            return at
        at = heaviest
