"""When a page is idle: no requests, a still DOM, and everything that scrolling loads is there; then its HTML.

The HTML is taken in an isolated world of scripts: what the page's own scripts redefined counts for nothing there.
"""

from __future__ import annotations

import asyncio
import json
from time import monotonic
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playwright.async_api import Page

    from newsportal.net.rendering.visit import Visit

QUIET: Final = 0.4  # Seconds without a change before a page counts as at rest: scripts that wait for a moment wait for some tenths
# Looks in a row that see no change: as many as fit into :data:`QUIET` on an idle machine. Seconds alone say little on a busy one, where
# a script that has arrived waits for its turn; each look waits for the same processor, and for the page's own thread.
MAX_CHECKS: Final = 8
QUIET_SCROLLED: Final = 0.1  # The same after each step down: what is lazy asks as soon as it is drawn
MAX_CHECKS_SCROLLED: Final = 2
STEP: Final = 0.05  # Seconds between two looks
SCROLLS: Final = 10  # steps of a window's height: photo stories have some ten thousand pixels, endless lists no end
WINDOW: Final = {"width": 1280, "height": 1600}  # Higher than screens are, for fewer steps
WATCHER: Final = """(() => {
  const state = {changes: 0};
  Object.defineProperty(globalThis, Symbol.for('newsportal'), {value: state});
  const watched = ['src', 'srcset', 'href', 'data-src', 'data-original', 'content'];
  new MutationObserver(list => { state.changes += list.length; })
    .observe(document, {childList: true, subtree: true, attributes: true, attributeFilter: watched});
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) { try { delete globalThis[name]; } catch {} }
})()"""  # Run in every page before its own scripts. Clocks and animations change texts and styles; they count for nothing here.
LOOK: Final = """() => {
  const state = globalThis[Symbol.for('newsportal')], all = document.scrollingElement;
  return [document.readyState !== 'complete', state ? state.changes : 0,
          !!all && all.scrollTop + innerHeight + 2 < all.scrollHeight];
}"""
SCROLL: Final = """() => {
  scrollBy({top: innerHeight, behavior: 'instant'});
  const drawn = new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  return Promise.race([drawn, new Promise(done => setTimeout(done, 1000))]);
}"""  # A busy machine draws late, and what is lazy asks when it is drawn


async def wait_until_idle(page: Page, visit: Visit, wait: float) -> bool:
    """Wait for rest, scrolling down; whether it came within ``wait`` seconds. A page that hangs is the caller's to time."""
    began = since = monotonic()
    last, scrolls, looks = (-1, -1), 0, 0
    while monotonic() - began < wait and not visit.has_navigated:
        loading, changes, below = await _look(page)
        now = monotonic()
        if loading or visit.busy or (changes, visit.tally.requests) != last:
            last, since, looks = (changes, visit.tally.requests), now, 0  # a request that came and went is a sign of life, too
            await asyncio.sleep(STEP)
            continue
        looks += 1
        if looks >= (MAX_CHECKS_SCROLLED if scrolls else MAX_CHECKS) and now - since >= (QUIET_SCROLLED if scrolls else QUIET):
            if not below or scrolls >= SCROLLS:
                return True
            await _quietly(page, SCROLL)
            scrolls, since, looks = scrolls + 1, monotonic(), 0
        await asyncio.sleep(STEP)
    return False


async def _look(page: Page) -> tuple[bool, int, bool]:
    found = await _quietly(page, LOOK)
    match found:  # a page may have laid hands on what answers
        case [bool(loading), int(changes), bool(below)]:
            return loading, changes, below
    return True, -1, False


async def _quietly(page: Page, script: str) -> object:
    """``None`` while the page is on its way to another document."""
    from playwright.async_api import Error

    try:
        return await page.evaluate(script)
    except Error as error:
        if page.is_closed() or "crash" in str(error).lower():
            raise
        return None


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
}"""  # Where scripts changed the page's own address, relative links are relative to the new one. A page that is too long stays where it is.
WORLD: Final = "newsportal"


async def taken(page: Page, address: str, most: int) -> str | int:
    """The HTML of ``page``, opened at ``address``; its length where that is more than ``most`` (UTF-16 units). Raises Playwright's
    ``Error`` for a page that is gone, or on its way to another document."""
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
