"""Documents kept aside in a temporary file until the last of them has come: files may be long and standard input slow, and who waited for
them inside a write transaction would keep all other writers waiting, crawls too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile

from newsportal.errors import StoreUnavailable
from newsportal.store.labels import NewDocument


@contextmanager
def spooled(documents: Iterable[NewDocument]) -> Iterator[Iterator[NewDocument]]:
    """``documents``, when all of them have been read. What they raise on the way comes through; ``StoreUnavailable``: no room for them."""
    try:
        with TemporaryFile("w+", encoding="utf-8", errors="surrogatepass", newline="\n") as file:
            file.writelines(map(_line, documents))
            file.seek(0)
            yield (NewDocument(*json.loads(line)) for line in file)
    except OSError as error:
        why = error.strerror or error
        raise StoreUnavailable(f"a temporary file cannot be written ({why}); make room, or name another folder in TMPDIR") from error


def _line(document: NewDocument) -> str:
    fields = (document.label, document.text, document.title, document.name, document.article_id)
    return json.dumps(fields, ensure_ascii=False) + "\n"
