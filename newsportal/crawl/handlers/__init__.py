"""Download handlers: from the network through the egress guard, or from an archive (replay); responses are archived on request.

Settings: ``NEWSPORTAL_ALLOW_PRIVATE`` (list, see :class:`newsportal.net.egress.Policy`), ``NEWSPORTAL_REPLAY`` (a WARC file that replaces
the network), ``NEWSPORTAL_ARCHIVE`` (a WARC file to which every response is appended), ``NEWSPORTAL_RENDERING`` (``rendering`` of
``sources.yaml``). Requests with ``render`` in their meta are rendered in a browser (:mod:`newsportal.net.rendering`).
"""

from newsportal.crawl.handlers.handler import Guard, Handler, render_notes

__all__ = ["Guard", "Handler", "render_notes"]
