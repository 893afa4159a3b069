"""A real scrapyd runs our egg or the installed package; its jobs store articles and stop when cancelled."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import pytest
import yaml
from forked import run

from newsportal.errors import RunnerRefused

if TYPE_CHECKING:
    from madeup import MadeUpWeb

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]

STORED = "SELECT a.source FROM articles a"


def deploy(scrapyd: Any, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``newsportal deploy`` with the password in the environment."""
    environ = {"SCRAPYD_USERNAME": scrapyd.target.username, "SCRAPYD_PASSWORD": scrapyd.target.password, **environment}
    result = run("deploy", scrapyd.url, *options, cwd=scrapyd.folder, **environ)
    assert "Traceback" not in result.stderr, result.stderr
    assert scrapyd.target.password not in result.stdout + result.stderr
    return result


def schedule(scrapyd: Any, project: str, spider: str, *arguments: tuple[str, str]) -> str:
    fields = [("project", project), ("spider", spider), *arguments]
    return str(scrapyd.server.post("schedule", fields)["jobid"])


@pytest.fixture(scope="module")
def server_with_package(new_scrapyd: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A server whose folder has the project's configuration and which has listed the spiders of the installed package."""
    server = new_scrapyd(tmp_path_factory.mktemp("beside"))
    shutil.copy(ROOT / "scrapy.cfg", server.folder)
    server.start()
    yield server
    server.stop()


def test_egg_with_sources_crawls_and_logs(scrapyd: Any, sources: Path, rows: Any, web: MadeUpWeb) -> None:
    scrapyd.start(NEWSPORTAL_HOME=str(scrapyd.folder / "home"))
    deployed = deploy(scrapyd, "--sources", str(sources), "--json")
    assert deployed.returncode == 0, deployed.stderr
    result = json.loads(deployed.stdout)
    assert result["runs"] == result["version"]
    assert {"rss", "hub", "metasearch", "forum", "gallery"} <= set(result["spiders"])
    job = schedule(scrapyd, "newsportal", "metasearch", ("topic", "旅游"))
    scrapyd.finished(job)
    store = scrapyd.folder / "home" / "data" / "newsportal.db"
    assert {source.partition(":")[0] for (source,) in rows(store, STORED)} == {"engine"}
    log = scrapyd.server.text(f"/logs/newsportal/metasearch/{job}.log")
    assert "the sources file in the egg" in log
    assert str(store) in log
    assert "Traceback" not in log
    reports = [name for (name,) in rows(store, "SELECT id FROM runs")]
    assert [name for name in reports if name.endswith(f"-{job}-metasearch")], reports


def test_cancelled_job_shuts_down_cleanly(server_with_package: Any, sources: Path, rows: Any, until: Any) -> None:
    values = yaml.safe_load(sources.read_text("utf-8"))
    values["politeness"] = {**values.get("politeness", {}), "delay": 1}
    sources.write_text(yaml.safe_dump(values, allow_unicode=True), "utf-8")
    store = sources.parent / "data" / "newsportal.db"
    job = schedule(server_with_package, "default", "rss", ("setting", f"NEWSPORTAL_SOURCES={sources}"))
    until(lambda: rows(store, STORED), "the first article")
    assert server_with_package.server.post("cancel", [("project", "default"), ("job", job)])["prevstate"] == "running"
    server_with_package.finished(job)
    log = server_with_package.server.text(f"/logs/default/rss/{job}.log")
    assert "Spider closed (shutdown)" in log
    assert "Traceback" not in log
    assert [json.loads(report)["reason"] for (report,) in rows(store, "SELECT report FROM runs")] == ["shutdown"]
    pending = "SELECT count(*) FROM links WHERE link = 1 AND state NOT IN ('stored', 'failed', 'given-up')"
    assert rows(store, pending)[0][0] > 0, "unfetched links stay queued"


def test_refusing_server_is_reported_with_exit_status_1(scrapyd: Any, sources: Path, tmp_path: Path) -> None:
    scrapyd.start()
    empty = tmp_path / "empty.egg"
    shutil.make_archive(str(empty.with_suffix("")), "zip", sources.parent)
    shutil.move(empty.with_suffix(".zip"), empty)
    unauthorized = deploy(scrapyd, "--egg", str(empty), SCRAPYD_USERNAME="somebody")
    assert (unauthorized.returncode, "rejects the user or password" in unauthorized.stderr) == (1, True), unauthorized.stderr
    broken = sources.with_name("broken.yaml")
    broken.write_text("feeds: [{name: a}]", "utf-8")
    assert deploy(scrapyd, "--sources", str(broken)).returncode == 1
    no_egg = tmp_path / "no.egg"
    no_egg.write_bytes(b"PK")
    assert "is not an egg" in deploy(scrapyd, "--egg", str(no_egg)).stderr
    refused = deploy(scrapyd, "--egg", str(empty))
    assert (refused.returncode, "BadEggError" in refused.stderr) == (1, True), refused.stderr
    assert scrapyd.server.get("listversions", project="newsportal")["versions"] == [], "a broken egg is not kept"
    with pytest.raises(RunnerRefused, match="project 'nowhere' not found"):
        scrapyd.server.get("listspiders", project="nowhere")
    scrapyd.stop()
    stopped = deploy(scrapyd, "--egg", str(empty))
    assert (stopped.returncode, "is it running?" in stopped.stderr) == (1, True), stopped.stderr


def test_version_that_would_not_run_is_a_failure(server_with_package: Any, tmp_path: Path) -> None:
    """The egg has a single spider, which is listed quickly: only the version names matter here."""
    egg = tmp_path / "small.egg"
    with ZipFile(egg, "w") as small:
        small.writestr("EGG-INFO/PKG-INFO", "Metadata-Version: 2.1\nName: small\nVersion: 1\n")
        small.writestr("EGG-INFO/entry_points.txt", "[scrapy]\nsettings = small\n")
        small.writestr("small.py", 'SPIDER_MODULES = ["small_spiders"]\n')
        small.writestr("small_spiders.py", 'from scrapy import Spider\n\nclass Small(Spider):\n    name = "small"\n')
    for version, status in (("1.9", 0), ("1.10", 0), ("1.2", 1)):
        deployed = deploy(server_with_package, "--egg", str(egg), "--version", version)
        assert deployed.returncode == status, deployed.stderr
    assert "still runs 0001_0010" in deployed.stderr
