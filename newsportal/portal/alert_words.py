"""What alerts are called in the portal: their services and fields, what they are about, their states, and what can be wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from newsportal.portal.language import _

SERVICES: Final[Mapping[str, str]] = {
    "mail": _("Mail"),
    "wecom": _("WeCom"),
    "feishu": _("Feishu"),
    "dingtalk": _("DingTalk"),
    "telegram": _("Telegram"),
    "ntfy": _("ntfy"),
    "webhook": _("Webhook"),
    "apprise": _("Another service"),
}

ABOUT: Final[Mapping[str, str]] = {
    "topic": _("Topic"),
    "search": _("Search"),
    "sources": _("A source fails"),
    "disk": _("The disk gets full"),
    "crawl": _("No crawl comes to its end"),
}

STATES: Final[Mapping[str, str]] = {
    "waiting": _("waiting"),
    "sending": _("under way"),
    "sent": _("sent"),
    "failed": _("failed"),
    "unknown": _("perhaps sent"),
    "withdrawn": _("left out"),
}

FIELDS: Final = (
    _("Webhook address"), _("As the group's robot shows it."), _("Signing secret"), _("If the robot checks signatures."), _("Bot token"),
    _("BotFather tells it: 123456789:AbC…"), _("Chat"), _("The number of a chat, or @ and the name of a channel."), _("Topic at ntfy"),
    _("Letters, digits, - and _. Whoever knows it can read along."), _("Server"), _("Access token"), _("If the topic is protected."),
    _("Address"), _("It is sent JSON."), _("If given, messages are signed with it."), _("Mail address"), _("Several, with commas between."),
    _("Address for Apprise"), _("Such as matrixs://… or slack://…"),
)  # fmt: skip
"""Labels and hints of ``newsportal.alerts.services``."""

FAULTS: Final = (
    _("Please fill this in."), _("This is too long, or holds a character that cannot be there."),
    _("This is the address of another service."),
    _("This is no key of a robot; paste the address of its webhook as the service shows it."),
    _("This is no token of a bot: digits, a colon, and some 35 characters."), _("A chat is a number, or @ and the name of a channel."),
    _("A topic at ntfy has letters, digits, - and _ alone."), _("This is no address of the Web: https://…"),
    _("This is no mail address: name@example.org"), _("Apprise knows no such address; it lists them at github.com/caronc/apprise."),
    _("You have too many alerts already; delete one first."), _("Choose a topic."), _("Say what is looked for."),
    _("Choose what it is about."), _("Choose where it goes."), _("Hours of the day, such as 8, 18."),
    _("This portal has no mail server; its operator can name one: alerts.mail_server."), _("Quiet hours have a beginning and an end."),
    _("This number is too small, too large, or none."), _("At most 10 addresses."),
)  # fmt: skip
"""What ``newsportal.alerts`` says of a field that cannot be."""
