"""``scrapy extract``: see ``newsportal extract --help``."""

from newsportal.scrapy_commands import command

Command = command(__name__)
