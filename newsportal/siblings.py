"""CSS selectors as XPath, with ``a ~ b`` in a form that does not take the square of a page."""

from __future__ import annotations

from typing import Final

from cssselect import HTMLTranslator
from cssselect.xpath import XPathExpr


class Translator(HTMLTranslator):
    """``a ~ b`` asks of each ``b`` whether an ``a`` stands before it. Collecting what follows each ``a``, as cssselect has it, takes
    libxml2 twenty seconds on a page of 3,000 paragraphs, and whoever writes rules may write ``p ~ p`` (threats B)."""

    def xpath_indirect_adjacent_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        if left.path:  # it says of elements further up what they are, too
            return super().xpath_indirect_adjacent_combinator(left, right)
        return right.add_condition(f"preceding-sibling::{left}")


TRANSLATOR: Final = Translator()
