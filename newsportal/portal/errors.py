"""What a reader sees when something is missing or broken: a page that says what to do, never a trace and never his own input."""

from __future__ import annotations

import logging
from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, RedirectResponse
from starlette.exceptions import HTTPException

from newsportal.errors import SearchError, SourcesError, StoreError
from newsportal.portal import api_errors
from newsportal.portal.access import bearer
from newsportal.portal.api_errors import ApiError
from newsportal.portal.context import Visit
from newsportal.portal.desk.article_changes import MovedVersion
from newsportal.portal.guard import SECURITY_HEADERS, refused
from newsportal.portal.render import render
from newsportal.portal.request_body import SAFE, Refused

log = logging.getLogger(__name__)

RETRY_AFTER = "10"  # seconds: a locked store is free again by then


def page(request: Request, status: int, own: tuple[str, str] | None = None) -> Response:
    """The page for ``status`` in the reader's language; ``own``: a heading and an advice of its own."""
    said = Visit(request).clock.words.gettext
    told = {
        400: (said("That could not be understood"), said("What was sent has a mistake. Please go back and try again.")),
        403: (said("This is not for you"), said("Your account may not do this. An administrator can give it another role.")),
        404: (said("There is no such page"), said("The story may have been folded into another, or the address has a mistake.")),
        405: (said("This address only shows pages"), said("It cannot be sent anything.")),
        503: (said("The store is busy"), said("It is away or locked for the moment. Please load the page again in some seconds.")),
    }
    broken = (said("Something went wrong"), said("It is not your fault. The log of the portal says what happened."))
    heading, advice = own or told.get(status, broken)
    return render(request, "error.html", status, status_code=status, heading=heading, advice=advice)


def on_http(request: Request, error: Exception) -> Response:
    if isinstance(error, MovedVersion):
        return RedirectResponse(error.location, 303)
    if api_errors.of_paths(request) or bearer(request) is not None:
        return api_errors.of_http(error)
    status = error.status_code if isinstance(error, HTTPException) else 404
    if status == 401 and request.method not in SAFE:
        return RedirectResponse("/login", 303)
    if status == 401:
        return RedirectResponse(f"/login?next={quote(Visit(request).here, safe='')}", 303)
    return page(request, status)


def on_refused(request: Request, error: Exception) -> Response:
    """A body that a page reads as it comes turned out too long or too slow."""
    return refused(request.scope, error) if isinstance(error, Refused) else page(request, 400)


def on_store(request: Request, error: Exception) -> Response:
    log.warning("the store does not answer: %s", error)
    request.state.signed = None  # the page that says so asks nothing more of the accounts: they may be what is away
    answer = api_errors.answer(503) if api_errors.of_paths(request) else page(request, 503)
    answer.headers["retry-after"] = RETRY_AFTER
    return answer


def on_search(request: Request, error: Exception) -> Response:
    """Of the pages that cannot do without search."""
    log.warning("search does not answer: %s", error)
    said = Visit(request).clock.words.gettext
    away = ApiError(503, "search-away", "Search is away for the moment.", "Try again in a minute.")
    told = said("Search is away"), said("It does not answer for the moment; everything else works. Please try again in a minute.")
    answer = api_errors.answer(503, error=away) if api_errors.of_paths(request) else page(request, 503, told)
    answer.headers["retry-after"] = RETRY_AFTER
    return answer


def on_sources(request: Request, error: Exception) -> Response:
    """Of what is read out of the file itself: it was changed by hand, and has mistakes."""
    said, broken = Visit(request).clock.words.gettext, ApiError(409, "sources-broken", str(error), "Mend the file, then try again.")
    told = said("sources.yaml has mistakes"), said("It was changed outside of the portal. The desk says what is wrong; mend that first.")
    return api_errors.answer(409, error=broken) if api_errors.of_paths(request) else page(request, 409, told)


def on_crash(request: Request, error: Exception) -> Response:
    """Runs outside of every middleware, so it brings the security headers along. The trace goes to the log."""
    request.state.signed = None
    try:
        answer: Response = api_errors.answer(500) if api_errors.of_paths(request) else page(request, 500)
    except Exception:  # the page itself is what is broken
        log.exception("the error page cannot be shown")
        answer = PlainTextResponse("Something went wrong. The log of the portal says what happened.\n", 500)
    answer.headers.update(SECURITY_HEADERS)
    return answer


def add_to(app: FastAPI) -> None:
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(RequestValidationError, on_http)
    app.add_exception_handler(StoreError, on_store)
    app.add_exception_handler(SearchError, on_search)
    app.add_exception_handler(SourcesError, on_sources)
    app.add_exception_handler(Refused, on_refused)
    app.add_exception_handler(Exception, on_crash)
