"""Words and characters: the only module with access to the segmenters and to the tables of traditional characters.

``characters`` cleans and folds text, ``words`` segments it, also by the papers' methods, and has the dictionary, word frequencies and stop
words. All functions take and return ``str``; lengths are in characters, Chinese first.
"""

from newsportal.text.characters import (
    CJK,
    CONTROL,
    INVISIBLE,
    NON_LETTERS,
    chinese_share,
    clean,
    fold_characters,
    letters,
    normalise,
    visible_length,
)
from newsportal.text.words import STOP_CHARACTER, STOP_WORDS, WORD, WORDS, has_stop_word, search_words, segment, set_user_words

__all__ = [
    "CJK", "CONTROL", "INVISIBLE", "NON_LETTERS", "STOP_CHARACTER", "STOP_WORDS", "WORD", "WORDS", "chinese_share", "clean",
    "fold_characters", "has_stop_word", "letters", "normalise", "search_words", "segment", "set_user_words", "visible_length",
]  # fmt: skip
