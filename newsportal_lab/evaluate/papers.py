"""``newsportal evaluate papers``: compare each paper's published figures with those of our implementation and of the default method."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from newsportal.cli.options import AsJsonRows
from newsportal.cli.output import console, make_table, print_json, track_items
from newsportal.dedup import finder
from newsportal.errors import NewsportalError
from newsportal.extractors.forum import post_extractor
from newsportal_lab.evaluate import classify, dedup, forum
from newsportal_lab.evaluate.gold import GoldPage, gold_pages, read_description
from newsportal_lab.evaluate.posts_scoring import add_counts
from newsportal_lab.evaluate.running import readers, warm_up
from newsportal_lab.evaluate.scoring import add_up, score_page

Figures = dict[str, float | None]  # measure → share from 0 to 1
Measured = tuple[Figures, int]  # with the number of pages, documents or questions
SUMMARY_CHARS: Final = 60  # of a gold text that replace a result's summary if gold has none


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a paper and its published figures, in per cent; ``default``: the product's method, measured on the same data."""

    paper: str
    section: str
    kind: str
    method: str
    default: str
    published: dict[str, float]
    of: str = ""
    """The paper's data."""


METHODS: Final = (
    Method("A", "3.2", "summaries", "summary_anchor", "best", {"found": 88.2}, "5,069 parsed pages"),
    Method("A", "3.3", "reposts", "title_index", "judge", {}, "none"),
    Method("B", "1.3", "extraction", "url_tree", "best", {"right_of_found": 97.0}, "300 pages"),
    Method("B", "1.4", "reposts", "feature_string", "judge", {"precision": 98.5, "recall": 97.5}, "its own crawl"),
    Method("B", "1.5", "classify", "chi_cosine", "linear", {"precision": 72.3, "recall": 75.1}, "Sogou corpus"),
    Method("C", "2.2.3", "reposts", "cosine", "judge", {"precision": 95.0, "recall": 92.3}, "its own photo stories"),
    Method("C", "2.3.2", "clicks", "paper", "best", {}, "a curve of six months"),
    Method("D", "3", "extraction", "table_stats", "best", {"right": 95.0}, "650 pages"),
    Method("E", "2.3", "extraction", "cevc", "best", {"f1": 95.8, "score": 92.0}, "1,270 pages"),
    Method("E", "2.3.3", "extraction", "cevc:text-leaves", "best", {"f1": 95.8, "score": 92.0}, "1,270 pages"),
    Method("E", "2.3.4", "extraction", "cevc:jieba", "best", {"f1": 95.8, "score": 92.0}, "1,270 pages"),
    Method("E", "2.3.4", "extraction", "cevc:jieba-words", "best", {"f1": 95.8, "score": 92.0}, "1,270 pages"),
    Method("E", "2.2.2", "extraction", "cetd", "best", {"f1": 95.5, "score": 91.3}, "1,270 pages"),
    Method("E", "2.2.3", "extraction", "cepr", "best", {"f1": 92.5, "score": 86.0}, "1,270 pages"),
    Method("E", "2.2.1", "extraction", "cetr", "best", {"f1": 75.2, "score": 60.2}, "1,270 pages"),
    Method("E", "3.3", "forum", "pean", "best", forum.PUBLISHED["pean"], "20 forums, 973 pages"),
    Method("E", "3.2", "forum", "mibat", "best", forum.PUBLISHED["mibat"], "20 forums, 973 pages"),
    Method("E", "4.4.3", "extraction", "cevc", "best", {"title": 100.0, "date": 95.5, "has_body": 93.0, "only_body": 91.0}, "200 articles"),
)
USUAL: Final = {
    "summaries": ("found", "f1"),
    "extraction": ("right", "f1"),
    "reposts": ("precision", "recall", "f1"),
    "classify": ("precision", "recall", "f1"),
    "forum": ("precision", "recall", "f1"),
    "clicks": ("hit", "ndcg"),
}
"""Kind of data → measures reported if the paper has none."""


def papers(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of gold data for the other commands.")],
    as_json: AsJsonRows = False,
) -> None:
    """Each paper's published figures, ours for its method, and ours for the default, on the same data.

    Looked for, however deep: pages with gold texts or posts, docs.jsonl of reposts, train.jsonl and test.jsonl, log.csv or .jsonl of
    clicks (also .gz). The first 60 characters of a gold text stand for a summary.
    """
    found = list(compare(folder))
    if not found:
        raise NewsportalError(f"no gold data of any paper's kind lies in {folder}")
    if as_json:
        print_json(*found)
        return
    columns = ("paper", "method", "measure", "published", "ours", "default", "data")
    rows = ([_cell(row, name) for name in columns] for row in found)
    console().print(make_table(columns, rows, right=("published", "ours", "default")))


def _cell(row: dict[str, Any], name: str) -> str:
    value = row[name]
    if name == "paper":
        return f"{value} {row['section']}"
    if name == "data":
        return f"{value} ({row['items']:,}); published: {row['counted']}"
    if name == "default":
        return f"{row['default_method']} {value:.1f}" if value is not None else "–"
    return f"{value:.1f}" if isinstance(value, float) else "–" if value is None else str(value)


def compare(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a row per method, measure and data set, in per cent."""
    data = {kind: sorted(paths) for kind, paths in kinds_of(folder).items()}
    measured: dict[tuple[str, Path, str], Measured] = {}

    def measure(kind: str, path: Path, name: str) -> Measured:
        if (kind, path, name) not in measured:
            measured[kind, path, name] = MEASURES[kind](path, name)
        return measured[kind, path, name]

    tasks = [(method, path) for method in METHODS for path in data.get(method.kind, ())]
    for method, path in track_items(tasks, "measuring", beside_output=True):
        try:
            (ours, items), (default, _) = (measure(method.kind, path, name) for name in (method.method, method.default))
        except (NewsportalError, OSError, ValueError) as error:
            typer.echo(f"{path} is left out: {error}", err=True)
            continue
        for figure in dict.fromkeys((*method.published, *(() if method.published else USUAL[method.kind]))):
            row = {"paper": method.paper, "section": method.section, "method": method.method, "measure": figure}
            figures = {"published": method.published.get(figure), "ours": _percent(ours, figure), "default": _percent(default, figure)}
            details = {"default_method": method.default, "data": path.name if path.is_dir() else path.parent.name}
            yield {**row, **figures, **details, "items": items, "counted": method.of}


def _percent(figures: Figures, measure: str) -> float | None:
    share = figures.get(measure)
    return None if share is None else round(100 * share, 2)


def kinds_of(folder: Path) -> dict[str, set[Path]]:
    """Return kind → folders (for clicks: files) with such data."""
    found: dict[str, set[Path]] = {kind: set() for kind in USUAL}
    for file in sorted(folder.rglob("*.json*")) + sorted(folder.rglob("log.csv*")):
        name = file.name.removesuffix(".gz")
        if name in ("log.csv", "log.jsonl"):
            found["clicks"].add(file)
        elif name == "docs.jsonl":
            found["reposts"].add(file.parent)
        elif name == "test.jsonl" and any(file.with_name(f"train.jsonl{end}").exists() for end in ("", ".gz")):
            found["classify"].add(file.parent)
        elif file.suffix == ".json" and file.parent not in found["forum"] | found["extraction"]:
            description = read_description(file)
            if description.get("posts"):
                found["forum"].add(file.parent)
            elif description.get("text") and any(file.with_suffix(end).exists() for end in (".html", ".html.gz")):
                found["extraction"].add(file.parent)
                found["summaries"].add(file.parent)
    return found


def read_pages(folder: Path, name: str, *, summaries: bool = False) -> Measured:
    (reader,) = readers([name], [])
    warm_up([reader])
    if reader.learn is not None and not summaries:
        reader.learn(folder)
    pages = (_summarised(page) if summaries else page for page in gold_pages(folder))
    found = add_up([score_page(page.gold, reader.read(page).answer) for page in pages])
    answered = found.pages - found.unanswered
    figures: Figures = {name: getattr(found, name) for name in ("f1", "score", "title", "date", "has_body", "only_body")}
    right = round((found.good or 0.0) * found.pages) / answered if answered else None
    shares: Figures = {"right": found.good, "right_of_found": right, "found": answered / found.pages}
    return {**figures, **shares}, found.pages


def _summarised(page: GoldPage) -> GoldPage:
    text = "".join((page.gold.text or "").split("\n"))[:SUMMARY_CHARS]
    return replace(page, saved=replace(page.saved, summary=page.saved.summary or text))


def find_reposts(folder: Path, name: str) -> Measured:
    gold = dedup.read_gold(folder)
    return {key: value for key, value in dedup.row(gold, finder(name)).items() if key in USUAL["reposts"]}, len(gold.documents)


def classify_texts(folder: Path, name: str) -> Measured:
    test = classify.read_examples(folder, "test")
    labels = classify.score(folder.name, name, classify.read_examples(folder, "train"), test).report.labels
    return {figure: sum(getattr(label, figure) for label in labels) / len(labels) for figure in USUAL["classify"]}, len(test)


def read_threads(folder: Path, name: str) -> Measured:
    readings = forum.read_all(post_extractor(name), forum.gold_threads(folder))
    counts = add_counts(reading.score for reading in readings)
    return {"precision": counts.precision, "recall": counts.recall, "f1": counts.block_f1}, len(readings)


def recommend_stories(file: Path, name: str) -> Measured:
    from newsportal_lab.evaluate import ranking, recommend
    from newsportal_lab.evaluate.rankers import METHODS as RANKERS

    *_, split = ranking.splits(recommend.read(file), ranking.WINDOW)  # the last cut
    score = ranking.measure(RANKERS[name](split.training, split.cut), split.questions)
    return {"hit": score.hit, "ndcg": score.ndcg}, score.questions


MEASURES: Final[dict[str, Callable[[Path, str], Measured]]] = {
    "summaries": partial(read_pages, summaries=True),
    "extraction": read_pages,
    "reposts": find_reposts,
    "classify": classify_texts,
    "forum": read_threads,
    "clicks": recommend_stories,
}
