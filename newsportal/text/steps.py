"""A page walked once: where each element begins and ends, for every reader of the page to go through again.

Asking the tree costs more than reading it: for each walk an element is wrapped and its texts are decoded anew. The steps hold both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final

from newsportal.text.characters import clean
from newsportal.text.markup import BREAKING

SKIPPED: Final = frozenset({"script", "style", "noscript", "template", "iframe", "object", "svg", "math", "head"})
"""Elements whose text no reader sees."""

MAX_LINES: Final = 6_000  # as many as blocks are read of an article: of 2,259 real pages the longest has 2,641
MAX_TEXT: Final = 2_000_000  # characters of them, white space included: twenty times the most that one of those pages shows
MARK: Final = "\u2028"  # parts text nodes for a while: white space that no page uses

Step = tuple[bool, Any, str, str | None]
"""Where an element begins (``True``) or ends: the element, its tag, and what follows as far as the next step: ``text`` or ``tail``."""


def read_steps(events: Any) -> list[Step]:
    """The steps of a walk (:func:`newsportal.text.dom.walk`): of an element in ``SKIPPED`` only that it begins and ends."""
    return [  # ``skip_subtree()`` gives ``None``
        (False, node, node.tag, node.tail)
        if event == "end"
        else (True, node, tag := node.tag, events.skip_subtree() if tag in SKIPPED else node.text)
        for event, node in events
    ]


def steps_below(steps: Sequence[Step], top: Any) -> Sequence[Step]:
    """Those of ``top`` and what lies in it, without its end: what follows that is none of its text. None where no step is of ``top``."""
    first = next((number for number, step in enumerate(steps) if step[1] is top), None)
    if first is None:
        return ()
    return steps[first : len(steps) - 1 - next(number for number, step in enumerate(reversed(steps)) if step[1] is top)]


def visible_lines(steps: Iterable[Step]) -> tuple[str, ...]:
    """The visible text within ``MAX_TEXT`` and ``MAX_LINES``, a cleaned line each; a tab stands where an inline element begins or ends."""
    found: list[str] = []
    kept, ended = 0, True  # an end of a line behind another is none, and no text is white space alone
    for begins, _, tag, text in steps:
        if tag in BREAKING:
            if not ended:
                found.append("\n")
                ended = True
            kept += (1 if begins else -1) if tag == "pre" else 0
        if text and (kept or not text.isspace()):
            found.append(text.replace("\n", " ") if not kept and "\n" in text else text)
            ended = False
    stripped = filter(None, map(str.strip, MARK.join(found)[:MAX_TEXT].split("\n")))
    lines = ["\t".join(filter(None, map(clean, line.split(MARK)))) if MARK in line else clean(line) for line in islice(stripped, MAX_LINES)]
    return tuple(line for line in lines if line)
