"""CEPR: paths and their distance, ratios, smoothing and threshold, checked by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from math import exp
from statistics import pstdev

import pytest

from newsportal.errors import NotApplicable
from newsportal.extractors.papers import cepr
from newsportal.text import dom

NOW = datetime(2024, 3, 6, tzinfo=UTC)


def read(html: str) -> tuple[cepr.Paths, list[cepr.TextNode]]:
    paths = cepr.Paths()
    return paths, cepr.text_nodes(next(dom.parse_html(f"<body>{html}</body>").iter("body")), paths)


def test_text_nodes_in_order_with_their_paths() -> None:
    paths, nodes = read("一<div>二<p>三<b>四</b>五</p> <script>六</script>七</div><div><p>八</p></div>")
    assert [node.text for node in nodes] == list("一二三四五七八")
    div = paths.below(0, "div")
    p = paths.below(div, "p")
    assert [node.path for node in nodes] == [0, div, p, paths.below(p, "b"), p, div, p]
    lines = [node.line for node in nodes]
    assert lines[2] == lines[3] == lines[4]  # one paragraph
    assert len({lines[0], lines[1], lines[2], lines[5], lines[6]}) == 5


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [("div p", "div p", 0), ("div p", "div", 1), ("div p", "div h1", 1), ("div p b", "div ul li a", 3), ("", "table tr td", 3)],
)
def test_path_distance_counts_tags(first: str, second: str, distance: int) -> None:
    paths = cepr.Paths()
    ends = []
    for tags in (first, second):
        path = 0
        for tag in tags.split():
            path = paths.below(path, tag)
        ends.append(path)
    assert paths.distance(*ends) == paths.distance(*reversed(ends)) == distance


def test_edit_distance() -> None:
    assert cepr.edit_distance("kitten", "sitting") == 3
    assert cepr.edit_distance("", "abc") == 3


def test_path_ratios() -> None:
    paths, nodes = read("<p>一二三，四。</p><p>一二。</p><h1>一二三四</h1>")
    ratios = cepr.path_ratios(nodes)
    # lengths 6 and 3, marks 2 and 1: the means 4.5 and 1.5, the deviations 1.5 and 0.5
    assert ratios[paths.below(0, "p")] == pytest.approx(4.5 * 1.5 * 1.5 * 0.5)
    assert ratios[paths.below(0, "h1")] == 0  # no marks, no deviation


def test_neighbours_on_other_paths_count_less() -> None:
    paths, nodes = read("<p>一</p><p>二</p><div><b>三</b></div>")
    side, centre = exp(-0.5) / (1 + 2 * exp(-0.5)), 1 / (1 + 2 * exp(-0.5))
    assert cepr.smooth(nodes, [10, 20, 40], paths) == pytest.approx(
        [
            10 * centre + 20 * side,
            10 * side + 20 * centre + 40 * side / 2,  # p and div.b are two steps apart
            20 * side / 2 + 40 * centre,
        ]
    )


def test_the_threshold() -> None:
    assert cepr.threshold([1, 2, 6]) == pytest.approx(0.8 * pstdev([1, 2, 6]))
    assert cepr.threshold([]) == 0


def test_article_is_found_among_menus() -> None:
    menu = "".join(f"<li><a>栏目{n}</a></li>" for n in range(12))
    body = "".join(f"<p>{'这是一段话，' * n}完。</p>" for n in (3, 9, 5, 12))
    page = f"<body><ul>{menu}</ul><div>{body}</div><ul>{menu}</ul></body>"
    found = cepr.extract(dom.from_text(page), None, NOW)
    assert found.text == "\n".join(f"{'这是一段话，' * n}完。" for n in (3, 9, 5, 12))
    assert found.algorithm == "cepr"


def test_formula_misses_a_single_text_node() -> None:
    with pytest.raises(NotApplicable, match="no-body"):
        cepr.extract(dom.from_text(f"<body><p>{'这是一段话，' * 50}</p></body>"), None, NOW)
