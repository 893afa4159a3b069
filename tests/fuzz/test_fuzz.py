"""A bounded run of the fuzzer, the same inputs each time; ``make fuzz`` throws others, for as long as one likes."""

from __future__ import annotations

from random import Random

import pytest
from fuzz.mutation import mutate
from fuzz.targets import TARGETS, Target, check
from work import ends

INPUTS = 60  # of each target


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_what_is_given_is_read_or_refused(target: Target) -> None:
    seeds, random = target.seeds(), Random(target.name)
    assert len(seeds) > 0
    assert any(check(target, seed) for seed in seeds), "not even good input is read"
    for _ in range(INPUTS):
        data = mutate(random.choice(seeds), random.choice(seeds), random)
        with ends():
            check(target, data)
