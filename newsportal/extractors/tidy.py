"""A copy of the body without what is no text: controls, asides, lists of links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from newsportal import dom
from newsportal.extractors.body import NEVER, Counts, Survey, is_aside

BLOCKS: Final = frozenset("div ul ol dl table section article li p tr td h2 h3 h4 h5 h6 center dd dt header tbody span strong".split())

LINK_SHARE: Final = 0.5
"""A block whose visible characters are links to more than this share is a list of links."""

PARAGRAPH_LINK_SHARE: Final = 0.85
"""A paragraph may consist of names that are links; one that is nothing but a link leads elsewhere."""

ASIDE_SHARE: Final = 0.4
"""An aside with more than this share of the body's characters is the body under a bad name."""


def tidied(nodes: Sequence[dom.Element], survey: Survey) -> dom.Element:
    """One ``div`` with copies of ``nodes``; the page's tree is left as it is."""
    whole = dom.parse_html("<div></div>").find(".//div")
    total = sum(survey.counts[node].text for node in nodes)
    for node in nodes:
        copy = dom.copy_of(node)
        tail, copy.tail = copy.tail, None
        for dropped in list(_unwanted(node, copy, survey, total)):
            if dropped.getparent() is not None:
                dropped.drop_tree()
        whole.append(copy)
        if tail and len(nodes) > 1:
            copy.tail = tail
    return whole


def _unwanted(node: dom.Element, copy: dom.Element, survey: Survey, total: int) -> Iterator[dom.Element]:
    """The elements of ``copy`` to drop, found by walking it beside its original, which the counts belong to."""
    for original, copied in zip(node.iter(), copy.iter(), strict=True):
        if original is node:
            continue
        counts = survey.counts.get(original)
        if counts is None:
            if original.tag in NEVER:
                yield copied
        elif counts.text and ((counts.text < ASIDE_SHARE * total and is_aside(original)) or _is_links(original, counts)):
            yield copied


def _is_links(node: dom.Element, counts: Counts) -> bool:
    if node.tag not in BLOCKS or not counts.linked:
        return False
    share = counts.linked / counts.text
    if node.tag in ("p", "span", "strong"):
        return share > PARAGRAPH_LINK_SHARE and counts.linked > 4 and (node.tag == "p")
    return share > LINK_SHARE
