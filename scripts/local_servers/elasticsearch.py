"""Elasticsearch from Maven Central: the complete server with its core analysers, as its authors test their clients against it."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import zipfile
from contextlib import closing
from pathlib import Path

from local_servers.machine import Missing, alone, apt, cache, output, program, run, say, sha512
from local_servers.running import Place, free_port, own

NAME = "elasticsearch"
VERSION = "8.19.0"
VERSIONS = VERSION
STOP = signal.SIGTERM

ARTIFACT = f"org.elasticsearch.distribution.integ-test-zip:elasticsearch:{VERSION}:zip"
SHA512 = "bd600df798d23d2683c999e19299164a2b3af265bc09b43fb86e1f5fbc0ccb14e8b2ac12b36631d835bcabc0eda2a050e06696e9f9ac283a309be6a6612a8017"
"""Of the zip, as published by Maven Central."""

OLDEST_JAVA = 17
HEAP = "512m"
FIRST_COMPILER = "-XX:TieredStopAtLevel=1"
"""Starts with 9 s of the processor instead of 16; the better compiler pays only in long runs."""
UNVERIFIED = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote")
"""Verifying the classes of an archive with a correct checksum takes 1.5 s of a start."""
INTO_HOME = ("-Xlog", "-XX:ErrorFile", "-XX:HeapDumpPath", "-XX:+HeapDumpOnOutOfMemoryError")
"""Java options that write into its home, which is shared by all servers."""

SETTINGS = """
cluster.name: newsportal-tests
discovery.type: single-node
network.host: 127.0.0.1
node.store.allow_mmap: false
cluster.routing.allocation.disk.threshold_enabled: false
action.destructive_requires_name: false
xpack.security.enabled: false
cluster.max_shards_per_node: 10000
"""


def home() -> Path:
    return cache() / f"elasticsearch-{VERSION}"


def java() -> Path:
    """Return the home of a sufficiently new Java: ``JAVA_HOME``, the one on the path, or any of the system's."""
    candidates = [Path(os.environ["JAVA_HOME"])] if "JAVA_HOME" in os.environ else []
    if (found := program("java")) is not None:
        candidates.append(Path(found).resolve().parents[1])
    candidates.extend(sorted(Path("/usr/lib/jvm").glob("*")))
    for path in candidates:
        match = re.search(r'version "(\d+)', output(str(path / "bin" / "java"), "-version")) if (path / "bin" / "java").exists() else None
        if match is not None and int(match[1]) >= OLDEST_JAVA:
            return path
    raise Missing(f"Elasticsearch needs Java {OLDEST_JAVA} or later; install it with: sudo apt install default-jre-headless")


def programs() -> Path:
    if not (home() / "bin" / "elasticsearch").exists():
        raise Missing("no Elasticsearch; get it with: scripts/servers install elasticsearch (needs Maven and Java)")
    java()
    return home() / "bin" / "elasticsearch"


def install() -> None:
    try:
        java()
    except Missing:
        newest_java()
    if not (home() / "bin" / "elasticsearch").exists():
        with alone(cache()):
            unpack(fetched())


def newest_java() -> None:
    """Install Java: Debian and Ubuntu have one or the other package."""
    try:
        apt("openjdk-21-jre-headless")
    except Missing:
        apt("openjdk-17-jre-headless")


def fetched() -> Path:
    """Return the zip, from the local Maven repository or from Maven Central, with its checksum verified."""
    archive = cache() / f"elasticsearch-{VERSION}.zip"
    if not archive.exists() or sha512(archive) != SHA512:
        maven = program("mvn")
        if maven is None:
            apt("maven")
            maven = program("mvn") or "mvn"
        say("fetching Elasticsearch (once, 97 MB) ...")
        goal = ("-B", "-q", "dependency:copy", f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={cache()}", "-Dmdep.overWriteReleases=true")
        run("fetching Elasticsearch", maven, *goal, cwd=cache())
    if sha512(archive) != SHA512:
        archive.unlink()
        raise Missing(f"the Elasticsearch that came is not {VERSION}: its checksum is another; try again")
    return archive


def unpack(archive: Path) -> None:
    """Unpack atomically, and make programs executable (a zip does not preserve that)."""
    part = home().with_name(home().name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(part)
    for script in (part / home().name / "bin").iterdir():
        script.chmod(0o755)
    (part / home().name / "plugins").mkdir(exist_ok=True)
    os.replace(part / home().name, home())
    part.rmdir()
    archive.unlink()


def version() -> str:
    programs()
    return VERSION


def prepare(place: Place) -> None:
    """Write its settings into its own folder: the unpacked files are shared."""
    config = place.folder / "config"
    shutil.copytree(home() / "config", config)
    ports = f"http.port: {place.port}\ntransport.port: {free_port()}\n"
    folders = f"path.data: {place.data}\npath.logs: {place.folder / 'logs'}\n"
    (config / "elasticsearch.yml").write_text(SETTINGS + ports + folders, "utf-8")
    lines = [line for line in (config / "jvm.options").read_text("utf-8").splitlines() if not any(word in line for word in INTO_HOME)]
    (config / "jvm.options").write_text("\n".join([*lines, f"-Xms{HEAP}", f"-Xmx{HEAP}", FIRST_COMPILER, *UNVERIFIED]) + "\n", "utf-8")
    for name in ("logs", "temporary"):
        (place.folder / name).mkdir(exist_ok=True)
    own(place.folder)


def command(place: Place) -> list[str]:
    folders = (f"ES_PATH_CONF={place.folder / 'config'}", f"ES_TMPDIR={place.folder / 'temporary'}", f"ES_JAVA_HOME={java()}")
    launcher = f"CLI_JAVA_OPTS={' '.join([FIRST_COMPILER, *UNVERIFIED])}"
    return ["/usr/bin/env", *folders, launcher, str(programs())]


def answers(port: int) -> bool:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", "/_cluster/health")
        answer = connection.getresponse()
        return answer.status == 200 and json.loads(answer.read())["status"] in ("green", "yellow")


def uri(port: int, database: str) -> str:
    return f"elasticsearch://127.0.0.1:{port}/{database}"
