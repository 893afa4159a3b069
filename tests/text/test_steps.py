"""The steps of a single walk over a page give the same lines and blocks as the tree."""

from __future__ import annotations

from newsportal.extractors.article.blocks import read_blocks
from newsportal.text import dom
from newsportal.text.steps import read_steps, steps_below, visible_lines

PAGE = (
    "<head><title>题</title></head><body><p>来源：<b>某网</b> 作者<script>x</script>：某某<br>次行</p>"
    "<pre>一\n二</pre><svg><text>图</text></svg>尾<noscript><p>无</p></noscript></body>"
)


def test_steps_hold_start_end_and_following_text() -> None:
    steps = read_steps(dom.walk(next(dom.parse_html("<p>甲<b>乙</b>丙</p>丁").iter("p"))))
    assert [(begins, tag, text) for begins, _, tag, text in steps] == [
        (True, "p", "甲"),
        (True, "b", "乙"),
        (False, "b", "丙"),
        (False, "p", "丁"),
    ]


def test_steps_below_an_element_omit_its_tail() -> None:
    document = dom.from_text("<div><p>甲</p>乙</div>")
    below = steps_below(document.steps, next(document.root.iter("p")))
    assert [(begins, tag, text) for begins, _, tag, text in below] == [(True, "p", "甲")]


def test_lines_equal_the_trees_with_tabs_between_elements() -> None:
    document = dom.from_text(PAGE)
    assert document.lines == ("来源：\t某网\t作者\t：某某", "次行", "一", "二", "尾")
    assert visible_lines(document.steps) == document.lines
    assert [line.replace("\t", "") for line in document.lines] == [line.replace(" ", "") for line in dom.lines_of(document.root)]


def test_blocks_are_equal_with_and_without_steps() -> None:
    document = dom.from_text(PAGE)
    body = next(document.root.iter("body"))
    with_steps, without_steps = read_blocks(body, document.steps), read_blocks(body)
    assert with_steps.texts == without_steps.texts == ["来源：某网 作者：某某", "次行", "一", "二", "尾"]
    assert with_steps.end == without_steps.end


def test_steps_omit_text_of_invisible_elements() -> None:
    document = dom.from_text("<p>甲<svg><g><text>图</text></g></svg>乙<script>x</script></p>")
    steps = [(begins, tag, text) for begins, _, tag, text in document.steps if tag not in ("html", "body", "p")]
    assert steps == [(True, "svg", None), (False, "svg", "乙"), (True, "script", None), (False, "script", None)]


def test_body_inside_head_is_read() -> None:
    document = dom.from_text("<head><noscript><body><p>甲<svg><text>图</text></svg></p>乙</body></noscript>丙")
    assert read_blocks(next(document.root.iter("body")), document.steps).texts == ["甲", "乙"]
