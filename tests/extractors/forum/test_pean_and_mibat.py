"""PEAN and MiBAT as in the thesis, on pages that follow its definitions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest
import threads

from newsportal.errors import NotApplicable
from newsportal.extractors.forum import POST_EXTRACTORS, mibat, pean, post_extractor
from newsportal.extractors.forum.pean import mark, relative_mean_deviation, tree_match
from newsportal.items import Post
from newsportal.text import dom

NOW = datetime(2024, 3, 10, 12, tzinfo=UTC)
TIME = "2014-05-13 20:07:23"


def read(algorithm: Callable[..., tuple[Post, ...]], body: str, **options: float) -> list[str]:
    document = dom.from_text(f"<html><body>{body}</body></html>")
    return [post.text for post in algorithm(document, NOW, **options)]


def test_relative_mean_deviation_of_example_3_1() -> None:
    """22 anchors over ten posts: RMD 0.29 and MPR 0.14, as printed."""
    sample = [1, 3, 3, 2, 3, 2, 2, 3, 1, 2]
    assert round(relative_mean_deviation(sample), 2) == 0.29
    assert round(max(sample) / sum(sample), 2) == 0.14


@pytest.mark.parametrize(
    ("first", "second", "matched"),
    [
        ("<p></p>", "<p></p>", 1),
        ("<p></p>", "<ul></ul>", 0),
        ("<p><b></b><i></i></p>", "<p><b></b><i></i></p>", 3),
        ("<p><b></b><i></i><u></u></p>", "<p><b></b><u></u></p>", 3),
        ("<p><b></b><i></i></p>", "<p><i></i><b></b></p>", 2),  # order matters
        ("<p><b><i></i></b></p>", "<p><u><i></i></u></p>", 1),  # below different tags nothing matches
    ],
)
def test_tree_match_is_top_down(first: str, second: str, matched: int) -> None:
    page = mark(dom.from_text(f"<div>{first}</div><div>{second}</div>").root.find("body"))
    left, right = (page.children[child][0] for child in page.children[0])
    assert tree_match(page, left, right) == tree_match(page, right, left) == matched


def test_anchor_is_the_smallest_node_with_a_time() -> None:
    page = mark(dom.from_text(f"<div>{TIME}<p>{TIME}</p></div><div>2014/6/12 10:10<p>x</p></div>").root.find("body"))
    assert [page.nodes[at].tag for at, anchor in enumerate(page.anchor) if anchor] == ["p", "div"]
    assert page.pivots[0] == 2


def post(text: str, extra: str = "") -> str:
    return f"<div><p>{TIME}</p><p>{text}</p><ul><li>a</li><li>b</li></ul>{extra}</div>"


def test_pean_stops_at_spread_anchors_and_drops_dissimilar_records() -> None:
    advertisement = f"<div><span>{TIME}</span></div>"
    found = read(pean.extract, f"<div>{post('甲')}{advertisement}{post('乙')}<div>no time</div>{post('丙')}</div>")
    assert [text.split("\n")[1] for text in found] == ["甲", "乙", "丙"]


def test_pean_descends_where_one_child_has_most_anchors() -> None:
    found = read(pean.extract, f"<div>{TIME}</div><div>{''.join(map(post, '甲乙丙丁戊己'))}</div>")
    assert len(found) == 6


def test_pean_thresholds_are_configurable() -> None:
    uneven = f"<div>{post('甲')}{post('乙')}<div>{TIME}<ul><li>{TIME}</li></ul></div><div><p>{TIME}</p><p>{TIME}</p></div></div>"
    assert len(read(pean.extract, uneven)) > 1
    inner = [text.split("\n") for text in read(pean.extract, uneven, alpha=0.1)]
    assert inner == [[TIME], [TIME]]  # with this alpha it descends into the child with two anchors, one per record


def test_mibat_selects_trees_with_equal_anchor_siblings() -> None:
    odd = f"<div><span>{TIME}</span><b>x</b><b>x</b><b>x</b></div>"
    found = read(mibat.extract, f"<div>{post('甲')}{odd}{post('乙')}{post('丙')}</div>")
    assert [text.split("\n")[1] for text in found] == ["甲", "乙", "丙"]


def test_mibat_grows_along_similar_neighbours() -> None:
    """The first and the last tree are dissimilar, but each is similar to the middle one."""

    def grown(extra: int) -> str:
        return f"<div><p>{TIME}</p><b>1</b><b>2</b><b>3</b>{'<i>x</i>' * extra}</div>"

    assert len(read(mibat.extract, grown(0) + grown(2) + grown(5))) == 3
    assert len(read(mibat.extract, grown(0) + grown(9) + grown(9))) == 2


@pytest.mark.parametrize("algorithm", [pean.extract, mibat.extract])
def test_pages_with_fewer_than_two_times_are_refused(algorithm: Callable[..., tuple[Post, ...]]) -> None:
    with pytest.raises(NotApplicable, match="no-anchors"):
        read(algorithm, "<p>x</p>")
    with pytest.raises(NotApplicable, match="no-records"):
        read(algorithm, f"<p>{TIME}</p>")


@pytest.mark.parametrize("algorithm", [pean.extract, mibat.extract])
def test_posts_of_made_up_board_are_found(algorithm: Callable[..., tuple[Post, ...]]) -> None:
    found = algorithm(dom.from_text(threads.phpwind()), NOW)
    assert len(found) == len(threads.TALK)
    assert all(floor.text in (post.block_text or "") for post, floor in zip(found, threads.TALK, strict=True))
    assert found[0].author is None
    assert found[0].xpath == "/html/body/div[2]"
    assert found[0].published == datetime(2024, 3, 5, 8, 30, tzinfo=timezone(timedelta(hours=8)))


def test_posters_are_found_by_name() -> None:
    assert set(POST_EXTRACTORS) == {"best", "pean", "mibat"}
    assert post_extractor("pean") is pean.extract
    with pytest.raises(ValueError, match="best, pean, mibat"):
        post_extractor("none")
