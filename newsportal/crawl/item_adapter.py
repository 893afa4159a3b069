"""What ``itemadapter``, feed exports and other people's pipelines see of our items: their public fields, and fields that can be set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Final

from itemadapter import ItemAdapter
from itemadapter.adapter import AdapterInterface

from newsportal.items import Article, Gallery, Thread

INTERNAL: Final = frozenset(
    "link page identity keys decision wrapped extraction topic_marks canonical later listed last_page looked weight failure".split()
)
"""What the stages need of an item, and nobody else."""


class NewsItemAdapter(AdapterInterface):
    """Articles, threads and photo stories. Our own stages replace them, for they are frozen; here a field is set in place.

    ``source`` names the source; ``image_urls`` is what Scrapy's ``ImagesPipeline`` downloads.
    """

    @classmethod
    def is_item_class(cls, item_class: type) -> bool:
        return issubclass(item_class, (Article, Thread, Gallery))

    @classmethod
    def get_field_names_from_class(cls, item_class: type) -> list[str]:
        return [*fields_of(item_class), "source", "image_urls"]

    def __getitem__(self, name: str) -> Any:
        if name == "source":
            return self.item.link.source
        if name == "image_urls":
            return [image.url for image in getattr(self.item, "images", ()) if image.dropped is None]
        if name not in fields_of(type(self.item)):
            raise KeyError(name)
        return getattr(self.item, name)

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in fields_of(type(self.item)):
            raise KeyError(f"{type(self.item).__name__} has no field {name!r} that can be set")
        object.__setattr__(self.item, name, value)

    def __delitem__(self, name: str) -> None:
        raise KeyError(f"fields of {type(self.item).__name__} cannot be deleted: {name!r}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.get_field_names_from_class(type(self.item)))

    def __len__(self) -> int:
        return len(self.get_field_names_from_class(type(self.item)))


def fields_of(item_class: type) -> list[str]:
    """The public fields of the class itself."""
    return [field.name for field in fields(item_class) if field.name not in INTERNAL]


def register() -> None:
    """Let ``itemadapter`` know our items; may be called again."""
    if NewsItemAdapter not in ItemAdapter.ADAPTER_CLASSES:
        ItemAdapter.ADAPTER_CLASSES = (NewsItemAdapter, *ItemAdapter.ADAPTER_CLASSES)
