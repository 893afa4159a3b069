"""``newsportal mcp``: the portal for an assistant on this machine, over standard input and output."""

from __future__ import annotations

import asyncio
from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated

import typer

from newsportal.cli.options import SourcesFile, open_record
from newsportal.errors import NewsportalError
from newsportal.portal.app import create_app
from newsportal.portal.background import Follower
from newsportal.search import open_index
from newsportal.services.accounts import open_accounts

Token = Annotated[
    str | None,
    typer.Option(
        envvar="NEWSPORTAL_TOKEN",
        help="A token of `token add`; without: reading only.",
        show_envvar=True,
    ),
]


def mcp(token: Token = None, sources: SourcesFile = None) -> None:
    """Serve an assistant over standard input and output (MCP), until its end. Needs newsportal[mcp]."""
    try:
        from newsportal.portal.mcp.calling import Caller
        from newsportal.portal.mcp.server import serve_stdio
    except ImportError as error:
        raise NewsportalError("the MCP server needs a package that is not installed: pip install 'newsportal[mcp]'") from error
    with (
        open_record(sources, create=True) as (found, store),
        closing(open_index(found.index_uri)) as index,
        closing(open_accounts(found.accounts_uri)) as accounts,
    ):
        if token is not None and accounts.tokens.signed(token, now=datetime.now(UTC)) is None:
            raise NewsportalError(
                "the token does not count any more, or never did: make one with `newsportal token add NAME assistant --right edit`"
            )
        app = create_app(store, index, found, accounts)
        follower = Follower(index, store)
        follower.start()
        try:
            asyncio.run(serve_stdio(Caller(app, token, "", app.state.portal.site.url or "")))
        finally:
            follower.stop()
            app.state.jobs.stop()
            app.state.portal.stop()
