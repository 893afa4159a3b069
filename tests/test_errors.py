"""Errors are picklable: pools of processes and Spark hand them to their caller."""

from __future__ import annotations

import pickle

import pytest

from newsportal.errors import (
    AccountError,
    DependencyMissing,
    EngineBlocked,
    NewsportalError,
    NotApplicable,
    Redirected,
    RenderFailed,
    SourcesError,
)

ERRORS = [
    NotApplicable("no-body", "0 characters"),
    EngineBlocked("captcha", 60),
    Redirected("https://a.example/", "https://b.example/"),
    RenderFailed("https://a.example/", "render-timeout", transient=False),
    AccountError("taken", name="小王"),
    SourcesError([]),
    DependencyMissing("Parquet", "parquet"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_pickled_error_keeps_sentence_and_attributes(error: NewsportalError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))
    assert str(copy.message) == str(error.message)
