"""Apache Spark: a session for a command, and what Spark says when it gives up."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from newsportal.errors import DependencyMissing, SparkFailed

ENDED: Final = re.compile(r"(?!org\.|java\.|py4j\.)[\w.]*(?:Error|Exception|Unavailable|TooNew|Missing): \S")
"""The last line of a Python traceback."""


@contextmanager
def session(master: str, command: str) -> Iterator[Any]:
    """Spark at ``master`` (``local[*]``, ``spark://HOST:PORT``) for a command, ended at the end.

    Raises ``DependencyMissing`` without the extra; ``SparkFailed`` without Java, or where Spark gives up.
    """
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise DependencyMissing(f"{command} --spark", "spark") from error
    if not java():
        raise SparkFailed(
            "Spark needs Java 17 or later, and there is none: sudo apt install openjdk-17-jre-headless, or set JAVA_HOME; "
            "without --spark the same is done on this machine"
        )
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName(f"newsportal {command}").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
    if master.startswith("local"):
        builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    try:
        spark = builder.getOrCreate()
        try:
            spark.sparkContext.setLogLevel("ERROR")
            yield spark
        finally:
            spark.stop()
    except (PySparkException, Py4JError) as error:
        raise SparkFailed(f"Spark at {master} gave up: {why(str(error)) or type(error).__name__}") from error


def why(said: str) -> str:
    """Of what Spark says (pages of Java), the line that a Python worker ended with, else the first one."""
    lines = said.strip().splitlines()
    return next(filter(ENDED.match, lines), lines[0] if lines else "")


def java() -> bool:
    """Whether there is a Java to start."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which(os.path.join(home, "bin", "java") if home else "java") is not None
