"""A wheel contains every file of newsportal and the lab. The tests import the source tree, so they would not notice a missing one."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
from setuptools import find_packages

ROOT = Path(__file__).resolve().parents[2]
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]


@pytest.mark.parametrize("package", ["newsportal", "newsportal_lab"])
def test_every_file_is_packaged_in_wheel(package: str) -> None:
    packages = {name.replace(".", "/") for name in find_packages(str(ROOT), include=SETUPTOOLS["packages"]["find"]["include"])}
    files = [file for file in (ROOT / package).rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    missing = []
    for file in files:
        name = file.relative_to(ROOT / package).as_posix()
        matched = any(fnmatch(name, pattern.replace("**/*", "*")) for pattern in SETUPTOOLS["package-data"][package])
        if not matched and not (file.suffix == ".py" and file.parent.relative_to(ROOT).as_posix() in packages):
            missing.append(name)
    assert files
    assert missing == []
