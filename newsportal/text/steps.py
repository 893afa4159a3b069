"""The steps of one walk over a page, with the start and end of each element, to be reused by every reader.

Walking the tree costs more than reading it: each walk wraps elements and decodes their texts again. The steps keep both.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final

from newsportal.text.characters import clean
from newsportal.text.markup import BREAKING_TAGS

SKIPPED_TAGS: Final = frozenset({"script", "style", "noscript", "template", "iframe", "object", "svg", "math", "head"})
"""Elements whose text is invisible."""

MAX_LINES: Final = 6_000  # as many as blocks are read of an article: of 2,259 real pages the longest has 2,641
MAX_TEXT: Final = 2_000_000  # characters of them, including white space: twenty times the maximum shown on one of those pages
MARK: Final = "\u2028"  # temporary separator of text nodes: white space that no page uses

Step = tuple[bool, Any, str, str | None]
"""Start (``True``) or end of an element: the element, its tag, and the text up to the next step: ``text`` or ``tail``."""


def read_steps(events: Any) -> list[Step]:
    """Return the steps of a walk (:func:`newsportal.text.dom.walk`): of an element in ``SKIPPED_TAGS`` only start and end."""
    return [  # ``skip_subtree()`` returns ``None``
        (False, node, node.tag, node.tail)
        if event == "end"
        else (True, node, tag := node.tag, events.skip_subtree() if tag in SKIPPED_TAGS else node.text)
        for event, node in events
    ]


def steps_below(steps: Sequence[Step], top: Any) -> Sequence[Step]:
    """Return the steps of ``top`` and its content, without its end, whose text follows it. Empty if no step is of ``top``."""
    first = next((number for number, step in enumerate(steps) if step[1] is top), None)
    if first is None:
        return ()
    return steps[first : len(steps) - 1 - next(number for number, step in enumerate(reversed(steps)) if step[1] is top)]


def visible_lines(steps: Iterable[Step]) -> tuple[str, ...]:
    """Return visible text within ``MAX_TEXT`` and ``MAX_LINES`` as cleaned lines; a tab marks the start or end of an inline element."""
    found: list[str] = []
    in_pre, ended = 0, True  # consecutive line ends count once, and white space is no text
    for begins, _, tag, text in steps:
        if tag in BREAKING_TAGS:
            if not ended:
                found.append("\n")
                ended = True
            in_pre += (1 if begins else -1) if tag == "pre" else 0
        if text and (in_pre or not text.isspace()):
            found.append(text.replace("\n", " ") if not in_pre and "\n" in text else text)
            ended = False
    stripped = filter(None, map(str.strip, MARK.join(found)[:MAX_TEXT].split("\n")))
    lines = ["\t".join(filter(None, map(clean, line.split(MARK)))) if MARK in line else clean(line) for line in islice(stripped, MAX_LINES)]
    return tuple(line for line in lines if line)
