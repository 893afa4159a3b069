"""User-defined regular expressions (sources.yaml, the portal): RE2, whose time is always linear in the text.

``\\w``, ``\\d`` and ``\\b`` are ASCII; a Chinese character is ``\\p{Han}``, any letter ``\\p{L}``. RE2 has neither look-around nor
back-references (github.com/google/re2/wiki/Syntax).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

import re2

from newsportal.text.characters import encodable

MAX_CHARS: Final = 2_000
EXPRESSION_PREFIX: Final = "re:"  # prefix of an expression where a substring is allowed, too

UNSUPPORTED: Final[Sequence[tuple[re.Pattern[str], str]]] = (
    (re.compile(r"\(\?<?[=!]"), "look-around is not supported; exclude with a separate rule (deny, remove)"),
    (re.compile(r"\\[1-9]|\(\?P="), "references to groups are not supported; write both forms out"),
    (re.compile(r"\(\?>|[*+?}]\+"), "atomic groups and possessive repeats are not needed; remove the > or +"),
    (re.compile(r"\\Z"), r"write \z"),
)  # features of Python's expressions missing in RE2, with the remedy


@lru_cache(maxsize=1024)
def compile_expression(expression: str, *, for_html: bool = False) -> Any:
    """Compile an expression. ``for_html``: the dot matches line ends, and case is ignored.

    Raises ``ValueError`` with the mistake, and a replacement for what RE2 lacks.
    """
    if not expression or len(expression) > MAX_CHARS:
        raise ValueError(f"not a regular expression of 1 to {MAX_CHARS} characters: {expression[:80]!r}")
    options = re2.Options()
    options.log_errors = False
    options.dot_nl = for_html
    options.case_sensitive = not for_html
    try:
        return re2.compile(expression, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0].decode("utf-8", "replace") if error.args and isinstance(error.args[0], bytes) else str(error)
        reason = next((remedy for lacking, remedy in UNSUPPORTED if lacking.search(expression)), reason)
        raise ValueError(f"not a regular expression: {expression!r} ({reason})") from error


def find_all(expression: Any, text: str) -> Iterator[str]:
    """Yield of each match the first group that took part, or the whole match without groups. Lone surrogates become question marks."""
    for match in expression.finditer(encodable(text)):
        groups: Sequence[str | None] = match.groups() or (match[0],)
        yield next((group for group in groups if group is not None), "")


def has_match(expression: Any, text: str) -> bool:
    return expression.search(encodable(text)) is not None


def word_matcher(words: Sequence[str]) -> Callable[[str], list[int]]:
    """Return a function that returns the indices of the ``words`` in a text, in one pass for any number of words."""
    found = re2.Set.SearchSet()
    for word in words:
        found.Add(re2.escape(word))
    found.Compile()
    return lambda text: found.Match(encodable(text)) or []
