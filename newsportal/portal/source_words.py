"""Mistakes of ``sources.yaml``, and what went wrong at an address, in the reader's language; what has no translation as it comes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from gettext import NullTranslations
from typing import Final

from newsportal.errors import Problem
from newsportal.portal.language import _

SAYINGS: Final[tuple[tuple[str, str], ...]] = (
    (r"(?P<key>'.*') is missing", _("%(key)s is missing.")),
    (r"unknown key (?P<key>.*); allowed: (?P<allowed>.*)", _("There is no key %(key)s here; allowed: %(allowed)s")),
    (
        r"found (?P<found>.*), the name of another one in line (?P<line>\d+); .*",
        _("%(found)s is the name of another one, in line %(line)s."),
    ),
    (r"found (?P<found>.*), which is no (?:topic|engine); allowed: none: .*", _("%(found)s is not there: there are none yet.")),
    (r"found (?P<found>.*), which is no (?:topic|engine); allowed: (?P<allowed>.*)", _("%(found)s is not there; there are: %(allowed)s")),
    (r"found (?P<found>.*), which is more than max_period .*", _("%(found)s is more than the longest time.")),
    (r"found (?P<found>.*); allowed: text", _("%(found)s is no text.")),
    (r"found (?P<found>.*); allowed: a whole number", _("%(found)s is no whole number.")),
    (r"found (?P<found>.*); allowed: a number", _("%(found)s is no number.")),
    (r"found (?P<found>.*); allowed: true or false", _("%(found)s is neither true nor false.")),
    (r"found (?P<found>.*); allowed: a list", _("%(found)s is no list.")),
    (r"found (?P<found>.*); allowed: a mapping with (?P<allowed>.*)", _("%(found)s stands where keys are expected: %(allowed)s")),
    (r"found (?P<found>.*); allowed: more than (?P<limit>\S+)", _("%(found)s: it must be more than %(limit)s.")),
    (r"found (?P<found>.*); allowed: at least (?P<limit>[\d.e+-]+)", _("%(found)s: it must be at least %(limit)s.")),
    (r"found (?P<found>.*); allowed: less than (?P<limit>\S+)", _("%(found)s: it must be less than %(limit)s.")),
    (r"found (?P<found>.*); allowed: at most (?P<limit>[\d.e+-]+)", _("%(found)s: it must be at most %(limit)s.")),
    (r"found an empty (?:list|text); allowed: at least one", _("It is empty.")),
    (r"found (?P<found>\d+) characters; allowed: up to (?P<limit>\d+)", _("%(found)s characters are too many: at most %(limit)s.")),
    (r"(?P<found>\d+) characters are too long; allowed: up to (?P<limit>\d+)", _("%(found)s characters are too many: at most %(limit)s.")),
    (r"an empty name; allowed: .*", _("It is empty.")),
    (r"(?P<found>.*) holds a slash; allowed: .*", _("%(found)s holds a slash.")),
    (r"(?:(?P<found>.*) )?holds a(?: line break or a)? control character.*", _("It holds a line break or a control character.")),
    (r"(?P<found>.*) is no encoding; allowed: (?P<allowed>.*)", _("%(found)s is no encoding; allowed: %(allowed)s")),
    (r"(?P<found>.*) is no Web address; allowed: .*", _("%(found)s is no Web address: it must start with https:// or http://.")),
    (r"(?P<found>.*) names no host; allowed: .*", _("%(found)s names no host.")),
    (r"(?P<found>.*) holds a user name; allowed: .*", _("%(found)s holds a user name: addresses end up in logs and in stored articles.")),
    (r"(?P<found>.*) holds a space, a backslash or a control character", _("%(found)s holds a space, a backslash or a control character.")),
    (r"(?P<found>.*) is no address", _("%(found)s is no address.")),
    (r"the environment variable (?P<name>.*) is not set", _("The environment variable %(name)s is not set.")),
    (
        r"(?P<found>.*) is (?:no hour|no span of hours|out of range); allowed: .*",
        _("%(found)s are no hours: write 8, 6-24, 22-5 or 6-9,18-23."),
    ),
    (r"no hour is named; allowed: .*", _("No hour is named: write 8, 6-24, 22-5 or 6-9,18-23.")),
    (r"found (?P<found>.*); allowed: (?P<allowed>.*)", _("%(found)s is not allowed; allowed: %(allowed)s")),
)
"""What ``newsportal.sources`` says, as patterns, and the same as messages."""

HINTS: Final[tuple[tuple[str, str], ...]] = ((r"did you mean (?P<near>.*)\?", _("Did you mean %(near)s?")),)

COMPILED: Final = tuple((re.compile(pattern, re.DOTALL), message) for pattern, message in SAYINGS)
COMPILED_HINTS: Final = tuple((re.compile(pattern, re.DOTALL), message) for pattern, message in HINTS)

DOUBLE: Final = re.compile(r"found .*, the name of another one in line ")


def said(text: str, words: NullTranslations, patterns: Iterable[tuple[re.Pattern[str], str]] = COMPILED) -> str:
    """A sentence of ``newsportal.sources`` in the reader's language; as it is where it has no translation."""
    for pattern, message in patterns:
        if (match := pattern.fullmatch(text)) is not None:
            return words.gettext(message) % match.groupdict("")
    return text


def told(problem: Problem, words: NullTranslations) -> str:
    """A mistake with its hint, in a line."""
    hint = said(problem.hint, words, COMPILED_HINTS) if problem.hint else ""
    return " ".join(filter(None, (said(problem.message, words), hint)))


def beside(problems: Iterable[Problem], kind: str, place: int, words: NullTranslations) -> tuple[dict[str, str], list[str]]:
    """Mistakes by the key of the entry ``kind[place]`` that they are about, and those about anything else, with their places."""
    fields: dict[str, str] = {}
    others = []
    start = f"{kind}[{place}]"
    for problem in problems:
        inside = problem.key.startswith((f"{start}.", f"{start}["))
        if DOUBLE.match(problem.message) and problem.key.startswith(f"{kind}["):  # told of the later one, whichever was changed
            fields.setdefault("name", told(problem, words))
            continue
        if inside or problem.key == start:
            key = re.sub(r"\[\d+\]", "", problem.key[len(start) :].lstrip(".")) or "name"
            fields.setdefault(key, told(problem, words))
        else:
            others.append(f"{problem.line}: {problem.key}: {told(problem, words)}")
    return fields, others
