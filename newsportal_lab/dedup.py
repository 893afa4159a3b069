"""``newsportal dedup``: find documents that repeat earlier ones, as JSON lines, one per document."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from newsportal.cli.options import OutFile
from newsportal.dedup import FINDERS, finder
from newsportal.dedup.document import Document, Finder
from newsportal_lab.documents import answer_file, parse_lines

DEFAULT = "judge"


def dedup(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="A document a line; -: standard input.")],
    algorithm: Annotated[str, typer.Option("--algorithm", "-a", help=f"{', '.join(FINDERS)}.")] = DEFAULT,
    out: OutFile = None,
) -> None:
    """Find reposts: of every document the earlier one that it repeats, why and how surely.

    A document has id, url, title, text and published, in time order. An invalid line gives "error".
    """
    try:
        found = finder(algorithm)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--algorithm") from error
    answer_file(file, lambda lines: answers(lines, found), out, "comparing")


def answers(lines: Iterable[bytes], found: Finder) -> Iterator[dict[str, Any]]:
    ids: dict[str | None, Any] = {}
    for id, document in parse_lines(lines, document_of):
        if isinstance(document, str):
            yield {"id": id, "duplicate_of": None, "reason": None, "score": 0.0, "error": document}
            continue
        verdict, ids[document.id] = found.judge(document), id
        answer = {"id": id, "duplicate_of": ids.get(verdict.duplicate_of), "reason": verdict.reason, "score": verdict.score}
        yield answer | ({"relation": verdict.relation} if verdict.relation else {})


def document_of(row: Any) -> Document:
    """Return the document of a parsed line. Raises ``ValueError`` with the mistake."""
    if not isinstance(row, dict):
        raise ValueError('no object; a document is {"id", "url", "title", "text", "published"}')  # noqa: TRY004
    if not isinstance(row.get("id"), str | int) or row["id"] == "":
        raise ValueError("id must be a text or a whole number")
    texts = [row.get(name) for name in ("url", "title", "text")]
    if not all(text is None or isinstance(text, str) for text in texts):
        raise ValueError("url, title and text must be texts or null")
    url, title, text = (text or "" for text in texts)
    return Document(str(row["id"]), url, title, text, moment_of(row.get("published")))


def moment_of(published: Any) -> datetime | None:
    """Parse ISO 8601 to an aware time; without a zone it is UTC. Raises ``ValueError``."""
    if published is None:
        return None
    if not isinstance(published, str):
        raise ValueError("published must be a time in ISO 8601 or null")  # noqa: TRY004
    moment = datetime.fromisoformat(published)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
