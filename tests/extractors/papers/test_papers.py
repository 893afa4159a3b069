"""Functions shared by the algorithms of papers, and their behaviour on degenerate pages."""

from __future__ import annotations

from datetime import UTC, datetime
from math import exp

import pytest
from work_counts import count_calls, ends

from newsportal.errors import NotApplicable
from newsportal.extractors import extractor
from newsportal.extractors.papers import common as papers
from newsportal.text import dom

NOW = datetime(2024, 3, 6, tzinfo=UTC)
NAMES = ("cevc", "cetd", "cetd_threshold", "cepr", "cetr", "table_stats")
SENTENCE = "这是一个完整的句子，有标点。"


def test_character_counts_omit_skipped_elements() -> None:
    body = next(dom.parse_html("<body>一<div id=d>二<a>三<b>四</b></a>五<p>六七</p></div>八</body>").iter("body"))
    counts = papers.character_counts(body, len, frozenset(("a",)))
    assert {node.tag: count for node, count in counts.items()} == {"body": 6, "div": 4, "a": 0, "b": 0, "p": 2}
    assert [node.tag for node in counts] == ["body", "div", "a", "b", "p"]


def outcome(name: str, document: dom.Document) -> str | None:
    """Return the extracted text, or the reason of a refusal."""
    try:
        return extractor(name)(document, None, NOW).text
    except NotApplicable as error:
        return error.reason


def test_gaussian_kernel_sums_to_one() -> None:
    assert papers.gaussian_kernel(1) == pytest.approx(
        [exp(-0.5) / (1 + 2 * exp(-0.5)), 1 / (1 + 2 * exp(-0.5)), exp(-0.5) / (1 + 2 * exp(-0.5))]
    )
    wide = papers.gaussian_kernel(1.5)
    assert len(wide) == 5
    assert sum(wide) == pytest.approx(1)


def test_text_without_markup_is_escaped() -> None:
    found = papers.make_extraction(dom.from_text("<title>标题</title>"), NOW, "x", ["一<script>二", "三"])
    assert (found.title, found.text, found.html) == ("标题", "一<script>二\n三", "<p>一&lt;script&gt;二</p><p>三</p>")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "html", ["", " ", "\x00", "<html></html>", "<frameset><frame src=/></frameset>", "<body><img src=/></body>", "<" * 99]
)
def test_page_without_text_is_refused(name: str, html: str) -> None:
    assert outcome(name, dom.from_text(html)) in ("no-body", html)  # some algorithms return control characters as text


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unit", ["<p>x</p>", f"<div>{SENTENCE}", f"<table><td>{SENTENCE * 5}</table>", "<b><i>一，</i></b>二。\n"])
def test_extraction_is_linear_in_page_size(name: str, unit: str) -> None:
    def calls(times: int) -> int:
        document = dom.from_text(f"<body>{unit * times}</body>")
        outcome(name, dom.from_text(f"<body>{unit * 10}</body>"))
        return count_calls(outcome, name, document)

    assert calls(4_000) < 2 * 8 * calls(500)  # a quadratic walk would take 64 times as many
    with ends():
        outcome(name, dom.from_text(f"<body>{unit * 16_000}</body>"))


@pytest.mark.parametrize("name", NAMES)
def test_extraction_is_deterministic(name: str) -> None:
    html = "<body>" + "".join(f"<div><p>{SENTENCE * (n % 7)}<a href=/>{SENTENCE}</a></p>\n</div>" for n in range(200))
    assert extractor(name)(dom.from_text(html), None, NOW) == extractor(name)(dom.from_text(html), None, NOW)
