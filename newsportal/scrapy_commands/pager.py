"""``scrapy pager``: see ``newsportal pager --help``."""

from scrapy.commands import ScrapyCommand

from newsportal.scrapy_commands import Passthrough


class Command(Passthrough, ScrapyCommand):
    """The same as ``newsportal pager``."""
