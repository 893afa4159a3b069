"""Stop words: the words that only sentences need, of Chinese (as characters) and of some languages of Europe and Asia."""

from __future__ import annotations

import re

_STOP_CHARACTERS = (
    "的了是在和与與有这這那不也就都而及着著或被把为為于於从從对對将將但并並因所以其之们們个個中上到说說要会會能让讓向等后後还還很又已"
)
_STOP_WORDS = (
    "the of and to in is that it for on was with as by at be this from are or an have has not but his her they we you he she who which "
    "will would der die das und den von zu mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach "
    "wird bei einer um am le la les de des du et en un une est que qui dans pour pas sur au avec son sa ses il elle par plus ce cette ne "
    "se el los las del y una por con para su al lo como más pero sus o este sí porque esta entre cuando muy sin sobre también il che di "
    "non per sono della nel alla i gli da dei delle è si os do em não dos mas foi ao ele w na z się nie to jest że jak od и в во не что "
    "он на я с со как а то все она так его но да ты к у же вы за бы по ve bir bu için ile çok het een van niet te zijn op aan met voor "
    "och att det som på av är för har"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())
STOP_CHARACTER = re.compile(f"[{_STOP_CHARACTERS}のはをがにでとも은는이가을를의에]")
WORDS = re.compile(r"\w+")


def has_stop_word(text: str) -> bool:
    """Whether ``text`` holds a word that only sentences need: a stop word of Chinese (as characters, so that no cutting is needed),
    Japanese, Korean or a European language (thesis E, definition 2.6)."""
    return (not text.isascii() and STOP_CHARACTER.search(text) is not None) or not STOP_WORDS.isdisjoint(WORDS.findall(text.lower()))
