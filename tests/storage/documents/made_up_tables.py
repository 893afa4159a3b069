"""Tables of the tests."""

from __future__ import annotations

from newsportal.storage.documents.base import Table
from newsportal.storage.documents.pieces import PIECES

ROWS = Table(
    "rows",
    {"id": "key", "word": "key", "words": "keys", "number": "number", "real": "float", "flag": "flag"},
    (("number", "-real"), ("words",), ("-word",)),
    binary=frozenset({"data"}),
)
OTHERS = Table("others", {"id": "key", "number": "number"}, (("number",),))

TABLES = (ROWS, OTHERS, PIECES)
