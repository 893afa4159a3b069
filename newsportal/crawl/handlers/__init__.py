"""How the crawl fetches: from the network through the guard, or from a saved crawl, written down on request.

Settings: ``NEWSPORTAL_ALLOW_PRIVATE`` (list, see :class:`newsportal.net.egress.Policy`), ``NEWSPORTAL_REPLAY`` (a WARC file that answers
instead of the network), ``NEWSPORTAL_ARCHIVE`` (a WARC file that every answer is appended to), ``NEWSPORTAL_RENDERING`` (what
``sources.yaml`` says under ``rendering``). Requests with ``render`` in their meta are shown to a browser (:mod:`newsportal.net.rendering`).
"""

from newsportal.crawl.handlers.handler import Guard, Handler, render_notes

__all__ = ["Guard", "Handler", "render_notes"]
