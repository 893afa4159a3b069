"""A common interface of our algorithms and peers, ``read(page) -> Found``; all read each page in turn, so that load affects them equally.

Differences on the worst pages are shown by sentence, and by character within similar sentences.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Literal

from newsportal.cli.extract import learn
from newsportal.cli.pages import UNKNOWN, SavedPage, describe
from newsportal.extractors import Extract, Learner, extractor
from newsportal.items import Link, Page
from newsportal.text import WORDS, dom, segment
from newsportal_lab.evaluate.gold import GoldPage, gold_page, gold_pages, survey
from newsportal_lab.evaluate.peers import Peer, peer
from newsportal_lab.evaluate.scoring import Answer, PageScore, Scores, add_up, score_page

WARM_UP_PAGE: Final = (
    "<html><head><meta charset=utf-8><title>新线今晨通车</title></head><body><h1>新线今晨通车</h1>"
    "<p>2024-03-05 08:30 来源：滨海日报 记者 王小明</p>"
    + "<p>今天早上六点，新线的首班列车从东站出发，车厢里坐满了赶早的市民。</p><p>The first train left at six in the morning.</p>" * 8
    + "</body></html>"
).encode()
"""A fictitious page in two languages with all fields."""


@dataclass(frozen=True, slots=True)
class Found:
    """The extraction of a page. ``error``: why there is none. ``seconds`` of CPU time, including decoding and parsing."""

    answer: Answer
    error: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Reader:
    """An algorithm or a peer. ``learn`` reads a folder before its first page is extracted, if the algorithm learns."""

    name: str
    answer: Callable[[GoldPage], Answer] = field(repr=False)
    learn: Callable[[Path], None] | None = field(default=None, repr=False)

    def read(self, page: GoldPage) -> Found:
        """Return the extraction of ``page``. Never raises for a page: errors result in an empty answer with the error."""
        if page.saved.error is not None:
            return Found(Answer(), page.saved.error)
        started, answer, error = time.process_time(), Answer(), None
        try:
            answer = self.answer(page)
        except Exception as fault:  # noqa: BLE001  an error on a page counts as no answer; it is reported
            error = describe(fault)
        return Found(answer, error, time.process_time() - started)


def warm_up(readers: Iterable[Reader]) -> None:
    """Let all readers read a made-up page first, so that deferred imports, models and dictionaries do not count for the first page."""
    for reader in readers:
        reader.read(GoldPage(SavedPage("warm", WARM_UP_PAGE), Answer()))


JIEBA: Final = (
    "the of is and to in that we for an are by be as on with can if from which you it this then at have all not one has or",
    "的 了 和 是 就 都 而 及 與 著 或 一個 沒有 我們 你們 妳們 他們 她們 是否",
)
"""The stop words of jieba (extra_dict/stop_words.txt, MIT), which thesis E uses (2.3.4)."""
JIEBA_WORDS, JIEBA_CHINESE = frozenset(" ".join(JIEBA).split()), re.compile(JIEBA[1].replace(" ", "|"))


def has_jieba_characters(text: str) -> bool:
    """Return whether ``text`` contains a stop word of jieba, even within a longer Chinese word."""
    return JIEBA_CHINESE.search(text) is not None or not JIEBA_WORDS.isdisjoint(WORDS.findall(text.lower()))


def has_jieba_words(text: str) -> bool:
    """Return whether one of the words of ``text`` is a stop word of jieba."""
    return not JIEBA_WORDS.isdisjoint(segment(text.lower()))


VARIANTS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "cevc:jieba": ("cevc", {"valid": has_jieba_characters}),
    "cevc:jieba-words": ("cevc", {"valid": has_jieba_words}),
    "cevc:text-leaves": ("cevc", {"text_leaves": True}),
    "best:any-page": ("best", {"any_page": True}),
}
"""Variants of a method outside the crawl, of a paper or of ``newsportal extract``: name → method, parameters."""


def reader(name: str, run: Extract, parse: Callable[[Page], dom.Document] = dom.document) -> Reader:
    """Return one of our algorithms as the reader ``name``; ``parse`` may share a page's document among readers."""
    now = datetime.now(UTC)

    def answer(page: GoldPage) -> Answer:
        url = page.saved.url or UNKNOWN
        link = Link(url, "command", summary=page.saved.summary) if page.saved.summary else None
        found = run(parse(Page(url, page.saved.body, now)), link, now)
        date = found.published.isoformat() if found.published else None
        return Answer(text=found.text, title=found.title, date=date, author=found.author, source=found.origin)

    return Reader(name, answer, (lambda folder: learn(str(folder), run, now)) if isinstance(run, Learner) else None)


def readers(algorithms: Sequence[str], peers: Sequence[str], parse: Callable[[Page], dom.Document] = dom.document) -> list[Reader]:
    """Return readers by name, algorithms first. Raises ``ValueError`` for an unknown name, ``DependencyMissing`` for a peer not
    installed."""

    def algorithm(name: str) -> Reader:
        method, parameters = VARIANTS.get(name, (name, {}))
        return reader(name, extractor(method, **parameters), parse)

    def other(name: str, run: Peer) -> Reader:
        return Reader(name, lambda page: Answer(**run(page.saved.body, page.saved.url)))

    ours = [algorithm(name) for name in dict.fromkeys(algorithms)]
    return ours + [other(name, peer(name)) for name in dict.fromkeys(peers)]


POOLED: Final = "all"  # the set of all folders' pages


@dataclass(frozen=True, slots=True)
class PageResult:
    """The scores of one page by each reader, in order. Texts are not kept: they are extracted again when needed."""

    folder: str
    id: str
    file: Path
    site: str | None
    scores: tuple[PageScore, ...]
    seconds: tuple[float, ...]
    errors: tuple[str | None, ...]
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    set: str
    reader: str
    scores: Scores


def run(folders: Sequence[Path], readers: Sequence[Reader], done: Callable[[], None] = lambda: None) -> list[PageResult]:
    """Return the results for all pages of all folders; ``done`` is called after each. The folders must have gold (``survey``)."""
    results = []
    warm_up(readers)
    names = {folder: folder.resolve().name for folder in folders}
    counts = Counter(names.values())
    for folder, name in {folder: str(folder) if counts[name] > 1 or name == POOLED else name for folder, name in names.items()}.items():
        for reader in readers:
            if reader.learn is not None:
                reader.learn(folder)
        for page in gold_pages(folder):
            found = [reader.read(page) for reader in readers]
            assert page.saved.path is not None  # gold pages are files
            results.append(
                PageResult(
                    folder=name,
                    id=page.id,
                    file=page.saved.path,
                    site=page.site,
                    kind=page.kind,
                    scores=tuple(score_page(page.gold, item.answer) for item in found),
                    seconds=tuple(item.seconds for item in found),
                    errors=tuple(item.error for item in found),
                )
            )
            done()
    return results


def rows(results: Sequence[PageResult], names: Sequence[str], *, by_site: int | None = None) -> list[Row]:
    """Return a row per folder, one for all if there are several, one per kind of page in gold, and one per site of ``by_site`` pages."""
    sets = _grouped(results, lambda result: result.folder)
    if len(sets) > 1:
        sets[POOLED] = list(results)
    kinds = _grouped((result for result in results if result.kind), lambda result: str(result.kind))
    if len(kinds) > 1:
        sets |= dict(sorted(kinds.items()))
    if by_site is not None:
        sites = _grouped((result for result in results if result.site), lambda result: str(result.site))
        sets |= {site: pages for site, pages in sorted(sites.items()) if len(pages) >= by_site}
    return [
        Row(name, names[i], add_up([page.scores[i] for page in pages], sum(page.seconds[i] for page in pages)))
        for name, pages in sets.items()
        for i in range(len(names))
    ]


def _grouped(results: Iterable[PageResult], key: Callable[[PageResult], str]) -> dict[str, list[PageResult]]:
    groups: dict[str, list[PageResult]] = {}
    for result in results:
        groups.setdefault(key(result), []).append(result)
    return groups


def worst(results: Iterable[PageResult], index: int, number: int) -> list[PageResult]:
    """Return the ``number`` pages with the worst scores of reader ``index``, without perfect ones; among equals longer gold texts first."""
    texts = [result for result in results if result.scores[index].has_text and result.scores[index].f1 < 1]
    return sorted(texts, key=lambda result: (result.scores[index].f1, -result.scores[index].gold, result.folder, result.id))[:number]


def scores_of(folder: Path, algorithm: str) -> Scores:
    """Return the scores of one of our algorithms on one folder. Raises ``ValueError`` for an unknown name, ``NoGold``."""
    survey(folder)
    (row,) = rows(run([folder], readers([algorithm], [])), [algorithm])
    return row.scores


Kind = Literal["same", "missing", "surplus"]
SHOWN_CHARS: Final = 30_000  # longer texts are truncated for the comparison, which is quadratic at worst
CLOSE_CHARS: Final = 300  # sentences up to this length that replace each other are compared by characters
CLOSE_SHARE: Final = 0.5  # … if at least this share agrees; otherwise one replaces the other as a whole
SENTENCE: Final = re.compile(r"[^\n。！？；!?;]*[\n。！？；!?;]+|[^\n。！？；!?;]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text in both texts (``same``), only in gold (``missing``) or only in the answer (``surplus``)."""

    kind: Kind
    text: str


def differences(gold: str, found: str) -> tuple[Piece, ...]:
    """Return the pieces of both texts in order; the ``same`` and ``missing`` ones together are gold, except for white space."""
    return tuple(_joined(_by_sentence(_sentences(gold[:SHOWN_CHARS]), _sentences(found[:SHOWN_CHARS]))))


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in SENTENCE.findall(text) if sentence.strip()]


def _by_sentence(gold: Sequence[str], found: Sequence[str]) -> Iterator[Piece]:
    first, second = (["".join(sentence.split()) for sentence in text] for text in (gold, found))
    for tag, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        expected, extracted = "".join(gold[a:b]), "".join(found[c:d])
        if tag == "equal":
            yield Piece("same", expected)
        elif expected and extracted and max(len(expected), len(extracted)) <= CLOSE_CHARS:
            yield from _by_character(expected, extracted)
        else:
            yield from (Piece("missing", expected), Piece("surplus", extracted))


def _by_character(gold: str, found: str) -> Iterator[Piece]:
    matcher = SequenceMatcher(None, gold, found, autojunk=False)
    if matcher.ratio() < CLOSE_SHARE:
        yield from (Piece("missing", gold), Piece("surplus", found))
        return
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            yield Piece("same", gold[a:b])
        else:
            yield from (Piece("missing", gold[a:b]), Piece("surplus", found[c:d]))


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Merge adjacent pieces of one kind; white space alone is no difference."""
    visible = (piece for piece in pieces if (piece.text if piece.kind == "same" else piece.text.strip()))
    for kind, group in groupby(visible, key=lambda piece: piece.kind):
        yield Piece(kind, "".join(piece.text for piece in group))


@dataclass(frozen=True, slots=True)
class PageComparison:
    """One of the worst pages of reader ``at``. ``found`` and ``pieces`` are indexed by reader.

    For the first reader, the one examined, all readers' answers are included; for the others only their own.
    """

    at: int
    result: PageResult
    gold: Answer
    names: tuple[str, ...]
    found: Mapping[int, Found]
    pieces: Mapping[int, tuple[Piece, ...]]

    @property
    def of(self) -> str:
        return self.names[self.at]

    def longest(self, kind: Kind) -> str | None:
        texts = [" ".join(piece.text.split()) for piece in self.pieces[self.at] if piece.kind == kind]
        return max(texts, key=len, default=None)

    def plain(self) -> dict[str, Any]:
        score = self.result.scores[self.at]
        return {
            "worst_of": self.of,
            "set": self.result.folder,
            "id": self.result.id,
            "f1": round(score.f1, 4),
            "missing": score.missing,
            "surplus": score.surplus,
            "error": self.result.errors[self.at],
            "longest_missing": self.longest("missing"),
            "longest_surplus": self.longest("surplus"),
            "others": {name: round(self.result.scores[i].f1, 4) for i, name in enumerate(self.names) if i != self.at},
        }


def compare_pages(results: Sequence[PageResult], readers: Sequence[Reader], number: int) -> list[PageComparison]:
    return [_closer(result, readers, i) for i in range(len(readers)) for result in worst(results, i, number)]


def _closer(result: PageResult, readers: Sequence[Reader], index: int) -> PageComparison:
    page = gold_page(result.file)
    gold = page.gold if page is not None else Answer()
    selected = [index] if index else range(len(readers))
    found = {i: readers[i].read(page) if page is not None else Found(Answer()) for i in selected}
    pieces = {i: differences(gold.text or "", item.answer.text or "") for i, item in found.items()}
    return PageComparison(index, result, gold, tuple(reader.name for reader in readers), found, pieces)
