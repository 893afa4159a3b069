"""``newsportal deploy``: pack newsportal and a sources file into an egg, send it to a scrapyd, and check that it runs there."""

import os
import py_compile
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from io import BytesIO
from pathlib import Path
from py_compile import PycInvalidationMode
from tempfile import TemporaryDirectory
from typing import Annotated
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo, is_zipfile

import typer

from newsportal import __version__
from newsportal.cli.options import load
from newsportal.cli.output import print_json, writable
from newsportal.errors import NewsportalError, RunnerRefused
from newsportal.services.jobs.scrapyd import DEFAULT, Server, exposure_warning, find_target
from newsportal.sources.uris import mask

PACKAGE = "newsportal"
SOURCES_NAME = f"{PACKAGE}/sources.yaml"
ENTRY_MODULE = "newsportal_deployed"
"""The module that scrapyd loads, with a unique name: an installed newsportal precedes the egg on Python's path (pkg_resources appends
eggs), so this module moves the egg to the front."""

ENTRY_SOURCE = f'''"""Settings of a deployed newsportal: those of the package in this egg, with its sources file."""

import sys

_egg = __loader__.archive
sys.path[:] = [_egg, *(place for place in sys.path if place != _egg)]

from {PACKAGE}.settings import *  # noqa: E402, F403

NEWSPORTAL_PACKAGED_SOURCES = True
'''

DIGITS = 4  # digits per number of a release, zero-padded: numbers up to 9,999 sort as text as they do as numbers
RELEASE = re.compile(rf"\d{{1,{DIGITS}}}(\.\d{{1,{DIGITS}}})+")


def build_egg(sources: bytes | None = None) -> bytes:
    """Return the egg; ``sources`` replaces the packaged sources file."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as egg:
        found = dict(_walk(files(PACKAGE), PACKAGE))
        if sources is not None:
            found[SOURCES_NAME] = sources
        found[f"{ENTRY_MODULE}.py"] = ENTRY_SOURCE.encode()
        found["EGG-INFO/PKG-INFO"] = f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {__version__}\n".encode()
        found["EGG-INFO/entry_points.txt"] = f"[scrapy]\nsettings = {ENTRY_MODULE}\n".encode()
        found |= {"EGG-INFO/top_level.txt": f"{PACKAGE}\n{ENTRY_MODULE}\n".encode(), "EGG-INFO/zip-safe": b"\n"}
        found |= {f"{name}c": compile_module(name, source) for name, source in found.items() if name.endswith(".py")}
        for name, content in sorted(found.items()):
            egg.writestr(ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content, ZIP_DEFLATED)  # a fixed time, for reproducible eggs
    return buffer.getvalue()


def compile_module(name: str, source: bytes) -> bytes:
    """Return a ``.pyc`` without timestamp (PEP 552): zipimport reads a zip's times in the server's zone. Other Pythons use the source."""
    with TemporaryDirectory() as folder:
        file, output = Path(folder, "module.py"), Path(folder, "module.pyc")
        file.write_bytes(source)
        py_compile.compile(str(file), str(output), name, doraise=True, optimize=0, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
        return output.read_bytes()


def _walk(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for child in folder.iterdir():
        path = f"{name}/{child.name}"
        if child.is_dir() and child.name not in ("__pycache__", ".mypy_cache"):
            yield from _walk(child, path)
        elif child.is_file():
            yield path, child.read_bytes()


def stamp(now: datetime) -> str:
    """Return seconds since 1970, as in scrapyd-deploy's versions: the later of the two is run."""
    return str(int(now.timestamp()))


def sortable_version(version: str) -> str:
    """Return ``1.10.2`` as ``0001_0010_0002``; other names as scrapyd stores them, in whatever order they sort."""
    if RELEASE.fullmatch(version):
        return "_".join(number.zfill(DIGITS) for number in version.split("."))
    return stored_version(version)


def stored_version(version: str) -> str:
    """Return the name under which scrapyd stores a version (``FilesystemEggStorage._egg_path``)."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", version)


STORE_HINT = (
    "store: relative paths start at NEWSPORTAL_HOME in the server's environment (default: scrapyd's working folder); "
    "the log of each job begins with the resulting path"
)  # settings with destinations: a local path says nothing about the server


@dataclass(frozen=True, slots=True)
class Deployed:
    """The state of a project in scrapyd. ``runs``: the version that it runs by default."""

    url: str
    project: str
    version: str
    runs: str | None
    spiders: tuple[str, ...]


def send(server: Server, version: str, egg: bytes) -> Deployed:
    """Send an egg, and check it: one without spiders, which would run, is deleted. Raises ``RunnerRefused``, ``RunnerUnavailable``."""
    project = server.target.project
    try:
        server.send(project, version, egg)
        spiders = server.get("listspiders", project=project, _version=version)["spiders"]
    except RunnerRefused:
        _delete_version(server, version)
        raise
    if not spiders:
        _delete_version(server, version)
    versions = server.get("listversions", project=project)["versions"]
    return Deployed(server.target.url, project, stored_version(version), versions[-1] if versions else None, tuple(spiders))


def _delete_version(server: Server, version: str) -> None:
    with suppress(RunnerRefused):  # it was never stored: a wrong password, not an egg
        server.post("delversion", [("project", server.target.project), ("version", version)])


def check_deployed(found: Deployed) -> None:
    """Raises ``NewsportalError`` for an egg that was accepted but does not work."""
    if not found.spiders:
        raise NewsportalError(f"{found.url} found no spider in the egg and still runs the previous version; is it an egg of newsportal?")
    if found.runs != found.version:
        raise NewsportalError(
            f"{found.url} accepted version {found.version} but still runs {found.runs}, which sorts after it: "
            "choose a later version (default: the time), or delete the other one (delversion.json)"
        )


def deploy(
    to: Annotated[str, typer.Argument(metavar="TARGET", help="A target of scrapy.cfg, or the server's URL.")] = DEFAULT,
    version: Annotated[str | None, typer.Option(help="The version; default: the time.")] = None,
    project: Annotated[str | None, typer.Option(help="The project; default: scrapy.cfg's, else newsportal.")] = None,
    egg: Annotated[Path | None, typer.Option(help="Upload this egg instead of building one.")] = None,
    build_only: Annotated[Path | None, typer.Option("--build-egg", help="Write the egg to this file without uploading it.")] = None,
    sources: Annotated[Path | None, typer.Option(help="The sources file for the egg; default: the nearest sources.yaml.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the state of the server as one line of JSON.")] = False,
) -> None:
    """Send newsportal with sources.yaml to a scrapyd. Exit status 1 unless it runs this version."""
    if egg is not None and build_only is not None:
        raise typer.BadParameter("--egg and --build-egg exclude each other")
    config = load(sources) if egg is None else None
    path = config.path if config and config.path and config.path.exists() else None
    if egg is None:
        content = build_egg(path.read_bytes() if path else None)
    else:
        try:
            content = egg.read_bytes()
        except OSError as error:
            raise NewsportalError(f"{egg} cannot be read: {error.strerror or error}") from error
        if not is_zipfile(BytesIO(content)):  # scrapyd accepts any zip
            raise NewsportalError(f"{egg} is not an egg; build one with: newsportal deploy --build-egg {egg}")
    if build_only is not None:
        with writable(build_only) as part:
            part.write_bytes(content)
        typer.echo(f"{build_only}: {len(content):,} bytes")
        return
    found = find_target(to, Path.cwd(), os.environ)
    found = replace(found, project=project) if project else found
    if word := exposure_warning(found):
        typer.echo(word, err=True)
    deployed = send(Server(found), sortable_version(label) if (label := version or found.version) else stamp(datetime.now(UTC)), content)
    if as_json:
        print_json(asdict(deployed))
    else:
        typer.echo(f"{deployed.url}: project {deployed.project}, version {deployed.version}")
        typer.echo(f"spiders: {', '.join(deployed.spiders)}")
        if config is not None:
            typer.echo(f"sources: {path}" if path else "sources: the example file of newsportal")
            store = mask(config.store)
            typer.echo(STORE_HINT if store.startswith("sqlite") else f"store: {store}, unless set otherwise in the server's environment")
    check_deployed(deployed)
