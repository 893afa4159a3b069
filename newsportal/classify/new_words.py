"""Words that a text says and the dictionary does not have: names of people, places and things, compounds. Pure.

A segmenter cuts such a word up (白鹭 / 滩观 / 鸟季), differently in every sentence. What is one word repeats in the text in changing
company. A string is a word (docs/algorithms/keywords.md), if

* it repeats, and has :data:`VARIETY` different neighbours on either side: accessor variety (Feng, Chen, Deng and Zheng 2004), with the
  edge of a clause and a function word as a neighbour that is always another;
* its parts stand together: count(string) ≥ 0.8 · min(count(a), count(b)) for every cut into a and b; ≥ 0.8 · max where both are words
  of the dictionary;
* it has the form of a noun: its words are nouns, and a single character among them is one that nouns of the dictionary end with (屋, 站,
  票; not 喝, 换), or the string has the form of a person's name: a surname and one or two characters.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from newsportal.text.characters import made_once
from newsportal.text.word_table import WordTable, cached_table
from newsportal.text.words import dictionary_version, kinds, rarity

LONGEST: Final = 5  # characters: 6 and 8 find clauses (手举高过头), and a third of a point to one point fewer of the first five keywords
LONGEST_RUN: Final = 60  # characters of neighbouring nouns: what is longer is no sentence

VARIETY: Final = 2
TOGETHER: Final = 0.8
NAME_CHARS: Final = 3

NOUNS: Final = ("n", "j", "g", "b")
NAMES: Final = ("nr", "ns", "nt", "nz")
OTHER, NOUN, NAME, VERB = 0.0, 1.0, 2.0, 3.0  # what the table says of a word; adjectives are with the verbs

MIN_WORDS, SHARE_OF_NOUNS = 10, 0.6
"""A character is a suffix if so many words of three characters end with it, and this share of them are nouns."""

MIN_SURNAMES: Final = 50  # a surname begins so many names of three characters

FEW_NOUNS: Final = 0.2
"""A character does not begin new words if at most this share of the words of two characters that begin with it are nouns (可, 最, 不)."""

ENDING, SURNAME, NO_BEGINNING = "*{}", "{}*", "{}…"  # keys of the table for suffixes, surnames, and characters that do not begin nouns


class _Piece(NamedTuple):
    """A part of a clause. ``is_raw``: the dictionary has nothing of it, so that a word may begin and end within it."""

    text: str
    is_known: bool
    is_raw: bool


@made_once
def word_kinds() -> WordTable:
    """Of each word of the dictionary what it is: :data:`NAME`, :data:`NOUN`, :data:`VERB` or :data:`OTHER`. Words of several characters
    without an idf are left out: no text of those that jieba's author counted had them (伟达)."""
    return cached_table("kinds", (dictionary_version(), NOUNS, NAMES, MIN_WORDS, SHARE_OF_NOUNS, FEW_NOUNS, MIN_SURNAMES), _kinds)


def _kinds() -> dict[str, float]:
    table: dict[str, float] = {}
    met, surnames, shares = rarity(), Counter[str](), defaultdict[str, list[bool]](list)
    for word, kind in kinds():
        is_noun = kind.startswith(NOUNS) or kind == "vn"
        if len(word) == 1 or word in met:
            table[word] = NAME if kind.startswith(NAMES) else NOUN if is_noun else VERB if kind.startswith(("v", "a")) else OTHER
        if len(word) == NAME_CHARS and kind.startswith("nr"):
            surnames[SURNAME.format(word[0])] += 1
        elif len(word) in (2, NAME_CHARS):
            shares[NO_BEGINNING.format(word[0]) if len(word) == 2 else ENDING.format(word[-1])].append(is_noun)
    table |= {key: 1.0 for key, times in surnames.items() if times >= MIN_SURNAMES}
    return table | {
        key: 1.0
        for key, nouns in shares.items()
        if len(nouns) >= MIN_WORDS
        and (sum(nouns) <= FEW_NOUNS * len(nouns) if key.endswith("…") else sum(nouns) >= SHARE_OF_NOUNS * len(nouns))
    }


def new_words(words: Sequence[str], text: str, edges: Container[str]) -> frozenset[str]:
    """The new words of ``text``. ``words``: as the segmenter cut it; ``edges``: those of them that part clauses."""
    places: defaultdict[str, list[tuple[str | int, str | int]]] = defaultdict(list)  # string -> its neighbours left and right
    compounds, known = set[str](), word_kinds().get
    # The clauses in which something repeats that is no word of the dictionary: two characters where one word ends and the next begins, or
    # of an unknown word. Of most texts it is a few, and each is much work.
    repeated = {one + other for (one, other), times in Counter(pairwise(text)).items() if times > 1}
    kind_of = dict(zip(words, map(word_kinds().get, words), strict=True))
    worth_it = {at for at, word in enumerate(words) if kind_of[word] is None and (word[:2] in repeated or word[-2:] in repeated)}
    worth_it |= {at for at, (word, after) in enumerate(pairwise(words)) if word[-1] + after[0] in repeated and after not in edges}
    numbers = list(accumulate([word in edges for word in words]))
    parted = [-1, *[at for at, word in enumerate(words) if word in edges], len(words)]
    chosen = sorted({numbers[at] for at in worth_it if words[at] not in edges})
    clauses = [words[parted[number] + 1 : parted[number + 1]] for number in chosen]
    for number, pieces in enumerate(run for clause in clauses for run in _noun_runs(list(_pieces(clause, known)), known)):
        if len(pieces) == 1 and not pieces[0].is_raw:
            continue
        whole = "".join(piece.text for piece in pieces)
        if len(whole) > LONGEST_RUN:
            continue
        for begin, end, is_compound in _spans(pieces, whole, known):
            string = whole[begin:end]
            if is_compound:
                compounds.add(string)
            places[string].append((whole[begin - 1] if begin else number, whole[end] if end < len(whole) else number))
    return frozenset(
        string
        for string, beside in places.items()
        if len(beside) > 1
        and all(len(set(side)) >= VARIETY for side in zip(*beside, strict=True))
        and known(string) is None
        and _is_bound(string, len(beside), text, max if string in compounds else min)
    )


def _pieces(words: Sequence[str], known: Callable[[str], float | None]) -> Iterator[_Piece]:
    """The parts of a clause. Where the segmenter knew no word, what it cut is one raw piece; a cut that holds a word of the dictionary at
    its end or beginning is that word and single characters."""
    raw = ""
    for word in words:
        at, size = _dictionary_word(word, known)
        if not size:
            raw += word
            continue
        if raw:
            yield _Piece(raw, False, len(raw) > 1)
            raw = ""
        yield from (_Piece(one, False, False) for one in word[:at])
        yield _Piece(word[at : at + size], True, False)
        yield from (_Piece(one, False, False) for one in word[at + size :])
    if raw:
        yield _Piece(raw, False, len(raw) > 1)


def _dictionary_word(word: str, known: Callable[[str], float | None]) -> tuple[int, int]:
    """Place and length of the longest word of the dictionary at the end or beginning of ``word``; (0, 0) if none has two characters."""
    for size in range(len(word), 1, -1):
        for at in (len(word) - size, 0):
            if known(word[at : at + size]) is not None:
                return at, size
    return 0, 0


def _noun_runs(pieces: Sequence[_Piece], known: Callable[[str], float | None]) -> Iterator[list[_Piece]]:
    """The pieces of a clause, parted where a word stands that is no noun: a verb, but for one before what nouns end with (保护 + 站)."""
    run: list[_Piece] = []
    for piece, after in zip(pieces, [*pieces[1:], None], strict=True):
        kind = known(piece.text) if piece.is_known else NOUN
        if kind in (NOUN, NAME) or (kind == VERB and after is not None and _is_ending(after, known)):
            run.append(piece)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _is_ending(piece: _Piece, known: Callable[[str], float | None]) -> bool:
    return len(piece.text) == 1 and known(ENDING.format(piece.text)) is not None


def _spans(pieces: Sequence[_Piece], whole: str, known: Callable[[str], float | None]) -> Iterator[tuple[int, int, bool]]:
    """Beginning and end of what may be a word by its form, and whether words of the dictionary alone make it."""
    edges = [0, *accumulate(len(piece.text) for piece in pieces)]
    begins, ends, barred, loose = list[int](), list[int](), list[bool](), list[bool]()  # the last two by character
    for piece, begin, end in zip(pieces, edges, edges[1:], strict=False):
        may_end = _is_ending(piece, known) or (piece.is_known and known(piece.text) != VERB)
        in_raw = (at for at in range(begin, end) if known(NO_BEGINNING.format(whole[at])) is None)
        begins += in_raw if piece.is_raw else [begin] * piece.is_known
        ends += range(begin + 1, end + 1) if piece.is_raw else [end] * may_end
        barred += [not (piece.is_raw or piece.is_known or may_end)] * (end - begin)
        loose += [not piece.is_known] * (end - begin)
    may_be_end, is_edge = set(ends), set(edges)
    spans = {(at, end) for at in begins for end in range(at + 2, at + LONGEST + 1) if end in may_be_end and True not in barred[at:end]}
    surnames = [edge for edge in edges[:-1] if known(SURNAME.format(whole[edge])) is not None]
    spans |= {(at, end) for at in surnames for end in range(at + 2, at + NAME_CHARS + 1) if end in is_edge}
    yield from ((begin, end, True not in loose[begin:end]) for begin, end in sorted(spans))


def _is_bound(string: str, times: int, text: str, of_parts: Callable[[int, int], int]) -> bool:
    """Whether the parts of ``string`` stand together nearly always, wherever it is cut."""
    step = 1 if of_parts is min else 2
    return all(times >= TOGETHER * of_parts(text.count(string[:at]), text.count(string[at:])) for at in range(step, len(string) - step + 1))
