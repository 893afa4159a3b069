"""``scrapy export``: see ``newsportal export --help``."""

from newsportal.scrapy_commands import command

Command = command(__name__)
