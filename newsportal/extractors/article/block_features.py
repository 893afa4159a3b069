"""Features of a block for the model: its text, its position in the tree, its neighbours. One column of ``Table`` per block.

Features are named; the model's file lists those it uses, so that a model can be checked against this module.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from newsportal.extractors.article.blocks import Block, Blocks
from newsportal.extractors.article.core import FEATURES as RECORD_NAMES
from newsportal.extractors.article.core import find_core, find_records, levels_from, sum_below
from newsportal.extractors.article.hints import FIRST_TAG_BIT, LAST_TAG_BIT, MEANINGS, TAG_NAMES
from newsportal.extractors.article.reference_hints import find_hints
from newsportal.text import has_stop_word

FeatureColumn = NDArray[Any]
IntArray = NDArray[np.int64]
SENTENCE: Final = re.compile(r"[。！？；，、：][”」』’）)]?|[.!?;,:][\"”’')]?(?=\s|$)|[۔؟،।]")
END: Final = re.compile(r"(?:[。！？…；]|[.!?…])[”」』’\"')）】\]]*$")
MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
DATE: Final = re.compile(
    r"19\d\d\s?[-/.年]\s?\d|20\d\d\s?[-/.年]\s?\d|:(?<=\d:)\d\d|：(?<=\d：)\d\d|月(?<=\d月)\d{1,2}日|"
    + "|".join(rf"{month[0]}(?<!\w{month[0]}){month[1:]}[a-z]*\.? \d" for month in MONTHS)
)  # each alternative starts with a literal character, which makes the search fast
NOTICE: Final = re.compile(
    r"copyright|all rights reserved|©|版权|版權|著作權|icp备|icp证|许可证|備案|备案|未经|转载|轉載"
    r"|disclaimer|免责|本站|本网|terms of|privacy|cookie"
)
CONTROL: Final = re.compile(
    r"分享|转发|收藏|打印|關閉|关闭|评论|評論|返回|字号|字體|订阅|訂閱|关注|微博|微信|二维码|扫|推荐|推薦|相关|相關|热门|熱門|更多|点击|點擊|上一篇|下一篇"
    r"|责任编辑|责编|編輯|编辑|来源|來源|作者|标签|share|tweet|facebook|twitter|email|print|comment|subscri|newsletter|sign up|log ?in"
    r"|read more|related"
    r"|click|follow|advert|photo|image|getty|reuters|author|tags?\b|copyright"
)  # words of controls, credits and notices, matched in lower case: ignoring case takes four times as long
CODE: Final = re.compile(r"\{[^{}]{0,200}:[^{}]{0,200};|function\s*\(|^var\s")  # style sheets and scripts displayed as text
SHORT_CHARS: Final = 160
NOTICE_CHARS: Final = 400
UPPER_CHARS: Final = 80
DIGIT: Final = re.compile("[0-9]")
NUMBER: Final = re.compile(r"\d")
TAG_GROUPS: Final[dict[str, str]] = {
    "paragraph": "p",
    "part": "div section article main body center",
    "cell": "td th tr table caption",
    "item": "li ul ol dd dt dl",
    "title": "h1",
    "heading": "h2 h3",
    "subheading": "h4 h5 h6",
    "quote": "blockquote pre",
    "figure": "figcaption figure",
    "header": "header",
    "aside": "footer nav aside address",
    "form": "form",
}  # Tags of boxes with similar meaning
TAGS: Final = {tag: number for number, tags in enumerate(TAG_GROUPS.values()) for tag in tags.split()}
NO_GROUP: Final = len(TAG_GROUPS)
OWN_FEATURES: Final = "length linked_chars bold_chars links sentences ends reads digits upper date notice controls repeated".split()
MAX_LINKS: Final = 20
LINK_CHARS: Final = 80
UNANALYSED: Final = (0.0,) * 8  # Features of a short line that consists of links only; its text is not analysed
LEVELS: Final = (1, 2, 3, 4, 6)
WINDOWS: Final = (5, 15)
MAX_TEXT_DISTANCE: Final = 30
NO_DISTANCE: Final = 99.0  # Distance to something that the page does not have


@dataclass(frozen=True, slots=True)
class Table:
    """Features of all blocks of a page: ``values`` has the shape (features, blocks); ``length``: characters of each block."""

    names: tuple[str, ...]
    values: NDArray[np.float32]
    length: FeatureColumn

    def select(self, names: Sequence[str]) -> NDArray[np.float32]:
        """Return the rows called ``names``. Raises ``ValueError`` for an unknown name."""
        places = {name: place for place, name in enumerate(self.names)}
        if missing := {*names} - {*places}:
            raise ValueError(f"no such features: {', '.join(sorted(missing))}")
        return self.values[[places[name] for name in names]]


def own_features(blocks: Sequence[Block]) -> NDArray[np.float32]:
    """Return the features of each block's own text; shape (len(OWN), blocks)."""
    texts = [block.text for block in blocks]
    first = dict(zip(reversed(texts), range(len(texts) - 1, -1, -1), strict=True))  # first block with each text
    rows: list[tuple[float, ...]] = [()] * len(texts)
    for number, block in enumerate(blocks):
        text, length = block.text, block.length
        row: tuple[float, ...] = UNANALYSED
        if block.linked < length or length >= LINK_CHARS:
            short, opening, head = len(text) <= SHORT_CHARS, text[:NOTICE_CHARS], text[:UPPER_CHARS]
            low = opening.lower()
            sentences = len(SENTENCE.findall(text))
            row = (
                sentences,
                END.search(text[-6:]) is not None,
                (sentences > 0 or has_stop_word(text))
                and not (("{" in opening or "function" in opening or opening.startswith("var")) and CODE.search(opening) is not None),
                len(DIGIT.findall(text)) / length,
                0 if low.startswith(head) else sum(map(str.isupper, head)) / min(length, UPPER_CHARS),
                short and NUMBER.search(text) is not None and DATE.search(low) is not None,
                NOTICE.search(low) is not None,
                len(CONTROL.findall(low)) if short else 0,
            )
        links = block.links if block.links < MAX_LINKS else MAX_LINKS
        rows[number] = (length, block.linked, block.bold, links, *row, first[text] < number)
    return np.array(rows, dtype=np.float32).T


def block_features(page: Blocks, heading: str | None, description: str | None, declared: str | None = None) -> Table:
    """Return all features of a page with at least one block. ``description``: from its metadata; ``declared``: article text in its data."""
    return _FeatureBuilder(page, heading, description, declared).table()


class _FeatureBuilder:
    def __init__(self, page: Blocks, heading: str | None, description: str | None, declared: str | None) -> None:
        self.page = page
        self.count = len(page.blocks)
        self.number = np.arange(self.count)
        self.box: IntArray = np.array([block.box for block in page.blocks])
        self.parent: IntArray = np.maximum(np.array(page.parent), 0)
        self.own = dict(zip(OWN_FEATURES, own_features(page.blocks), strict=True))
        self.length = self.own["length"].astype(np.float64)
        self.linked = self.own["linked_chars"].astype(np.float64)
        reads = self.own["reads"] > 0
        plain = self.length - self.linked
        self.valid = np.where(reads, plain, 0.0)
        self.running = np.where(reads & (self.own["sentences"] >= 2) & (plain > 0.6 * self.length), plain, 0.0)
        self.total, self.all_valid = max(self.length.sum(), 1.0), max(self.valid.sum(), 1.0)
        self.hints = find_hints(page, heading, description, declared)
        self.core = find_core(page, self.valid, self.length, self.linked, self.hints.heading)
        self.rows: dict[str, FeatureColumn] = {}

    def table(self) -> Table:
        self._text()
        self._names()
        self._place()
        self._boxes()
        names = ("length", "linked", "sentences", "ends", "controls")
        stacked = np.stack([*(self.rows[name] for name in names), self.kinds]).astype(np.float32)
        same = np.stack([self.parent[self.box], np.array(self.page.path)[self.box]])
        for step, side in ((1, "previous"), (-1, "next")):
            self.rows.update(zip((f"{side}_{name}" for name in (*names, "kind")), shift_rows(stacked, step, 0), strict=True))
            self.rows.update(zip((f"{side}_same_parent", f"{side}_same_form"), shift_rows(same, step, -1) == same, strict=True))
        rows = np.stack([self.length, self.running, self.linked])
        sums = np.concatenate([np.zeros((3, 1)), np.cumsum(rows, axis=1)], axis=1)
        for width in WINDOWS:
            low, high = np.maximum(self.number - width, 0), np.minimum(self.number + 1 + width, self.count)
            for side, part in (("before", sums[:, self.number] - sums[:, low]), ("after", sums[:, high] - sums[:, self.number + 1])):
                total = np.maximum(part[0], 1)
                self.rows[f"{side}{width}_running"], self.rows[f"{side}{width}_linked"] = part[1] / total, part[2] / total
                self.rows[f"{side}{width}_length"] = np.log1p(part[0])
        values = np.array(list(self.rows.values()), dtype=np.float32)
        return Table(tuple(self.rows), values, self.length.astype(np.float32))

    def _text(self) -> None:
        rows, own = self.rows, self.own
        size = np.maximum(self.length, 1)
        rows["length"] = np.log1p(self.length)
        rows["linked"], rows["bold"] = self.linked / size, own["bold_chars"] / size
        rows["sentences"], rows["sentence_rate"] = np.minimum(own["sentences"], 30), own["sentences"] / size
        rows["control_rate"] = own["controls"] / size
        for name in ("links", "ends", "digits", "upper", "date", "notice", "controls", "repeated"):
            rows[name] = own[name]

    def _names(self) -> None:
        """Features by class names and tags: of the box itself, with its next two ancestors, and with all ancestors."""
        masks = np.array(self.page.mask)
        own = masks[self.box] | np.array([block.mask for block in self.page.blocks])
        above = self.parent[self.box]
        near = own | masks[above] | masks[self.parent[above]]
        around = np.array(self.page.around)[self.box]
        for scope, mask in (("own", own), ("near", near), ("around", around)):
            self.rows.update(zip((f"{scope}_{name}" for name in MEANINGS), unpack_bits(mask, range(len(MEANINGS))), strict=True))
        self.rows.update(zip(TAG_NAMES, unpack_bits(around, range(FIRST_TAG_BIT, LAST_TAG_BIT + 1)), strict=True))
        tags = [self.page.nodes[block.box].tag for block in self.page.blocks]
        self.kinds = np.array(list(map(TAGS.get, tags, repeat(NO_GROUP))))
        self.rows.update(zip((f"kind_{kind}" for kind in TAG_GROUPS), self.kinds == np.arange(len(TAG_GROUPS))[:, None], strict=True))

    def _place(self) -> None:
        rows, hints, core, number = self.rows, self.hints, self.core, self.number
        before, valid_before = np.cumsum(self.length) - self.length, np.cumsum(self.valid) - self.valid
        rows["depth"] = np.array(self.page.depth)[self.box]
        rows["place"], rows["valid_place"] = before / self.total, valid_before / self.all_valid
        rows["order"] = number / self.count
        rows["page_blocks"] = np.full(self.count, np.log1p(self.count))
        rows["page_valid"] = np.full(self.count, np.log(self.all_valid))
        rows["is_heading"] = np.isin(number, list(hints.headings))
        at = hints.heading
        rows["after_heading"] = np.clip(number - at, -50, 200) if at is not None else np.full(self.count, -NO_DISTANCE)
        rows["valid_after_heading"] = (valid_before - valid_before[at]) / self.all_valid if at is not None else np.full(self.count, -1.0)
        rows["heading_climb"] = self._climb_from(at)
        rows["terms"] = np.array(hints.terms)
        described = np.where(rows["is_heading"], 0, np.array(hints.in_description))
        rows["told"], rows["told_known"] = described, np.full(self.count, hints.pieces)
        best = int(np.argmax(described)) if hints.pieces and described.max() > 1 else None
        rows["declared"] = np.array(hints.declared)
        rows["told_climb"] = self._climb_from(best)
        rows["after_told"] = np.clip(number - best, -50, 100) if best is not None else np.full(self.count, -NO_DISTANCE)
        rows["climb"], rows["counted"] = core.levels_above, core.counted
        rows["core_share"], rows["core_linked"] = np.full(self.count, core.share), np.full(self.count, core.linked)
        runs = np.flatnonzero((core.levels_above == 0) & core.counted & (self.running > 0))
        none = np.full(self.count, NO_DISTANCE)
        rows["before_text"] = np.clip(runs[0] - number, -MAX_TEXT_DISTANCE, MAX_TEXT_DISTANCE) if len(runs) else none
        rows["after_text"] = np.clip(number - runs[-1], -MAX_TEXT_DISTANCE, MAX_TEXT_DISTANCE) if len(runs) else none
        rows["within_text"] = (number >= runs[0]) & (number <= runs[-1]) if len(runs) else np.zeros(self.count)

    def _climb_from(self, block: int | None) -> FeatureColumn:
        return np.full(self.count, -1.0, np.float32) if block is None else levels_from(self.page, self.page.blocks[block].box)

    def _boxes(self) -> None:
        """Sums over the ancestors of a block, and over all boxes with the same path."""
        terms = np.where(self.rows["is_heading"], 0, self.rows["terms"]) * self.length / (self.length + 20)
        linked = self.own["links"] > 0
        ones = np.ones(self.count)
        sums = sum_below(
            self.page,
            np.stack([self.length, self.linked, self.valid, self.running, ones, terms, self.own["date"].astype(np.float64), linked]),
        )
        size, lines = np.maximum(sums[0], 1), np.maximum(sums[4], 1)
        boxes = {
            "valid": sums[2] / self.all_valid,
            "linked": sums[1] / size,
            "running": sums[3] / size,
            "lines": np.log1p(sums[4]),
            "average": np.log1p(sums[0] / lines),
            "terms": sums[5] / lines,
            "all_terms": np.minimum(sums[5], 10),
        }
        ancestor = self.box
        for level in range(1, max(LEVELS) + 1):
            if level in LEVELS:
                self.rows.update({f"up{level}_{name}": row[ancestor] for name, row in boxes.items()})
            ancestor = self.parent[ancestor]
        form = np.array(self.page.path)[self.box]
        alike = [np.bincount(form, row)[form] for row in (self.valid, self.length, self.linked, ones)]
        self.rows["form_valid"], self.rows["form_linked"] = alike[0] / self.all_valid, alike[2] / np.maximum(alike[1], 1)
        self.rows["form_lines"], self.rows["form_average"] = np.log1p(alike[3]), np.log1p(alike[1] / alike[3])
        records = find_records(self.page, sums[4], sums[0] / self.total, sums[6], sums[7])
        self.rows.update(zip(RECORD_NAMES, records[:, self.box], strict=True))


def unpack_bits(mask: IntArray, positions: range) -> NDArray[np.int64]:
    """Return the bits of ``mask`` at ``positions`` as rows of 0 and 1."""
    result: NDArray[np.int64] = np.right_shift(mask, np.array(positions)[:, None]) & 1
    return result


def shift_rows(rows: NDArray[Any], step: int, fill: float) -> NDArray[Any]:
    """Return ``rows`` shifted along the blocks: column i holds the old column i − step."""
    out = np.full_like(rows, fill)
    if step > 0:
        out[:, step:] = rows[:, :-step]
    else:
        out[:, :step] = rows[:, -step:]
    return out
