"""Secrets that we make: drawn at random, handed out once, kept as a digest.

They have 256 bits, so a fast digest is enough (a password has few, and gets Argon2).
"""

from __future__ import annotations

import secrets
from hashlib import sha256

SECRET_BYTES = 32

ID_BYTES = 10  # twenty characters

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Without those that are taken for one another when a password is typed from a screen: i, l, o, 0, 1."""

PASSWORD_CHARS = 20
"""31 letters each: 99 bits."""


def drawn() -> str:
    return secrets.token_urlsafe(SECRET_BYTES)


def drawn_id() -> str:
    return secrets.token_hex(ID_BYTES)


def drawn_password() -> str:
    """In groups of five, to be read and typed."""
    letters = "".join(secrets.choice(LETTERS) for _ in range(PASSWORD_CHARS))
    return "-".join(letters[place : place + 5] for place in range(0, PASSWORD_CHARS, 5))


def digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
