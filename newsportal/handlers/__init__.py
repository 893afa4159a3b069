"""How the crawl fetches: from the network through the guard, or from a saved crawl, written down on request.

Settings: ``NEWSPORTAL_ALLOW_PRIVATE`` (list, see :class:`newsportal.egress.Policy`), ``NEWSPORTAL_REPLAY`` (a WARC file that answers
instead of the network), ``NEWSPORTAL_ARCHIVE`` (a WARC file that every answer is appended to).
"""

from newsportal.handlers.handler import Guard, Handler

__all__ = ["Guard", "Handler"]
