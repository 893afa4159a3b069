"""Rendering of pages in a browser: the system's Chromium without network access; all its requests go through us.

Every request of a page arrives here as a :class:`PageRequest`, which the caller answers with its own guarded client: the crawl with its
download handler (``handlers``), commands with ``egress``. See ``docs/decisions/rendering.md``.
"""

from newsportal.net.rendering.chromium import Chromium, find_chromium, missing_parts
from newsportal.net.rendering.exchange import Limits, PageRequest, is_renderable
from newsportal.net.rendering.visit import RenderCosts, RenderResult, Visit

__all__ = ["Chromium", "Limits", "PageRequest", "RenderCosts", "RenderResult", "Visit", "find_chromium", "is_renderable", "missing_parts"]
