"""``scrapy links``: see ``newsportal links --help``."""

from newsportal.cli.scrapy_commands import command

Command = command(__name__)
