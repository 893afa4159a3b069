"""Sentences that several stories of one site share: phrases of its captions, notes on authors, appeals. Pure.

They tell of no event, and two short texts that share them are alike in all their words. Quotations and whole paragraphs that other sites
take over are none: each site is counted by itself.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from hashlib import blake2b
from typing import Final

STORIES: Final = 3  # Stories of a site that share a boilerplate sentence at least. Two may be an article and its follow-up.
SHORTEST: Final = 6  # Characters of a sentence: shorter ones bind no stories
REMEMBERED: Final = 100_000  # Sentences, those that were met last: about 20 MB
SENTENCE: Final = re.compile(r"[^。！？!?\n]+[。！？!?]*[”’」』）)]*\n?|\n")


class RepeatedSentences:
    """What is boilerplate of which site, among the stories that were added."""

    def __init__(self) -> None:
        self._stories: OrderedDict[bytes, tuple[str, ...]] = OrderedDict()

    def add(self, story: str, site: str, text: str) -> None:
        """Count the sentences of a story. The same story counts once, however often it is added."""
        for key in dict.fromkeys(_key(site, sentence) for sentence in SENTENCE.findall(text) if len(sentence.strip()) >= SHORTEST):
            stories = self._stories.get(key, ())
            if len(stories) < STORIES and story not in stories:
                self._stories[key] = (*stories, story)
            self._stories.move_to_end(key)
        while len(self._stories) > REMEMBERED:
            self._stories.popitem(last=False)

    def without(self, site: str, text: str) -> str:
        """``text`` without the boilerplate of its site."""
        return "".join(one for one in SENTENCE.findall(text) if len(self._stories.get(_key(site, one), ())) < STORIES)


def _key(site: str, sentence: str) -> bytes:
    return blake2b(f"{site}\n{sentence.strip()}".encode("utf-8", "replace"), digest_size=8).digest()
