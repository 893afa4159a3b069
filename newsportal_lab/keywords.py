"""``newsportal keywords``: the keywords of texts, as JSON lines, one per document; by :mod:`newsportal.classify.keywords`, or by reference
methods for comparison.

TextRank (Mihalcea & Tarau 2004, section 3.1): nouns and adjectives are the vertices, two of them are joined when they are within
``WINDOW`` words of one another, and the rank of a word is

    WS(v) = (1 − d) + d · Σ over neighbours u of v:  WS(u) / degree(u)                                      (formula 1, undirected)

TF-IDF as jieba's ``extract_tags``: tf · idf of words of two and more characters, the median idf for words without one.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import combinations
from statistics import median
from typing import Annotated, Any, BinaryIO, Final

import typer

from newsportal.classify.keywords import MAX_KEYWORDS, NEWS_WORDS, Keyword
from newsportal.classify.keywords import keywords as weighted
from newsportal.cli.options import OutFile
from newsportal.text import STOP_WORDS, segment
from newsportal.text.words import parts_of_speech, word_idf
from newsportal_lab.documents import answer_file, documents

WINDOW: Final = 2  # words: adjacent ones only. The paper tries 2, 3, 5 and 10 and finds 2 best (table 1).
DAMPING: Final = 0.85  # d, as in the paper and PageRank
TOLERANCE: Final = 0.0001  # the iteration ends when no rank changes more (section 2.2)
MAX_ROUNDS: Final = 100
MAX_TEXT_CHARS: Final = 20_000  # characters: more would take seconds


def textrank(title: str, text: str, limit: int = MAX_KEYWORDS) -> tuple[Keyword, ...]:
    """Return the words of highest rank. Words missing from the dictionary count as nouns."""
    kinds_of = _kinds()
    words = segment(f"{title}\n{text[:MAX_TEXT_CHARS]}")
    vertices = [word if _counts(word) and kinds_of.get(word, "n")[:1] in ("n", "a") else None for word in words]
    edges: dict[str, set[str]] = {}
    for start in range(len(vertices)):
        for first, second in combinations(filter(None, vertices[start : start + WINDOW]), 2):
            if first != second:
                edges.setdefault(first, set()).add(second)
                edges.setdefault(second, set()).add(first)
    return _best(_ranks(edges), limit)


def _ranks(edges: Mapping[str, set[str]]) -> dict[str, float]:
    ranks = dict.fromkeys(edges, 1.0)
    for _ in range(MAX_ROUNDS):
        before = ranks
        ranks = {word: 1 - DAMPING + DAMPING * sum(before[other] / len(edges[other]) for other in sorted(edges[word])) for word in edges}
        if max((abs(ranks[word] - before[word]) for word in edges), default=0.0) < TOLERANCE:
            break
    return ranks


def tfidf(title: str, text: str, limit: int = MAX_KEYWORDS) -> tuple[Keyword, ...]:
    rare, default = _rarity()
    counts = Counter(filter(_counts, segment(f"{title}\n{text[:MAX_TEXT_CHARS]}")))
    return _best({word: times * rare.get(word, default) for word, times in counts.items()}, limit)


def _counts(word: str) -> bool:
    return len(word) > 1 and word[0].isalpha() and word.lower() not in STOP_WORDS and word not in NEWS_WORDS


def _best(weights: Mapping[str, float], limit: int) -> tuple[Keyword, ...]:
    ranked: Iterable[tuple[str, float]] = sorted(weights.items(), key=lambda pair: -pair[1])
    return tuple(Keyword(word, weight) for word, weight in list(ranked)[:limit])


@cache
def _kinds() -> Mapping[str, str]:
    return dict(parts_of_speech())


@cache
def _rarity() -> tuple[Mapping[str, float], float]:
    rare = word_idf()
    return rare, median(rare.values())


Method = Callable[[str, str], tuple[Keyword, ...]]
MAX_TEXT_BYTES: Final = 50_000_000  # bytes of a plain text that is read; keywords come from its beginning

DEFAULT: Final = "weighted"
ALGORITHMS: Final = {DEFAULT: weighted, "tfidf": tfidf, "textrank": textrank}


def keywords(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="A document a line; -: standard input.")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100, help="How many of a document.")] = MAX_KEYWORDS,
    plain: Annotated[bool, typer.Option("--text", help="The file is one text; its first line is the title.")] = False,
    algorithm: Annotated[str, typer.Option("--algorithm", "-a", help=f"{', '.join(ALGORITHMS)}.")] = DEFAULT,
    out: OutFile = None,
) -> None:
    """Find the keywords of texts: {"id", "title", "text"} a line; out comes {"id", "keywords": [{"word", "weight"}]}.

    Weights compare within one document. An invalid line gives "error".
    """
    if algorithm not in ALGORITHMS:
        raise typer.BadParameter(f"{algorithm!r} is none of: {', '.join(ALGORITHMS)}", param_hint="--algorithm")
    method = partial(ALGORITHMS[algorithm], limit=limit)

    def read(stream: BinaryIO) -> Iterator[dict[str, Any]]:
        if not plain:
            return answers(stream, method)
        title, _, text = stream.read(MAX_TEXT_BYTES).decode("utf-8-sig", "replace").partition("\n")
        return iter([answer(file, title, text, method)])

    answer_file(file, read, out, "keywords")


def answers(lines: Iterable[bytes], method: Method) -> Iterator[dict[str, Any]]:
    for row in documents(lines):
        if row.error is not None:
            yield {"id": row.id, "keywords": [], "error": row.error}
        else:
            yield answer(row.id, row.title, row.text, method)


def answer(id: Any, title: str, text: str, method: Method) -> dict[str, Any]:
    return {"id": id, "keywords": [{"word": keyword.word, "weight": round(keyword.weight, 3)} for keyword in method(title, text)]}
