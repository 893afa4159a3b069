"""Arguments of scripts that draw pagers are read without running the scripts."""

from __future__ import annotations

import pytest
from work_counts import ends

from newsportal.extractors.lists.page_marks import script_pagers
from newsportal.text import dom

CALL = "function createPageHTML(_nPageCount, _nCurrIndex, _sPageName, _sPageExt){ if(_nPageCount<=1) return; } createPageHTML(%s);"
ASSIGNED = r"""
var currentPage = %d //所在页从0开始
var prevPage = currentPage-1
var nextPage = currentPage+1
var countPage = %d//共多少页
if(countPage>1) document.write("<a target='_self' href=\"t20260312_830115"+"_" + nextPage + "."+"htm\">下一页</a>");
"""
NAMED = 'var _PAGE_COUNT="3"; var _PAGE_INDEX="0"; var _PAGE_NAME="t20260312_830115"; var _PAGE_FILE_EXT="html";'


def read(script: str) -> list[tuple[int, int, str]]:
    found = script_pagers(dom.from_text(f"<p>文</p><script>{script}</script>"))
    return [(pager.count, pager.current, pager.url_of(pager.current + 1)) for pager in found]


@pytest.mark.parametrize(
    ("script", "found"),
    [
        (CALL % '5, 0, "t2012_1", "html"', [(5, 0, "t2012_1_1.html")]),
        (CALL % "5,2,'t2012_1','html'", [(5, 2, "t2012_1_3.html")]),
        (CALL % "'page_div', 4, 1, 'index', 'shtml', 55", [(4, 1, "index_2.shtml")]),
        (CALL % '1, 0, "t2012_1", "html"', []),
        (CALL % 'count, 0, "t2012_1", "html"', []),
        (CALL % '5, 0, "javascript:alert(1)", "html"', []),
        (CALL % "5, 0", []),
        (ASSIGNED % (0, 3), [(3, 0, "t20260312_830115_1.htm")]),
        (ASSIGNED % (1, 3), [(3, 1, "t20260312_830115_2.htm")]),
        (ASSIGNED % (0, 1), []),
        (NAMED, [(3, 0, "t20260312_830115_1.html")]),
        ("var countPage = 5;", []),
        ("var pageCount = 5; // visits", []),
    ],
)
def test_forms_of_script_pagers(script: str, found: list[tuple[int, int, str]]) -> None:
    assert read(script) == found


def test_first_page_url_has_no_number() -> None:
    pager = next(script_pagers(dom.from_text(f"<script>{NAMED}</script>")))
    assert [pager.url_of(index) for index in range(3)] == ["t20260312_830115.html", "t20260312_830115_1.html", "t20260312_830115_2.html"]


def test_adversarial_scripts_take_bounded_time() -> None:
    with ends():
        read("var countPage = 5; " + "href=" * 11_000)
        read("createPageHTML(" * 3_000)
        read("countPage=2;" + "href=a_a" * 7_000)
        read("var countPage = 5; " * 3_000)
    assert read("countPage=2;" + "href=a_a" * 700_000) == []
