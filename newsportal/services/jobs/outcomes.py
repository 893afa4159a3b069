"""What crawls brought, as data: from their run reports in the store."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final

from newsportal.report import Run, reasons, together
from newsportal.services.jobs.base import Job
from newsportal.store.store import Store

RUNS: Final = 500
"""Run reports among which those of jobs are looked for: as many as jobs are recorded."""

LATEST: Final = 100
"""Run reports among which those of jobs that ended just now are looked for first."""

REASONS: Final = 50
"""Lines on failing sources that an outcome holds."""


def job_of(run: Run) -> str:
    """The id of the job whose run it was: ``20260305-083000-JOB-rss``."""
    return run.id.split("-", 2)[-1].rsplit("-", 1)[0]


def reports(store: Store, ids: Collection[str] | None = None) -> dict[str, Run]:
    """The run reports by the ids of their jobs, those of several spiders of one job as one. ``ids``: of these. Raises ``StoreError``."""
    found: dict[str, list[Run]] = {}
    for limit in (LATEST, RUNS) if ids is not None else (RUNS,):
        runs = store.runs(limit)
        found = {}
        for run in reversed(runs):
            found.setdefault(job_of(run), []).append(run)
        if ids is None or set(ids) <= found.keys() or len(runs) < limit:
            break
    return {id: together(runs) for id, runs in found.items() if ids is None or id in ids}


def outcome_of(run: Run) -> dict[str, Any]:
    """A run as the outcome of its job."""
    total = run.total
    counts = {name: getattr(total, name) for name in ("stored", "folded", "known", "failures", "left")}
    lists = {"list_failures": sum(total.list_failed.values()), "sources": len(run.sources), "reasons": reasons(run)[:REASONS]}
    return {"run": run.id, "reason": run.reason, "finished": run.ended is not None, **counts, **lists}


def with_outcome(job: Job, run: Run | None) -> Job:
    """A crawl with what its report says; as it is where there is none."""
    return job if run is None else replace(job, outcome=(outcome_of(run),), ended=job.ended or (None if job.active else run.ended))
