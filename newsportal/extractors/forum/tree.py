"""A thread's page as a flat tree: nodes and pieces of text in document order, so that a subtree is a range of both.

One walk, not recursive. Sums over subtrees are differences of cumulative sums.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate, count
from typing import Final

from newsportal.text import clean, dom, visible_length

# Elements without displayed text.
SKIPPED_TAGS: Final = frozenset("script style template iframe object embed svg math select option textarea head title button input".split())
NOSCRIPT_CHARS: Final = 200  # a ``noscript`` with more visible text holds the page (Discourse); one with less asks for scripts
MAX_POSTS: Final = 2_000  # longer pages are cut: boards show some hundreds of posts at most
TEMPLATE_TIMES: Final = 3
MAX_TEMPLATE_CHARS: Final = 60  # A short text repeated so often on a page is the template's (Quote, Join Date, Member)
MAX_NAME_CHARS: Final = 300
SHORT_PIECES: Final = 200
MAX_SHORT_CHARS: Final = 4_000
LINE_BREAK: Final = "\n"
SPACE: Final = " "  # A piece of white space only. At most one in a row, and none beside a break.
HIDDEN: Final = re.compile(r"display\s*:\s*none", re.IGNORECASE)
HIDDEN_WORD: Final = "hidden"  # Among the names of a node that the page hides
TIME_ATTRIBUTES: Final = tuple("datetime title data-time data-timestamp data-date data-datetime data-created content ts created".split())
TIME_NAMES: Final = frozenset(TIME_ATTRIBUTES)
KEPT_ATTRIBUTES: Final = frozenset(("id", "itemprop", "component", "data-role"))  # read for many nodes, or naming an engine's parts
_DIGITS: Final = re.compile(r"\d+")


@dataclass(slots=True)
class Node:
    """An element. ``names``: its classes, and its id behind ``#``, without figures, a space on either side of each. ``stop``: the number
    after its subtree's last node; ``first`` and ``last``: its range of pieces. Attributes stay in the element: to keep them all costs more
    than to ask it for the few that are looked at."""

    element: dom.Element
    parent: int
    tag: str
    names: str
    first: int
    last: int = 0
    stop: int = 0


@dataclass
class Tree:
    """Node 0 is the page's ``body``. ``pieces`` are texts and breaks; ``owner`` the node a piece stands in.
    ``named``: the nodes by their ``class`` as written; ``values``: value by node of each of ``KEPT_ATTRIBUTES``; ``timed``: the nodes with
    an attribute that may contain a time; ``floors``: cache of the floors that nodes name, as nested posts are searched repeatedly."""

    nodes: list[Node] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    owner: list[int] = field(default_factory=list)
    named: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    values: dict[str, dict[int, str]] = field(default_factory=lambda: {key: {} for key in KEPT_ATTRIBUTES})
    timed: set[int] = field(default_factory=set)
    floors: dict[int, int | None] = field(default_factory=dict)
    _steps: dict[int, dict[int, str]] = field(default_factory=dict)  # parent → child → last step of its XPath, filled on demand

    @cached_property
    def templates(self) -> frozenset[str]:
        """Short texts that are repeated on the page."""
        counts = Counter(piece for piece in self.pieces if piece != LINE_BREAK and len(piece) <= MAX_TEMPLATE_CHARS)
        return frozenset(piece for piece, count in counts.items() if count >= TEMPLATE_TIMES)

    @cached_property
    def plain(self) -> list[int]:
        """Cumulative visible characters outside links and template texts, by piece."""
        templates, linked = self.templates, bytearray(len(self.pieces))
        for link in map(self.nodes.__getitem__, self.tags.get("a", ())):
            linked[link.first : link.last] = b"\1" * (link.last - link.first)
        counts = (
            0 if in_link or piece == LINE_BREAK or piece in templates else visible_length(piece)
            for piece, in_link in zip(self.pieces, linked, strict=True)
        )
        return [0, *accumulate(counts)]

    @cached_property
    def classes(self) -> dict[str, list[int]]:
        """Class name → the nodes that have it, in page order."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for name, nodes in self.named.items():
            for word in dict.fromkeys(name.split()):
                found[word] += nodes
        return {word: sorted(nodes) for word, nodes in found.items()}

    @cached_property
    def tags(self) -> dict[str, list[int]]:
        """Tag → the nodes that have it, in page order."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for at, node in enumerate(self.nodes):
            found[node.tag].append(at)
        return found

    @cached_property
    def _paths(self) -> dict[int, str]:
        """Known XPaths: of the root and of nodes already requested; nested posts share a prefix."""
        return {0: dom.path_of(self.nodes[0].element)}

    def xpath(self, at: int) -> str:
        """Return the XPath of a node, without a query per sibling: a page may have thousands of posts."""
        steps, above = [], at
        while above not in self._paths:
            if self.nodes[above].tag == "noscript":  # of which some are left out
                return dom.path_of(self.nodes[at].element)
            parent = self.nodes[above].parent
            if parent not in self._steps:
                children = list(self.children(parent))
                self._steps[parent] = dict(zip(children, steps_of([self.nodes[child].tag for child in children]), strict=True))
            steps.append(self._steps[parent][above])
            above = parent
        self._paths[at] = self._paths[above] + "".join(reversed(steps))
        return self._paths[at]

    def mass(self, at: int) -> int:
        """Return the number of characters below a node outside links and template texts."""
        node = self.nodes[at]
        return self.plain[node.last] - self.plain[node.first]

    def children(self, at: int) -> Iterator[int]:
        child, stop = at + 1, self.nodes[at].stop
        while child < stop:
            yield child
            child = self.nodes[child].stop

    def ancestors(self, at: int) -> Iterator[int]:
        """Yield the ancestors of a node, innermost first."""
        while (at := self.nodes[at].parent) >= 0:
            yield at

    def descendants(self, at: int) -> range:
        return range(at + 1, self.nodes[at].stop)

    def contains(self, at: int, other: int) -> bool:
        return at <= other < self.nodes[at].stop

    def lines(self, at: int, without: Iterable[int] = ()) -> list[str]:
        """Return the text below a node, a cleaned paragraph per line, without the subtrees of ``without``."""
        node = self.nodes[at]
        found, start = [], node.first
        for hole in sorted(without):
            first, last = self.nodes[hole].first, self.nodes[hole].last
            if start <= first and last <= node.last:
                found.extend(self.pieces[start:first])
                start = last
        found.extend(self.pieces[start : node.last])
        return [line for line in map(clean, "".join(found).split(LINE_BREAK)) if line]

    def text(self, at: int, without: Iterable[int] = ()) -> str:
        return "\n".join(self.lines(at, without))

    def short(self, at: int, max_pieces: int = SHORT_PIECES) -> str:
        """Return the text of a small node on one line; empty if it has more pieces or is very long."""
        node = self.nodes[at]
        text = " ".join(self.pieces[node.first : node.last]) if node.last - node.first <= max_pieces else ""
        return clean(text) if len(text) <= MAX_SHORT_CHARS else ""


def read_tree(body: dom.Element) -> Tree:
    tree = Tree()
    current, count, in_pre = -1, 0, 0
    events, breaking = dom.walk(body), dom.BREAKING_TAGS
    nodes, pieces, owner = tree.nodes, tree.pieces, tree.owner
    top: dom.Element | None = None  # the element of the current node
    last = LINE_BREAK  # the last piece
    for event, element in events:
        tag = element.tag
        if event == "start":
            if tag in SKIPPED_TAGS or (tag == "noscript" and sum(map(len, map(str.strip, element.itertext()))) < NOSCRIPT_CHARS):
                events.skip_subtree()  # its end event follows, and with it the tail
                continue
            if last is not LINE_BREAK and tag in breaking:
                pieces.append(last := LINE_BREAK)
                owner.append(current)
            attributes = element.items()
            nodes.append(Node(element, current, tag, _names_of(tree, count, attributes) if attributes else "", len(pieces)))
            current, count, top = count, count + 1, element
            in_pre += tag == "pre"
            text = element.text
        else:
            text = element.tail if element is not body else None
            if top is element:
                node = nodes[current]
                node.stop, node.last, current = count, len(pieces), node.parent
                top = nodes[current].element
                in_pre -= tag == "pre"
                if last is not LINE_BREAK and tag in breaking:
                    pieces.append(last := LINE_BREAK)
                    owner.append(current)
        if text:
            if not text.isspace():
                last = text if in_pre else text.replace("\n", " ")
            elif last is LINE_BREAK or last is SPACE:
                continue
            else:
                last = SPACE
            pieces.append(last)
            owner.append(current)
    return tree


def _names_of(tree: Tree, at: int, attributes: Iterable[tuple[str, str]]) -> str:
    """Return the names of node ``at``. Its other attributes are recorded in ``tree``."""
    name = ident = ""
    hidden = False
    for key, value in attributes:
        if key == "class":
            name = value
            tree.named[name].append(at)
        elif key == "id":
            tree.values[key][at] = value
            ident = "#" + "".join(_DIGITS.sub("", value[:MAX_NAME_CHARS]).split()) if value else ""
        elif key in TIME_NAMES:
            tree.timed.add(at)
        elif key in KEPT_ATTRIBUTES:
            tree.values[key][at] = value
        elif key == "hidden" or (key == "style" and HIDDEN.search(value)):
            hidden = True
    names = _names(name, ident) if name or ident else ""
    return f"{names or ' '}{HIDDEN_WORD} " if hidden else names


@lru_cache(maxsize=4096)
def _names(name: str, ident: str) -> str:
    words = " ".join(f"{_DIGITS.sub('', name[:MAX_NAME_CHARS])} {ident}".split())
    return f" {words} " if words else ""


def steps_of(tags: Sequence[str]) -> list[str]:
    """Return the last XPath step of each sibling, by tag. Linear, unlike one query per sibling."""
    total, places = Counter(tags), defaultdict[str, Iterator[int]](lambda: count(1))
    return [f"/{tag}[{next(places[tag])}]" if total[tag] > 1 else f"/{tag}" for tag in tags]


def outermost(tree: Tree, nodes: Sequence[int]) -> list[int]:
    """Return those of ``nodes`` that are not inside another of them, in document order."""
    found: list[int] = []
    for at in sorted(nodes):
        if not found or not tree.contains(found[-1], at):
            found.append(at)
    return found
