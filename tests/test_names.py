"""Names in the packages are words of the field, and docstrings refer to existing modules.

A name that fails here needs a verb of the field (``fetch``, ``merge``, ``describe``) or the noun of what it holds.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

import newsportal
import newsportal_lab
from newsportal.services.accounts import tables as accounts
from newsportal.store import records

PACKAGES: Final = tuple(Path(package.__file__).parent for package in (newsportal, newsportal_lab))
FILES: Final = {file.relative_to(folder.parent): file for folder in PACKAGES for file in sorted(folder.rglob("*.py"))}

PRIVATE: Final = frozenset(
    "told tells said asked asking kept shown known rests rested resting looking turning together alone room rooms ledger sieve sift"
    " sifted hand handed who whose twin twins beside anew nobody".split()
)

LOCAL: Final = PRIVATE & frozenset(
    "told tells said asked asking kept shown rests rested looking ledger who whose twin twins anew nobody".split()
)
"""Words that local variables and arguments avoid, too; the others may be right there."""

INTERFACE: Final = {
    "SourceReport.known": "a column of the run report",
    "Visit.asked_wait": "stored with the visit",
    "_Part.asked_wait": "becomes Visit.asked_wait",
    "Subscription.asked": "stored with the subscription",
}
"""Fields named like a column or key that users see: they stay."""


@cache
def is_private(name: str, words: frozenset[str] = PRIVATE) -> bool:
    return not words.isdisjoint(re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower().split("_"))


def definitions(tree: ast.AST, scope: str = "") -> Iterator[tuple[str, int]]:
    """Yield classes, functions, methods and dataclass fields of a module, with their lines; methods and fields as ``Class.name``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name, node.lineno
            yield from definitions(node, f"{node.name}.")
            if any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list):
                fields = [line for line in node.body if isinstance(line, ast.AnnAssign)]
                yield from ((f"{node.name}.{ast.unparse(field.target)}", field.lineno) for field in fields)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{scope}{node.name}", node.lineno
            yield from definitions(node)
        else:
            yield from definitions(node, scope)


def local_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the arguments and local variables of all functions, with their lines."""
    for function in ast.iter_child_nodes(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from local_names(function)
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.arg):
                yield node.arg, node.lineno
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id, node.lineno


@cache
def names_of(file: Path) -> tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]:
    """Return the definitions of a file, and its private local names."""
    tree = ast.parse(file.read_text("utf-8"))
    return tuple(definitions(tree)), tuple(sorted({found for found in local_names(tree) if is_private(found[0], LOCAL)}))


def private(defined: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    return [(name, line) for name, line in defined if is_private(name.rpartition(".")[2]) and name not in INTERFACE]


def test_names_are_words_of_the_field() -> None:
    found: list[str] = []
    for path, file in FILES.items():
        modules = [(part, 1) for part in path.with_suffix("").parts if is_private(part)]
        defined, local = names_of(file)
        found += [f"{path}:{line}: {name}" for name, line in (*modules, *private(defined), *local)]
    assert not found, "private words in names:\n" + "\n".join(found)


def test_every_kind_of_name_is_checked() -> None:
    code = """
@dataclass(frozen=True)
class TwinTold:
    kept: int

    def asked(self):
        def who(): ...

async def _known():
    told = 1
"""
    assert [name for name, _ in private(definitions(ast.parse(code)))] == ["TwinTold", "TwinTold.asked", "who", "TwinTold.kept", "_known"]
    assert [name for name, _ in local_names(ast.parse(code)) if is_private(name, LOCAL)] == ["told"]


def test_exceptions_are_still_needed() -> None:
    """A renamed field must leave the list of exceptions."""
    names = {name for file in FILES.values() for name, _ in names_of(file)[0]}
    assert set(INTERFACE) <= names


def test_tables_and_columns_are_words_of_the_field() -> None:
    tables = (*records.METADATA.tables.values(), *accounts.METADATA.tables.values())
    names = {(table.name, column.name) for table in tables for column in table.columns}
    assert len(names) > 350
    assert {name for name in names if any(map(is_private, name))} <= {("link_lines", "resting")}


def test_modules_in_docstrings_exist() -> None:
    modules = {path.with_suffix(""): file for path, file in FILES.items()}
    names = {".".join(path.parts).removesuffix(".__init__") for path in modules}
    wrong = [
        f"{path}.py: {found}"
        for path, file in modules.items()
        for found in re.findall(r":mod:`~?([\w.]+)`", file.read_text("utf-8"))
        if not {found, ".".join((*path.parent.parts, found))} & names
    ]
    assert not wrong, "no such module:\n" + "\n".join(wrong)
