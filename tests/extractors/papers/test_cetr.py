"""CETR: lines and ratios, the kernel, the derivative and the clusters, checked by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from math import exp

import pytest

from newsportal.extractors.papers import cetr
from newsportal.text import dom

NOW = datetime(2024, 3, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    ("source", "ratios"),
    [
        ("<p>一二三四</p>", [2.0]),
        ("一二三四", [4.0]),  # without tags: the number of characters
        ("<div>\n\n  \n<p>一 二 三 四</p>\n</div>", [0.0, 2.0, 0.0]),  # empty lines and white space do not count
        ("<a\nhref='/'\n>一二</a>三四\n五", [2.0, 1.0]),  # a tag counts on the line where it begins
        ("一<script>二\n三</script>四<style>五</style><!-- 六\n<p> -->七", [3.0]),
        ("一二<script>三四", [2.0]),  # never closed
        ("&lt;&amp;&gt;", [3.0]),
        ("一\r二\r\n三", [1.0, 1.0, 1.0]),
        ("1 < 2", [3.0]),
    ],
)
def test_tag_ratios(source: str, ratios: list[float]) -> None:
    assert [cetr.tag_ratio(line) for line in cetr.source_lines(source)] == ratios


def test_single_line_source_is_split() -> None:
    source = "<p>一二三四五</p>" * 100 + "&amp;" * 100
    lines = cetr.source_lines(source)
    assert "".join(line.text for line in lines).replace("\n", "").strip() == "一二三四五" * 100 + "&" * 100
    assert sum(line.tags for line in lines) == 200
    assert len(lines) > 20
    assert len(cetr.source_lines(source[:900])) == 1  # short enough for one line


def test_smoothing() -> None:
    side = exp(-0.5) / (1 + 2 * exp(-0.5))
    centre = 1 / (1 + 2 * exp(-0.5))
    assert cetr.smooth([0, 10, 0, 0]) == pytest.approx([10 * side, 10 * centre, 10 * side, 0])


def test_derivative_follows_the_paper() -> None:
    assert cetr.derivative([3, 6, 9, 12, 0, 0]) == pytest.approx([30 / 3 - 3, 27 / 3 - 6, 21 / 3 - 9, 12 / 3 - 12, 0, 0])


def test_first_centre_stays_at_the_origin() -> None:
    points = [(0.0, 0.0), (1.0, 1.0), (10.0, 0.0), (12.0, 0.0), (30.0, 2.0), (34.0, 4.0)]
    assert cetr.cluster_centres(points) == [(0.0, 0.0), (11.0, 0.0), (32.0, 3.0)]
    assert cetr.cluster_centres([]) == [(0.0, 0.0)] * 3


def test_lines_near_the_origin_are_noise() -> None:
    ratios = [0, 1, 0, 2, 1, 0, 2, 1, 60, 80, 70, 75, 66, 1, 0, 1, 0, 2, 0, 1]
    assert cetr.content_lines(ratios) == list(range(5, 14))  # smoothing includes a line on either side, the derivative looks ahead
    assert cetr.content_lines([]) == []
    assert cetr.content_lines([0, 0]) == []


def test_centres_of_long_page_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    ratios = ([0.0] * 50 + [50.0] * 10) * 20
    expected = cetr.content_lines(ratios)
    lengths: list[int] = []
    monkeypatch.setattr(cetr, "MAX_POINTS", 300)
    centres = cetr.cluster_centres
    monkeypatch.setattr(cetr, "cluster_centres", lambda points, clusters: lengths.append(len(points)) or centres(points, clusters))
    assert cetr.content_lines(ratios) == expected
    assert lengths[0] <= 300


def test_article_is_the_text_of_content_lines() -> None:
    menu = "<li><a href=/>栏目</a></li>\n" * 20
    page = (
        f"<html><body>\n{menu}<div>\n<p>{'第一段' * 30}<b>，粗体</b>没有完，\n还有{'一行' * 20}</p>\n<p>{'第二段' * 30}</p>\n</div>\n{menu}"
    )
    found = cetr.extract(dom.from_text(page), None, NOW)
    assert found.text == f"栏目\n栏目\n{'第一段' * 30}，粗体没有完， 还有{'一行' * 20}\n{'第二段' * 30}"
    assert found.html == "".join(f"<p>{line}</p>" for line in found.text.split("\n"))
