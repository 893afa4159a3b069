"""``scrapy export``: see ``newsportal export --help``."""

from newsportal.cli.scrapy_commands import command

Command = command(__name__)
