"""Counts of the code's size and cost: none may exceed ``ratchet.json``.

    python benchmarks/ratchet.py [--update]

One line is printed for each figure that grew, and the exit status is 1; ``--update`` writes the figures that fell.
"""

from __future__ import annotations

import ast
import asyncio
import json
import os
import re
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

if TYPE_CHECKING:
    from newsportal.items import Page

ROOT = Path(__file__).resolve().parent.parent
LIMITS = Path(__file__).with_name("ratchet.json")
LAB = "newsportal_lab"
PACKAGES = ("newsportal", LAB)
LONG_FILE, SHORT_FILE, LONG_FUNCTION, GOOD_MEDIAN = 350, 40, 50, 8
MOMENT = datetime(2026, 3, 1, 12, tzinfo=timezone(timedelta(hours=8)))
SOURCE, SOURCES = "feed:站", 'feeds: [{name: 站, url: "https://feed.example/rss", category: 要闻}]\n'
ARTICLES, LONG_ARTICLE = 8, 200  # articles of the made-up Web that are read, of more than so many characters


def imports(tree: ast.Module, modules: set[str]) -> set[str]:
    """Return the modules of the packages that ``tree`` imports, at the top or in a function."""
    imported = [node for node in statements(tree) if isinstance(node, ast.If | ast.Import | ast.ImportFrom)]
    checks = [node for node in imported if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")]
    only_types = {id(inner) for check in checks for inner in ast.walk(check)}
    found: set[str] = set()
    for node in imported:
        if id(node) in only_types:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            within = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= within & modules or {node.module}
    return found & modules


def is_in_circle(graph: dict[str, set[str]], start: str) -> bool:
    """Return whether a module imports itself through others."""
    found, waiting = set[str](), list(graph[start])
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += graph[name]
    return start in found


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements of all blocks: what ``ast.walk`` yields without expressions, which are most of a tree."""
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        inner = getattr(node, name, ())
        for child in inner if isinstance(inner, list) else ():
            yield child
            yield from statements(child)


def functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in statements(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def used_once(tree: ast.Module, text: str) -> int:
    """Return the number of private functions whose name occurs only once besides their definition."""
    words = Counter(re.findall(r"\b_[a-z]\w*", text))
    return sum(words[node.name] == 2 for node in functions(tree))


def made_up_pages(number: int) -> list[Page]:
    """Return this many pages of the made-up Web, each with an article."""
    sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "site")]
    from madeup.exchange import Request
    from madeup.manifest import manifest
    from madeup.router import Router
    from madeup.sites import KEYS
    from madeup.world import World

    from newsportal.items import Page

    world = World(MOMENT, 1, {key: f"https://{key}.example" for key in KEYS})
    router = Router(world)
    articles = [item for item in manifest(world)["articles"] if len(item["text"]) > LONG_ARTICLE][:number]
    answers = [router.answer(Request(item["site"], item["url"].partition(".example")[2])) for item in articles]
    return [Page(item["url"], found.body, MOMENT, content_type=found.content_type) for item, found in zip(articles, answers, strict=True)]


def calls_through_line() -> int:
    """Functions that the crawl's own thread calls while an article passes all stages from wrapper to store, on the average of a few.

    What readers do, in processes of their own, is not in it: extraction and keywords.
    """
    pages = made_up_pages(2 * ARTICLES)
    from scrapy.utils.misc import load_object
    from trackers import make_crawler
    from work_counts import count_calls

    from newsportal.crawl.link_tracker import tracker_of
    from newsportal.items import Article, Link
    from newsportal.pipelines import ORDER

    async def at_once(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    async def through(article: Article) -> None:
        for stage in stages:
            article = await stage.process_item(article)

    items = [Article(url=page.url, link=Link(page.url, SOURCE), fetched=MOMENT, page=page) for page in pages]
    with tempfile.TemporaryDirectory() as folder, patch("asyncio.to_thread", at_once), asyncio.Runner() as runner:
        tracker = tracker_of(make_crawler(Path(folder), SOURCES))
        stages = [load_object(path)(tracker) for _, path in ORDER]
        for item in items[:ARTICLES]:  # tables that are made once, statements that are compiled once
            runner.run(through(item))
        calls = sum(count_calls(lambda item: runner.run(through(item)), item) for item in items[ARTICLES:])
        tracker.store.close()
    return calls // ARTICLES


def calls_per_page() -> int:
    """Return the average number of functions called while ``best`` reads an article of the made-up Web."""
    pages = made_up_pages(ARTICLES)
    from work_counts import count_calls

    from newsportal.extractors import extractor
    from newsportal.text import dom

    read = extractor("best")
    for page in pages:  # tables that are made once
        read(dom.document(page), None, MOMENT)
    return sum(count_calls(lambda page: read(dom.document(page), None, MOMENT), page) for page in pages) // ARTICLES


def figures() -> dict[str, Any]:
    files = [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]
    texts = {file: file.read_text("utf-8") for file in files}
    lines = [text.count("\n") for text in texts.values() if text]
    in_lab = sum(text.count("\n") for file, text in texts.items() if file.is_relative_to(ROOT / LAB))
    names = [".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for file in files]
    trees = dict(zip(names, map(ast.parse, texts.values()), strict=True))
    lengths = [(node.end_lineno or 0) - node.lineno + 1 for tree in trees.values() for node in functions(tree)]
    graph = {name: imports(tree, set(trees)) - {name} for name, tree in trees.items()}
    return {
        "lines": sum(lines) - in_lab,
        "lines of the lab": in_lab,
        "files": len(files),
        f"files of more than {LONG_FILE} lines": sum(count > LONG_FILE for count in lines),
        f"files of less than {SHORT_FILE} lines": sum(count < SHORT_FILE for count in lines),
        f"modules of less than {SHORT_FILE} lines": sum(
            text.count("\n") < SHORT_FILE for file, text in texts.items() if file.name != "__init__.py"
        ),
        f"functions of more than {LONG_FUNCTION} lines": sum(length > LONG_FUNCTION for length in lengths),
        f"median function's lines, {GOOD_MEDIAN} or more": max(GOOD_MEDIAN, statistics.median_low(lengths)),
        "modules in import circles": sum(is_in_circle(graph, name) for name in graph),
        "private functions used once": sum(used_once(tree, text) for tree, text in zip(trees.values(), texts.values(), strict=True)),
        "calls per page": calls_per_page(),
        "calls per page, the whole line": calls_through_line(),
    }


def main() -> int:
    if os.environ.get("PYTHONHASHSEED") != "0":  # the order of sets moves the calls a little
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})
    now = figures()
    limits = json.loads(LIMITS.read_text("utf-8")) if LIMITS.exists() else now
    grown = [name for name, value in now.items() if value > limits.get(name, value)]
    for name in grown:
        print(f"{name}: {now[name]:,}, at most {limits[name]:,} (benchmarks/ratchet.json)")
    if "--update" in sys.argv[1:]:
        LIMITS.write_text(json.dumps({name: min(value, limits.get(name, value)) for name, value in now.items()}, indent=1) + "\n", "utf-8")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
