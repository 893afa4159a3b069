"""``scrapy shell`` with functions that read the page: ``article()``, ``links()``, ``thread()``, ``gallery()``."""

import argparse
from typing import Any

from scrapy.commands import shell

from newsportal.crawl.addon import read_single_pages


class Command(shell.Command):
    def long_desc(self) -> str:
        return f"{super().long_desc()} article(), links(), thread() and gallery() read the page as a crawl would."

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        assert self.settings is not None
        read_single_pages(self.settings)

    def update_vars(self, vars: dict[str, Any]) -> None:
        from newsportal.extractors.pages import READERS
        from newsportal.spiders.fetcher import page_of

        def reader(name: str) -> Any:
            return lambda: READERS[name](page_of(vars["response"]))

        vars.update({name: reader(name) for name in READERS})
