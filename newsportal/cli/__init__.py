"""The command line: ``newsportal COMMAND``. Most commands are a module of ``newsportal/cli/``."""

import gc
import os
import sys
from collections.abc import Mapping
from errno import EDQUOT, EFBIG, ENOSPC
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from typer.core import TyperCommand, TyperGroup

from newsportal import __version__
from newsportal.errors import EgressDenied, NewsportalError, Unfetched
from newsportal.messages import set_zone
from newsportal.services.jobs.base import in_job, run_as_job

GC_THRESHOLDS: Final = (5_000, 5, 5)
"""Of the garbage collector: new objects between two collections, and collections between two of older generations."""

GROUPS: Final[Mapping[str, Mapping[str, str]]] = {
    "Daily": {
        "up": "Serve the portal and keep it up to date.",
        "crawl": "Crawl the sources of sources.yaml and print the run report.",
        "serve": "Serve the portal.",
        "mcp": "Serve the portal to an AI assistant over standard input and output.",
        "search": "Search the stored articles, threads and photo stories.",
        "doctor": "Check the installation, sources.yaml, store, index, queue and network.",
    },
    "Sources": {
        "source": "List, check, test, add, change and schedule sources.",
        "topic": "Preview topics and apply them to stored articles.",
        "category": "List categories and change them in sources.yaml.",
        "gallery": "Read one photo story from its URL.",
    },
    "Articles": {
        "story": "Show a story and its versions; fold and unfold versions.",
        "event": "List, rebuild, name, pin, split and join events.",
        "photos": "List photo stories with their pages and missing pages.",
        "pictures": "List frequent pictures and show the state of the picture cache.",
        "publish": "Publish new articles to the targets of sources.yaml.",
        "unpublish": "Withdraw articles from the targets.",
        "briefing": "Sum up a day's events in sentences of their articles.",
        "rising": "Show words, names and events in more stories than usual.",
        "boards": "Show hot lists, with the rank and duration of each entry.",
        "export": "Write articles to JSON lines, CSV, Parquet or WARC.",
        "import": "Store articles from JSON lines, CSV, Parquet or WARC.",
        "process": "Make articles of the pages in WARC archives, here or on Spark.",
        "corpus": "Import, correct, list and export sets of labelled texts.",
        "model": "List, compare, activate and delete trained models.",
        "retrain": "Train the models of categories and topics again.",
        "recommend": "Fit and inspect recommendations.",
        "alert": "List, preview, test and send alerts.",
        "assistant": "Check the configured language model.",
    },
    "Operations": {
        "worker": "Crawl due sources, together with other workers, until stopped.",
        "schedule": "Run due visits as jobs on this machine or in a scrapyd.",
        "deploy": "Send the project to a scrapyd.",
        "frontier": "Show and repair the queue of requests.",
        "prune": "Delete data older than sources.yaml allows.",
        "store": "Show, check and copy the store.",
        "index": "Show and rebuild the search index.",
        "backup": "Write a store and sources.yaml to one file.",
        "restore": "Read a backup into an empty store.",
        "user": "Manage the users of the portal.",
        "token": "Manage access tokens of the API, feeds and metrics.",
    },
    "Lab": {
        "extract": "Extract the article of pages: title, text, date, author, pictures.",
        "posts": "Extract the posts of saved forum threads.",
        "results": "Extract the results of saved search result pages.",
        "links": "Classify the links of saved list pages.",
        "pager": "Find the further pages of saved articles.",
        "templates": "Learn and inspect page templates of a site.",
        "dedup": "Find reposts among documents.",
        "events": "Group documents into events.",
        "keywords": "Find the keywords of texts.",
        "train": "Train a classifier on labelled texts.",
        "classify": "Classify texts with a trained model.",
        "evaluate": "Score algorithms on your own gold data.",
    },
}  # group of ``--help`` -> command -> its description in one line: ``--help`` imports no command

COMMANDS: Final = {name: group for group, names in GROUPS.items() for name in names}

MODULES = {
    "assistant": "newsportal.cli.doctor:assistant_group",
    "category": "newsportal.cli.topic:category_group",
    "export": "newsportal.cli.exchange:export",
    "import": "newsportal.cli.exchange:import_files",
    "index": "newsportal.cli.store:index_group",
    "mcp": "newsportal.cli.serve:mcp",
    "photos": "newsportal.cli.pictures:photos",
    **{name: f"newsportal.cli.compilations:{name}" for name in ("boards", "briefing", "rising")},
    **{name: f"newsportal.cli.model:{name}" for name in ("retrain", "train")},
    **{name: f"newsportal.cli.store:{name}" for name in ("backup", "prune", "restore")},
    "token": "newsportal.cli.user:token_group",
    "unpublish": "newsportal.cli.publish:unpublish",
    **{name: f"newsportal_lab.{name}" for name in ("classify", "dedup", "evaluate", "events", "keywords", "templates")},
    **{name: f"newsportal_lab.page_readers:{name}" for name in ("links", "pager", "posts", "results")},
}
"""Command -> module:function, unless it is ``group`` or the function of its name in the module of its name here. The lab is a separate
package, which no other code loads."""

REFUSED = "; allowed are public http(s) URLs and those listed under politeness.allow_private in sources.yaml"
"""Advice to an editor for a URL that the egress guard refuses."""


class Commands(TyperGroup):
    """Imports a command's module on demand: ``newsportal search`` need not load the libraries of the portal or the crawl."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {
            name: TyperCommand(name, help=GROUPS[group][name], rich_help_panel=group) for name, group in COMMANDS.items()
        }  # for listing, not for running
        self._listing = False

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self._listing = True
        super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        self._listing = True
        return super().shell_complete(ctx, incomplete)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if self._listing or cmd_name not in COMMANDS:
            return self.commands.get(cmd_name)
        wrapper = typer.Typer(rich_markup_mode="rich")
        name, _, function = MODULES.get(cmd_name, f"newsportal.cli.{cmd_name}").partition(":")
        if name not in sys.modules:
            gc.disable()  # imported objects are permanent: collecting among them takes a fifth of the start, and time later on
            try:
                import_module(name)
            finally:
                gc.freeze()
                gc.set_threshold(*GC_THRESHOLDS)
                gc.enable()
        module = sys.modules[name]
        found = getattr(module, function or ("group" if hasattr(module, "group") else cmd_name))
        if isinstance(found, typer.Typer):
            wrapper.add_typer(found, name=cmd_name)
        else:
            wrapper.command(cmd_name)(found)
        return typer.main.get_group(wrapper).commands[cmd_name]


app = typer.Typer(
    name="newsportal",
    cls=Commands,
    help="Name your topics and sources in sources.yaml; a minute later you have your own topic news portal.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"newsportal {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")] = False,
    env_file: Annotated[
        Path | None, typer.Option(envvar="NEWSPORTAL_ENV_FILE", help="Set the variables of this file that are not set: lines NAME=value.")
    ] = None,
) -> None:
    if env_file is not None:
        from newsportal.cli.options import load_environment  # --help imports nothing of this package

        load_environment(env_file)
    context.call_on_close(lambda: set_zone(None))


def main(arguments: list[str] | None = None) -> None:
    """Run the command line. Our own errors are printed as one line, without a traceback, with exit status 1."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # characters missing from the terminal's encoding (GBK) must not end a command
    if in_job():
        run_as_job(lambda: app(arguments, standalone_mode=False))
        return
    try:
        app(arguments)
    except NewsportalError as error:
        sentence = f"{error.message} ({error.detail or error.reason})" if isinstance(error, Unfetched) else str(error)
        sentence += REFUSED if isinstance(error, EgressDenied) else ""
        Console(stderr=True, emoji=False).print(sentence, style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)
    except OSError as error:
        if error.filename is None and error.errno not in (ENOSPC, EDQUOT, EFBIG):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else what is buffered fails again at exit
        sys.exit(f"{error.filename or 'standard output'}: {error.strerror}")
