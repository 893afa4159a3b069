"""Extract the keywords of an article: words that are frequent in it, or in its title, and rare elsewhere. Pure.

TF-IDF as in jieba's ``extract_tags``, with four changes that improved the measured results (docs/algorithms/keywords.md)::

    weight(word) = (tf + title) · idf(word) · kind(word) · (1 + 0.15 · (length − 2))

``idf`` comes with the dictionary (the median for unknown words), ``kind`` is 1.2 for names, 1 for nouns, 0.7 for verbs and adjectives, 0
for numerals, times and function words; ``title`` is 3 for words in the title. Other scripts: by frequency, names of several words first.

:func:`keywords` are for readers: the text is segmented with its own new words (:mod:`newsportal.classify.new_words`). :func:`terms` are for
comparing texts, which needs consistent segmentation, right or wrong; single characters are joined to their neighbours where both nearly
always occur together (杨 + 治山).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from statistics import median
from typing import Final, NamedTuple

from newsportal.classify.new_words import NAME as NAME_KIND
from newsportal.classify.new_words import NAMES, VERB, new_words, word_kinds
from newsportal.text import CJK, CONTROL, INVISIBLE, STOP_WORDS, fold_characters
from newsportal.text.characters import cache_once
from newsportal.text.word_table import WordTable, cached_table
from newsportal.text.words import cutter, dictionary_version, parts_of_speech, word_idf

MAX_KEYWORDS: Final = 8  # keywords of an article: as many as fit on one line
READ_CHARS: Final = 1500  # characters of the body that are read: the subject is at its beginning; 2,500 or all find no more.
MAX_TITLE_CHARS: Final = 500  # characters; a longer string is not a title
TITLE: Final = 3.0  # weight of an occurrence in the title relative to the body. 1 to 5 tried; 3 finds most of the first ten.
TITLE_ONLY_WEIGHT: Final = 1.0
"""The same for words that occur only in the title and are not names: pages listed 1 in 17 of them as keywords, 1 in 4 of the others."""

RARE_TIMES, RARE_VERB = 3, 0.7
"""A verb used less than three times is multiplied by this: it describes an action, not the subject of the text."""

NEW_WORD: Final = 0.9  # for words found by :mod:`newsportal.classify.new_words`
ONCE_FACTOR: Final = 0.3  # for Chinese words that are not in the dictionary and occur once: mostly segmentation errors

LENGTH_BONUS: Final = 0.15  # bonus of each character beyond two: longer words are more specific. Up to half a point better than 0.
KINDS: Final[Mapping[str, float]] = {"n": 1.0, "j": 1.0, "i": 1.0, "l": 1.0, "b": 1.0, "g": 1.0, "v": 0.7, "a": 0.7, "z": 0.5}
"""By the first letter of the dictionary's part of speech; others (numerals, times, pronouns, particles …) are no keywords."""

NAME_FACTOR: Final = 1.2
UNKNOWN_FACTOR: Final = 0.8  # for words that are not in the dictionary: new names, and segmentation errors
JOIN_SHARE: Final = 0.8
"""A single character and its neighbour are joined if they are adjacent in this share of the rarer one's occurrences, at least twice."""

MAX_JOINED_CHARS: Final = 8  # characters of a joined Chinese keyword

NEVER_JOINED: Final = frozenset(
    "的了是在和与有这那不也就都而及着或被把为于从对将但并因所以其之们个中上下到说要会能让向等后前还很又已年月日时分秒号第一二三四五六七八九十"
    "百千万亿两几多少各每该此我你他她它内外里间起来去过得地做由至据称曰于以吨元米岁名位家次件项条只人"
)
"""Single characters that are not joined to their neighbours: particles, numerals, measure words."""

NEWS_WORDS: Final = frozenset(
    "记者 报道 供图 图片 摄影 编辑 责编 责任编辑 来源 本报 本报讯 消息 新闻 通讯员 中新社 新华社 新华网 人民网 中新网 原标题 转载 获悉 "
    "图为 现场 表示 介绍 认为 指出 日电 视频 网友 微信 微博 作者 标题 专题 点击 阅读 分享".split()
)
"""Words that occur in news on any subject."""

ENGLISH: Final = STOP_WORDS | frozenset(
    "said says say year years also new one two three could would should may can just like more most other some such than then there these "
    "those their them what when where while how why into over after before about between because through during against only very much "
    "many been being were had did does our your its she him himself herself itself all any both each few own same so too now here out up "
    "down off again once get got make made last first next time day days week month people mr mrs ms dr told according still even back "
    "well way monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october "
    "november december if i no us my me".split()
)

RUBRIC: Final = re.compile(r"^\s*(?:[【\[［〔][^】\]］〕]{1,8}[】\]］〕]|[^\W\d_]{2,6}\s*[|｜丨])")
"""A section label before every title (【快讯】, 视频丨): in a flash of fifty characters it would get the largest weight."""

LATIN: Final = re.compile(r"[^\W\d_](?:[\w-]*\w)?")
LETTER: Final = re.compile(rf"[^\W{CJK.pattern[1:-1]}]")
"""A character that continues a Latin word: a Chinese character next to it does not."""

NEIGHBOURS: Final = re.compile(r"[^\W\d_][\w-]+(?:[ \u00a0][^\W\d_][\w-]+)+")
NAME_WORDS: Final = 4  # maximum words of a name
ALL_CJK: Final = re.compile(f"{CJK.pattern}+")
MIN_CHINESE_SHARE: Final = 0.1  # share of Chinese characters in the sample from which a text is segmented as Chinese
SAMPLE_CHARS: Final = 500

MIN_LATIN: Final = 4  # minimum letters of a Latin keyword without a capital: shorter ones are particles in most languages


class Keyword(NamedTuple):
    """A word as written in the article, and its weight, comparable only within one article."""

    word: str
    weight: float


def keywords(title: str, text: str, limit: int = MAX_KEYWORDS) -> tuple[Keyword, ...]:
    """Return the keywords of an article, largest weight first; empty if there are none."""
    return _ranked(title, text, limit, _phrase_weights)


def terms(title: str, text: str, limit: int) -> tuple[Keyword, ...]:
    """Return the words with the largest weight for comparing articles; Chinese as segmented."""
    return _ranked(title, text, limit, _word_weights)


def _ranked(title: str, text: str, limit: int, chinese_weights: Callable[[str, str], dict[str, float]]) -> tuple[Keyword, ...]:
    title, body = (CONTROL.sub(" ", INVISIBLE.sub("", part)) for part in (RUBRIC.sub("", title[:MAX_TITLE_CHARS]), text[:READ_CHARS]))
    both = f"{title}\n{body}"
    sample = both[:SAMPLE_CHARS]
    chinese = len(CJK.findall(sample)) >= MIN_CHINESE_SHARE * len(sample)
    plain = fold_characters(both)
    weights = chinese_weights(plain[: len(title)], plain) if chinese else _latin_weights(title, both)
    ranked = sorted(weights.items(), key=itemgetter(1), reverse=True)[:limit]  # ties keep the order of the text
    return tuple(Keyword(_as_written(word, both, plain), weight) for word, weight in ranked if weight > 0.0)


def _phrase_weights(title: str, both: str) -> dict[str, float]:
    """Return the weights of words and new words; ``both`` is title and body, folded."""
    cut, value_of, kind_of = cutter().cut, _table().get, word_kinds().get
    words = list(cut(both))
    edges = {word for word in set(words) if not "\u3400" <= word < "\ua000" or value_of(word) == 0.0}
    new = new_words(words, both, edges | NEVER_JOINED)
    if new:
        parts = re.split(f"({'|'.join(sorted(map(re.escape, new), key=lambda word: (-len(word), word)))})", both)
        words = [word for at, part in enumerate(parts) for word in ([part] if at % 2 else cut(part))]
    counts = Counter(words)
    usual = value_of(DEFAULT_KEY) or 0.0
    weights = {}
    for (word, times), value in zip(counts.items(), map(value_of, counts), strict=True):
        if value == 0.0 and word not in new:
            continue
        if word in new:
            value = usual * NEW_WORD * (1.0 + LENGTH_BONUS * (len(word) - 2))
        elif value is None:
            value = _unknown(word, usual) * (ONCE_FACTOR if times == 1 and word >= "\u3400" else 1.0) if word[1:] else 0.0
        elif times < RARE_TIMES and kind_of(word) == VERB:
            value *= RARE_VERB
        if value > 0.0:
            in_title = (TITLE if times > 1 or kind_of(word) == NAME_KIND else TITLE_ONLY_WEIGHT) if word in title else 0.0
            weights[word] = (times + in_title) * value
    return weights


def _word_weights(title: str, both: str) -> dict[str, float]:
    """Return the weights of the words; ``both`` is title and body, folded."""
    words = list(cutter().cut(both))
    counts = Counter(words)
    value_of = _table().get
    usual = value_of(DEFAULT_KEY) or 0.0
    pairs = ((word, _unknown(word, usual) if (value := value_of(word)) is None else value) for word in counts)
    values = {word: value for word, value in pairs if value > 0.0}
    frequency = {word: float(counts[word]) for word in values}
    for (left, right), times in _bound_pairs(words, counts, values).items():
        joined = left + right
        frequency[joined] = max(frequency.get(joined, 0.0), times)
        values[joined] = (max(values.get(left, 0.0), values.get(right, 0.0)) or usual * UNKNOWN_FACTOR) * (1.0 + LENGTH_BONUS)
        for part in (left, right):
            if part in frequency:
                frequency[part] -= times
    return {word: (times + (TITLE if word in title else 0.0)) * values[word] for word, times in frequency.items() if times > 0.0}


def _bound_pairs(words: Sequence[str], counts: Mapping[str, int], values: Mapping[str, float]) -> dict[tuple[str, str], int]:
    """Return the counts of neighbours that nearly always occur together, at least one of which is a single character."""
    single = {word for word, times in counts.items() if times > 1 and len(word) == 1 and word not in NEVER_JOINED and CJK.match(word)}
    pairs = Counter(pair for pair in pairwise(words) if pair[0] in single or pair[1] in single)
    return {
        (left, right): times
        for (left, right), times in pairs.items()
        if times > 1
        and len(left) + len(right) <= MAX_JOINED_CHARS
        and times >= JOIN_SHARE * min(counts[left], counts[right])
        and all(part in single or (part in values and CJK.match(part)) for part in (left, right))
    }


def _unknown(word: str, usual: float) -> float:
    """Return the weight of one occurrence of a word that is not in the dictionary."""
    if len(word) < 2:
        return 0.0
    if word.isascii():
        return usual * UNKNOWN_FACTOR if word[0].isalpha() and word not in ENGLISH else 0.0
    return usual * UNKNOWN_FACTOR * (1.0 + LENGTH_BONUS * (len(word) - 2)) if ALL_CJK.fullmatch(word) else 0.0


DEFAULT_KEY: Final = ""  # key of the table for the idf of unknown words


@cache_once
def _table() -> WordTable:
    """Return the table of the weight of every dictionary word."""
    inputs = (dictionary_version(), sorted(KINDS.items()), NAMES, NAME_FACTOR, LENGTH_BONUS, sorted(NEWS_WORDS))
    return cached_table("keywords", inputs, _weights)


def _weights() -> dict[str, float]:
    rare = word_idf()
    usual = median(rare.values())
    table = {DEFAULT_KEY: usual}
    for word, kind in parts_of_speech():
        if len(word) > 1:
            by_kind = NAME_FACTOR if kind[:2] in NAMES else KINDS["n"] if kind == "vn" else KINDS.get(kind[:1], 0.0)
            table[word] = rare.get(word, usual) * by_kind * (1.0 + LENGTH_BONUS * (len(word) - 2))
    return table | dict.fromkeys(NEWS_WORDS, 0.0)


def is_name(word: str) -> bool:
    """Return whether a keyword is a name in the dictionary or is not in it: new names and Latin words."""
    return word_kinds().get(fold_characters(word)) in (None, NAME_KIND)


def _latin_weights(title: str, both: str) -> dict[str, float]:
    """Return the weights of words and names in alphabetic scripts by frequency and title; there is no idf table for them."""
    words = [word for word in LATIN.findall(both) if word.lower() not in ENGLISH and len(word) >= (2 if word[0].isupper() else MIN_LATIN)]
    frequency = Counter(word.lower() for word in words)
    names = Counter(name for run in NEIGHBOURS.findall(both) for name in _names(run))
    in_title = {word.lower() for word in LATIN.findall(title)}
    weights = {word: times + (TITLE if word in in_title else 0.0) for word, times in frequency.items() if times > 1 or word in in_title}
    for name, times in names.items():
        if times > 1 or name in title:
            bonus = TITLE if name in title else 0.0
            weights[name] = 2.0 * times + bonus
            for part in name.lower().split():
                weights[part] = weights.get(part, 0.0) - times - bonus
    return weights


def _names(run: str) -> Iterator[str]:
    """Yield sequences of two to four capitalised words; ``The New York Times`` gives ``New York Times``."""
    for capitals, words in groupby(run.split(), key=lambda word: word[0].isupper() and word.lower() not in STOP_WORDS):
        name = list(words)
        if capitals and 1 < len(name) <= NAME_WORDS:
            yield " ".join(name)


def _as_written(word: str, both: str, plain: str) -> str:
    """Return ``word`` as written at its first position, with traditional characters and capitals restored."""
    place = plain.find(word) if CJK.match(word) else _find_word(fold_characters(word), plain)
    return both[place : place + len(word)] if place >= 0 else word


def _find_word(word: str, plain: str) -> int:
    """Return the first position of ``word`` that is not inside a longer Latin word; -1 if there is none."""
    place = plain.find(word)
    while place >= 0:
        end = place + len(word)
        if not (place and LETTER.match(plain[place - 1])) and not LETTER.match(plain[end : end + 1]):
            return place
        place = plain.find(word, place + 1)
    return -1
