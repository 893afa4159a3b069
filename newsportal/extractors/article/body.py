"""The body of an article without templates: which blocks of the page are its text.

Each block is asked for by itself, with features that see its box, its neighbours and the page. Then the answers are brought together: a
page on which the model is shy of everything has its own measure, and a short line between two lines of text is text too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from newsportal.extractors.article.block_features import Table, features
from newsportal.extractors.article.blocks import Block, Blocks, read_blocks
from newsportal.text import dom
from newsportal.text.steps import Step

FILE: Final = "block_model.json"
VERSION: Final = 1
MAX_DEPTH: Final = 8  # Of a tree: the number of its leaf is a byte


@dataclass(frozen=True, slots=True, eq=False)
class BlockModel:
    """Boosted oblivious trees over the features of a block.

        p(block) = 1 / (1 + exp(−(b + Σ_t leaf_t(bits of the block's splits in tree t))))

    All trees have the same depth d; a tree asks d times "feature > border" and its answers are the bits of a leaf's number (Prokhorenkova
    et al., CatBoost, NeurIPS 2018, section 4). The weights are a table in ``block_model.json``; ``training/fit.py`` makes it and says on
    which pages. Numbers in, numbers out: nothing in the file is ever run.

    ``columns``: names of the features, in the order of the rows given to :meth:`likely`. ``feature`` (trees · depth) and ``border``
    are the splits, ``leaves`` has the shape (trees, 2 ** depth). ``distinct``: splits that no other repeats; ``place`` (depth, trees):
    which of these each is."""

    columns: tuple[str, ...]
    feature: NDArray[np.intp]
    border: NDArray[np.float32]
    leaves: NDArray[np.float32]
    bias: float
    depth: int
    distinct: NDArray[np.intp]
    place: NDArray[np.intp]

    def likely(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """The probability of each block to be text of the article; ``rows`` has the shape (columns, blocks)."""
        trees, size = self.leaves.shape
        holds = (rows[self.feature[self.distinct]] > self.border[self.distinct, None]).view(np.uint8)  # half of all splits are repeated
        leaf = holds[self.place[0]]
        for level in range(1, self.depth):  # a level of all trees at a time, in bytes: a third less time than all at once
            leaf |= holds[self.place[level]] << level
        places = leaf + (np.arange(trees) * size)[:, None]
        score = self.bias + self.leaves.ravel().take(places).sum(axis=0)
        likely: NDArray[np.float32] = (1 / (1 + np.exp(-score))).astype(np.float32)
        return likely


def from_dict(plain: dict[str, Any]) -> BlockModel:
    """The model that ``training/fit.py`` wrote. Raises ``ValueError`` for another version or tables that do not fit together."""
    if plain.get("version") != VERSION:
        raise ValueError(f"a block model of version {plain.get('version')!r}; this newsportal reads version {VERSION}")
    depth, columns = int(plain["depth"]), tuple(plain["columns"])
    feature = np.array(plain["feature"], dtype=np.intp)
    leaves = np.array(plain["leaves"], dtype=np.float32).reshape(-1, 2**depth)
    border = np.array(plain["border"], dtype=np.float32)
    fits = len(feature) == len(border) == depth * len(leaves) and depth <= MAX_DEPTH
    if not fits or feature.min(initial=0) < 0 or feature.max(initial=0) >= len(columns):
        raise ValueError("the tables of the block model do not fit together")
    _, distinct, place = np.unique(np.stack([feature, border]), axis=1, return_index=True, return_inverse=True)
    return BlockModel(columns, feature, border, leaves, float(plain["bias"]), depth, distinct, place.reshape(len(leaves), depth).T)


@cache
def block_model() -> BlockModel:
    return from_dict(json.loads((files(__package__) / FILE).read_text(encoding="utf-8")))


# Where the likeliest ``BEST_CHARS`` characters of a page stay below 1, half (``SHY``) of what they reach is enough; below ``LEAST``
# nothing is text. Without this rule the mean page F1 of daniel-zh is 0.8 points lower; 100 to 300 characters, 0.4 to 0.6 and 0.05 are
# within 0.8 points of it on the sets that the model does not know.
THRESHOLD: Final = 0.5
BEST_CHARS: Final = 300
SHY: Final = 0.5
LEAST: Final = 0.08
GAP_CHARS: Final = 30
GAP_LEAST: Final = 0.1  # of lines between two lines of text; 0 to 100 characters measure alike (within 0.4 points)
# Of longer gaps in the text's box: the mean probability, and the share of the text. With captions fundus-tests loses a point of F1.
INNER_LEAST: Final = 0.3
INNER_SHARE: Final = 0.2
INNER: Final = ("linked", "around_picture", "in_figure", "climb", "counted", "kind_heading", "kind_subheading")
# A list beside text belongs to it if its mean probability is no less, and its share of links no more, than this.
# 0.08 to 0.3 measure alike; the rule is for readers (a recipe without its ingredients), the sets move by 0.4 points at most.
ITEMS: Final = frozenset(("li", "dd", "dt"))
LIST_LEAST: Final = 0.1
LIST_LINKED: Final = 0.1
COPY_CHARS: Final = 600
COPIED_CHARS: Final = 40
COPIED: Final = 0.5  # a block is a copy if other blocks make up this share of it; without this scrapinghub loses 1.6 points
COPY_LOOKED: Final = 200_000  # characters searched for others' text, the longest blocks first: all in all would be quadratic
LOOSE_CHARS: Final = 40
IMPRINT_CHARS: Final = 200
IMPRINT: Final = re.compile(
    r"版[权權]所有|著作[权權]所有|ICP\s*[备備证證]|[网網]安[备備]|信息服[务務][许許]可[证證]|all rights reserved|^(?:copyright|©)",
    re.IGNORECASE,
)  # Who owns the site, and what allows it to publish


@dataclass(frozen=True, slots=True)
class Body:
    """``chosen``: for each block whether it is text of the article; ``likely``: how likely each is, from 0 to 1; ``table``: what each
    looks like, for who looks at the page as a whole."""

    page: Blocks
    chosen: NDArray[np.bool_]
    likely: NDArray[np.float32]
    table: Table | None = None

    @property
    def lines(self) -> list[str]:
        return [block.text for block, kept in zip(self.page.blocks, self.chosen, strict=True) if kept]

    @property
    def confidence(self) -> float:
        """From 0 to 1: how far from even the characters near the decision stand; certain furniture does not count."""
        length = self.table.length if self.table is not None else np.array([block.length for block in self.page.blocks], dtype=np.float32)
        asked = self.chosen | (self.likely > LEAST)
        weight = float(length[asked].sum())
        if not weight:
            return 0.0
        right = np.where(self.chosen, self.likely, 1 - self.likely)
        return float((length * right)[asked].sum() / weight)


def find_body(
    top: dom.Element,
    heading: str | None = None,
    description: str | None = None,
    declared: str | None = None,
    steps: Sequence[Step] | None = None,
) -> Body:
    """The body below ``top`` (the page's ``body``). ``heading``: the article's title; ``description``: how the page or a link describes it;
    ``declared``: the text the page gives to machines as its article's; ``steps``: the page's."""
    page = read_blocks(top, steps)
    if not page.blocks:
        return Body(page, np.zeros(0, dtype=bool), np.zeros(0, dtype=np.float32))
    table = features(page, heading, description, declared)
    model = block_model()
    return decide(page, model.likely(table.of(model.columns)), table)


def decide(page: Blocks, likely: NDArray[np.float32], table: Table) -> Body:
    kept = with_gaps(choose(likely, table.length), likely, table)
    return Body(page, without_loose_ends(without_copies(with_lists(kept, likely, page), page), page), likely, table)


def without_copies(kept: NDArray[np.bool_], page: Blocks) -> NDArray[np.bool_]:
    """``kept`` without long blocks that hold the other blocks' text once more (data of scripts that stand in the page as text)."""
    numbers = np.flatnonzero(kept).tolist()
    parts = [number for number in numbers if page.blocks[number].length >= COPIED_CHARS]
    longest, left = [], COPY_LOOKED  # of ``COPY_LOOKED`` characters together (and one more)
    for number in sorted(numbers, key=lambda number: -page.blocks[number].length):
        if page.blocks[number].length < COPY_CHARS or left <= 0:
            break
        longest.append(number)
        left -= page.blocks[number].length
    for number in sorted(longest):
        block = page.blocks[number]
        text = block.text[:COPY_LOOKED]
        others = (page.blocks[other] for other in parts if other != number and kept[other])
        held = sum(other.length for other in others if other.length < block.length and other.text in text)
        kept[number] = held < COPIED * min(block.length, COPY_LOOKED)
    return kept


def with_lists(kept: NDArray[np.bool_], likely: NDArray[np.float32], page: Blocks) -> NDArray[np.bool_]:
    """``kept`` with the whole of every list that touches text: its items are short, and each alone looks like furniture."""
    items = [number for number, block in enumerate(page.blocks) if page.nodes[block.box].tag in ITEMS]
    for _, group in groupby(enumerate(items), key=lambda item: (item[1] - item[0], page.parent[page.blocks[item[1]].box])):
        numbers = [number for _, number in group]
        first, last = numbers[0], numbers[-1] + 1
        if last - first > 1 and kept[max(first - 1, 0) : last + 1].any() and not kept[first:last].all():
            blocks = page.blocks[first:last]
            length = np.array([block.length for block in blocks])
            few_links = sum(block.linked for block in blocks) <= LIST_LINKED * length.sum()
            if few_links and (likely[first:last] * length).sum() >= LIST_LEAST * length.sum():
                kept[first:last] = True
    return kept


def without_loose_ends(kept: NDArray[np.bool_], page: Blocks) -> NDArray[np.bool_]:
    """``kept`` without the short lines at its ends that are nothing but a link, and the page's imprint behind it."""
    numbers, blocks = np.flatnonzero(kept).tolist(), page.blocks
    loose = {number for number in numbers if blocks[number].linked == blocks[number].length <= LOOSE_CHARS}
    while numbers and ((len(numbers) > 1 and numbers[-1] in loose) or _is_imprint(blocks[numbers[-1]])):
        kept[numbers.pop()] = False
    while len(numbers) > 1 and numbers[0] in loose:
        kept[numbers.pop(0)] = False
    return kept


def _is_imprint(block: Block) -> bool:
    return block.length <= IMPRINT_CHARS and IMPRINT.search(block.text) is not None


def choose(likely: NDArray[np.float32], length: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which blocks are text, from how likely each is and how many characters it has."""
    # the mean probability of the likeliest ``BEST_CHARS`` characters
    order = np.argsort(-likely, kind="stable")
    best = order[: int(np.searchsorted(np.cumsum(length[order]), BEST_CHARS)) + 1]
    shy = SHY * float((likely[best] * length[best]).sum() / max(length[best].sum(), 1))
    return likely >= min(THRESHOLD, max(shy, LEAST))


def with_gaps(kept: NDArray[np.bool_], likely: NDArray[np.float32], table: Table) -> NDArray[np.bool_]:
    """``kept`` with the headings within the text, and with what lies between two lines of it and is no furniture."""
    linked, pictured, figure, climb, counted, *headings = table.of(INNER)
    plain, length = linked < LIST_LINKED, table.length
    number = kept.cumsum()
    kept = kept | (plain & (headings[0] + headings[1] > 0) & (likely >= GAP_LEAST) & (number > 0) & (number < number[-1]))
    other = ~plain | (pictured + figure + climb > 0) | (counted == 0)
    found = np.flatnonzero(kept)
    sums = np.array([length, likely * length, likely < GAP_LEAST, other], dtype=np.float64).cumsum(axis=1)
    chars, right, unlikely, others = sums[:, found[1:] - 1] - sums[:, found[:-1]]
    inner = (others == 0) & (right >= INNER_LEAST * chars) & (chars <= INNER_SHARE * length[kept].sum())
    closed = inner | ((chars <= GAP_CHARS) & (unlikely == 0))
    kept |= np.append(closed, False)[kept.cumsum() - 1]
    return kept


# Lines that stand before and after an article's text without being a part of it.

HEAD: Final = re.compile(
    r"^(?:(?:\d{4}[年/.-]\d{1,2}[月/.-]\d{1,2}日?.{0,40}(?:来源|來源|作者|编辑|字号|评论|$))|(?:来源|來源|作者|编辑|編輯|记者|字号|字體|字体|发布时间|發佈時間|時間|时间|日期|点击|浏览)"
    r"\s*[:：].{0,60}$|[〔【（(](?:本报|本報|本网|本網)?[记記]者[^。，〔〕【】（）()]{2,30}[〕】）)]$|.{0,12}(?:我要评论|我要評論|查看评论|参与评论|打印本页|收藏本文|转发|分享到).{0,20}$)"
)
TAIL_WORDS: Final = (
    "责任编辑 責任編輯 责编 責編 编辑 編輯 校对 审核 监制 值班 本文来源 文章来源 来源 來源 原标题 作者 记者 关键词 关键字 标签 標籤 更多 "
    "相关阅读 相关新闻 相关报道 相關新聞 相關報導 延伸阅读 延伸閱讀 推荐阅读 推薦閱讀 相关链接 相关专题 相关文章 热点推荐 上一篇 下一篇 "
    "分享到 分享 转发 收藏 打印 关闭 返回 评论 我要评论 网友评论 版权声明 版權聲明 免责声明 声明 特别声明 郑重声明 严正申明 微信 扫一扫 "
    "扫描二维码 关注 新浪微博 腾讯微博 更多精彩 点击进入 查看更多 阅读全文 阅读原文 展开全文 "
    "read_more related share_this follow_us advertisement more_from recommended sign_up subscribe copyright © most_read tags? "
)
TAIL: Final = re.compile(
    rf"^[\s\[【(（]*(?:{'|'.join(TAIL_WORDS.split()).replace('_', ' ')})\s*(?:[:：|\]】)）>》<]|[^\s。！？!?”」]{{0,12}}$|$)", re.IGNORECASE
)
MAX_TAIL_CHARS: Final = 60  # Longer lines are paragraphs, however they begin
MAX_LINES: Final = 8  # so many lines at most are cut at either end


def trimmed(lines: list[str], title: str | None = None) -> tuple[int, int]:
    start, end = 0, len(lines)
    while start < min(end - 1, MAX_LINES) and (HEAD.match(lines[start]) or lines[start] == title):
        start += 1
    for number in range(max(start + 1, len(lines) - MAX_LINES), len(lines)):
        if TAIL.match(lines[number]) and all(len(line) <= MAX_TAIL_CHARS for line in lines[number:]):
            end = number
            break
    return start, end
