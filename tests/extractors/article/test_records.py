"""Detection of comments, teasers and lists by their repeated form; paragraphs are not records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from newsportal.extractors.article.block_features import block_features
from newsportal.extractors.article.blocks import read_blocks
from newsportal.extractors.article.core import FEATURES, find_records
from newsportal.text import dom

TEXT = "这是一个足够长的句子，它还会继续下去。"


def record_features(html: str) -> dict[str, NDArray[np.float32]]:
    """Return each feature's values by its name."""
    page = read_blocks(next(dom.parse_html(f"<body>{html}").iter("body")))
    return dict(zip(FEATURES, block_features(page, None, None).select(FEATURES), strict=True))


def comment(number: int) -> str:
    return f"<li class=item><a href=/u/{number}>网友</a><p>{TEXT}</p><span>2024-03-0{number}</span></li>"


COMMENTS = f"<ul>{''.join(map(comment, range(1, 5)))}</ul>"


def test_comments_are_records_with_dates_and_links() -> None:
    rows = record_features(f"<p>{TEXT}</p>{COMMENTS}")
    assert np.allclose(rows["records"], [0, *[np.log1p(4)] * 12])
    assert set(rows["records_dated"][1:]) == set(rows["records_linked"][1:]) == {1.0}
    assert rows["records_share"][1] > 0.8
    assert np.allclose(rows["record_lines"][1:], np.log1p(3 + 1))


def test_nested_lines_belong_to_their_record() -> None:
    teasers = "".join(f"<div class=teaser><div><h3>标题{number}</h3></div><div><div><p>{TEXT}</p></div></div></div>" for number in range(3))
    assert (record_features(f"<div>{teasers}</div>")["records"] > 0).all()


def test_paragraphs_are_alike_but_not_records() -> None:
    rows = record_features(f"<div>{f'<p>{TEXT}</p>' * 6}</div>")
    assert not rows["records"].any()
    assert np.allclose(rows["alike"], np.log1p(6))
    assert rows["alike_share"].tolist() == [1.0] * 6


def test_two_columns_are_not_records() -> None:
    column = f"<div class=column><p>{TEXT}</p><p>{TEXT}</p></div>"
    assert not record_features(column * 2)["records"].any()
    assert record_features(column * 3)["records"].all()


def test_boxes_of_other_classes_are_not_alike() -> None:
    rows = record_features("".join(f"<div class=c{number}><p>{TEXT}</p><p>{TEXT}</p></div>" for number in range(4)))
    assert not rows["records"].any()


def test_empty_boxes_are_ignored() -> None:
    page = read_blocks(next(dom.parse_html("<body><div></div><div></div><div></div><p>甲</p>").iter("body")))
    lines = np.array([1.0, 0, 0, 0, 1])
    rows = find_records(page, lines, lines, np.zeros(5), np.zeros(5))
    assert not rows[:5].any()
