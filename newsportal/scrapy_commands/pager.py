"""``scrapy pager``: see ``newsportal pager --help``."""

from newsportal.scrapy_commands import command

Command = command(__name__)
