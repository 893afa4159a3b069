"""Extractive summaries: the beginning of one text, or the most informative sentences of several (docs/algorithms/summaries.md). Pure.

Only complete sentences are used. Datelines, captions, headings, tables, appeals to follow or scan, disclaimers and editors' names are left
out. For several texts, sentences are selected greedily by::

    score(s) = form(s) · Σ weight(w) over the words of s that occur in no selected or known sentence
    weight(w) = idf(w) · ln(1 + texts with w)        form(s) = 1 / √(length of s) · 1 / (1 + place / 2)^0.3 · penalties

That words shared by many texts characterise an event is SumBasic's observation (Nenkova and Vanderwende 2005); counting each word once
favours coverage and avoids redundancy (Lin and Bilmes, A Class of Submodular Functions for Document Summarization, 2011), and excluding
words of earlier summaries makes the result novel.
"""

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from math import log, sqrt
from typing import Final

from newsportal.text import CJK, STOP_WORDS, clean, fold_characters, letters
from newsportal.text.characters import BOILERPLATE, cache_once
from newsportal.text.word_table import WordTable, cached_table
from newsportal.text.words import cutter, dictionary_version, word_idf

READ_CHARS: Final = 4000  # characters of a text that are read: the news is at the beginning
MIN_CHARS: Final = 6  # of a sentence; shorter ones (「有。」, 「图为现场」) carry no information
MAX_CHARS: Final = 160  # of a sentence selected from several texts: four lines on a phone

MIN_OPEN_CHARS: Final = 40
"""Minimum characters of a line with a comma to be a sentence without a full stop; shorter ones are headings and captions."""

REDUNDANT_SHARE: Final = 0.6  # share of the words of the shorter sentence found in the other from which the two are redundant

LATENESS_PENALTY: Final[float] = 0.3
"""Penalty on later sentences: 0 covers one point more of the round-ups, but begins in the middle of the news."""

UNKNOWN_IDF: Final = 9.0  # of words that are not in the dictionary: mostly new names
SENTENCE_ENDS: Final = "。！？!?…"
CLOSING_MARKS: Final = "”’」』）)】》\"'"
BOUNDARY: Final = re.compile(
    r"(?<=[。！？!?…])(?![。！？!?…”’」』）)】》\"'])|(?<=[。！？!?…][”’」』）)】》\"'])(?=[^，。、,；;：:的是”’」』）)】》\"'])"
    r"|(?<=[a-z)\d][.])\s+(?=[A-Z“\"])"
)
PAIRS: Final = ("“”", "「」", "『』", "（）", "《》", "【】", "()")

DATELINE: Final = re.compile(
    r"^[\s;；·•*]*(?:【[^】]{1,20}】|\[[^\]]{1,20}\]|(?:编者按|导读|摘要|核心提示|[快短简]讯)[:：])?\s*"
    r"(?:[^，。；：:,]{0,16}?(?:消息|\d日?[电讯]|(?:本报|网|社|报)[电讯])(?:\s*[（(][^）)]{1,30}[)）]\s*[:：]?|[:：,，]\s*|\s*)"
    r"|据[^，。；：:,]{0,16}报道[，,]|(?:综合)?报道(?=\d|[^，。]{0,6}[“《])|\d{1,2}(?:\s+(?![日月年时点分岁个])(?=[\u4e00-\u9fff])|[、．])"
    r"|[^，。；：:,]{0,10}[（(][^（()）]{0,8}(?:通讯员|记者)[^（()）]{0,30}[）)]\s*"
    r"|[A-Z]{3,}[A-Za-z, .]{0,30}(?:\([A-Za-z ]+\))?\s*[-—–]+\s*)?"
)
"""「新华社合肥3月7日电（记者林岚）」, 「中新网3月7日电 」, 「本报讯（记者 …）」, 「央视网消息：」, ``BEIJING (Reuters) - ``."""

DANGLING: Final = re.compile(
    r"^(?:他|她|它|此外|但|而|同时|对此|其中|另外|因此|因而|所以|于是|然而|不过|另|该|这|那|据此|随后|之后|接着|此前|当时|也|还|并|则|与此|最后|首先|其次|其一|其二|一是|第[一二三四]|"
    r"(?:he|she|it|they|but|and|this|that|these|however|also|meanwhile|then|so)\b)",
    re.IGNORECASE,
)
"""Beginnings that refer to the previous sentence."""


@dataclass(frozen=True, slots=True)
class Text:
    """An article as input. ``text`` has one paragraph per line; cells of a table are separated by tabs."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the text ``id``; ``place`` is its index in the text."""

    id: str
    text: str
    place: int


def sentences(text: str) -> Iterator[str]:
    """Yield the complete, informative sentences at the beginning of ``text``, in order. Lines without any are skipped."""
    for line in text[:READ_CHARS].splitlines():
        if "\t" not in line:  # else a row of a table
            yield from filter(is_sentence, _rejoined(BOUNDARY.split(DATELINE.sub("", clean(line), count=1))))


def is_sentence(part: str) -> bool:
    """Return whether ``part`` has the form of a complete sentence of the article."""
    if len(part) < MIN_CHARS or BOILERPLATE.search(part.lower()) or any(part.count(left) != part.count(right) for left, right in PAIRS):
        return False
    last = part.rstrip(CLOSING_MARKS)[-1:]
    if (last and last in SENTENCE_ENDS) or (last == "." and " " in part):
        return True
    return len(part) >= MIN_OPEN_CHARS and ("，" in part or "," in part) and last not in "：:，,、；;—-" and part.count(" ") * 6 < len(part)


def _rejoined(parts: Iterable[str]) -> Iterable[str]:
    """Rejoin ``parts`` of a line within quotation marks or brackets."""
    joined = ""
    for part in parts:
        joined += (" " if joined and joined[-1:] == "." else "") + part
        if all(joined.count(left) <= joined.count(right) for left, right in PAIRS):
            yield joined.strip()
            joined = ""
    if joined.strip():
        yield joined.strip()


@lru_cache(2000)  # lists show the same stories repeatedly
def lead(title: str, text: str, limit: int) -> str:
    """Return the beginning of ``text`` in complete sentences, without a repeated title. A first sentence that is too long is cut at a
    clause; a text without sentences gives its words, an empty text or one of tables only ``""``."""
    name, found = letters(title), ""
    text = text.lstrip().removeprefix(title).lstrip(TITLE_SEPARATORS) if title else text
    for sentence in sentences(text):
        if name and letters(sentence) in name:
            continue
        longer = found + (" " if found and found[-1].isascii() else "") + sentence
        if len(longer) > limit and found:
            break
        found = longer
    if not found:
        lines = [line for line in map(str.strip, text[:READ_CHARS].splitlines()) if line and "\t" not in line]
        found = clean(" ".join([line for line in lines if not BOILERPLATE.search(line.lower())] or lines))
    return shorten(found, limit)


TITLE_SEPARATORS: Final = " \u3000:：|-—·。，,；;、"  # separators between a repeated title and the text
HALF_WORD: Final = re.compile(r"(?a:\w{1,20})$")  # the cut end of a Latin word; a longer run is not a word
CLAUSE: Final = re.compile(r"[，；：,;:](?=[^，；：,;:]*$)")


def shorten(text: str, limit: int) -> str:
    """Truncate ``text`` to ``limit`` characters with an ellipsis, after a clause ending in the second half, never inside a Latin word."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    clause = CLAUSE.search(cut)
    if clause and 2 * clause.start() > limit:
        cut = cut[: clause.start()]
    elif text[limit - 1].isascii() and text[limit - 1].isalnum():
        cut = HALF_WORD.sub("", cut) or cut
    return cut.rstrip(" ,;:，；：、") + "…"


def summarise(texts: Sequence[Text], count: int = 3, known: Iterable[str] = ()) -> list[Sentence]:
    """Select up to ``count`` sentences that cover most of what ``texts``, but not ``known``, report of one event, in their order."""
    candidates = [Sentence(text.id, part, place) for text in texts for place, part in enumerate(sentences(text.text))]
    words = {sentence: _words(sentence.text) for sentence in candidates}
    spread = Counter(word for text in texts for word in {w for s in candidates if s.id == text.id for w in words[s]})
    weights = {word: _idf(word) * log(1 + texts_with) for word, texts_with in spread.items()}
    word_sets = [_words(text) for text in known]
    covered = set[str]().union(*word_sets)
    forms = {sentence: _form_factor(sentence) for sentence in candidates}
    selected: list[Sentence] = []
    while forms and len(selected) < count:
        best = max(forms, key=lambda sentence: forms[sentence] * sum(weights[word] for word in words[sentence] - covered))
        del forms[best]
        if not words[best] - covered or any(len(words[best] & other) >= REDUNDANT_SHARE * len(words[best]) for other in word_sets):
            continue
        selected.append(best)
        word_sets.append(words[best])
        covered |= words[best]
    order = {text.id: place for place, text in enumerate(texts)}
    return sorted(selected, key=lambda sentence: (order[sentence.id], sentence.place))


def _form_factor(sentence: Sentence) -> float:
    """Return the factor for position, length and form of a sentence."""
    text = sentence.text
    last = text.rstrip(CLOSING_MARKS)[-1:]
    form: float = 1.0 / sqrt(len(text)) / (1 + sentence.place / 2) ** LATENESS_PENALTY
    form *= (0.4 if DANGLING.match(text) else 1.0) * (0.5 if text[0] in '“「"' or last in "？?！!" else 1.0)
    return form * (0.3 if len(text) > MAX_CHARS or len(text) < 2 * MIN_CHARS or last not in f"{SENTENCE_ENDS}." else 1.0)


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in cutter().cut(fold_characters(text)) if (len(word) > 1 or word.isdecimal()) and word not in STOP_WORDS)


@cache_once
def _rarity() -> WordTable:
    return cached_table("rarity", dictionary_version(), word_idf)


def _idf(word: str) -> float:
    found = _rarity().get(word)
    return found if found is not None else UNKNOWN_IDF if CJK.search(word) or word.isalpha() else UNKNOWN_IDF / 3


# Sentences shared by several stories of one site (phrases in captions, author notes, appeals) are unrelated to the event, and make short
# texts look alike. Counts are by site: a sentence that other sites copy is not boilerplate.

MIN_STORIES: Final = 3  # minimum stories of a site that share a boilerplate sentence. Two may be an article and its follow-up.
MIN_LENGTH: Final = 6  # characters of a sentence; shorter ones are not counted
MAX_SENTENCES: Final = 100_000  # most recently seen sentences: about 20 MB
SENTENCE: Final = re.compile(r"[^。！？!?\n]+[。！？!?]*[”’」』）)]*\n?|\n")


class RepeatedSentences:
    """Detector of the boilerplate of each site, among the stories added."""

    def __init__(self) -> None:
        self._stories: OrderedDict[bytes, tuple[str, ...]] = OrderedDict()

    def add(self, story: str, site: str, text: str) -> None:
        """Count the sentences of a story. Adding the same story again has no effect."""
        for key in dict.fromkeys(_key(site, sentence) for sentence in SENTENCE.findall(text) if len(sentence.strip()) >= MIN_LENGTH):
            stories = self._stories.get(key, ())
            if len(stories) < MIN_STORIES and story not in stories:
                self._stories[key] = (*stories, story)
            self._stories.move_to_end(key)
        while len(self._stories) > MAX_SENTENCES:
            self._stories.popitem(last=False)

    def remove_from(self, site: str, text: str) -> str:
        """Return ``text`` without the boilerplate of its site."""
        return "".join(sentence for sentence in SENTENCE.findall(text) if len(self._stories.get(_key(site, sentence), ())) < MIN_STORIES)


def _key(site: str, sentence: str) -> bytes:
    return blake2b(f"{site}\n{sentence.strip()}".encode("utf-8", "replace"), digest_size=8).digest()
