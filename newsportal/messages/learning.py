"""What trainings warn of, why a version is used or none was trained, and what is wrong with a file of labelled texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SENTENCES: Final[Mapping[str, str]] = {
    "train.few": "labels with fewer than %(few)s documents, which are learnt badly: %(labels)s",
    "train.unmeasured": "labels with too few documents to be measured: %(labels)s",
    "train.hardly": "labels with fewer than %(few)s documents are hardly learnt: %(labels)s",
    "train.bounded": "%(used)s of %(all)s documents were learnt from, to bound the memory",
    "train.first": "the first version",
    "train.asked": "as asked",
    "train.unreadable": "version %(old)s cannot be read: %(why)s",
    "train.incomparable": "no documents to compare it on with version %(old)s",
    "train.compared": "macro-F1 %(new)s, version %(old)s %(before)s, on %(both)s documents that neither has seen",
    "train.needs": "it needs %(least)s articles",
    "train.no-articles": "no articles of sources with a category yet",
    "train.labels": "two labels need %(least)s articles each; %(enough)s of %(all)s have them",
    "train.few-new": "%(least)s new ones make it worth while",
    "corpus.line": "Line %(line)s: %(why)s",
    "corpus.label": "label must be a text that is not empty",
    "corpus.long-label": "a label of %(found)s characters; it may have %(limit)s",
    "corpus.text": "text must be a text, and so must title if there is one",
    "corpus.no-object": "no object; a document is a label and a text in braces, and may have title and id",
    "corpus.no-json": "this is no JSON: %(why)s",
    "corpus.encoding": "not %(encoding)s (byte %(byte)s of the line); choose its encoding, such as --encoding gb18030",
    "corpus.long-line": "a line of more than %(number)s MiB",
    "corpus.heading": "the first line must name the columns, text and label among them (also title, id); it has %(found)s",
    "corpus.cells": "%(cells)s cells under %(headings)s headings",
}
