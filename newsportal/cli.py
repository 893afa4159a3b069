"""The command line: ``newsportal COMMAND``. One module a command in ``newsportal/commands/``; each registers itself."""

from __future__ import annotations

import sys
from importlib import import_module

import typer
from rich.console import Console

from newsportal import __version__
from newsportal.errors import NewsportalError

COMMANDS = ("up", "crawl", "serve", "search", "source", "extract", "results", "links", "export", "evaluate", "doctor")
"""In the order of ``--help``: what an editor needs first."""

app = typer.Typer(
    name="newsportal",
    help="Name your topics and sources in sources.yaml; a minute later you have your own topic news portal.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=True,
    rich_markup_mode="rich",
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"newsportal {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version and exit."),
) -> None:
    pass


for _name in COMMANDS:
    import_module(f"newsportal.commands.{_name}").register(app)


def main(arguments: list[str] | None = None) -> None:
    """The entry point: errors of ours are told in one line, without a traceback, with exit status 1."""
    try:
        app(arguments)
    except NewsportalError as error:
        Console(stderr=True).print(str(error), style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(141)  # like a program ended by SIGPIPE: the reader (head, less) went away


if __name__ == "__main__":
    main()
