"""Article extraction: text blocks, body, rejection of pages that are not articles, templates and rules."""
