"""``newsportal keywords``: the keywords of texts, as JSON lines, one a document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Annotated, Any, BinaryIO

import typer

from newsportal.classify import keywords as found
from newsportal.cli.options import OutFile
from newsportal_lab import textrank
from newsportal_lab.documents import answer_file, documents

Method = Callable[[str, str], tuple[found.Keyword, ...]]
LARGEST_TEXT = 50_000_000  # bytes of a plain text that is read; keywords come from its beginning


DEFAULT = "weighted"
ALGORITHMS = {DEFAULT: found.keywords, "tfidf": textrank.tfidf, "textrank": textrank.textrank}


def keywords(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="One document a line; - for standard input.")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100, help="Keywords of a document, at most.")] = found.LIMIT,
    plain: Annotated[bool, typer.Option("--text", help="The file is one plain text, its first line the title.")] = False,
    algorithm: Annotated[str, typer.Option("--algorithm", "-a", help=f"One of: {', '.join(ALGORITHMS)}.")] = DEFAULT,
    out: OutFile = None,
) -> None:
    """Find the keywords of texts: {"id", "title", "text"} a line; out comes {"id", "keywords": [{"word", "weight"}]}.

    The weightiest come first; weights compare within one document alone. A line that is no document gives a line with "error", and
    the run goes on.
    """
    if algorithm not in ALGORITHMS:
        raise typer.BadParameter(f"{algorithm!r} is none of: {', '.join(ALGORITHMS)}", param_hint="--algorithm")
    method = partial(ALGORITHMS[algorithm], limit=limit)

    def read(stream: BinaryIO) -> Iterator[dict[str, Any]]:
        if not plain:
            return answers(stream, method)
        title, _, text = stream.read(LARGEST_TEXT).decode("utf-8-sig", "replace").partition("\n")
        return iter([answer(file, title, text, method)])

    answer_file(file, read, out, "keywords")


def answers(lines: Iterable[bytes], method: Method) -> Iterator[dict[str, Any]]:
    for row in documents(lines):
        if row.error is not None:
            yield {"id": row.id, "keywords": [], "error": row.error}
        else:
            yield answer(row.id, row.title, row.text, method)


def answer(id: Any, title: str, text: str, method: Method) -> dict[str, Any]:
    words = [{"word": one.word, "weight": round(one.weight, 3)} for one in method(title, text)]
    return {"id": id, "keywords": words}
