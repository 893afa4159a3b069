"""Alerts: messages about a topic, a search, a story or failing sources, each sent once, to the channel and at the time chosen by its owner.

``matching`` finds the stories of an alert, ``run`` follows the store's change log and sends what is due, ``services`` describes the
channels and delivers a message, ``opening`` has the sending thread and the preview of what would have been sent.
"""

from newsportal.services.accounts.alerts import Alert as Alert
from newsportal.services.accounts.alerts import Message as Message
