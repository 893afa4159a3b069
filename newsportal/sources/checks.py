"""What no single value can tell: names that occur twice, and names that are used but not declared.

Works on plain values, so that these mistakes are told together with all others even where other parts are wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from newsportal import engines
from newsportal.messages import Message
from newsportal.sources.models import KINDS
from newsportal.sources.reading import Mistake, Path, Tree
from newsportal.sources.spelling import did_you_mean
from newsportal.sources.wording import listed, shown


def built_in() -> tuple[str, ...]:
    """The names of the engines that need no declaration."""
    return tuple(engines.ENGINES)


def check(tree: Tree) -> Iterator[Mistake]:
    """All mistakes between the parts of the file."""
    if isinstance(tree.value, dict):
        yield from _doubles(tree)
        declared = [name for _, name in _names(tree.value, "engines")]
        topics = [name for _, name in _names(tree.value, "topics")]
        yield from _unknown(tree, ("topics",), "engines", [*built_in(), *declared], "engine")
        yield from _unknown(tree, ("feeds", "sitemaps", "regions", "forums", "galleries"), "topics", topics, "topic")
        yield from _unknown(tree, ("publish",), ("only", "topics"), topics, "topic")


def _items(value: Any, kind: str) -> Iterator[tuple[int, dict[str, Any]]]:
    listed_ = value.get(kind)
    for index, item in enumerate(listed_ if isinstance(listed_, list) else ()):
        if isinstance(item, dict):
            yield index, item


def _mapping(item: dict[str, Any], *keys: str) -> dict[str, Any]:
    for key in keys:
        found = item.get(key)
        item = found if isinstance(found, dict) else {}
    return item


def _names(value: Any, kind: str) -> Iterator[tuple[int, str]]:
    for index, item in _items(value, kind):
        if isinstance(item.get("name"), str):
            yield index, item["name"].strip()


def _doubles(tree: Tree) -> Iterator[Mistake]:
    for kind in (*KINDS, "publish"):
        first: dict[str, int] = {}
        for index, name in _names(tree.value, kind):
            path: Path = (kind, index, "name")
            if name in first:
                message = Message("sources.double", found=shown(name), line=first[name])
                yield Mistake(tree.line(path), path, message)
            first.setdefault(name, tree.line(path))


def _unknown(tree: Tree, kinds: tuple[str, ...], key: str | tuple[str, str], known: list[str], what: str) -> Iterator[Mistake]:
    names_known = set(known)
    for kind in kinds:
        for index, item in _items(tree.value, kind):
            within, last = ((key[0],), key[1]) if isinstance(key, tuple) else ((), key)
            given = _mapping(item, *within).get(last)
            names = enumerate(given) if isinstance(given, list) else [(None, given)]
            for place, name in names:
                if isinstance(name, str) and name.strip() not in names_known:
                    path: Path = (kind, index, *within, last) if place is None else (kind, index, *within, last, place)
                    code = f"sources.no-{what}" if known else f"sources.no-{what}s"
                    message = Message(code, found=shown(name), allowed=listed(known))
                    yield Mistake(tree.line(path), path, message, did_you_mean(name, known))
