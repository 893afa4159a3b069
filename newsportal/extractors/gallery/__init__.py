"""Photo stories (套图): read one page, choose the pages to fetch next, and assemble one story from all. No network access.

The caller (the crawl, a command) does the fetching::

    pages, ended = [read(first, now=now)], set()
    while urls := open_pages(pages, ended, pattern):
        for url in urls:
            try:
                page = read(fetch(url), now=now)
            except NotApplicable:            # a soft 404, a list, a page without pictures; a dead link as well
                ended.add(url)
                continue
            if is_end(page, pages, requested=url):
                ended.add(url)
            else:
                pages.append(page)
    story = assemble(pages, link=link, pattern=pattern, ended=ended)

Pages may come in any order, repeatedly, and from several workers: :func:`assemble` sorts them. A URL that failed temporarily (a timeout,
a 503) belongs in neither list: the story is incomplete, and :func:`urls_left` returns the page again on the next visit.
"""

from newsportal.extractors.gallery.further_pages import end_reason, guess_pattern, is_same_story_page, more_urls, proven_pattern, urls_left
from newsportal.extractors.gallery.page import read
from newsportal.extractors.gallery.story import Assembly, assemble

__all__ = ["Assembly", "assemble", "end_reason", "guess_pattern", "is_same_story_page", "more_urls", "proven_pattern", "read", "urls_left"]
