"""Every page read by every reader in turn, so that a busy machine is equally slow for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from newsportal.commands.evaluate.gold import GoldPage, gold_pages, survey
from newsportal.commands.evaluate.readers import Found, Reader, readers, warm
from newsportal.commands.evaluate.scoring import PageScore, Scores, add_up, score_page

POOLED: Final = "all"
"""The set of all folders' pages together."""


@dataclass(frozen=True, slots=True)
class PageResult:
    """One page and what each reader made of it, in the readers' order. Texts are not kept: a closer look reads a page again."""

    folder: str
    id: str
    file: Path
    site: str | None
    scores: tuple[PageScore, ...]
    seconds: tuple[float, ...]
    errors: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: a set of pages, who read them, how well."""

    set: str
    reader: str
    scores: Scores


def run(folders: Sequence[Path], asked: Sequence[Reader], done: Callable[[], None] = lambda: None) -> list[PageResult]:
    """All pages of all folders; ``done`` is called after each. The folders are known to have gold (``survey``)."""
    results = []
    warm(asked)
    for folder, name in _named(folders).items():
        for reader in asked:
            if reader.learn is not None:
                reader.learn(folder)
        for page in gold_pages(folder):
            found = [reader.read(page) for reader in asked]
            results.append(_result(name, page, found))
            done()
    return results


def _named(folders: Sequence[Path]) -> dict[Path, str]:
    """Each folder once, by its own name, or by its path where two have the same name."""
    names = {folder: folder.resolve().name for folder in folders}
    counts = Counter(names.values())
    return {folder: str(folder) if counts[name] > 1 or name == POOLED else name for folder, name in names.items()}


def _result(folder: str, page: GoldPage, found: Sequence[Found]) -> PageResult:
    file = page.saved.path
    assert file is not None  # gold pages come from files
    return PageResult(
        folder=folder,
        id=page.id,
        file=file,
        site=page.site,
        scores=tuple(score_page(page.gold, one.answer) for one in found),
        seconds=tuple(one.seconds for one in found),
        errors=tuple(one.error for one in found),
    )


def rows(results: Sequence[PageResult], names: Sequence[str], *, by_site: int | None = None) -> list[Row]:
    """Each folder, all of them pooled where there are several, and each site that has ``by_site`` pages or more."""
    sets = _grouped(results, lambda result: result.folder)
    if len(sets) > 1:
        sets[POOLED] = list(results)
    if by_site is not None:
        sites = _grouped((result for result in results if result.site), lambda result: str(result.site))
        sets |= {site: pages for site, pages in sorted(sites.items()) if len(pages) >= by_site}
    return [
        Row(name, names[at], add_up([page.scores[at] for page in pages], sum(page.seconds[at] for page in pages)))
        for name, pages in sets.items()
        for at in range(len(names))
    ]


def _grouped(results: Iterable[PageResult], key: Callable[[PageResult], str]) -> dict[str, list[PageResult]]:
    groups: dict[str, list[PageResult]] = {}
    for result in results:
        groups.setdefault(key(result), []).append(result)
    return groups


def worst(results: Iterable[PageResult], at: int, number: int) -> list[PageResult]:
    """The ``number`` pages that reader ``at`` reads worst, but none without a fault; among equals those first with more to lose."""
    texts = [result for result in results if result.scores[at].has_text and result.scores[at].f1 < 1]
    return sorted(texts, key=lambda result: (result.scores[at].f1, -result.scores[at].gold, result.folder, result.id))[:number]


def scores_of(folder: Path, algorithm: str) -> Scores:
    """The scores of one of our algorithms on one folder. Raises ``ValueError`` for its name, ``NoGold``."""
    survey(folder)
    (row,) = rows(run([folder], readers([algorithm], [])), [algorithm])
    return row.scores
