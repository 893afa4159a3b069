"""Layouts and templates: which pages match, and where their text is. All pages are made up."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.extractors.article.template import (
    LAYOUT,
    MAX_BLOCKS,
    Survey,
    Template,
    compare,
    content_of,
    mark_of,
    path_to,
    read_structure,
    size_of,
    survey,
    write_structure,
)
from newsportal.text import dom

NOTICE = "本网所有内容未经书面许可不得转载，转载请注明出处，违者本网将依法追究其相关的法律责任，特此声明，敬请各位读者和同行谅解。"
MENU = "<div id=menu>" + "".join(f"<a href=/{n}>第{n}个频道的很长很长的名字</a> " for n in range(20)) + "</div>"


def sentence(name: str) -> str:
    return f"{name}的事情今天有了新的进展，记者从现场发回了报道，当地的居民都在街头谈论它，孩子们也很高兴，大家都在等待明天的结果公布。"


def html(name: str, paragraphs: int = 2, extra: str = "", tag: str = "p") -> str:
    text = "".join(f"<{tag}>{sentence(f'{name}{number}')}</{tag}>" for number in range(paragraphs))
    return f"<body>{MENU}<div id=main><h1>{name}</h1><div id=text>{text}{extra}</div><footer>{NOTICE}</footer></div></body>"


def read(page: str) -> Survey:
    found = survey(next(iter(dom.parse_html(page).iter("body"))))
    assert found is not None
    return found


def lines(template: Template, page: str) -> list[str]:
    return [line for block in content_of(template, read(page)) for line in dom.lines_of(block)]


def template(first: str, second: str) -> Template:
    found = compare(read(first).layout, read(second).layout)
    assert found is not None
    return found


def test_structure_omits_content_and_noise() -> None:
    assert read(html("滨海")).layout.structure == "body(div(div footer))" == read(html("东站", 7)).layout.structure
    assert read("<body><table><tr><td>短</td></tr></table></body>").layout.structure == "body"


@pytest.mark.parametrize(("first", "second", "tag"), [(2, 9, "p"), (1, 30, "p"), (2, 9, "div"), (3, 4, "section")])
def test_pages_match_with_any_number_of_paragraphs(first: int, second: int, tag: str) -> None:
    first_page, second_page = html("滨海", first, tag=tag), html("东站", second, tag=tag)
    found = template(first_page, second_page)
    assert lines(found, first_page) == [sentence(f"滨海{number}") for number in range(first)]
    assert lines(found, second_page) == [sentence(f"东站{number}") for number in range(second)]


def test_links_images_and_empty_boxes_are_ignored() -> None:
    extra = f"<ul><li>{sentence('列表')}</li></ul><img src=a.jpg><div class=ad><script>{sentence('x')}</script></div>{MENU}"
    assert compare(read(html("滨海", extra=extra)).layout, read(html("东站")).layout) is not None


def test_equal_adjacent_blocks_are_merged() -> None:
    """A known cost of text in ``div``s: a block of the same shape directly after the text is included."""
    page = "<body><div><p>{}</p></div><div>{}</div></body>"
    found = template(page.format(sentence("甲"), sentence("评论一")), page.format(sentence("乙"), sentence("评论二")))
    assert found.structure == "body(div)"
    assert lines(found, page.format(sentence("丙"), sentence("评论三"))) == [sentence("丙"), sentence("评论三")]


def test_different_trees_do_not_match() -> None:
    table = f"<table><tr><td>{sentence('表格')}</td></tr></table>"
    assert compare(read(html("滨海", extra=table)).layout, read(html("东站")).layout) is None


def test_identical_texts_give_no_template() -> None:
    assert compare(read(html("滨海")).layout, read(html("滨海")).layout) is None


def test_lines_shared_by_both_pages_are_excluded() -> None:
    extra = f"<p>{NOTICE}</p>"
    first = html("滨海", extra=extra)
    found = template(first, html("东站", extra=extra))
    assert (found.path, found.structure) == (("body", "div", "div"), "body(div(div footer))")
    assert lines(found, first) == [sentence("滨海0"), sentence("滨海1")]
    third = html("码头", extra=f"<p>{NOTICE}</p><p>{sentence('尾声')}</p>")
    assert lines(found, third) == [sentence("码头0"), sentence("码头1"), sentence("尾声")]


def test_noise_and_shared_blocks_are_excluded_from_content() -> None:
    page = "<body><div id=a><p>{0}</p><div class=rel>{1}</div><p>{2}</p><div class=note>{3}</div></div></body>"
    first = page.format(sentence("甲"), MENU, sentence("乙"), NOTICE)
    found = template(first, page.format(sentence("丙"), MENU * 2, sentence("丁"), NOTICE))
    assert lines(found, first) == [sentence("甲"), sentence("乙")]


def test_page_is_not_modified() -> None:
    root = dom.parse_html(html("滨海", extra=f"<p>{NOTICE}</p>{MENU}"))
    before = dom.html_of(root)
    page = survey(next(iter(root.iter("body"))))
    assert page is not None
    content_of(template(html("甲", extra=f"<p>{NOTICE}</p>"), html("乙", extra=f"<p>{NOTICE}</p>")), page)
    assert dom.html_of(root) == before


def test_matching_templates_are_joined() -> None:
    first = template(html("滨海", extra=f"<p>{NOTICE}</p>"), html("东站", extra=f"<p>{NOTICE}</p>"))
    second = template(html("码头"), html("航线"))
    assert first.matches(second)
    assert first.merge(second).pages == 4
    assert first.shared
    assert first.merge(second).shared == first.shared & second.shared


def test_oversized_pages_are_skipped() -> None:
    nested = "".join(f"<{('div', 'section')[n % 2]}>{sentence(str(n))}" + "</div></section>"[6 * (n % 2) :] for n in range(MAX_BLOCKS + 1))
    assert survey(next(iter(dom.parse_html(f"<body>{nested}</body>").iter("body")))) is None
    deep = dom.parse_html(f"<body>{'<div>' * 49_000}{sentence('底')}</body>")
    assert survey(next(iter(deep.iter("body")))) is not None


def test_mark_holds_hash_and_length() -> None:
    assert mark_of(" 甲 乙\n") == mark_of("甲乙") != mark_of("乙甲")
    assert (size_of(mark_of("甲乙")), size_of(mark_of("甲" * 70_000))) == (2, 65_535)
    code = "from newsportal.extractors.article.template import mark_of; print(mark_of('本网声明'))"
    assert len({subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(2)}) == 1


@st.composite
def trees(draw: st.DrawFn) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Draw tags and parents in depth-first order."""
    tags, parents, open_ = ["body"], [-1], [0]
    for _ in range(draw(st.integers(0, 25))):
        del open_[draw(st.integers(1, len(open_))) :]
        tags.append(draw(st.sampled_from(sorted(LAYOUT))))
        parents.append(open_[-1])
        open_.append(len(tags) - 1)
    return tuple(tags), tuple(parents)


@given(trees())
def test_structure_round_trip(tree: tuple[tuple[str, ...], tuple[int, ...]]) -> None:
    assert read_structure(write_structure(*tree)) == tree
    assert path_to(len(tree[0]) - 1, *tree)[0] == "body"


@given(st.text(alphabet="() bdiovy", max_size=30))
def test_invalid_structure_is_refused(text: str) -> None:
    try:
        tree = read_structure(text)
    except ValueError:
        return
    assert write_structure(*tree) == text
