"""The tests that ``docs/security.md`` lists for its cases exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "docs" / "security.md").read_text("utf-8")
CASES = PAGE.partition("### Cases and their tests")[2].partition("\n## ")[0] + PAGE.partition("## What the portal takes")[2]
NAMED = re.compile(r"`([\w/]*test_\w+\.py)(?:::(\w+))?`")
PICKLES = re.compile(r"(?m)^\s*(?:import|from)\s+(?:c?[pP]ickle|marshal|shelve|dill|cloudpickle|joblib)\b|allow_pickle=(?!False)")
ROWS = [row.removeprefix("- ") for row in CASES.splitlines() if row.startswith("- ") and ": `" in row]


@cache
def functions(path: Path) -> set[str]:
    """Return the tests of a file that are not always skipped."""
    tree = ast.parse(path.read_text("utf-8"))
    found = (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"))
    return {node.name for node in found if not any(".skip" in ast.unparse(mark) for mark in node.decorator_list)}


def test_every_case_lists_existing_tests() -> None:
    for row in ROWS:
        case, _, names = row.partition(": `")
        tests = NAMED.findall(f"`{names}")
        assert tests, case
        for file, name in tests:
            path = TESTS.parent / file if file.startswith("tests/") else TESTS / "net" / file
            assert path.is_file(), f"{case}: {file}"
            assert name in functions(path) if name else functions(path), f"{case}: {file}::{name}"


def test_case_list_is_parsed() -> None:
    assert len(ROWS) > 40
    assert any("test_routes.py" in row for row in ROWS)
    assert {"test_websub.py"} <= {Path(file).name for file, _ in NAMED.findall(CASES)}


def test_package_never_unpickles() -> None:
    """Queues, models and caches are data: write access to one must not allow running code (threats F)."""
    paths = [path for name in ("newsportal", "newsportal_lab") for path in (TESTS.parent / name).rglob("*.py")]
    for path in paths:
        assert not PICKLES.search(path.read_text("utf-8")), path
