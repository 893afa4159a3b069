"""Roles, rights and what is wrong with an account, in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from gettext import NullTranslations

from newsportal.accounts import Right, Role
from newsportal.errors import AccountError
from newsportal.portal.language import _

ROLES: Mapping[Role, str] = {Role.READER: _("reader"), Role.EDITOR: _("editor"), Role.ADMIN: _("administrator")}

RIGHTS: Mapping[Right, str] = {
    Right.READ: _("read and search"),
    Right.KEEP: _("keep marks, searches and alerts"),
    Right.WATCH: _("watch sources, runs and queues"),
    Right.EDIT: _("change sources, topics, articles and models"),
    Right.ADMINISTER: _("look after people"),
}

MISTAKES: Mapping[str, str] = {
    "name": _("A name has up to 64 letters or digits, and . @ + - _ between them."),
    "taken": _("This name is taken: choose another."),
    "password": _("A password has 10 to 1000 characters."),
    "last": _("Nobody else is an administrator: make somebody one first."),
    "token-name": _("Say what the token is for."),
    "token-rights": _("Choose what the token may: one right or more, none that you do not have."),
    "token-expires": _("A token ends in the future."),
    "token-many": _("You have 50 tokens: revoke those that nobody uses."),
}
"""``AccountError.code`` -> what is wrong and what to do."""


def roles(words: NullTranslations) -> dict[Role, str]:
    return {role: words.gettext(name) for role, name in ROLES.items()}


def rights(words: NullTranslations) -> dict[Right, str]:
    return {right: words.gettext(name) for right, name in RIGHTS.items()}


def mistake(error: AccountError, words: NullTranslations) -> str:
    return words.gettext(MISTAKES[error.code]) if error.code in MISTAKES else str(error)
