"""The recipes of ``docs/operations.md``: named files exist, units and containers are valid, a backup can be restored."""

from __future__ import annotations

import configparser
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from newsportal import cli
from newsportal.items import Article, Link
from newsportal.store import STORES, open_store
from newsportal.store.store import Store

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
RECIPES = [path for path in (ROOT / "docs" / "operations.md", ROOT / "docs" / "operations.zh.md") if path.exists()]
UNITS = sorted([*DEPLOY.glob("*.service"), *DEPLOY.glob("*.timer")])
NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
PROGRAM = "/opt/newsportal/.venv/bin/"

NAMED = re.compile(r"(?<![\w/.])(?:deploy|requirements|docs)/[\w./@*-]*\w")
"""Paths of the project in the text."""

MADE = {"deploy/data", "deploy/data/backups", "deploy/.env"}
"""Created by a recipe."""


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.name)
def test_paths_in_recipes_exist(recipe: Path) -> None:
    paths = set(NAMED.findall(recipe.read_text("utf-8"))) - MADE
    assert len(paths) > 5
    assert [name for name in sorted(paths) if not list(ROOT.glob(name))] == []
    units = set(re.findall(r"newsportal-[\w@]+(?:\.service|\.timer)", recipe.read_text("utf-8")))
    installed = {re.sub(r"@\w*\.", "@.", name) for name in units}
    assert installed <= {unit.name for unit in UNITS}
    assert "systemctl stop 'newsportal-*'" not in recipe.read_text("utf-8"), "it would stop the timer of the backups, too"


def test_every_store_is_documented() -> None:
    for page in ("sources.md", "storage.md", "operations.md"):
        text = (ROOT / "docs" / page).read_text("utf-8")
        assert [name for name in STORES if f"{name}://" not in text] == [], page


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.name)
def test_recipes_add_extras_without_reinstalling(recipe: Path) -> None:
    """``pip install '.[scrapyd]'`` would replace an editable install by a copy."""
    assert re.findall(r"pip install '\.\[\w+\]'", recipe.read_text("utf-8")) == []


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.name)
def test_machines_share_accounts(recipe: Path) -> None:
    (found,) = (yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", recipe.read_text("utf-8"), re.DOTALL) if "store:" in text)
    assert {"store", "frontier"} <= set(found)
    assert found["portal"]["accounts"].startswith("postgresql://")


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.name)
def test_every_unit_is_documented(recipe: Path) -> None:
    text = recipe.read_text("utf-8")
    assert [unit.name for unit in UNITS if unit.stem.rstrip("@") not in text] == []


def started(unit: Path) -> list[str]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(unit, "utf-8")
    return parser["Service"]["ExecStart"].split()


def check_command(words: list[str]) -> None:
    """Check that a command line ``COMMAND --option`` of newsportal is valid."""
    root: Any = typer.main.get_command(cli.app)
    assert words[0] in cli.COMMANDS
    options = {text for parameter in root.get_command(None, words[0]).params for text in parameter.opts}
    assert {word for word in words[1:] if word.startswith("--")} <= options


@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit.suffix == ".service"], ids=lambda path: path.name)
def test_units_run_existing_commands_with_few_rights(unit: Path) -> None:
    program, *words = started(unit)
    assert program.startswith(PROGRAM)
    assert (Path(sys.executable).parent / program.removeprefix(PROGRAM)).exists()
    if program.endswith("newsportal"):
        check_command(words)
    text = unit.read_text("utf-8")
    for line in ("User=newsportal", "NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=yes", "SystemCallFilter=@system-service"):
        assert line in text.splitlines()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_units_pass_systemd_verify(tmp_path: Path) -> None:
    programs = Path(sys.executable).parent
    for unit in UNITS:
        text = unit.read_text("utf-8").replace(PROGRAM, f"{programs}/")
        (tmp_path / unit.name.replace("@.", "@1.")).write_text(text, "utf-8")
    files = sorted(str(path) for path in tmp_path.iterdir())
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *files], capture_output=True, text=True, timeout=600, check=False)
    warnings = [line for line in done.stderr.splitlines() if "newsportal-" in line]
    assert (done.returncode, warnings) == (0, []), done.stderr


def test_containers_run_existing_commands_and_publish_no_port() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    services = compose["services"]
    assert set(services) == {"portal", "worker", "backup", "redis"}
    for name in ("portal", "worker", "backup"):
        check_command(services[name]["command"])
        assert (DEPLOY / services[name]["build"]["context"] / services[name]["build"]["dockerfile"]).is_file()
        assert set(services[name]["depends_on"]) <= set(services)
    ports = [port for service in services.values() for port in service.get("ports", ())]
    assert ports == ["127.0.0.1:8000:8000"]
    assert all(service["cap_drop"] == ["ALL"] for service in services.values())
    assert "requirepass" in str(services["redis"]["command"])
    variables = set(re.findall(r"\$\{(\w+)", str(services)))
    assert all(f"{name}=" in (ROOT / "docs" / "operations.md").read_text("utf-8") for name in variables)


def test_image_copies_existing_files() -> None:
    lines = [line.split() for line in (DEPLOY / "Dockerfile").read_text("utf-8").splitlines() if line.startswith("COPY ")]
    copied = [name for _, *names, _ in lines for name in names]
    assert [name for name in copied if not (ROOT / name).exists()] == []
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    sent = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    assert "*" in ignored
    assert sent == {name.partition("/")[0] for name in copied}, "exactly the needed files are sent to the builder"


def test_scrapyd_options_exist() -> None:
    from scrapyd.config import Config

    theirs, ours = Config(values={}), configparser.ConfigParser()
    theirs.cp.read(Path(sys.modules["scrapyd"].__file__ or "").parent / "default_scrapyd.conf")
    ours.read(DEPLOY / "scrapyd.conf", "utf-8")
    assert ours.sections() == ["scrapyd"]
    assert set(ours["scrapyd"]) <= set(theirs.cp["scrapyd"])
    assert ours["scrapyd"]["bind_address"] == "127.0.0.1"


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "newsportal"), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)


def add(store: Store, name: str) -> None:
    link = Link(f"https://h.example/{name}", "feed:快讯")
    store.add(Article(link.url, link, NOW, identity=name, title=name, text=name), now=NOW)


@pytest.mark.slow
def test_backup_during_write_can_be_restored(tmp_path: Path) -> None:
    """Follow the recipe: from the portal's folder into a folder of backups, and back."""
    folder, backups = tmp_path / "门户", tmp_path / "copies"
    folder.mkdir()
    (folder / "sources.yaml").write_text("store: sqlite:///data/newsportal.db\n", "utf-8")
    backups.mkdir()
    old = ["newsportal-20200101-000000.tar.zst", "newsportal-20200102-000000.tar.zst", "notes"]
    for name in old:
        (backups / name).write_text("")
    with closing(open_store(f"sqlite:///{folder}/data/newsportal.db")) as store:
        add(store, "a")
        with closing(sqlite3.connect(folder / "data" / "newsportal.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            other.execute("UPDATE articles SET title = 'half'")
            done = run(folder, "backup", str(backups), "--keep", "2")
    assert done.returncode == 0, done.stderr
    copy = Path(done.stdout.partition(": ")[0])
    assert sorted(path.name for path in backups.iterdir()) == sorted([*old[1:], copy.name])
    (tmp_path / "new").mkdir()
    done = run(tmp_path / "new", "restore", str(copy))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "new" / "sources.yaml").read_text("utf-8") == (folder / "sources.yaml").read_text("utf-8")
    with closing(open_store(f"sqlite:///{tmp_path}/new/data/newsportal.db", create=False)) as found:
        assert [article.title for article in found.all_articles()] == ["a"]


@pytest.mark.slow
def test_failed_backup_is_reported_and_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "sources.yaml").write_text("store: sqlite:///data/newsportal.db\n", "utf-8")
    (tmp_path / "copies").mkdir()
    done = run(tmp_path, "backup", "copies")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no store yet" in done.stderr
    assert list((tmp_path / "copies").iterdir()) == []
