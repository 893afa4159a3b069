"""Detection of an idle page (no requests, an unchanged DOM, everything loaded that scrolling loads), and capture of its HTML.

The HTML is read in an isolated script world, unaffected by what the page's scripts redefined.
"""

from __future__ import annotations

import asyncio
import json
from time import monotonic
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playwright.async_api import Page

    from newsportal.net.rendering.visit import Visit

IDLE: Final = 0.4  # seconds without a change until a page counts as idle: scripts usually delay by some tenths
# Consecutive checks without a change: as many as fit into :data:`IDLE` on an idle machine. Time alone is insufficient on a busy one, where
# a loaded script waits for the processor; each check waits for the same processor and for the page's thread.
MAX_CHECKS: Final = 8
IDLE_SCROLLED: Final = 0.1  # the same after each scroll step: lazy elements load as soon as they are drawn
MAX_CHECKS_SCROLLED: Final = 2
CHECK_SECONDS: Final = 0.05  # seconds between two checks
MAX_SCROLLS: Final = 10  # steps of a window's height: photo stories have some ten thousand pixels, endless lists are unlimited
WINDOW: Final = {"width": 1280, "height": 1600}  # higher than screens, for fewer steps
WATCHER_SCRIPT: Final = """(() => {
  const state = {changes: 0};
  Object.defineProperty(globalThis, Symbol.for('newsportal'), {value: state});
  const watched = ['src', 'srcset', 'href', 'data-src', 'data-original', 'content'];
  new MutationObserver(list => { state.changes += list.length; })
    .observe(document, {childList: true, subtree: true, attributes: true, attributeFilter: watched});
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) { try { delete globalThis[name]; } catch {} }
})()"""  # Run in every page before its own scripts. Clocks and animations change texts and styles, which are ignored.
STATE_SCRIPT: Final = """() => {
  const state = globalThis[Symbol.for('newsportal')], all = document.scrollingElement;
  return [document.readyState !== 'complete', state ? state.changes : 0,
          !!all && all.scrollTop + innerHeight + 2 < all.scrollHeight];
}"""
SCROLL_SCRIPT: Final = """() => {
  scrollBy({top: innerHeight, behavior: 'instant'});
  const drawn = new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  return Promise.race([drawn, new Promise(done => setTimeout(done, 1000))]);
}"""  # a busy machine draws late, and lazy elements load when drawn


async def wait_until_idle(page: Page, visit: Visit, wait: float) -> bool:
    """Scroll down until the page is idle; return whether that happened within ``wait`` seconds. The caller ends a hanging page."""
    began = since = monotonic()
    last, scrolls, looks = (-1, -1), 0, 0
    while monotonic() - began < wait and not visit.has_navigated:
        loading, changes, below = await _check(page)
        now = monotonic()
        if loading or visit.busy or (changes, visit.tally.requests) != last:
            last, since, looks = (changes, visit.tally.requests), now, 0  # a completed request is activity, too
            await asyncio.sleep(CHECK_SECONDS)
            continue
        looks += 1
        if looks >= (MAX_CHECKS_SCROLLED if scrolls else MAX_CHECKS) and now - since >= (IDLE_SCROLLED if scrolls else IDLE):
            if not below or scrolls >= MAX_SCROLLS:
                return True
            await _evaluate(page, SCROLL_SCRIPT)
            scrolls, since, looks = scrolls + 1, monotonic(), 0
        await asyncio.sleep(CHECK_SECONDS)
    return False


async def _check(page: Page) -> tuple[bool, int, bool]:
    result = await _evaluate(page, STATE_SCRIPT)
    match result:  # the page may have tampered with the result
        case [bool(loading), int(changes), bool(below)]:
            return loading, changes, below
    return True, -1, False


async def _evaluate(page: Page, script: str) -> object:
    """Return ``None`` while the page navigates to another document."""
    from playwright.async_api import Error

    try:
        return await page.evaluate(script)
    except Error as error:
        if page.is_closed() or "crash" in str(error).lower():
            raise
        return None


SNAPSHOT_SCRIPT: Final = """(address, most) => {
  const here = document.baseURI.split('#')[0];
  if (here !== address && !document.querySelector('base[href]') && document.head) {
    const base = document.createElement('base');
    base.href = here;
    document.head.prepend(base);
  }
  const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : '';
  const html = type + (document.documentElement ? document.documentElement.outerHTML : '');
  return html.length > most ? html.length : html;
}"""  # If scripts changed the page's URL, relative links are relative to the new one. A page that is too long is not transferred.
WORLD: Final = "newsportal"


async def page_html(page: Page, address: str, max_chars: int) -> str | int:
    """Return the HTML of ``page``, opened at ``address``, or its length if that exceeds ``max_chars`` (UTF-16 units). Raises Playwright's
    ``Error`` if the page was closed or navigates to another document."""
    from playwright.async_api import Error

    session = await page.context.new_cdp_session(page)
    frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    world = await session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": WORLD})
    options = {"contextId": world["executionContextId"], "returnByValue": True}
    result = await session.send("Runtime.evaluate", {**options, "expression": f"({SNAPSHOT_SCRIPT})({json.dumps(address)}, {max_chars})"})
    value = result["result"].get("value")
    if not isinstance(value, str | int):
        raise Error(result.get("exceptionDetails", {}).get("text") or "the page cannot be read")
    return value
