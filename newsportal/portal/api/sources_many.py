"""Several sources at once: the same change of all."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from newsportal.accounts import Right
from newsportal.portal.access import needs
from newsportal.portal.api.changing import changed
from newsportal.portal.api.faults import told_of
from newsportal.portal.source_file import entry, path_of
from newsportal.sources.many import Way, change_many

router = APIRouter(tags=["Sources"], dependencies=[needs(Right.EDIT)], responses=told_of(404))


class Many(BaseModel):
    keys: list[str] = Field(min_length=1, max_length=10_000)
    do: Way
    interval: float | None = Field(None, gt=0, description="With interval: minutes between visits; null: the schedule decides.")


class ManyWritten(BaseModel):
    number: int = Field(description="Sources that were named.")
    file: str
    changed: bool = Field(description="False: it said so before.")


@router.post("/sources/many", summary="The same change of several sources, whole or not at all", responses=told_of(409))
def many(request: Request, told: Many) -> ManyWritten:
    chosen = [entry(request, key).source for key in dict.fromkeys(told.keys)]
    change = change_many(told.do, chosen, told.interval)
    details = {"sources": told.keys, "interval": told.interval}
    done = changed(request, change, f"sources.{told.do}", ", ".join(told.keys)[:500], details)
    return ManyWritten(number=len(chosen), file=str(path_of(request)), changed=done)
