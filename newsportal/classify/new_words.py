"""Find the words of a text that are not in the dictionary: names of people, places and things, compounds. Pure.

A segmenter splits such a word (白鹭 / 滩观 / 鸟季), differently in every sentence. A string is accepted as a word
(docs/algorithms/keywords.md) if

* it repeats, and has :data:`VARIETY` different neighbours on either side: accessor variety (Feng, Chen, Deng and Zheng 2004); the edge of a
  clause and a function word each count as a new neighbour;
* its parts are bound: count(string) ≥ 0.8 · min(count(a), count(b)) for every split into a and b; ≥ 0.8 · max if both are dictionary words;
* it has the form of a noun: its words are nouns, and a single character among them is a common ending of nouns (屋, 站, 票; not 喝, 换); or
  the form of a person's name: a surname and one or two characters.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import accumulate, groupby, pairwise
from operator import add
from typing import Final, NamedTuple

from newsportal.text.characters import cache_once
from newsportal.text.word_table import WordTable, cached_table
from newsportal.text.words import dictionary_version, parts_of_speech, word_idf

MAX_CHARS: Final = 5  # characters: 6 and 8 find clauses (手举高过头), and a third of a point to one point fewer of the first five keywords
MAX_RUN_CHARS: Final = 60  # characters of adjacent nouns: a longer run is not a sentence

VARIETY: Final = 2
COHESION: Final = 0.8
NAME_CHARS: Final = 3

NOUNS: Final = ("n", "j", "g", "b")
NAMES: Final = ("nr", "ns", "nt", "nz")
OTHER, NOUN, NAME, VERB = 0.0, 1.0, 2.0, 3.0  # values of the table; adjectives count as verbs

MIN_WORDS, SHARE_OF_NOUNS = 10, 0.6
"""A character is a suffix if this many words of three characters end with it, and this share of them are nouns."""

MIN_SURNAMES: Final = 50  # a surname begins at least this many names of three characters

MAX_NOUN_SHARE: Final = 0.2
"""A character cannot begin new words if at most this share of the two-character words beginning with it are nouns (可, 最, 不)."""

ENDING, SURNAME, NO_BEGINNING = "*{}", "{}*", "{}…"  # keys of the table for suffixes, surnames, and characters that do not begin nouns


class _Piece(NamedTuple):
    """A part of a clause. ``is_raw``: no part of it is in the dictionary, so that a word may begin and end within it."""

    text: str
    is_known: bool
    is_raw: bool


@cache_once
def word_kinds() -> WordTable:
    """Return the kind of every dictionary word: :data:`NAME`, :data:`NOUN`, :data:`VERB` or :data:`OTHER`. Words of several characters
    without an idf are left out: none of the texts counted by jieba's author had them (伟达)."""
    return cached_table("kinds", (dictionary_version(), NOUNS, NAMES, MIN_WORDS, SHARE_OF_NOUNS, MAX_NOUN_SHARE, MIN_SURNAMES), _kinds)


def _kinds() -> dict[str, float]:
    table: dict[str, float] = {}
    with_idf, surnames, shares = word_idf(), Counter[str](), defaultdict[str, list[bool]](list)
    for word, kind in parts_of_speech():
        is_noun = kind.startswith(NOUNS) or kind == "vn"
        if len(word) == 1 or word in with_idf:
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
        and (sum(nouns) <= MAX_NOUN_SHARE * len(nouns) if key.endswith("…") else sum(nouns) >= SHARE_OF_NOUNS * len(nouns))
    }


def new_words(words: Sequence[str], text: str, edges: Set[str]) -> frozenset[str]:
    """Return the new words of ``text``. ``words``: its segmentation; ``edges``: words that delimit clauses."""
    places: defaultdict[str, list[tuple[str | int, str | int]]] = defaultdict(list)  # string -> its left and right neighbours
    compounds, lookup = set[str](), word_kinds().get
    # Only clauses that contain a repeated string that is not a dictionary word are examined: two characters across a word boundary, or of
    # an unknown word. Most texts have few of them, and each is expensive.
    repeated = {pair for pair, times in Counter(map(add, text, text[1:])).items() if times > 1}
    unknown = {word for word in set(words) - edges if (word[:2] in repeated or word[-2:] in repeated) and lookup(word) is None}
    clauses = [list(clause) for is_edge, clause in groupby(words, edges.__contains__) if not is_edge]
    selected = (
        clause
        for clause in clauses
        if not unknown.isdisjoint(clause) or any(left[-1] + right[0] in repeated for left, right in pairwise(clause))
    )
    for number, pieces in enumerate(run for clause in selected for run in _noun_runs(list(_pieces(clause, lookup)), lookup)):
        if len(pieces) == 1 and not pieces[0].is_raw:
            continue
        joined = "".join(piece.text for piece in pieces)
        if len(joined) > MAX_RUN_CHARS:
            continue
        for begin, end, is_compound in _spans(pieces, joined, lookup):
            string = joined[begin:end]
            if is_compound:
                compounds.add(string)
            places[string].append((joined[begin - 1] if begin else number, joined[end] if end < len(joined) else number))
    return frozenset(
        string
        for string, contexts in places.items()
        if len(contexts) > 1
        and all(len(set(side)) >= VARIETY for side in zip(*contexts, strict=True))
        and lookup(string) is None
        and _is_bound(string, len(contexts), text, max if string in compounds else min)
    )


def _pieces(words: Sequence[str], lookup: Callable[[str], float | None]) -> Iterator[_Piece]:
    """Yield the parts of a clause. Adjacent unknown segments form one raw piece; a segment that begins or ends with a dictionary word is
    split into that word and single characters."""
    raw = ""
    for word in words:
        at, size = _dictionary_word(word, lookup)
        if not size:
            raw += word
            continue
        if raw:
            yield _Piece(raw, False, len(raw) > 1)
            raw = ""
        yield from (_Piece(char, False, False) for char in word[:at])
        yield _Piece(word[at : at + size], True, False)
        yield from (_Piece(char, False, False) for char in word[at + size :])
    if raw:
        yield _Piece(raw, False, len(raw) > 1)


def _dictionary_word(word: str, lookup: Callable[[str], float | None]) -> tuple[int, int]:
    """Return position and length of the longest dictionary word at the end or beginning of ``word``; (0, 0) if none has two characters."""
    for size in range(len(word), 1, -1):
        for at in (len(word) - size, 0):
            if lookup(word[at : at + size]) is not None:
                return at, size
    return 0, 0


def _noun_runs(pieces: Sequence[_Piece], lookup: Callable[[str], float | None]) -> Iterator[list[_Piece]]:
    """Yield runs of nouns among the pieces of a clause. A verb ends a run unless a noun suffix follows (保护 + 站)."""
    run: list[_Piece] = []
    for piece, following in zip(pieces, [*pieces[1:], None], strict=True):
        kind = lookup(piece.text) if piece.is_known else NOUN
        if kind in (NOUN, NAME) or (kind == VERB and following is not None and _is_ending(following, lookup)):
            run.append(piece)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _is_ending(piece: _Piece, lookup: Callable[[str], float | None]) -> bool:
    return len(piece.text) == 1 and lookup(ENDING.format(piece.text)) is not None


def _spans(pieces: Sequence[_Piece], joined: str, lookup: Callable[[str], float | None]) -> Iterator[tuple[int, int, bool]]:
    """Yield begin and end of possible words by their form, and whether they consist of dictionary words only."""
    edges = [0, *accumulate(len(piece.text) for piece in pieces)]
    starts, ends, excluded, unknown = list[int](), list[int](), list[bool](), list[bool]()  # the last two by character
    for piece, begin, end in zip(pieces, edges, edges[1:], strict=False):
        may_end = _is_ending(piece, lookup) or (piece.is_known and lookup(piece.text) != VERB)
        in_raw = (at for at in range(begin, end) if lookup(NO_BEGINNING.format(joined[at])) is None)
        starts += in_raw if piece.is_raw else [begin] * piece.is_known
        ends += range(begin + 1, end + 1) if piece.is_raw else [end] * may_end
        excluded += [not (piece.is_raw or piece.is_known or may_end)] * (end - begin)
        unknown += [not piece.is_known] * (end - begin)
    may_be_end, is_edge = set(ends), set(edges)
    spans = {(at, end) for at in starts for end in range(at + 2, at + MAX_CHARS + 1) if end in may_be_end and True not in excluded[at:end]}
    surnames = [edge for edge in edges[:-1] if lookup(SURNAME.format(joined[edge])) is not None]
    spans |= {(at, end) for at in surnames for end in range(at + 2, at + NAME_CHARS + 1) if end in is_edge}
    yield from ((begin, end, True not in unknown[begin:end]) for begin, end in sorted(spans))


def _is_bound(string: str, times: int, text: str, of_parts: Callable[[int, int], int]) -> bool:
    """Return whether the parts of ``string`` nearly always occur together, wherever it is split."""
    step = 1 if of_parts is min else 2
    return all(times >= COHESION * of_parts(text.count(string[:at]), text.count(string[at:])) for at in range(step, len(string) - step + 1))
