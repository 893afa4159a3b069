"""``newsportal events``: group documents about the same event, as JSON lines, one per document."""

import json
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import typer

from newsportal.cli.options import OutFile
from newsportal.dedup.document import Document
from newsportal.events import EventClusters, Story
from newsportal.services.events import following
from newsportal_lab.dedup import document_of
from newsportal_lab.documents import answer_file


def events(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="A document a line; -: standard input.")],
    out: OutFile = None,
) -> None:
    """Group documents {"id", "title", "text", "published"}, in time order, into events.

    Out comes {"id", "event", "score", "words"}: the event by the id of its first document, the cosine, the decisive words.
    Another line gives "error".
    """
    answer_file(file, lambda lines: answers(lines, EventClusters()), out, "clustering")


def answers(lines: Iterable[bytes], clusters: EventClusters) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            document = document_of(json.loads(line.decode("utf-8-sig")))
        except (ValueError, RecursionError) as error:
            yield {"id": None, "event": None, "score": 0.0, "words": [], "error": f"line {number}: {error}"}
            continue
        found = clusters.add(story_of(document))
        yield {"id": document.id, "event": found.event, "score": round(found.score, 4), "words": list(found.terms)}


def story_of(document: Document) -> Story:
    return following.story_of(document.id, document.title, document.text, document.published)
