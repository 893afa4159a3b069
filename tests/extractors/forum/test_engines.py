"""Selectors of forum engines match the same elements in the tree as CSS does in the page."""

from __future__ import annotations

import pytest

from newsportal.extractors.forum.engines import engines, select_all
from newsportal.extractors.forum.tree import read_tree
from newsportal.text import dom

PAGE = """<html><body class="topic-body"><div class="post_block" id="post_1"><div class="authi x"><a href="/u/1">甲</a></div>
<div class="postbody b"><div class="content" id="postmessage_1">一</div><div class="postbody"><p class="author"><time>1</time></p></div>
</div><div><div class="postbody"></div></div></div><div id="post_2" class="post"><span itemprop="author"><b itemprop="name">乙</b></span>
<div component="post/content" class="Message userContent inner">二</div><strong class="cooked">三</strong></div>
<em id="authorposton2">4</em>
<h4 class="poster">y</h4><script class="content"></script></body></html>"""
SELECTORS = sorted({choice for e in engines() for part in (e.post, e.body, e.author, e.time) if part for choice in part.split(", ")})


@pytest.mark.parametrize("selector", [*SELECTORS, ".postbody .postbody time", "div > .postbody", ".authi > a", "body .content"])
def test_tree_selectors_match_like_css(selector: str) -> None:
    root = dom.from_text(PAGE).root
    tree = read_tree(dom.css(root, "body")[0])
    place = {node.element: at for at, node in enumerate(tree.nodes)}
    assert select_all(tree, selector) == [place[element] for element in dom.css(root, selector) if element in place]


def test_unsupported_selector_is_refused() -> None:
    with pytest.raises(ValueError, match="not a selector of an engine"):
        select_all(read_tree(dom.from_text(PAGE).css("body")[0]), "div:first-child")
