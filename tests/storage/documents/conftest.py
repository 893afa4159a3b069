"""Databases of documents, on real servers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from servers import Servers

from newsportal.storage.documents.base import Documents
from newsportal.storage.documents.opening import open_documents

sys.path.insert(0, str(Path(__file__).resolve().parent))  # import made_up_tables
from made_up_tables import TABLES

Opening = Callable[[], Documents]


@pytest.fixture(params=["elasticsearch", "mongodb"])
def uri(request: pytest.FixtureRequest, servers: Servers) -> Iterator[str]:
    with servers.database(request.param) as database:
        yield database.uri


@pytest.fixture
def opened(uri: str) -> Iterator[Opening]:
    """Opens the same place each time, as another process does."""
    all_of_them: list[Documents] = []

    def opening() -> Documents:
        all_of_them.append(open_documents(uri, TABLES, migrations={}))
        return all_of_them[-1]

    yield opening
    for documents in all_of_them:
        documents.close()


@pytest.fixture
def documents(opened: Opening) -> Documents:
    return opened()
