"""``newsportal evaluate dedup``: measure precision and recall of the finders of reposts."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations, islice
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Final

import typer

from newsportal.cli.options import Algorithms, AsJsonRows, check_names
from newsportal.cli.output import print_json, track_items
from newsportal.dedup import FINDERS, finder
from newsportal.dedup.document import Document, Finder
from newsportal.dedup.judge import Judge, fold_keys
from newsportal.items import Article, Link
from newsportal.store import open_store
from newsportal.store.store import Store
from newsportal_lab.dedup import moment_of
from newsportal_lab.evaluate.gold import gold_lines

Pair = frozenset[str]
TIMES: Final = ("published", "time", "date")  # possible fields of a document's time
STORE: Final = "store"  # the crawl's method: judge and the fold keys, in a store
NAMES: Final = (*FINDERS, STORE)
REQUIRED_KEYS: Final = {"docs": frozenset({"id", "title"}), "pairs": frozenset({"a", "b", "label"})}  # required keys of each line of a file


@dataclass(frozen=True, slots=True)
class Gold:
    """Documents in time order with ``clusters`` (document → cluster), or with ``pairs`` (label → pairs)."""

    documents: tuple[Document, ...]
    clusters: dict[str, object]
    pairs: dict[str, set[Pair]]


def dedup(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder with docs.jsonl(.gz): id, title, body or text, time, cluster; or pairs.")
    ],
    algorithm: Algorithms = None,
    as_json: AsJsonRows = False,
) -> None:
    """Precision, recall and F1 of the reposts found, and documents a second.

    Of documents with a cluster right is an earlier one of it, or none; of pairs.jsonl(.gz) with {a, b, label} the pairs dup and
    subset, while partial does not count.
    """
    names = list(algorithm or NAMES)
    check_names("algorithm", names, NAMES, "--algorithm")
    try:
        gold = read_gold(folder)
    except (OSError, ValueError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
    if not as_json:
        typer.echo(f"{folder.name}, {len(gold.documents)} documents")
        typer.echo(f"{'':16}{'F1':>7}{'prec.':>7}{'recall':>7}{'subsets':>9}{'docs/s':>9}")
    for name in names:
        found = {"set": folder.name, "algorithm": name, **row(gold, (InStore() if name == STORE else finder(name)))}
        if as_json:
            print_json(found)
            continue
        shares = [f"{100 * found[key]:.1f}" if found[key] is not None else "–" for key in ("f1", "precision", "recall", "subsets")]
        typer.echo(f"{name:16}{shares[0]:>7}{shares[1]:>7}{shares[2]:>7}{shares[3]:>9}{found['per_second']:>9.0f}")


def read_gold(folder: Path) -> Gold:
    """Return the gold data of a folder. Raises ``OSError``, or ``ValueError`` with the invalid line."""
    rows = sorted(_rows(folder, "docs"), key=lambda row: str(_time(row)))
    documents = []
    for row in rows:
        moment = None
        with suppress(ValueError):
            moment = moment_of(_time(row))
        url = row.get("url") or (f"https://{row['site']}/{row['id']}" if row.get("site") else "")  # rules may use the site
        documents.append(Document(row["id"], url, row["title"] or "", row.get("text") or row.get("body") or "", moment))
    if all("cluster" in row for row in rows):
        return Gold(tuple(documents), {row["id"]: row["cluster"] for row in rows}, {})
    pairs: dict[str, set[Pair]] = {"dup": set(), "subset": set(), "partial": set()}
    for row in _rows(folder, "pairs"):
        pairs.setdefault(row["label"], set()).add(frozenset((row["a"], row["b"])))
    return Gold(tuple(documents), {}, pairs)


def row(gold: Gold, found: Finder | InStore) -> dict[str, Any]:
    """Return a finder's figures, shares from 0 to 1; ``subsets`` is the share of subset pairs found, ``None`` without pairs."""
    start, documents = perf_counter(), track_items(gold.documents, "comparing", beside_output=True)
    answers = found.judge_all(documents) if isinstance(found, InStore) else ((doc.id, found.judge(doc).duplicate_of) for doc in documents)
    if gold.clusters:
        score, subsets = score_by_document(answers, gold.clusters), None
    else:
        if isinstance(found, Judge):  # it reports all its matches; for others all pairs within their groups count
            matches = ((doc.id, match.duplicate_of) for doc in documents for match in found.matches(doc))
            pairs = {frozenset((first, second)) for first, second in matches if second is not None}
        else:
            pairs = pairs_of_groups(answers)
        score = score_pairs(pairs, gold.pairs["dup"] | gold.pairs["subset"], gold.pairs["partial"])
        subsets = Score(len(pairs & gold.pairs["subset"]), 0, len(gold.pairs["subset"])).recall
    seconds = perf_counter() - start
    figures = {"f1": score.f1, "precision": score.precision, "recall": score.recall, "subsets": subsets}
    return {name: None if value is None else round(value, 4) for name, value in figures.items()} | {
        "documents": len(gold.documents),
        "per_second": round(len(gold.documents) / max(seconds, 1e-9), 1),
    }


def _rows(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    for location, line in gold_lines(folder, name):
        try:
            found: Any = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{location}: it is not JSON") from error
        if not isinstance(found, dict) or not REQUIRED_KEYS[name] <= found.keys():
            raise ValueError(f"{location}: a line must be an object with {', '.join(sorted(REQUIRED_KEYS[name]))}")
        yield found


def _time(row: dict[str, Any]) -> Any:
    return next((row[name] for name in TIMES if row.get(name)), None)


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BATCH: Final = 100  # documents stored in one transaction


class InStore:
    """Stores documents as articles; each counts as seen at its time of publication."""

    def __init__(self, store: Store | None = None) -> None:
        self._store = store or open_store("sqlite://")
        self._ids: dict[str, str] = {}
        self._now = EPOCH

    def judge_all(self, documents: Iterable[Document]) -> Iterator[tuple[str, str | None]]:
        """Yield for each document the one that the store folded it into."""
        waiting = iter(documents)
        while batch := list(islice(waiting, BATCH)):
            self._now = max(self._now, *(document.published or self._now for document in batch))
            added = self._store.add_all([(self._article(doc), fold_keys(doc.title, doc.text)) for doc in batch], now=self._now)
            self._ids.update((new.id, document.id) for new, document in zip(added, batch, strict=True))
            folds = {article.id: article.fold_of for article in self._store.articles([new.id for new in added if new.outcome != "stored"])}
            for new, document in zip(added, batch, strict=True):
                original = folds.get(new.id)
                yield document.id, self._ids[original] if original else None

    def _article(self, document: Document) -> Article:
        return Article(
            url=(url := document.url or f"https://{document.id}.invalid/"), link=Link(url=url, source="evaluate"), fetched=self._now,
            identity=document.id, title=document.title, text=document.text, published=document.published,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Score:
    """``hits`` correct answers out of ``given``; ``wanted``: number of correct answers possible."""

    hits: int
    given: int
    wanted: int

    @property
    def precision(self) -> float:
        return self.hits / self.given if self.given else 0.0

    @property
    def recall(self) -> float:
        return self.hits / self.wanted if self.wanted else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.hits / (self.given + self.wanted) if self.given + self.wanted else 0.0


def score_by_document(answers: Iterable[tuple[str, str | None]], clusters: Mapping[str, object]) -> Score:
    """Score ``answers`` in time order, as (document, duplicate of or ``None``): an *earlier* document of the same cluster is right."""
    hits = given = wanted = 0
    earlier: set[str] = set()
    seen: set[object] = set()
    for document, answer in answers:
        cluster = clusters[document]
        wanted += cluster in seen
        given += answer is not None
        hits += answer in earlier and clusters.get(str(answer)) == cluster
        earlier.add(document)
        seen.add(cluster)
    return Score(hits, given, wanted)


def pairs_of_groups(answers: Iterable[tuple[str, str | None]]) -> set[Pair]:
    """Return all pairs within the groups formed by the answers."""
    group_of: dict[str, str] = {}
    groups: defaultdict[str, set[str]] = defaultdict(set)
    for document, answer in answers:
        for new in (document, answer or document):
            if new not in group_of:
                group_of[new] = new
                groups[new] = {new}
        target, merged = group_of[answer or document], group_of[document]
        if target != merged:
            groups[target] |= groups[merged]
            group_of.update(dict.fromkeys(groups.pop(merged), target))
    return {frozenset(pair) for group in groups.values() for pair in combinations(group, 2)}


def score_pairs(found: Set[Pair], right: Set[Pair], left_out: Set[Pair] = frozenset()) -> Score:
    """``left_out``: pairs that are neither right nor wrong."""
    judged = found - left_out
    return Score(len(judged & right), len(judged), len(right))
