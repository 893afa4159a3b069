"""A bounded, deterministic run of the fuzzer; ``make fuzz`` uses other inputs, for any time."""

from __future__ import annotations

from random import Random

import pytest
from fuzz.mutation import mutate
from fuzz.targets import TARGETS, Target, check
from work_counts import ends

INPUTS = 60  # of each target


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_mutated_input_is_read_or_refused(target: Target) -> None:
    seeds, random = target.seeds(), Random(target.name)
    assert len(seeds) > 0
    assert any(check(target, seed) for seed in seeds), "not even valid input is read"
    for _ in range(INPUTS):
        data = mutate(random.choice(seeds), random.choice(seeds), random)
        with ends():
            check(target, data)
