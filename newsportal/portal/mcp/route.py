"""``POST /mcp``: streamable HTTP for assistants that connect over the network, with a token."""

from fastapi import APIRouter, Depends, Request, Response
from starlette.types import Receive, Scope, Send

from newsportal.portal.access import READ, ApiError, error_response, identity_of
from newsportal.portal.readers.greader import limit_rate
from newsportal.portal.reading.feeds import base_address
from newsportal.portal.request_body import bearer

PATH = "/mcp"
MISSING = "pip install 'newsportal[mcp]'"

router = APIRouter(dependencies=[*READ, Depends(limit_rate)])


class _Exchange(Response):
    """The response of the SDK."""

    def __init__(self, request: Request) -> None:
        super().__init__()
        self._request = request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from newsportal.portal.mcp.calling import Caller
        from newsportal.portal.mcp.tools import exchange

        request = self._request
        address = request.client.host if request.client else ""
        await exchange(Caller(request.app, bearer(request.headers), address, base_address(request)), scope, receive, send)


@router.post(PATH)
def mcp(request: Request) -> Response:
    """Each tool checks its own right. A token is required, even where reading is public."""
    if bearer(request.headers) is None or identity_of(request) is None:
        return error_response(401)
    try:
        import mcp as sdk  # noqa: F401 - an extra
    except ImportError:
        away = ApiError(503, "not-installed", "The MCP server needs a package that is not installed.", MISSING)
        return error_response(503, error=away)
    return _Exchange(request)
