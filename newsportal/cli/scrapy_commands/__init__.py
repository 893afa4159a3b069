"""Our commands as ``scrapy`` commands, with the same code and the same options.

Scrapy names a command after its module, so each has a file: ``scrapy doctor`` is ``newsportal doctor``.
"""

import argparse

from scrapy.commands import ScrapyCommand


class Passthrough:
    """Passes all arguments to ``newsportal`` with the command's name. Not a ``ScrapyCommand``, which Scrapy would list as a command."""

    requires_project = True
    requires_crawler_process = False

    @property
    def name(self) -> str:
        return type(self).__module__.rpartition(".")[2]

    def syntax(self) -> str:
        return "[arguments of: newsportal " + self.name + "]"

    def short_desc(self) -> str:
        return f"The same as `newsportal {self.name}`"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("-h", "--help", action="store_true", dest="asks_help")
        parser.set_defaults(profile=None)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Ignore Scrapy's own options."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from newsportal import cli

        cli.main([self.name, *(["--help"] if opts.asks_help else []), *args])


def command(module: str) -> type[ScrapyCommand]:
    return type("Command", (Passthrough, ScrapyCommand), {"__module__": module})
