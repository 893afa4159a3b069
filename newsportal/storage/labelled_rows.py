"""Between labelled documents and rows, and what is decided about them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, Final

from newsportal.errors import StoreError
from newsportal.items import content_id
from newsportal.storage.columns import NAME_CHARS
from newsportal.storage.corpora import RANKS, Brought, Document, Label, LabelSource, NewDocument
from newsportal.storage.paging import CHUNK
from newsportal.storage.rows import name as looked_up
from newsportal.storage.rows import storable

LABEL: Final = ("label", "label_source", "label_by", "label_at")
"""The columns of a label, in ``labelled`` and ``former_labels``."""


@dataclass(frozen=True)
class Plan:
    """What is to be written of documents that were brought: new rows, rows with the label they get, and what is told of them."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    relabelled: list[tuple[Mapping[str, Any], str]] = field(default_factory=list)
    told: Counter[str] = field(default_factory=Counter)


def corpus_row(name: str, now: datetime, note: str) -> dict[str, Any]:
    """The columns of a new corpus. Raises ``StoreError`` for a name that none can have."""
    if not name.strip():
        raise StoreError("a corpus needs a name")
    if len(name) > NAME_CHARS:
        raise StoreError(f"a corpus' name of {len(name)} characters; it may have {NAME_CHARS}")
    name = looked_up(name)
    return {"id": content_id(name), "name": name, "created": now, "note": storable(note)}


def no_corpus(name: str, there: Sequence[str]) -> StoreError:
    """The error of an unknown corpus; ``there``: the names of those there are."""
    return StoreError(f"no corpus {name!r}; " + (f"there are: {', '.join(there)}" if there else "there is none yet"))


def given(source: LabelSource, by: str | None, now: datetime) -> dict[str, Any]:
    """The columns that say who gives a label, and when."""
    return {"label_source": source, "label_by": None if by is None else looked_up(by), "label_at": now}


def add(documents: Iterable[NewDocument], bring: Callable[[Mapping[str, NewDocument]], Counter[str]]) -> Brought:
    """Hand documents to ``bring`` by their ids, :data:`CHUNK` at once, each once; answers what became of all."""
    rest, met, told = iter(documents), dict[str, str](), Counter[str]()
    while chunk := list(islice(rest, CHUNK)):
        fresh: dict[str, NewDocument] = {}
        for document in chunk:
            id, label = document.id, looked_up(document.label)
            if id in met:
                told["repeated" if met[id] == label else "contradicted"] += 1
            else:
                met[id], fresh[id] = label, document
        told.update(bring(fresh))
    return Brought(**told)


def plan(corpus: str, fresh: Mapping[str, NewDocument], there: Mapping[str, Mapping[str, Any]], by: Mapping[str, Any]) -> Plan:
    """Documents that are in the corpus not yet are new; those that are get another label where that is allowed. ``there``: id → row."""
    made = Plan()
    for id, document in fresh.items():
        label = looked_up(document.label)
        if id not in there:
            made.rows.append(document_row(corpus, id, document) | {"label": label} | dict(by))
            made.told["added"] += 1
        elif there[id]["label"] == label:
            made.told["same"] += 1
        elif RANKS[there[id]["label_source"]] > RANKS[by["label_source"]]:
            made.told["kept"] += 1
        else:
            made.relabelled.append((there[id], label))
            made.told["relabelled"] += 1
    return made


def document_row(corpus: str, id: str, document: NewDocument) -> dict[str, Any]:
    """The columns of a new document but its label's."""
    own = document.article_id is None
    return {
        "corpus_id": corpus,
        "id": id,
        "article_id": document.article_id,
        "name": None if document.name is None else storable(document.name),
        "title": storable(document.title) if own else None,
        "text": storable(document.text) if own else None,
        "number": 1,
    }


def checked_label(label: str | None) -> str | None:
    """An editor's label as it is kept. Raises ``StoreError`` for one that is empty or too long."""
    if label is not None and not label.strip():
        raise StoreError("a label must not be empty")
    if label is not None and len(label.strip()) > NAME_CHARS:
        raise StoreError(f"a label of {len(label.strip())} characters; it may have {NAME_CHARS}")
    return None if label is None else looked_up(label.strip())


def neither(id: str) -> StoreError:
    """The error of an id that nothing has."""
    return StoreError(f"{id!r} is neither a stored article nor a document of this corpus")


def document_of(row: Mapping[str, Any], article: Mapping[str, Any] | None) -> Document:
    """A row of ``labelled``, with its article's if it is one (``None``: the article is gone)."""
    theirs = article or {}
    told = theirs if row["article_id"] else row
    return Document(
        row["id"], label_of(row), row["number"], told.get("title") or "", told.get("text") or "",
        row["name"], row["article_id"], theirs.get("story_id"), theirs.get("publisher"),
    )  # fmt: skip


def present(document: Document) -> bool:
    """Whether its text is still there."""
    return document.article_id is None or document.story_id is not None


def label_of(row: Mapping[str, Any]) -> Label:
    """The label of a row of ``labelled`` or ``former_labels``."""
    return Label(row["label"], row["label_source"], row["label_at"], row["label_by"])
