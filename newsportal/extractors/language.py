"""In which language a text is written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from newsportal.extractors.metadata import Metadata
from newsportal.text import CJK, chinese_share, fold_characters

KANA: Final = re.compile("[\u3041-\u30fa]")
HANGUL: Final = re.compile("[\uac00-\ud7a3]")
ENGLISH: Final = re.compile(r"\b(?:the|of|and|to|is|that)\b", re.IGNORECASE)
SAMPLE: Final = 3000


def language_of(meta: Metadata, lines: Sequence[str]) -> str | None:
    """BCP 47, from the text first: templates are copied with the wrong ``lang``."""
    text = "".join(lines)[:SAMPLE]
    told = re.sub(r"[^A-Za-z-].*$", "", (meta.language or "").replace("_", "-")).lower()
    if len(KANA.findall(text)) > 0.05 * len(text) > 0:
        return "ja"
    if len(HANGUL.findall(text)) > 0.2 * len(text) > 0:
        return "ko"
    if chinese_share(text) > 0.3:
        return "zh-Hant" if _is_traditional(text) else "zh"
    if told and not told.startswith(("zh", "ja", "ko")) and 2 <= len(told.split("-")[0]) <= 3:
        return told.split("-")[0]
    return "en" if len(ENGLISH.findall(text)) > len(text) / 100 else None


def _is_traditional(text: str) -> bool:
    characters = CJK.findall(text)[:600]
    changed = sum(1 for before, after in zip(characters, fold_characters("".join(characters)), strict=True) if before != after)
    return changed > 0.1 * len(characters)
