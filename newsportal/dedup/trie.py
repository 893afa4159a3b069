"""Same-source duplicates by exact URL, in a trie over the URLs of the last 24 hours (paper A, 3.3).

    duplicate(u, t) ⇔ u ∈ { v : t − t_v ≤ 24 h }

A lookup takes as many steps as the URL has characters, for any number of URLs. Unbranched paths are one node here, so the trie has fewer
than two nodes per URL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Generic, TypeVar

from newsportal.dedup.document import NEW, Document, Verdict, Window
from newsportal.items import content_id

V = TypeVar("V")

SPAN = timedelta(hours=24)  # paper A, 3.3: 「判断的样本集合是在前24个小时内的抓取新闻」
CAPACITY = 200_000  # maximum number of URLs; the paper's three topics have 14,400 entries a day (table 2). About 100 MB.
MAX_CHARS = 2_048  # characters; a longer URL is stored as its hash, so that one URL cannot fill the memory


@dataclass(slots=True)
class _Node(Generic[V]):
    """``label``: characters between the parent and this node. ``branches``: children by their first character."""

    label: str
    value: V | None = None
    branches: dict[str, _Node[V]] = field(default_factory=dict)


class Trie(Generic[V]):
    """A map from strings to values: a radix trie."""

    def __init__(self) -> None:
        self._root: _Node[V] = _Node("")

    def get(self, key: str) -> V | None:
        path = self._path(key)
        return path[-1].value if path else None

    def put(self, key: str, value: V) -> None:
        node, at = self._root, 0
        while at < len(key):
            child = node.branches.get(key[at])
            if child is None:
                node.branches[key[at]] = _Node(key[at:], value)
                return
            common = _common(child.label, key, at)
            if common < len(child.label):
                middle: _Node[V] = _Node(child.label[:common])
                child.label = child.label[common:]
                middle.branches[child.label[0]] = child
                node.branches[middle.label[0]] = middle
                child = middle
            node, at = child, at + common
        node.value = value

    def remove(self, key: str) -> None:
        """Remove ``key`` and the nodes used only by it."""
        path = self._path(key)
        if not path:
            return
        path[-1].value = None
        if len(path) > 1 and not path[-1].branches:
            del path[-2].branches[path[-1].label[0]]
            path.pop()
        if len(path) > 1 and path[-1].value is None and len(path[-1].branches) == 1:
            (child,) = path[-1].branches.values()
            child.label = path[-1].label + child.label
            path[-2].branches[child.label[0]] = child

    def nodes(self) -> int:
        waiting, count = [self._root], 0
        while waiting:
            node = waiting.pop()
            count += 1
            waiting.extend(node.branches.values())
        return count

    def _path(self, key: str) -> list[_Node[V]]:
        """Return the nodes from the root to the end of ``key``; empty if no node ends there."""
        path, at = [self._root], 0
        while at < len(key):
            child = path[-1].branches.get(key[at])
            if child is None or not key.startswith(child.label, at):
                return []
            path.append(child)
            at += len(child.label)
        return path


def _common(label: str, key: str, at: int) -> int:
    """Return the length of the common prefix of ``label`` and ``key`` from ``at`` on."""
    if key.startswith(label, at):
        return len(label)
    pairs = zip(label, key[at : at + len(label)], strict=False)
    return next((number for number, (a, b) in enumerate(pairs) if a != b), min(len(label), len(key) - at))


class UrlTrie:
    """Find documents whose URL occurred within the preceding ``span``. A repetition does not extend it: the paper drops it unread."""

    def __init__(self, *, span: timedelta = SPAN, capacity: int = CAPACITY, name: Callable[[str], str] = str.strip) -> None:
        """``name`` maps URLs to keys: the paper uses them as they are; ``canonical.identity`` joins their spellings."""
        self._trie: Trie[tuple[str, float]] = Trie()
        self._window: Window[tuple[str, tuple[str, float]]] = Window(span, capacity)
        self._name = name

    def __len__(self) -> int:
        return len(self._window)

    def judge(self, document: Document) -> Verdict:
        url = self._name(document.url)
        if not url:
            return NEW
        key = url if len(url) <= MAX_CHARS else content_id(url)
        time = self._window.time_of(document.published)
        earlier = self._trie.get(key)
        if earlier is not None and self._window.is_near(time, earlier[1]):
            return Verdict(earlier[0], "same-url", 1.0) if earlier[0] != document.id else NEW
        value = (document.id, time)
        for old, its_value in self._window.add((key, value), time):
            if self._trie.get(old) is its_value:  # otherwise the URL occurred again since
                self._trie.remove(old)
        self._trie.put(key, value)
        return NEW
