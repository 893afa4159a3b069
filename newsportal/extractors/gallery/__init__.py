"""Photo stories (套图): what one of their pages tells, which pages to ask for next, and one story of all. Pure.

Whoever fetches (the crawl, a command) drives it::

    met, ended = [read(first, now=now)], set()
    while wanted := open_pages(met, ended, pattern):
        for url in wanted:
            try:
                page = read(fetch(url), now=now)
            except NotApplicable:            # a soft 404, a list, a page without pictures; a dead link as well
                ended.add(url)
                continue
            if is_end(page, met, asked=url):
                ended.add(url)
            else:
                met.append(page)
    story = assemble(met, link=link, pattern=pattern, ended=ended)

Pages may come in any order, twice, and from several workers: :func:`assemble` puts them right. What was asked for and may come later
(a time-out, a 503) belongs to neither list: the story is incomplete, and :func:`open_pages` names the page on the next visit.
"""

from __future__ import annotations

from newsportal.extractors.gallery.further_pages import bears_out, further, guess, guessed, is_end, open_pages
from newsportal.extractors.gallery.page import read
from newsportal.extractors.gallery.story import Assembly, assemble

__all__ = ["Assembly", "assemble", "bears_out", "further", "guess", "guessed", "is_end", "open_pages", "read"]
