"""What a store's URI may be called in messages: without its password, however wrongly it is written."""

from __future__ import annotations

import re
from typing import Final

from newsportal.errors import StoreError

USER: Final = re.compile(r"^([^:]*:/*)([^:@/]*).*@", re.DOTALL)
"""Up to the last ``@``: a password that holds ``/`` or ``@`` as they are hides as a whole."""

NO_PORT: Final = re.compile(r"(?<=://)([^/@:\[?]+):(?!\d+(?:[,/?]|$))[^/?]*")
"""A host and what is no port: somebody forgot the host behind a password."""

ESCAPES: Final = "within a user or password write %2F for a slash, %3A for a colon, %40 for an @"


def shown(uri: str) -> str:
    """``uri`` without password and parameters, of which some drivers take secrets too."""
    return NO_PORT.sub(r"\1:***", USER.sub(r"\1\2@", uri)).partition("?")[0]


def no_uri(uri: str, what: str, example: str) -> StoreError:
    """The error of a URI that cannot be read. It repeats no words of the driver, which repeat the URI."""
    return StoreError(f"not a URI of {what}: {shown(uri)} (for example {example}; {ESCAPES})")
