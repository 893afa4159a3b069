"""Run the fuzzer for any time: ``python tests/fuzz/long_run.py [MINUTES] [SEED] [TARGET ...]`` (``make fuzz MINUTES=30``).

Input that breaks a rule is written to a file beside its traceback, and the run continues; the exit status is 1. The same seed gives a
target the same inputs in the same order.
"""

from __future__ import annotations

import resource
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from types import FrameType
from typing import Final

TESTS: Final = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS.parent), str(TESTS), str(TESTS / "site")]

from fuzz.mutation import mutate  # noqa: E402
from fuzz.targets import TARGETS, Target, check  # noqa: E402

PROCESSOR: Final = 60  # seconds of processor time per input
MEMORY: Final = 4 * 2**30  # bytes of address space in all
ROUND: Final = 50  # inputs of a target before the next one


class Endless(BaseException):
    """Raised if an input takes more than :data:`PROCESSOR` seconds."""


def stop(number: int, frame: FrameType | None) -> None:
    raise Endless


def throw(target: Target, data: bytes) -> str | None:
    """Return the traceback if ``data`` breaks a rule."""
    signal.setitimer(signal.ITIMER_PROF, PROCESSOR)
    try:
        check(target, data)
    except (Exception, Endless):
        return traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None


def main(minutes: float, seed: int, names: list[str]) -> int:
    signal.signal(signal.SIGPROF, stop)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    targets = [target for target in TARGETS if not names or target.name in names]
    seeds = {target.name: target.seeds() for target in targets}
    randoms = {target.name: Random(f"{target.name} {seed}") for target in targets}
    folder, end = Path(mkdtemp(prefix="fuzz-")), time.monotonic() + 60 * minutes
    thrown, broken = Counter[str](), Counter[str]()
    while time.monotonic() < end:
        for target in targets:
            random, good = randoms[target.name], seeds[target.name]
            for _ in range(ROUND):
                data = mutate(random.choice(good), random.choice(good), random)
                thrown[target.name] += 1
                if found := throw(target, data):
                    broken[target.name] += 1
                    file = folder / f"{target.name}-{thrown[target.name]}"
                    file.write_bytes(data)
                    file.with_suffix(".txt").write_text(found, "utf-8")
                    print(f"\n{target.name}: {found.strip().splitlines()[-1][:200]}\n  {file}", flush=True)
        print(f"\r{thrown.total():,} inputs, {broken.total()} broke a rule", end="", flush=True)
    print(f"\nseed {seed}: " + ", ".join(f"{name} {number:,}" for name, number in thrown.items()))
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB; what broke a rule is in {folder}")
    return 1 if broken else 0


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(main(float(given[0]) if given else 1.0, int(given[1]) if len(given) > 1 else int(time.time()), given[2:]))
