"""``newsportal evaluate forum``: compare posts of threads, their texts, authors and times, with gold."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import process_time
from typing import Annotated, Any, Final

import typer

from newsportal.cli.options import Algorithms, AsJsonRows, check_names
from newsportal.cli.output import print_json, render, track_items
from newsportal.cli.pages import UNKNOWN, SavedPage, describe, saved_pages
from newsportal.extractors.forum import POST_EXTRACTORS, Extract, post_extractor
from newsportal.items import Page, Post
from newsportal.text import clean
from newsportal.text.dom import document
from newsportal_lab.evaluate.gold import NoGold, read_description, text_of
from newsportal_lab.evaluate.posts_scoring import Counts, GoldPost, GoldThread, PageScore, add_counts, score_posts
from newsportal_lab.evaluate.report import write_report

PUBLISHED: Final = {
    "pean": {"precision": 98.3, "recall": 91.3, "f1": 94.7},
    "mibat": {"precision": 99.6, "recall": 73.5, "f1": 84.6},
}  # thesis E, table 3-2, in per cent: 20 Chinese forums, 973 pages
CHINESE: Final = frozenset("discuz phpwind tieba nforum v2ex learnku".split())  # engines of Chinese boards
EXCERPT: Final = 100


@dataclass(frozen=True, slots=True)
class Thread:
    """A saved page with its gold data; rows are grouped by ``engine``."""

    page: SavedPage
    gold: GoldThread
    engine: str | None = None


@dataclass(frozen=True, slots=True)
class ThreadReading:
    thread: Thread
    posts: tuple[Post, ...]
    score: PageScore
    seconds: float
    error: str | None = None


def forum(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder of <id>.html(.gz), beside each <id>.json with posts: text, author, date.")
    ],
    algorithm: Algorithms = None,
    worst: Annotated[int, typer.Option("--worst", "-w", min=0, help="Also list this many of the worst pages, with their mistakes.")] = 0,
    html: Annotated[Path | None, typer.Option("--html", help="Also write an HTML report there.")] = None,
    by_engine: Annotated[bool, typer.Option("--by-engine", help="Also a row for each engine.")] = False,
    as_json: AsJsonRows = False,
) -> None:
    """Precision and recall of posts, authors and days that are right, milliseconds a page; Chinese engines and others also apart.

    Gold posts without text, and optional_posts, do not count.
    """
    names = list(algorithm or POST_EXTRACTORS)
    check_names("algorithm", names, POST_EXTRACTORS, "--algorithm")
    if html is not None and (html.is_dir() or not html.parent.is_dir()):
        raise typer.BadParameter(f"{html} is no file that can be written: name one in a folder that is there", param_hint="--html")
    threads = gold_threads(folder)
    readings = {name: read_all(post_extractor(name), track_items(threads, name, beside_output=True)) for name in names}
    _show(folder.name, readings, by_engine, worst, as_json)
    if html is not None:
        rows = {name: row(group, name) for name, group in readings.items()}
        write_report(html, report(folder.name, rows, {name: worst_of(group, worst or EXCERPT) for name, group in readings.items()}))


def gold_threads(folder: Path) -> list[Thread]:
    """Return the pages of a folder that have gold posts. Raises ``NoGold``."""
    if not folder.is_dir():
        raise NoGold(f"{folder} is no folder; gold threads are a folder of <id>.html or <id>.html.gz with <id>.json beside each")
    found = []
    with suppress(FileNotFoundError):
        for page in saved_pages(folder):
            description = read_description(folder / f"{page.id}.json")
            posts = [post for post in description.get("posts") or () if isinstance(post, dict)]
            texts = [post for post in posts if text_of(post.get("text"))]
            optional = (text_of(post.get("text")) for post in description.get("optional_posts") or () if isinstance(post, dict))
            if posts:
                golds = (GoldPost(text_of(post["text"]) or "", text_of(post.get("author")), text_of(post.get("date"))) for post in texts)
                gold = GoldThread(tuple(golds), len(posts) - len(texts), tuple(text for text in optional if text))
                engine = description.get("engine")
                found.append(Thread(page, gold, engine if isinstance(engine, str) else None))
    if not found:
        raise NoGold(f"no page in {folder} has gold posts beside it: <id>.json with posts, each with text, author, date")
    return found


def read_all(read: Extract, threads: Iterable[Thread]) -> list[ThreadReading]:
    now = datetime.now(UTC)
    found = []
    for thread in threads:
        posts: tuple[Post, ...] = ()
        error, start = thread.page.error, process_time()
        if error is None:
            try:
                posts = read(document(Page(url=thread.page.url or UNKNOWN, body=thread.page.body, fetched=now)), now)
            except Exception as failure:  # noqa: BLE001  a page that breaks the reader must not end the run; its row has the error
                error = describe(failure)
        seconds = process_time() - start
        found.append(ThreadReading(thread, posts, score_posts(thread.gold, posts, now), seconds, error))
    return found


def row(readings: Sequence[ThreadReading], algorithm: str = "") -> dict[str, Any]:
    """Return the figures of these pages, shares from 0 to 1; ``None`` without gold. ``published``: those of ``algorithm`` in the thesis."""
    counts: Counts = add_counts(reading.score for reading in readings)
    shares = {name: getattr(counts, name) for name in ("precision", "recall", "block_f1", "body_f1", "author", "date")}
    published = {name: round(share / 100, 3) for name, share in PUBLISHED.get(algorithm, {}).items()}
    return {name: None if share is None else round(share, 4) for name, share in shares.items()} | {
        "published": published or None,
        "pages": len(readings),
        "unanswered": sum(reading.error is not None for reading in readings),
        "ms": round(1000 * sum(reading.seconds for reading in readings) / max(len(readings), 1), 1),
    }


def worst_of(readings: Sequence[ThreadReading], number: int) -> list[ThreadReading]:
    wrong = [reading for reading in readings if reading.score.counts.body_missing or reading.score.counts.body_extra]
    return sorted(wrong, key=lambda item: (item.score.counts.body_f1, -item.score.counts.body_missing, item.thread.page.id))[:number]


def _show(name: str, readings: dict[str, list[ThreadReading]], by_engine: bool, worst: int, as_json: bool) -> None:
    engines = sorted({reading.thread.engine for found in readings.values() for reading in found if reading.thread.engine})
    sets = {name: frozenset(engines) | {None}}
    if CHINESE.intersection(engines) and not CHINESE.issuperset(engines):
        sets |= {"Chinese engines": CHINESE.intersection(engines), "other engines": frozenset(engines) - CHINESE}
    sets |= {engine: frozenset({engine}) for engine in engines if by_engine}
    for title, selected in sets.items():
        rows = {key: row([reading for reading in group if reading.thread.engine in selected], key) for key, group in readings.items()}
        if as_json:
            print_json(*({"set": title, "algorithm": key, **figures} for key, figures in rows.items()))
            continue
        typer.echo(f"{title}, {next(iter(rows.values()))['pages']} pages")
        typer.echo(f"{'':8}" + "".join(f"{heading:>7}" for heading in FIGURES.values()) + "   published: P, R, F1")
        for key, figures in rows.items():
            published = ", ".join(f"{share:.1f}" for share in PUBLISHED.get(key, {}).values())
            typer.echo((f"{key:8}" + "".join(f"{_format(name, figures[name]):>7}" for name in FIGURES) + f"   {published}").rstrip())
    for key, group in readings.items():
        for reading in worst_of(group, worst):
            _print_worst(key, reading, as_json)


def _format(name: str, value: Any) -> str:
    if value is None:
        return "–"
    return str(value) if name in ("unanswered", "ms") else f"{100 * value:.1f}"


def _print_worst(algorithm: str, reading: ThreadReading, as_json: bool) -> None:
    missing = [reading.thread.gold.posts[number].text for number in reading.score.missing]
    surplus = [reading.posts[number].text for number in reading.score.surplus]
    figures = {"f1": round(reading.score.counts.body_f1, 3), "missing": len(missing), "surplus": len(surplus)}
    if as_json:
        line = {"page": reading.thread.page.id, "algorithm": algorithm, **figures, "error": reading.error}
        print_json(line | {"first_missing": _excerpt(missing), "first_surplus": _excerpt(surplus)})
        return
    typer.echo(f"{algorithm}: {reading.thread.page.id}: F1 {figures['f1']}, {len(missing)} missing, {len(surplus)} too many")
    for label, texts in (("missing", missing), ("too many", surplus)):
        if texts:
            typer.echo(f"    {label}: {_excerpt(texts)}")
    if reading.error:
        typer.echo(f"    {reading.error}")


def _excerpt(texts: Sequence[str]) -> str | None:
    return " ".join(texts[0].split())[:EXCERPT] if texts else None


SHOWN_CHARS: Final = 600  # characters shown of a post
FIGURES: Final = {"precision": "P", "recall": "R", "block_f1": "block", "body_f1": "body", "author": "author", "date": "date"} | {
    "unanswered": "none",
    "ms": "ms",
}


def report(title: str, rows: Mapping[str, Mapping[str, Any]], worst: Mapping[str, Sequence[ThreadReading]]) -> str:
    """Return the report as self-contained HTML. Text from pages is escaped."""
    pages = {
        name: [
            {"id": clean(item.thread.page.id), "f1": f"{item.score.counts.body_f1:.3f}", "error": clean(item.error) if item.error else None,
             "missing": [_shortened(item.thread.gold.posts[number].text) for number in item.score.missing],
             "surplus": [_shortened(item.posts[number].full_text or item.posts[number].text) for number in item.score.surplus]}
            for item in readings
        ]
        for name, readings in worst.items()
    }  # fmt: skip
    return render(
        "forum.html",
        __package__,
        title=clean(title),
        headings=list(FIGURES.values()),
        rows={name: [_format(name_of, figures[name_of]) for name_of in FIGURES] for name, figures in rows.items()},
        worst=pages,
    )


def _shortened(text: str) -> str:
    cleaned = "\n".join(line for line in map(clean, text.split("\n")) if line)
    return cleaned if len(cleaned) <= SHOWN_CHARS else f"{cleaned[:SHOWN_CHARS]} […{len(cleaned) - SHOWN_CHARS:,}]"
