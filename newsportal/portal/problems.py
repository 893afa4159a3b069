"""Mistakes of ``sources.yaml`` in the reader's language, beside the fields of a form."""

from __future__ import annotations

import re
from collections.abc import Iterable
from gettext import NullTranslations

from newsportal.errors import Problem
from newsportal.messages import render


def worded(problem: Problem, words: NullTranslations) -> str:
    """A mistake with its hint, in a line."""
    return " ".join(render(one, words.gettext) for one in (problem.message, problem.hint) if one)


def by_field(problems: Iterable[Problem], kind: str, place: int, words: NullTranslations) -> tuple[dict[str, str], list[str]]:
    """Mistakes by the key of the entry ``kind[place]`` that they are about, and those about anything else, with their places."""
    fields: dict[str, str] = {}
    others = []
    start = f"{kind}[{place}]"
    for problem in problems:
        inside = problem.key.startswith((f"{start}.", f"{start}["))
        # a name that occurs twice is reported at its second place, whichever entry was changed
        if problem.message.code == "sources.double" and problem.key.startswith(f"{kind}["):
            fields.setdefault("name", worded(problem, words))
        elif inside or problem.key == start:
            key = re.sub(r"\[\d+\]", "", problem.key[len(start) :].lstrip(".")) or "name"
            fields.setdefault(key, worded(problem, words))
        else:
            others.append(f"{problem.line}: {problem.key}: {worded(problem, words)}")
    return fields, others
