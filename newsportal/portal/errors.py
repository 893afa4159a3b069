"""Error pages: they say what to do, and never show a traceback or the reader's input."""

import logging
from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, RedirectResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match

from newsportal.errors import SearchError, SourcesError, StoreError
from newsportal.portal.access import RETRY_AFTER, ApiError, error_response, http_error_response, is_api_request
from newsportal.portal.access_log import REQUEST_ID_HEADER
from newsportal.portal.context import Visit
from newsportal.portal.desk.article_changes import MovedVersion
from newsportal.portal.guard import SECURITY_HEADERS, refusal_response
from newsportal.portal.preferences import safe_next
from newsportal.portal.render import address, render
from newsportal.portal.request_body import SAFE, Refused, bearer
from newsportal.services.publishing.base import UnknownTarget
from newsportal.sources.editing import NoVersion

log = logging.getLogger(__name__)


def error_page(request: Request, status: int, texts: tuple[str, str] | None = None) -> Response:
    """Return the page for ``status`` in the reader's language; ``texts`` replaces its heading and advice."""
    say = Visit(request).say
    pages = {
        400: (say("The request could not be understood"), say("The data sent is invalid. Please go back and try again.")),
        403: (say("You do not have permission"), say("Your account lacks the right to do this. An administrator can change your role.")),
        404: (say("Page not found"), say("It may have been deleted or folded into another story, or the URL is wrong.")),
        405: (say("This URL is read-only"), say("It accepts no data.")),
        429: (say("Too many requests"), say("Please wait a minute, then load the page again.")),
        503: (say("The store is busy"), say("It is unavailable or locked at the moment. Please load the page again in a few seconds.")),
    }
    broken = (say("Something went wrong"), say("It is not your fault. The portal's log has the details."))
    heading, advice = texts or pages.get(status, broken)
    response = render(request, "error.html", status, status_code=status, heading=heading, advice=advice)
    if status in RETRY_AFTER:
        response.headers["retry-after"] = RETRY_AFTER[status]
    return response


def on_http(request: Request, error: Exception) -> Response:
    if isinstance(error, MovedVersion):
        return RedirectResponse(error.location, 303)
    if isinstance(error, Refused):  # of a body that a page reads in parts
        return refusal_response(request.scope, error)
    if is_api_request(request) or bearer(request.headers) is not None:
        return http_error_response(error)
    status = error.status_code if isinstance(error, HTTPException) else 404
    if status == 401:
        form = request.headers.get("referer", "").partition(request.url.netloc)[2]  # the page whose form was sent
        back = {"next": Visit(request).current_url} if request.method in SAFE else {"next": safe_next(form), "ended": "1"}
        return RedirectResponse(address("/login", **back), 303)
    if status == 405 and request.method in SAFE and "text/html" in request.headers.get("accept", ""):
        # a change of language, or Enter in the address bar, after a form with mistakes
        return RedirectResponse(page_above(request), 303)
    return error_page(request, status)


def page_above(request: Request) -> str:
    """Return the nearest path above this one that can be read: ``/topics`` for ``/topics/save``."""
    path = request.scope["path"].rpartition("/")[0]
    while path and not any(route.matches({**request.scope, "path": path})[0] is Match.FULL for route in request.app.routes):
        path = path.rpartition("/")[0]
    return quote(path or "/")


def on_store(request: Request, error: Exception) -> Response:
    log.warning("the store does not respond: %s", error)
    request.state.signed = None  # the error page must not read the accounts: they may be unavailable, too
    return error_response(503) if is_api_request(request) else error_page(request, 503)


def on_search(request: Request, error: Exception) -> Response:
    log.warning("search does not respond: %s", error)
    say = Visit(request).say
    unavailable = ApiError(503, "search-unavailable", "Search is unavailable at the moment.", "Try again in a minute.")
    texts = say("Search is unavailable"), say("The search server is not responding; everything else works. Please try again in a minute.")
    return error_response(503, error=unavailable) if is_api_request(request) else error_page(request, 503, texts)


def on_sources(request: Request, error: Exception) -> Response:
    """Handle errors in ``sources.yaml``, changed by hand, on pages that read the file itself."""
    say, broken = Visit(request).say, ApiError(409, "sources-invalid", str(error), "Fix the file, then try again.")
    texts = say("sources.yaml has mistakes"), say("It was changed outside of the portal. The desk shows the errors; fix them first.")
    return error_response(409, error=broken) if is_api_request(request) else error_page(request, 409, texts)


def on_crash(request: Request, error: Exception) -> Response:
    """Handle any other exception: log it. Runs outside of every middleware, so it adds the security headers and the request id."""
    request.state.signed = None
    try:
        response: Response = error_response(500) if is_api_request(request) else error_page(request, 500)
    except Exception:  # rendering the page is what failed
        log.exception("the error page cannot be rendered")
        response = PlainTextResponse("Something went wrong. The log of the portal says what happened.\n", 500)
    response.headers.update({**SECURITY_HEADERS, REQUEST_ID_HEADER: request.state.request_id})
    return response


def add_to(app: FastAPI) -> None:
    for kind in (HTTPException, RequestValidationError, UnknownTarget, NoVersion, Refused):
        app.add_exception_handler(kind, on_http)
    app.add_exception_handler(StoreError, on_store)
    app.add_exception_handler(SearchError, on_search)
    app.add_exception_handler(SourcesError, on_sources)
    app.add_exception_handler(Exception, on_crash)
