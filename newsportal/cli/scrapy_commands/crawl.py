"""``scrapy crawl`` that rejects invalid arguments before it starts; exit status 1 for a failed crawl, as ``newsportal crawl``."""

import argparse

from scrapy.commands import crawl
from scrapy.crawler import Crawler
from scrapy.exceptions import UsageError
from scrapy.spiders import Spider

from newsportal.errors import NewsportalError


class Command(crawl.Command):
    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        from newsportal.cli.crawl import collect_new_objects

        self._created = super()._create_crawler(spidercls)
        if check := getattr(self._created.spidercls, "check_arguments", None):
            check(self._spider_arguments)
        collect_new_objects()
        return self._created

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from newsportal.cli.crawl import FAILED_REASONS, without_garbage_collection

        self._spider_arguments = opts.spargs
        try:
            with without_garbage_collection():
                super().run(args, opts)
        except NewsportalError as error:
            raise UsageError(str(error), print_help=False) from error
        if self._created.stats.get_value("finish_reason") in FAILED_REASONS:
            self.exitcode = 1
