"""What was crawled, in the script that the reader chose (原文, 简体, 繁體); the interface stays as it is."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

from markupsafe import Markup

from newsportal.text.scripts import CONVERSIONS, TAGS, convert, convert_html

Text = TypeVar("Text", bound=str)


def written(text: Text, script: str, language: str | None = None) -> Text:
    """``text`` in ``script`` (``original``: as it is) if its language is Chinese or unknown; of markup the text alone."""
    if script not in CONVERSIONS or not _is_chinese(language):
        return text
    if isinstance(text, Markup):
        return type(text)(convert_html(text, script))  # its tags stay letter by letter
    return type(text)(convert(text, script))


@lru_cache(1000)
def lang(language: str | None, script: str) -> Markup:
    """The attribute ``lang`` with a blank before it, for a text of ``language`` shown in ``script``; nothing where it is not known."""
    told = TAGS[script] if script in TAGS and _is_chinese(language) else language
    return Markup(' lang="{}"').format(told) if told else Markup("")


def _is_chinese(language: str | None) -> bool:
    return language is None or language.lower().startswith("zh")
