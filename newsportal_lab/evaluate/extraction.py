"""``newsportal evaluate extraction``: compare texts, titles, dates, authors and sources of articles with gold."""

import inspect
import math
import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.progress import MofNCompleteColumn

from newsportal.cli.options import AsJsonRows, check_names
from newsportal.cli.output import print_json, progress, render
from newsportal.errors import DependencyMissing
from newsportal.extractors import EXTRACTORS, Learner, extractor
from newsportal.messages import did_you_mean
from newsportal_lab.evaluate.gold import Survey, survey
from newsportal_lab.evaluate.peers import PEERS, installed
from newsportal_lab.evaluate.report import BOTTOM, DASHES, LEFT, RIGHT, TOP, counted, print_rows, print_worst, report, write_report
from newsportal_lab.evaluate.running import POOLED, VARIANTS, PageComparison, Reader, Row, compare_pages, reader, readers, rows, run

DEFAULT: Final = "best"
EVERY_PEER: Final = "all"  # --peer all: every installed peer
DEFAULT_WORST: Final = 10  # default number of pages in an HTML report
MAX_NAMED: Final = 5  # pages without gold, and mistakes in it, listed by name; the others are counted


def extraction(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Folders of <id>.html(.gz), beside each <id>.json with text, title, date, author, source."),
    ],
    algorithm: Annotated[
        list[str] | None,
        typer.Option("--algorithm", "-a", help="Which to score; repeatable; default: all; with --peer: best."),
    ] = None,
    peer: Annotated[list[str] | None, typer.Option("--peer", "-p", help=f"To compare with: {', '.join(PEERS)}, all.")] = None,
    worst: Annotated[int, typer.Option("--worst", "-w", min=0, help="Also list this many of the worst pages, with their mistakes.")] = 0,
    html: Annotated[Path | None, typer.Option("--html", help="Also write an HTML report there.")] = None,
    by_site: Annotated[int | None, typer.Option("--by-site", min=1, help="Also a row for each site with so many pages.")] = None,
    sweep: Annotated[str | None, typer.Option(help="Score one method by a parameter: METHOD.PARAMETER=FIRST:LAST:STEP.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Where to draw its curves; default: METHOD.PARAMETER.svg.")] = None,
    as_json: AsJsonRows = False,
) -> None:
    """Precision, recall and F1 of texts; titles, days, authors and sources that are right; on pages with gold answers.

    Several folders: a row each, and one for all.
    """
    swept = parse_sweep(sweep) if sweep else None
    if swept and (algorithm or peer or worst or html or by_site):
        raise typer.BadParameter("it scores one method; leave --algorithm, --peer, --worst, --html and --by-site out", param_hint="--sweep")
    readers = swept.readers() if swept else _readers(algorithm, peer)
    file = (picture or Path(f"{swept.method}.{swept.name}.svg")) if swept else html
    option = "--picture" if swept else "--html"
    if file is not None and file.is_dir():
        raise typer.BadParameter(f"{file} is a folder; name a file in it", param_hint=option)
    if file is not None and not file.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {file.parent}; create it first", param_hint=option)
    surveys = {folder: survey(folder) for folder in folders}
    for folder, surveyed in surveys.items():
        _warn_left_out(folder, surveyed)
    with progress(MofNCompleteColumn()) as bar:
        task = bar.add_task("reading pages", total=sum(item.pages for item in surveys.values()))
        results = run(folders, readers, lambda: bar.advance(task))
    names = [reader.name for reader in readers]
    found = rows(results, names, by_site=by_site)
    if swept and file:
        swept.show(found, as_json)
        write_report(file, swept.draw(found))
        return
    number = worst or (DEFAULT_WORST if html else 0)
    closer = compare_pages(results, readers, number) if number else []
    _show(found, closer if worst else [], names, as_json)
    if html is not None:
        write_report(html, report(found, results, names, closer))


def _readers(algorithms: Sequence[str] | None, peers: Sequence[str] | None) -> list[Reader]:
    names = list(algorithms or ([DEFAULT] if peers else (*EXTRACTORS, *VARIANTS)))
    others = [peer for name in peers or () for peer in (installed() if name == EVERY_PEER else [name])]
    if EVERY_PEER in (peers or ()) and not installed():
        raise DependencyMissing("to compare with peers", "peers")
    check_names("algorithm", names, (*EXTRACTORS, *VARIANTS), "--algorithm")
    check_names("peer", others, (*PEERS, EVERY_PEER), "--peer")
    return readers(names, others)


def _warn_left_out(folder: Path, found: Survey) -> None:
    """Print skipped pages on standard error: one with misspelt gold would otherwise go unnoticed."""
    if found.without:
        names = ", ".join(found.without[:MAX_NAMED]) + (", …" if len(found.without) > MAX_NAMED else "")
        pages = f"{len(found.without)} of {found.pages + len(found.without)} pages"
        typer.echo(f"{folder}: {pages} without gold left out: {names}", err=True)
    for remark in found.remarks[:MAX_NAMED]:
        typer.echo(remark, err=True)
    if len(found.remarks) > MAX_NAMED:
        typer.echo(f"{folder}: {len(found.remarks) - MAX_NAMED} more of the kind", err=True)


def _show(found: Sequence[Row], closer: Sequence[PageComparison], names: Sequence[str], as_json: bool) -> None:
    if not as_json:
        print_rows(found)
        print_worst(closer, names)
        return
    print_json(*({"set": row.set, "algorithm": row.reader, **asdict(row.scores)} for row in found))
    print_json(*(page.plain() for page in closer))


SWEEP: Final = re.compile(r"([\w-]+)\.([\w-]+)=([-+.\de]+):([-+.\de]+):([-+.\de]+)")
MAX_VALUES: Final = 200
SYMBOLS: Final = {
    "table_stats": {"P": "least", "T": "share"},
    "cepr": {"lambda": "share", "r": "radius"},
    "summary_anchor": {"n": "length"},
}
"""Method → the paper's symbol → our parameter."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A method evaluated with each value of one parameter; ``name`` as given by the user, ``usual`` its default."""

    method: str
    name: str
    parameter: str
    values: tuple[float, ...]
    usual: float

    def readers(self) -> list[Reader]:
        return [
            reader(f"{self.name}={value:g}", extractor(self.method, any_page=False, **{self.parameter: value})) for value in self.values
        ]

    def show(self, found: Sequence[Row], as_json: bool) -> None:
        if not as_json:
            typer.echo(f"{self.method}, {self.name}; by default {self.usual:g}")
            print_rows(found)
            return
        common = {"algorithm": self.method, "parameter": self.name}
        values = [*self.values] * (len(found) // len(self.values))
        print_json(*({"set": row.set, **common, "value": value, **asdict(row.scores)} for row, value in zip(found, values, strict=True)))

    def draw(self, found: Sequence[Row]) -> str:
        """Return an SVG of F1 per set, or of precision, recall and F1 for a single set."""
        sets = dict.fromkeys(row.set for row in found)
        lines = [(name, name, "f1") for name in sets] if len(sets) > 1 else [(*sets, *names) for names in FIGURES_DRAWN.items()]
        series = {title: [getattr(row.scores, figure) or 0.0 for row in found if row.set == set_] for set_, title, figure in lines}
        low = math.floor(10 * min(map(min, series.values()))) / 10 if series else 0.0

        def x(value: float) -> float:
            return LEFT + (RIGHT - LEFT) * (value - self.values[0]) / (self.values[-1] - self.values[0])

        def y(value: float) -> float:
            return BOTTOM - (BOTTOM - TOP) * (value - low) / ((1 - low) or 1)

        curves = [
            {"title": title, "points": " ".join(f"{x(value):.1f},{y(f1):.1f}" for value, f1 in zip(self.values, scores, strict=True)),
             "dash": DASHES[number % len(DASHES)], "colour": number % len(COLOURS)}
            for number, (title, scores) in enumerate(series.items())
        ]  # fmt: skip
        ticks = [(x(value), f"{value:g}") for value in self.values[:: math.ceil(len(self.values) / MAX_TICKS)]]
        steps = [low + (1 - low) * tenth / 5 for tenth in range(6)]
        pages = sum({row.set: row.scores.pages for row in found if row.set != POOLED}.values())
        set_names = ", ".join(name for name in sets if name != POOLED)
        return render(
            "sweep.svg", __package__, sweep=self, curves=curves, colours=COLOURS, ticks=ticks, height=322 + 14 * math.ceil(len(curves) / 4),
            pages=f"{'F1; ' if len(sets) > 1 else ''}per cent; {set_names}, {counted(pages)}",
            steps=[(y(step), f"{100 * step:g}") for step in steps],
            usual=x(self.usual) if self.values[0] <= self.usual <= self.values[-1] else None,
        )  # fmt: skip


FIGURES_DRAWN: Final = {"precision": "precision", "recall": "recall", "F1": "f1"}
MAX_TICKS: Final = 12
COLOURS: Final = ("#1f5fbf", "#c4400f", "#167a4a", "#8b2fb5", "#8a6400", "#0e7490", "#b01e5a", "#555b63")


def parse_sweep(text: str) -> Sweep:
    """Parse ``cevc.alpha=0:1:0.1``. Raises ``typer.BadParameter``, with the nearest name of a method or parameter."""

    def wrong(message: str) -> typer.BadParameter:
        return typer.BadParameter(message, param_hint="--sweep")

    def unknown(kind: str, name: str, names: Collection[str]) -> typer.BadParameter:
        near = did_you_mean(name, names)
        return wrong(f"no {kind} is called {name!r}; {f'{near} ' if near else ''}there are: {', '.join(names) or 'none'}")

    match = SWEEP.fullmatch(text)
    try:
        first, last, step = map(float, match.groups()[2:] if match else ())
    except ValueError:
        raise wrong(f"{text!r} is no sweep; write METHOD.PARAMETER=FIRST:LAST:STEP, as cevc.alpha=0:1:0.1") from None
    assert match is not None
    method, name = match[1], match[2]
    if method not in EXTRACTORS:
        raise unknown("method", method, tuple(EXTRACTORS))
    symbols, numbers = SYMBOLS.get(method, {}), numeric_parameters(method)
    parameter = symbols.get(name, name)
    if parameter not in numbers:
        raise unknown(f"numeric parameter of {method}", name, (*numbers, *symbols))
    if step <= 0 or last <= first or (last - first) / step > MAX_VALUES:
        raise wrong(f"{text!r}: from a lower to a higher value in at most {MAX_VALUES} steps above 0")
    usual = numbers[parameter]
    values = [round(first + step * number, 10) for number in range(math.floor((last - first) / step + 1e-9) + 1)]
    if usual.annotation in (int, "int") and not all(map(float.is_integer, values)):
        raise wrong(f"{name} of {method} is a whole number")
    return Sweep(method, name, parameter, tuple(int(value) if value.is_integer() else value for value in values), usual.default)


def numeric_parameters(method: str) -> dict[str, inspect.Parameter]:
    run: Any = extractor(method)
    found = inspect.signature(type(run) if isinstance(run, Learner) else run).parameters
    return {name: parameter for name, parameter in found.items() if type(parameter.default) in (int, float)}
