"""``newsportal events``: group documents about the same event, as JSON lines, one per document."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import typer

from newsportal.cli.options import OutFile
from newsportal.dedup.document import Document
from newsportal.events import EventClusters, Story
from newsportal.services.events import following
from newsportal_lab.dedup import document_of
from newsportal_lab.documents import answer_file, parse_lines


def events(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="A document a line; -: standard input.")],
    out: OutFile = None,
) -> None:
    """Group documents {"id", "title", "text", "published"}, in time order, into events.

    Out comes {"id", "event", "score", "words"}: the event by the id of its first document, the cosine, the decisive words.
    An invalid line gives "error".
    """
    answer_file(file, lambda lines: answers(lines, EventClusters()), out, "clustering")


def answers(lines: Iterable[bytes], clusters: EventClusters) -> Iterator[dict[str, Any]]:
    ids: dict[str, Any] = {}
    for id, document in parse_lines(lines, document_of):
        if isinstance(document, str):
            yield {"id": id, "event": None, "score": 0.0, "words": [], "error": document}
            continue
        ids[document.id] = id
        found = clusters.add(story_of(document))
        yield {"id": id, "event": ids.get(found.event, found.event), "score": round(found.score, 4), "words": list(found.terms)}


def story_of(document: Document) -> Story:
    return following.story_of(document.id, document.title, document.text, document.published)
