"""Body extraction by statistics of tables (Sun, Guan, 基于统计的网页正文信息抽取方法的研究, 2004): pure, as published.

    c(t)         Chinese characters below table t, without those in links, scripts, forms and styles        (chapter 3, steps 2 and 3)
    candidates   the tables with c(t) > P, sorted by c(t), falling                                                   (steps 2 and 3)
    answer       the first; then down the list: t replaces it if t is inside it and c(t) > T · c(answer)                   (step 4)

P = 50, T = 0.65 (chapter 3, figure 2). Published: 95 % of 650 pages of 2004. Step 4 is one long sentence of two conditions in the paper;
its example (792 of 928 characters: the inner table) and T's figure support the reading above. The output is the counted text.

Two extensions for today's pages:

- **No text table.** The method requires the text to be in a table. If no table has more than T of what ``body`` has, the same statistics
  run over all block elements, from ``body`` down.
- **Not Chinese.** The words of the page are counted instead, each as two Chinese characters, so that P requires 25 of them; the shares
  compared with T do not change.

O(n log n) in the nodes of the page.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from newsportal.errors import NotApplicable
from newsportal.extractors.papers.common import LINK, MIN_CHINESE, REMOVED, add_up, body_of, character_counts, make_extraction, text_lines
from newsportal.items import Extraction, Link
from newsportal.text import CJK, chinese_share, dom

P: Final = 50
T: Final = 0.65  # Sun and Guan, chapter 3: accuracy is flat for T between 0.6 and 0.7 and falls beyond
SKIPPED_TAGS: Final = REMOVED | LINK | {"form"}  # step 3: text in these does not count
BLOCK_TAGS: Final = frozenset("body table td div section article main".split())  # elements used as blocks on today's pages
WORD: Final = re.compile(r"[^\W\d_]+")
WORD_CHARS: Final = 2  # Chinese characters that a word in another script counts as


def extract(document: dom.Document, link: Link | None, fetched: datetime, *, least: float = P, share: float = T) -> Extraction:
    """Extract the article by tables. Raises ``NotApplicable("no-body")`` if no block has more than ``least`` (P) characters."""
    body = body_of(document)
    counts = count(body)
    block = choose_block(counts, tables_or_blocks(body, counts, share), least, share)
    if block is None:
        raise NotApplicable("no-body", f"no block has more than {least} characters")
    return make_extraction(document, fetched, "table_stats", text_lines(block, SKIPPED_TAGS), [block])


def count(body: dom.Element) -> dict[dom.Element, int]:
    """Return c(t) of every element: Chinese characters, or on a page that is not Chinese twice its words."""
    chinese = chinese_share("".join(text for _, text in dom.text_pieces(body, skipped=SKIPPED_TAGS))) > MIN_CHINESE
    pattern, worth = (CJK, 1) if chinese else (WORD, WORD_CHARS)
    return character_counts(body, lambda text: worth * len(pattern.findall(text)), SKIPPED_TAGS)


def tables_or_blocks(body: dom.Element, counts: dict[dom.Element, int], share: float = T) -> list[dom.Element]:
    """Return the tables if one of them contains the page's text, else all block elements."""
    tables = [node for node in counts if node.tag == "table"]
    if any(counts[table] > share * counts[body] for table in tables):
        return tables
    return [node for node in counts if node.tag in BLOCK_TAGS]


def choose_block(counts: dict[dom.Element, int], blocks: Iterable[dom.Element], least: float = P, share: float = T) -> dom.Element | None:
    """Choose the block by steps 2 to 4. ``counts`` covers the page in document order; of equal counts the outer element comes first."""
    candidates = sorted((node for node in blocks if counts[node] > least), key=lambda node: -counts[node])
    if not candidates:
        return None
    places = {node: place for place, node in enumerate(counts)}
    sizes = add_up(next(iter(counts)), dict.fromkeys(counts, 1))
    chosen = candidates[0]
    for node in candidates[1:]:
        within = places[chosen] < places[node] < places[chosen] + sizes[chosen]
        if within and counts[node] > share * counts[chosen]:
            chosen = node
    return chosen
