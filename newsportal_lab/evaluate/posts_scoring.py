"""Scores of forum posts against gold: which posts are found, whether their text is right, who wrote them and when.

    P = |e ∩ g| / |e|     R = |e ∩ g| / |g|     F1 = 2PR / (P + R)      over the posts of all pages (thesis E, 3-5 to 3-7)

*Block*: the found post's block holds 0.9 of the gold text. *Body*: the texts have 0.8 of their characters in common
(2 LCS / (|e| + |g|)), or 0.95 of gold in a text of at most 1.3 times its length. Pairs are made one to one, the most alike first. Posts
of pictures alone, and those that gold calls optional, count neither way. Author and day are asked of posts whose body is right and whose
gold tells them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Final

from newsportal.extractors.fields.date import find_dates
from newsportal.items import Post
from newsportal_lab.evaluate.scoring import BLANK, lcs_length, normalise_name

MIN_BODY_SIMILARITY: Final = 0.8
MIN_COVERED_GOLD: Final = 0.95
LONGER: Final = 1.3
MIN_BLOCK_SHARE: Final = 0.9
SHORT_CHARS: Final = 12  # shorter texts must occur in the block verbatim: their characters occur by chance
LONG_CHARS: Final = 60
SAMPLE: Final = 8  # two texts of more than LONG_CHARS characters are compared only if they share one of eight runs of SAMPLE characters
PICTURE_CHARS: Final = 40
MIN_TIME_CHARS: Final = 3
MAX_CHARS: Final = 100_000


@dataclass(frozen=True, slots=True)
class GoldPost:
    """The gold data of a post; ``None``: unknown."""

    text: str
    author: str | None = None
    date: str | None = None


@dataclass(frozen=True, slots=True)
class GoldThread:
    """The posts of a page, the number of posts that are only images, and optional texts."""

    posts: tuple[GoldPost, ...]
    pictures: int = 0
    optional: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of posts of one or more pages: right, surplus, missing, by block and by body; authors and days evaluated and right."""

    block: int = 0
    block_extra: int = 0
    block_missing: int = 0
    body: int = 0
    body_extra: int = 0
    body_missing: int = 0
    authors: int = 0
    authors_right: int = 0
    dates: int = 0
    dates_right: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    @property
    def precision(self) -> float:
        return self.block / max(1, self.block + self.block_extra)

    @property
    def recall(self) -> float:
        return self.block / max(1, self.block + self.block_missing)

    @property
    def block_f1(self) -> float:
        return _f1(self.block, self.block_extra, self.block_missing)

    @property
    def body_f1(self) -> float:
        return _f1(self.body, self.body_extra, self.body_missing)

    @property
    def author(self) -> float | None:
        return self.authors_right / self.authors if self.authors else None

    @property
    def date(self) -> float | None:
        return self.dates_right / self.dates if self.dates else None


def _f1(right: int, extra: int, missing: int) -> float:
    return 2 * right / (2 * right + extra + missing) if right else 0.0


@dataclass(frozen=True, slots=True)
class PageScore:
    """A page's counts; the unmatched posts of gold and of the answer (by number), by body."""

    counts: Counts
    missing: tuple[int, ...]
    surplus: tuple[int, ...]


def score_posts(gold: GoldThread, found: Sequence[Post], now: datetime) -> PageScore:
    texts = [remove_blanks(post.text) for post in gold.posts]
    bodies = [remove_blanks(post.full_text if post.full_text is not None else post.text) for post in found]
    blocks = [remove_blanks(post.block_text or post.text) for post in found]
    pairs, block_pairs = match_posts(texts, bodies, block=False), match_posts(texts, blocks, block=True)
    body_extra = _extra(bodies, {number for _, number in pairs}, gold, block=False)
    block_extra = _extra(blocks, {number for _, number in block_pairs}, gold, block=True)
    matches = [(gold.posts[first], found[second]) for first, second in pairs]
    authors = [normalise_name(expected.author) == normalise_name(post.author) for expected, post in matches if expected.author]
    dates = [is_same_day(expected.date, post, now) for expected, post in matches if expected.date]
    counts = Counts(
        len(block_pairs),
        block_extra,
        len(texts) - len(block_pairs),
        len(pairs),
        body_extra,
        len(texts) - len(pairs),
        len(authors),
        sum(authors),
        len(dates),
        sum(dates),
    )
    hit, used = {first for first, _ in pairs}, {second for _, second in pairs}
    return PageScore(
        counts,
        tuple(number for number in range(len(texts)) if number not in hit),
        tuple(number for number, text in enumerate(bodies) if text and number not in used),
    )


def remove_blanks(text: str) -> str:
    return BLANK.sub("", unicodedata.normalize("NFKC", text))[:MAX_CHARS]


def _extra(texts: Sequence[str], used: set[int], gold: GoldThread, block: bool) -> int:
    rest = [text for number, text in enumerate(texts) if number not in used and text]
    optional = len(match_posts([remove_blanks(text) for text in gold.optional], rest, block))
    forgiven = gold.pictures if block or not gold.pictures else sum(len(text) < PICTURE_CHARS for text in rest)
    return max(0, len(rest) - optional - forgiven)


def match_posts(gold: Sequence[str], texts: Sequence[str], block: bool) -> list[tuple[int, int]]:
    """Return pairs of numbers, one to one, the most similar first. Texts that contain a whole gold post are matched first."""
    left, right, pairs = set(range(len(gold))), set(range(len(texts))), []
    for likeness in (_containment, _likeness):
        found = [
            (similarity, -abs(i - j), i, j)
            for i in left
            for j in right
            if gold[i] and texts[j] and (similarity := likeness(gold[i], texts[j], block)) > 0
        ]
        for _, _, i, j in sorted(found, reverse=True):
            if i in left and j in right:
                left.remove(i)
                right.remove(j)
                pairs.append((i, j))
    return pairs


def _containment(gold: str, text: str, block: bool) -> float:
    """Return a value above 1 for equal texts, or a block that contains the gold text."""
    return 2.0 if gold == text else 1.0 + 1 / len(text) if block and gold in text else 0.0


def _likeness(gold: str, text: str, block: bool) -> float:
    """Return a value above 0, at most 1, for a pair that may count."""
    if block and len(text) < MIN_BLOCK_SHARE * len(gold):
        return 0.0
    if not block and not 0.5 <= len(text) / len(gold) <= 2:
        return 0.0
    step = max(1, len(gold) // SAMPLE)
    runs = (gold[start : start + SAMPLE] for start in range(0, len(gold) - SAMPLE, step))
    if (block and len(gold) < SHORT_CHARS) or (min(len(gold), len(text)) > LONG_CHARS and not any(run in text for run in runs)):
        return 0.0
    common = lcs_length(gold, text)
    if block:
        return common / len(gold) if common >= MIN_BLOCK_SHARE * len(gold) else 0.0
    ratio = 2 * common / (len(gold) + len(text))
    return ratio if ratio >= MIN_BODY_SIMILARITY or (common >= MIN_COVERED_GOLD * len(gold) and len(text) <= LONGER * len(gold)) else 0.0


def is_same_day(gold: str, found: Post, now: datetime) -> bool:
    """Return whether a post's time is gold's: as written, or of the same day, in either reading of 05/03/2024."""
    date_text = normalise_name(found.date_text)
    if date_text and (normalise_name(gold) in date_text or (len(date_text) > MIN_TIME_CHARS and date_text in normalise_name(gold))):
        return True
    dates = _days(found.date_text, now) if found.date_text else {found.published.date()} if found.published else set()
    return not dates.isdisjoint(_days(gold, now))


def _days(text: str, now: datetime) -> set[date]:
    return {match.when.date() for first in (False, True) for match in find_dates(text, now, day_first=first)}


def add_counts(scores: Iterable[PageScore]) -> Counts:
    return sum((score.counts for score in scores), Counts())
