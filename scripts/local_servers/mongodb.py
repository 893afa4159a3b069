"""MongoDB where the machine has one, else FerretDB: a server that speaks MongoDB's protocol and keeps its documents in SQLite.

FerretDB is built here, by Go, out of ``scripts/ferretdb`` (a few lines, and the checksums of all that they need).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import socket
import struct
from contextlib import closing
from pathlib import Path

from local_servers.machine import Missing, alone, apt, cache, output, program, run, say
from local_servers.running import Place

NAME = "mongodb"
VERSIONS = "MongoDB 5 and later, or FerretDB 1.24"
STOP = signal.SIGTERM

SOURCE = Path(__file__).resolve().parents[1] / "ferretdb"
MODULE = "github.com/FerretDB/FerretDB"

COLUMN = Path("internal", "backends", "sqlite", "metadata", "metadata.go")
LOOKS_THROUGH, LOOKS_UP = """DefaultColumn + "->'$._id'\"""", """DefaultColumn + "->'_id'\""""
"""FerretDB 1.24 asks SQLite for ``_id`` by another expression than that of the index which it makes for it (``->"_id"``), so SQLite looks
through the whole table for every row. It is built with the expression of its index."""
OLDEST_GO = (1, 21)
"""A Go that fetches a newer one by itself when ``go.mod`` requires it (https://go.dev/doc/toolchain)."""


def built() -> Path:
    """Return the folder of the FerretDB built from exactly this source."""
    source = b"".join((SOURCE / name).read_bytes() for name in ("go.mod", "go.sum", "main.go")) + LOOKS_UP.encode()
    return cache() / f"ferretdb-{hashlib.sha256(source).hexdigest()[:12]}" / "ferretdb"


def programs() -> str:
    if (found := program("mongod")) is not None:
        return found
    if not built().exists():
        raise Missing("no mongod, and FerretDB is not built; build it with: scripts/servers install mongodb (needs Go)")
    return str(built())


def install() -> None:
    try:
        programs()
    except Missing:
        build(go())


def go() -> str:
    """Return a Go that can build it."""
    folders = [Path("/usr/local/go/bin"), Path.home() / "go" / "bin"]
    if (found := program("go", folders=folders)) is None:
        apt("golang-go")
        found = program("go") or ""
    match = re.search(r"go(\d+)\.(\d+)", output(found, "version")) if found else None
    if match is None or (int(match[1]), int(match[2])) < OLDEST_GO:
        present = match[0] if match else "none"
        raise Missing(f"FerretDB needs Go {'.'.join(map(str, OLDEST_GO))} or later, here is {present}; see https://go.dev/dl/")
    return found


def build(go_program: str) -> None:
    with alone(cache()):
        if built().exists():
            return
        say("building FerretDB (once; some minutes) ...")
        binary = built().with_name("ferretdb.part")
        binary.parent.mkdir(parents=True, exist_ok=True)
        run("fetching FerretDB", go_program, "mod", "download", cwd=SOURCE)
        modules = corrected(go_program)
        options = ("-mod=readonly", "-trimpath", "-buildvcs=false", f"-modfile={modules}", "-o", str(binary))
        run("building FerretDB", go_program, "build", *options, ".", cwd=SOURCE, CGO_ENABLED="0")
        os.replace(binary, built())
        shutil.rmtree(modules.parent)


def corrected(go_program: str) -> Path:
    """Write a ``go.mod`` with a FerretDB whose SQLite finds documents by ``_id`` through the index."""
    fetched = output(go_program, "-C", str(SOURCE), "list", "-m", "-f", "{{.Dir}}", MODULE)
    changed = built().with_name("changed")
    shutil.rmtree(changed, ignore_errors=True)
    shutil.copytree(fetched, changed / "source", copy_function=shutil.copyfile, ignore=shutil.ignore_patterns("website", "*_test.go"))
    column = changed / "source" / COLUMN
    text = column.read_text("utf-8")
    if LOOKS_THROUGH not in text:
        raise Missing(f"FerretDB's {COLUMN} is not the one that scripts/local_servers/mongodb.py corrects; see LOOKS_THROUGH there")
    column.write_text(text.replace(LOOKS_THROUGH, LOOKS_UP), "utf-8")
    modules = changed / "go.mod"
    shutil.copyfile(SOURCE / "go.sum", modules.with_suffix(".sum"))
    modules.write_text((SOURCE / "go.mod").read_text("utf-8") + f"\nreplace {MODULE} => {changed / 'source'}\n", "utf-8")
    return modules


def version() -> str:
    if program("mongod") is not None:
        return next((word[1:] for word in output(programs(), "--version").split() if re.match(r"v\d", word)), "?")
    match = re.search(r"FerretDB/FerretDB v(\S+)", (SOURCE / "go.mod").read_text("utf-8"))
    return f"FerretDB {match[1] if match else '?'}"


def prepare(place: Place) -> None:
    """No-op: a folder is enough."""


def command(place: Place) -> list[str]:
    found = programs()
    if Path(found).name == "mongod":
        return [found, "--dbpath", str(place.data), "--port", str(place.port), "--bind_ip", "127.0.0.1", "--nounixsocket", "--quiet"]
    return [found, str(place.port), str(place.data)]


def answers(port: int) -> bool:
    """Check that ``{hello: 1, $db: "admin"}`` as OP_MSG is answered with ``ok: 1.0``."""
    body = b"\x10hello\0" + struct.pack("<i", 1) + b"\x02$db\0" + struct.pack("<i", 6) + b"admin\0" + b"\0"
    message = struct.pack("<i", 0) + b"\0" + struct.pack("<i", 4 + len(body)) + body
    with closing(socket.create_connection(("127.0.0.1", port), timeout=5)) as connection:
        connection.sendall(struct.pack("<iiii", 16 + len(message), 1, 0, 2013) + message)
        return b"\x01ok\0" + struct.pack("<d", 1.0) in connection.recv(65536)


def uri(port: int, database: str) -> str:
    return f"mongodb://127.0.0.1:{port}/{database}"
