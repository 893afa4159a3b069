"""The command line: ``newsportal COMMAND``. One module a command in ``newsportal/commands/``; each registers itself."""

from __future__ import annotations

import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from newsportal import __version__
from newsportal.errors import EgressDenied, NewsportalError

COMMANDS = (
    "up",
    "crawl",
    "worker",
    "serve",
    "search",
    "index",
    "story",
    "photos",
    "pictures",
    "source",
    "topic",
    "category",
    "extract",
    "templates",
    "results",
    "links",
    "pager",
    "gallery",
    "posts",
    "dedup",
    "corpus",
    "train",
    "classify",
    "keywords",
    "model",
    "retrain",
    "recommend",
    "publish",
    "unpublish",
    "export",
    "import",
    "store",
    "backup",
    "restore",
    "user",
    "token",
    "alert",
    "evaluate",
    "schedule",
    "deploy",
    "frontier",
    "doctor",
)
"""In the order of ``--help``: what an editor needs first."""

MODULES = {"import": "importing"}
"""Commands whose names no module can have."""

REFUSED = "; only public http(s) addresses are, and those that politeness.allow_private in sources.yaml lists"
"""What an editor can do about an address that the guard refuses."""


class Commands(TyperGroup):
    """Loads a command's module when it is asked for: ``newsportal search`` need not wait for the portal's or the crawl's libraries."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        names: dict[str, Any] = dict.fromkeys(COMMANDS)
        self.commands = names  # for "Did you mean ...?"

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        part = typer.Typer(rich_markup_mode="rich")
        import_module(f"newsportal.commands.{MODULES.get(cmd_name, cmd_name)}").register(part)
        return typer.main.get_group(part).commands[cmd_name]


app = typer.Typer(
    name="newsportal",
    cls=Commands,
    help="Name your topics and sources in sources.yaml; a minute later you have your own topic news portal.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"newsportal {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")] = False,
) -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """The entry point: errors of ours are told in one line, without a traceback, with exit status 1."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal of another encoding (GBK) must not end a command
    try:
        app(arguments)
    except NewsportalError as error:
        said = f"not fetched: {error}{REFUSED}" if isinstance(error, EgressDenied) else str(error)
        Console(stderr=True, emoji=False).print(said, style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(141)  # like a program ended by SIGPIPE: the reader (head, less) went away


if __name__ == "__main__":
    main()
