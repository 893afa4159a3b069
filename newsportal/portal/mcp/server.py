"""The MCP server of the official SDK with the portal's tools, over standard input and output or for one request of HTTP."""

from __future__ import annotations

from functools import cache
from typing import Final

from mcp.server import MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import ToolAnnotations
from starlette.types import Receive, Scope, Send

from newsportal import __version__
from newsportal.portal.mcp import tools as all_tools
from newsportal.portal.mcp.calling import CALLER, Caller

INSTRUCTIONS: Final = (
    "A topic news portal: stories of many sites, each once, classified and searchable, Chinese first. Name stories with their links. "
    f"Change something only when the person asks for it, after a preview where there is one. {all_tools.RULE}"
)
DESTRUCTIVE: Final = ("fold", "unfold", "publish", "categorise")
ABROAD: Final = ("look_at_address", "add_source", "publish")  # what reaches other sites


@cache
def tools() -> tuple[Tool, ...]:
    """Made once a process: their schemas come from the signatures."""
    made = []
    for function in (*all_tools.READING, *all_tools.EDITING):
        name = function.__name__
        notes = ToolAnnotations(
            read_only_hint=function in all_tools.READING or name == "look_at_address", destructive_hint=name in DESTRUCTIVE,
            open_world_hint=name in ABROAD,
        )  # fmt: skip
        made.append(Tool.from_function(function, annotations=notes))
    return tuple(made)


def server() -> MCPServer:
    return MCPServer("newsportal", version=__version__, instructions=INSTRUCTIONS, tools=list(tools()), log_level="WARNING")


async def serve_stdio(caller: Caller) -> None:
    """Until standard input ends."""
    CALLER.set(caller)
    await server().run_stdio_async()


async def exchange(caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one request of streamable HTTP. No session is kept: each request brings its token, and any process may answer the next."""
    CALLER.set(caller)
    made = server()
    guarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # the portal's guard has looked at the host
    app = made.streamable_http_app(streamable_http_path=scope["path"], json_response=True, stateless_http=True, transport_security=guarded)
    async with made.session_manager.run():
        await app(scope, receive, send)
