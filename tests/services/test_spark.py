"""A Spark session: its requirements, and the cause of its failures."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from newsportal.errors import DependencyMissing, SparkFailed
from newsportal.services import spark


def test_missing_java_or_extra_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert not spark.has_java()
    if find_spec("pyspark"):
        with pytest.raises(SparkFailed, match="apt install openjdk"), spark.session("local[1]", "process"):
            pass
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(DependencyMissing, match=r"^process --spark.*\[spark\]"), spark.session("local[1]", "process"):
        pass


def test_cause_is_extracted_from_spark_errors() -> None:
    trace = (
        "An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.\n"
        ': org.apache.spark.SparkException: Job aborted\nTraceback (most recent call last):\n  File "x.py"\n'
        "newsportal.errors.StoreUnavailable: news.db: it cannot be opened\n\tat org.apache"
    )
    assert spark.error_line(trace) == "newsportal.errors.StoreUnavailable: news.db: it cannot be opened"
    assert spark.error_line("Master must be told\nmore") == "Master must be told"
    assert spark.error_line("") == ""
