"""Find the body of an article without templates: classify the page's blocks as text or not.

Each block gets a probability, from features of the block, its box, its neighbours and the page. Rules then refine the result: the threshold
is lower on a page where all probabilities are low, and a short line between two lines of text is text.
"""

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

from newsportal.extractors.article.block_features import Table, block_features
from newsportal.extractors.article.blocks import Block, Blocks, read_blocks
from newsportal.text import dom
from newsportal.text.steps import Step

FILE: Final = "block_model.json"
VERSION: Final = 1
MAX_DEPTH: Final = 8  # Of a tree: the number of a leaf must fit into a byte


@dataclass(frozen=True, slots=True, eq=False)
class BlockModel:
    """Boosted oblivious trees over the features of a block.

    All trees have depth d; a tree has d splits "feature > border", whose results are the bits of a leaf's number (Prokhorenkova et al.,
    CatBoost, NeurIPS 2018, section 4). The weights are a table in ``block_model.json``, written by ``training/fit.py``, which names the
    training pages. The file holds numbers only; nothing in it is executed.

    ``columns``: feature names, in the order of the rows given to :meth:`predict`. ``feature`` (trees · depth) and ``border`` are the
    splits, ``leaves`` has the shape (trees, 2 ** depth). ``distinct``: the splits without repetitions; ``place`` (depth, trees): index of
    each split among them.
    """

    columns: tuple[str, ...]
    feature: NDArray[np.intp]
    border: NDArray[np.float32]
    leaves: NDArray[np.float32]
    bias: float
    depth: int
    distinct: NDArray[np.intp]
    place: NDArray[np.intp]

    def predict(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probability that each block is text of the article; ``rows`` has the shape (columns, blocks)."""
        trees, size = self.leaves.shape
        holds = (rows[self.feature[self.distinct]] > self.border[self.distinct, None]).view(np.uint8)  # half of all splits are repeated
        leaf = holds[self.place[0]]
        for level in range(1, self.depth):  # level by level, in bytes: a third less time than all levels at once
            leaf |= holds[self.place[level]] << level
        places = leaf + (np.arange(trees) * size)[:, None]
        score = self.bias + self.leaves.ravel().take(places).sum(axis=0)
        probs: NDArray[np.float32] = (1 / (1 + np.exp(-score))).astype(np.float32)
        return probs


def from_dict(plain: dict[str, Any]) -> BlockModel:
    """Load a model written by ``training/fit.py``. Raises ``ValueError`` for another version or inconsistent tables."""
    if plain.get("version") != VERSION:
        raise ValueError(f"a block model of version {plain.get('version')!r}; this newsportal reads version {VERSION}")
    depth, columns = int(plain["depth"]), tuple(plain["columns"])
    feature = np.array(plain["feature"], dtype=np.intp)
    leaves = np.array(plain["leaves"], dtype=np.float32).reshape(-1, 2**depth)
    border = np.array(plain["border"], dtype=np.float32)
    fits = len(feature) == len(border) == depth * len(leaves) and depth <= MAX_DEPTH
    if not fits or feature.min(initial=0) < 0 or feature.max(initial=0) >= len(columns):
        raise ValueError("the tables of the block model are inconsistent")
    _, distinct, place = np.unique(np.stack([feature, border]), axis=1, return_index=True, return_inverse=True)
    return BlockModel(columns, feature, border, leaves, float(plain["bias"]), depth, distinct, place.reshape(len(leaves), depth).T)


@cache
def block_model() -> BlockModel:
    return from_dict(json.loads((files(__package__) / FILE).read_text(encoding="utf-8")))


# If the likeliest ``TOP_CHARS`` characters of a page have a mean below 1, ``RELATIVE_THRESHOLD`` (half) of that mean is the threshold, but
# at least ``MIN_THRESHOLD``. Without this rule the mean page F1 of daniel-zh is 0.8 points lower; 100 to 300 characters, 0.4 to 0.6 and
# 0.05 are within 0.8 points of it on the sets that the model was not trained on.
THRESHOLD: Final = 0.5
TOP_CHARS: Final = 300
RELATIVE_THRESHOLD: Final = 0.5
MIN_THRESHOLD: Final = 0.08
GAP_CHARS: Final = 30
MIN_GAP_PROBABILITY: Final = 0.1  # of lines between two lines of text; 0 to 100 characters measure alike (within 0.4 points)
# Of longer gaps in the text's box: minimum mean probability, maximum share of the text. With captions fundus-tests loses a point of F1.
MIN_INNER_PROBABILITY: Final = 0.3
INNER_SHARE: Final = 0.2
GAP_FEATURES: Final = ("linked", "around_picture", "in_figure", "climb", "counted", "kind_heading", "kind_subheading")
# A list next to text belongs to it if its mean probability is at least, and its share of links at most, this. 0.08 to 0.3 measure alike;
# the rule is for readers (a recipe without its ingredients), the sets move by 0.4 points at most.
ITEM_TAGS: Final = frozenset(("li", "dd", "dt"))
MIN_LIST_PROBABILITY: Final = 0.1
MAX_LIST_LINK_SHARE: Final = 0.1
MIN_COPY_CHARS: Final = 600
MIN_COPIED_CHARS: Final = 40
MIN_COPIED_SHARE: Final = 0.5  # a block is a copy if other blocks make up this share of it; without this scrapinghub loses 1.6 points
MAX_COPY_SEARCH_CHARS: Final = 200_000  # characters searched for other blocks' text, longest blocks first: searching all would be quadratic
MAX_LOOSE_CHARS: Final = 40
MAX_IMPRINT_CHARS: Final = 200
IMPRINT: Final = re.compile(
    r"版[权權]所有|著作[权權]所有|ICP\s*[备備证證]|[网網]安[备備]|信息服[务務][许許]可[证證]|all rights reserved|^(?:copyright|©)",
    re.IGNORECASE,
)  # Copyright notices and publishing licences


@dataclass(frozen=True, slots=True)
class Body:
    """``chosen``: whether each block is text of the article; ``probability``: that of each block, 0 to 1; ``table``: features of the
    blocks, for classifying the page."""

    page: Blocks
    chosen: NDArray[np.bool_]
    probability: NDArray[np.float32]
    table: Table | None = None

    @property
    def lines(self) -> list[str]:
        return [block.text for block, is_text in zip(self.page.blocks, self.chosen, strict=True) if is_text]

    @property
    def confidence(self) -> float:
        """Confidence from 0 to 1: mean probability of the decisions, by characters; blocks that are surely boilerplate do not count."""
        length = self.table.length if self.table is not None else np.array([block.length for block in self.page.blocks], dtype=np.float32)
        relevant = self.chosen | (self.probability > MIN_THRESHOLD)
        weight = float(length[relevant].sum())
        if not weight:
            return 0.0
        right = np.where(self.chosen, self.probability, 1 - self.probability)
        return float((length * right)[relevant].sum() / weight)


def find_body(
    top: dom.Element,
    heading: str | None = None,
    description: str | None = None,
    declared: str | None = None,
    steps: Sequence[Step] | None = None,
) -> Body:
    """Find the body below ``top`` (the page's ``body``). ``heading``: the article's title; ``description``: from page or link;
    ``declared``: article text in the page's data; ``steps``: the page's."""
    page = read_blocks(top, steps)
    if not page.blocks:
        return Body(page, np.zeros(0, dtype=bool), np.zeros(0, dtype=np.float32))
    table = block_features(page, heading, description, declared)
    model = block_model()
    return choose_body(page, model.predict(table.select(model.columns)), table)


def choose_body(page: Blocks, probs: NDArray[np.float32], table: Table) -> Body:
    chosen = fill_gaps(choose_blocks(probs, table.length), probs, table)
    return Body(page, drop_loose_ends(drop_copies(add_lists(chosen, probs, page), page), page), probs, table)


def drop_copies(chosen: NDArray[np.bool_], page: Blocks) -> NDArray[np.bool_]:
    """Return ``chosen`` without long blocks that repeat the text of other blocks (script data displayed as text)."""
    numbers = np.flatnonzero(chosen).tolist()
    parts = [number for number in numbers if page.blocks[number].length >= MIN_COPIED_CHARS]
    longest, left = [], MAX_COPY_SEARCH_CHARS  # of ``MAX_COPY_SEARCH_CHARS`` characters in total (and one more block)
    for number in sorted(numbers, key=lambda number: -page.blocks[number].length):
        if page.blocks[number].length < MIN_COPY_CHARS or left <= 0:
            break
        longest.append(number)
        left -= page.blocks[number].length
    for number in sorted(longest):
        block = page.blocks[number]
        text = block.text[:MAX_COPY_SEARCH_CHARS]
        others = (page.blocks[other] for other in parts if other != number and chosen[other])
        covered = sum(other.length for other in others if other.length < block.length and other.text in text)
        chosen[number] = covered < MIN_COPIED_SHARE * min(block.length, MAX_COPY_SEARCH_CHARS)
    return chosen


def add_lists(chosen: NDArray[np.bool_], probs: NDArray[np.float32], page: Blocks) -> NDArray[np.bool_]:
    """Return ``chosen`` with every complete list that touches text: its items are short, and each alone looks like boilerplate."""
    items = [number for number, block in enumerate(page.blocks) if page.nodes[block.box].tag in ITEM_TAGS]
    for _, group in groupby(enumerate(items), key=lambda item: (item[1] - item[0], page.parent[page.blocks[item[1]].box])):
        numbers = [number for _, number in group]
        first, last = numbers[0], numbers[-1] + 1
        if last - first > 1 and chosen[max(first - 1, 0) : last + 1].any() and not chosen[first:last].all():
            blocks = page.blocks[first:last]
            length = np.array([block.length for block in blocks])
            few_links = sum(block.linked for block in blocks) <= MAX_LIST_LINK_SHARE * length.sum()
            if few_links and (probs[first:last] * length).sum() >= MIN_LIST_PROBABILITY * length.sum():
                chosen[first:last] = True
    return chosen


def drop_loose_ends(chosen: NDArray[np.bool_], page: Blocks) -> NDArray[np.bool_]:
    """Return ``chosen`` without short lines at both ends that consist of a link, and without the imprint at the end."""
    numbers, blocks = np.flatnonzero(chosen).tolist(), page.blocks
    loose = {number for number in numbers if blocks[number].linked == blocks[number].length <= MAX_LOOSE_CHARS}
    while numbers and ((len(numbers) > 1 and numbers[-1] in loose) or _is_imprint(blocks[numbers[-1]])):
        chosen[numbers.pop()] = False
    while len(numbers) > 1 and numbers[0] in loose:
        chosen[numbers.pop(0)] = False
    return chosen


def _is_imprint(block: Block) -> bool:
    return block.length <= MAX_IMPRINT_CHARS and IMPRINT.search(block.text) is not None


def choose_blocks(probs: NDArray[np.float32], length: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Choose the blocks that are text, by probability and length."""
    # the mean probability of the likeliest ``TOP_CHARS`` characters
    order = np.argsort(-probs, kind="stable")
    best = order[: int(np.searchsorted(np.cumsum(length[order]), TOP_CHARS)) + 1]
    shy = RELATIVE_THRESHOLD * float((probs[best] * length[best]).sum() / max(length[best].sum(), 1))
    return probs >= min(THRESHOLD, max(shy, MIN_THRESHOLD))


def fill_gaps(chosen: NDArray[np.bool_], probs: NDArray[np.float32], table: Table) -> NDArray[np.bool_]:
    """Return ``chosen`` with the headings within the text, and with gaps between two lines of text that are not boilerplate."""
    linked, pictured, figure, climb, counted, *headings = table.select(GAP_FEATURES)
    plain, length = linked < MAX_LIST_LINK_SHARE, table.length
    number = chosen.cumsum()
    chosen = chosen | (plain & (headings[0] + headings[1] > 0) & (probs >= MIN_GAP_PROBABILITY) & (number > 0) & (number < number[-1]))
    other = ~plain | (pictured + figure + climb > 0) | (counted == 0)
    found = np.flatnonzero(chosen)
    sums = np.array([length, probs * length, probs < MIN_GAP_PROBABILITY, other], dtype=np.float64).cumsum(axis=1)
    chars, right, unlikely, others = sums[:, found[1:] - 1] - sums[:, found[:-1]]
    inner = (others == 0) & (right >= MIN_INNER_PROBABILITY * chars) & (chars <= INNER_SHARE * length[chosen].sum())
    closed = inner | ((chars <= GAP_CHARS) & (unlikely == 0))
    chosen |= np.append(closed, False)[chosen.cumsum() - 1]
    return chosen


# Boilerplate lines before and after an article's text.

HEAD_LINE: Final = re.compile(
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
TAIL_LINE: Final = re.compile(
    rf"^[\s\[【(（]*(?:{'|'.join(TAIL_WORDS.split()).replace('_', ' ')})\s*(?:[:：|\]】)）>》<]|[^\s。！？!?”」]{{0,12}}$|$)", re.IGNORECASE
)
MAX_TAIL_CHARS: Final = 60  # Longer lines are paragraphs, whatever their beginning
MAX_LINES: Final = 8  # maximum number of lines cut at either end


def trim_lines(lines: list[str], title: str | None = None) -> tuple[int, int]:
    start, end = 0, len(lines)
    while start < min(end - 1, MAX_LINES) and (HEAD_LINE.match(lines[start]) or lines[start] == title):
        start += 1
    for number in range(max(start + 1, len(lines) - MAX_LINES), len(lines)):
        if TAIL_LINE.match(lines[number]) and all(len(line) <= MAX_TAIL_CHARS for line in lines[number:]):
            end = number
            break
    return start, end
