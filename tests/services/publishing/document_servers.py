"""MongoDB and Elasticsearch as targets, read directly through their drivers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pymongo
from elasticsearch import Elasticsearch


@dataclass
class Mongo:
    """``uri``: an empty database."""

    uri: str

    def __post_init__(self) -> None:
        self.client: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(self.uri, tz_aware=True)
        self.articles = self.client.get_default_database()["articles"]

    def target(self, uri: str | None = None, **keys: str) -> str:
        return target_of(uri or self.uri, **keys)

    def found(self) -> dict[str, dict[str, Any]]:
        """Return documents by id."""
        return {document["_id"]: document for document in self.articles.find()}

    def words(self, *words: str) -> list[str]:
        return sorted(document["_id"] for document in self.articles.find({"words": {"$all": list(words)}}))

    def close(self) -> None:
        self.client.close()


@dataclass
class Elastic:
    """``uri``: an index that does not exist yet."""

    uri: str

    def __post_init__(self) -> None:
        parts = urlsplit(self.uri)
        self.index = parts.path.strip("/")
        self.client = Elasticsearch(f"http://{parts.hostname}:{parts.port}")

    def target(self, uri: str | None = None, **keys: str) -> str:
        return target_of(uri or self.uri, **keys)

    def search(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        self.client.indices.refresh(index=self.index, ignore_unavailable=True)
        response = self.client.search(index=self.index, query=query, size=9_000, version=True, ignore_unavailable=True)
        return [{**hit["_source"], "version": hit["_version"]} for hit in response["hits"]["hits"]]

    def found(self) -> dict[str, dict[str, Any]]:
        """Return documents by id."""
        return {document["id"]: document for document in self.search({"match_all": {}})}

    def words(self, *words: str) -> list[str]:
        query = {"match": {"words": {"query": " ".join(words), "operator": "and"}}}
        return sorted(document["id"] for document in self.search(query))

    def close(self) -> None:
        self.client.close()


DocumentServer = Mongo | Elastic


def target_of(uri: str, **keys: str) -> str:
    """Return an entry under ``publish`` of sources.yaml."""
    return f"- name: docs\n  to: {uri}\n" + "".join(f"  {name}: {value}\n" for name, value in keys.items())
