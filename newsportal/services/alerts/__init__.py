"""Alerts: who wants to be told of a topic, a search, or trouble is told so, once, where and when he wants.

``run`` follows the store's change log and empties the outbox (``alerts``); ``services`` are the places a message goes
to; ``timing`` says when; ``preview`` what would have been sent.
"""

from __future__ import annotations

from newsportal.services.accounts.alerts import Alert as Alert
from newsportal.services.accounts.alerts import Message as Message
