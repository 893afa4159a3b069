"""Pages as a browser makes them: the system's Chromium without any way to a network, and us between it and every server.

Everything that a page asks for comes back here as a :class:`PageRequest`, which the caller answers with its own guarded client: the crawl
with its download handler (``handlers``), commands with ``egress``. See ``docs/decisions/rendering.md``.
"""

from newsportal.net.rendering.chromium import Chromium, find_chromium, missing
from newsportal.net.rendering.exchange import Limits, PageRequest, renderable
from newsportal.net.rendering.visit import Rendered, Tally, Visit

__all__ = ["Chromium", "Limits", "PageRequest", "Rendered", "Tally", "Visit", "find_chromium", "missing", "renderable"]
