"""The article of a page: its blocks, its body, what is refused, and what templates and rules know."""
