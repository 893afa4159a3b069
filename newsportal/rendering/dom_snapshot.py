"""A page's HTML, taken in a world of scripts that is ours: what the page's own scripts redefined counts for nothing there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playwright.async_api import Page

TAKE: Final = """(address, most) => {
  const here = document.baseURI.split('#')[0];
  if (here !== address && !document.querySelector('base[href]') && document.head) {
    const base = document.createElement('base');
    base.href = here;
    document.head.prepend(base);
  }
  const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : '';
  const html = type + (document.documentElement ? document.documentElement.outerHTML : '');
  return html.length > most ? html.length : html;
}"""
"""Where scripts changed the page's own address, relative links are relative to the new one. A page that is too long stays where it is."""

WORLD: Final = "newsportal"


async def taken(page: Page, address: str, most: int) -> str | int:
    """The HTML of ``page``, which was opened at ``address``; its length where that is more than ``most`` (UTF-16 units).

    Raises Playwright's ``Error`` for a page that is gone, or on its way to another document.
    """
    from playwright.async_api import Error

    session = await page.context.new_cdp_session(page)
    frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    world = await session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": WORLD})
    asked = {"contextId": world["executionContextId"], "returnByValue": True}
    found = await session.send("Runtime.evaluate", {**asked, "expression": f"({TAKE})({json.dumps(address)}, {most})"})
    value = found["result"].get("value")
    if not isinstance(value, str | int):
        raise Error(found.get("exceptionDetails", {}).get("text") or "the page cannot be read")
    return value
