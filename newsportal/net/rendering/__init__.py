"""Pages as a browser makes them: the system's Chromium without any way to a network, and us between it and every server.

Everything that a page asks for comes back here as a question (:class:`Asked`), and who renders answers it with his own guarded way out:
the crawl with its download handler (``handlers``), commands with ``egress``. See ``docs/decisions/rendering.md``.
"""

from newsportal.net.rendering.chromium import Chromium, find_chromium, missing
from newsportal.net.rendering.exchange import Answer, Asked, Limits, renderable
from newsportal.net.rendering.visit import Rendered, Tally, Visit

__all__ = ["Answer", "Asked", "Chromium", "Limits", "Rendered", "Tally", "Visit", "find_chromium", "missing", "renderable"]
