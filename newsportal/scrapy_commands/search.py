"""``scrapy search``: see ``newsportal search --help``."""

from newsportal.scrapy_commands import command

Command = command(__name__)
