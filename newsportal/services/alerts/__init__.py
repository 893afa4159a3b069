"""Alerts: messages about a topic, a search, a story or failing sources, each sent once, to the channel and at the time its owner chose.

``matching`` finds what an alert is about, ``run`` follows the store's change log and sends, ``services`` describes the channels,
``sending`` delivers one message, ``preview`` lists what would have been sent.
"""

from __future__ import annotations

from newsportal.services.accounts.alerts import Alert as Alert
from newsportal.services.accounts.alerts import Message as Message
