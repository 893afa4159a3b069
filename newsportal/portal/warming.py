"""What the first pages need is made while the portal starts, so that their readers do not wait for it."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator
from functools import cache, partial
from threading import Event, Thread
from typing import Final

from newsportal.errors import NewsportalError
from newsportal.portal.context import Portal
from newsportal.portal.language import choose
from newsportal.portal.render import environment
from newsportal.search.words import query_words

log = logging.getLogger(__name__)

PAGES: Final = ("home.html", "list.html", "story.html", "search.html")
"""The templates of what readers open first."""

BEFORE_FIRST: Final = 0.1
"""Seconds until it begins: who asks at once is served first."""


class Warming:
    """A thread that goes through :func:`steps` once. What fails is left to the page that needs it, which says so."""

    def __init__(self, portal: Portal) -> None:
        self._portal = portal
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="warming", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Waits for the step at hand."""
        self._stopping.set()
        self._thread.join(timeout=10)

    def _run(self) -> None:
        if self._stopping.wait(BEFORE_FIRST):
            return
        for step in steps(self._portal):
            if self._stopping.is_set():
                return
            try:
                step()
            except NewsportalError as error:
                log.debug("left for the first page: %s", error)


def steps(portal: Portal) -> Iterator[Callable[[], object]]:
    """Totals, the words of the portal's language, templates, the stories of the front page, the segmenter of search; then rest."""
    templates = partial(environment, choose(None, "", portal.site.language))
    yield portal.tally
    yield from (lambda name=name: templates().get_template(name) for name in PAGES)
    yield lambda: portal.fronts.get(portal.topics(), dict(portal.tally().by_topic), portal.now(), by_rank=False)
    if portal.index is not None:
        yield lambda: query_words("新闻")
    yield settle


@cache
def settle() -> None:
    """Let the collection of garbage not look again and again at what stays as long as the process (modules, templates, dictionaries): a
    search makes thousands of objects, so it runs often. A fifth of a search page's processor time (``benchmarks/portal.py``)."""
    gc.collect()
    gc.freeze()
