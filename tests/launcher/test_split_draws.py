"""Draws for arrays that are split over a mesh: pieces of a stream are the whole, and leave the generator as one draw does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.random import MT19937, PCG64, PCG64DXSM, SFC64, Generator, Philox, RandomState

from arraydispatch.engine import draws
from arraydispatch.launcher import split_draws

ARGUMENTS: dict[str, list[tuple[Any, ...]]] = {
    "beta": [(0.5, 0.6), (2, 3)],
    "binomial": [(10, 0.3), (1000, 0.5)],
    "geometric": [(0.01,), (0.9,)],
    "hypergeometric": [(10, 20, 5), (100, 200, 50)],
    "integers": [(6,), (-5, 3_000_000_000), (0, 1 << 32), (0, 1 << 40)],
    "logseries": [(0.3,)],
    "negative_binomial": [(3, 0.4)],
    "noncentral_f": [(3, 5, 1)],
    "poisson": [(3.0,), (40.0,)],
    "randint": [(6,), (-5, 3_000_000_000), (0, 1 << 40)],
    "random_integers": [(6,)],
    "standard_gamma": [(0.4,), (3.3,)],
    "triangular": [(-1.0, 0.5, 2.0)],
    "zipf": [(2.0,)],
    **{name: [(0.5, 2.0)] for name in "f gamma gumbel laplace logistic lognormal noncentral_chisquare normal uniform vonmises wald".split()},
    **{name: [(1.5,)] for name in "chisquare exponential pareto power rayleigh standard_t weibull".split()},
    **{name: [()] for name in "random random_sample ranf sample standard_cauchy standard_exponential standard_normal".split()},
}  # fmt: skip
TOTAL = 20_011
GENERATORS: list[Any] = [lambda kind=kind: Generator(kind(3)) for kind in (PCG64, PCG64DXSM, MT19937, SFC64, Philox)]


def _state(generator: Any) -> str:
    legacy = isinstance(generator, RandomState)
    return str(generator.get_state(legacy=False) if legacy else generator.bit_generator.state)


def _stream(generator: Any, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> split_draws._Stream:
    return split_draws._Stream(generator, lambda count: getattr(generator, name)(*args, size=count, **options))


def test_each_method_is_compared() -> None:
    assert set(ARGUMENTS) == set(split_draws.SIZES)


@pytest.mark.filterwarnings("ignore:This function is deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_pieces_of_a_stream_are_the_whole(name: str, seed: int) -> None:
    cuts = np.random.default_rng(seed).integers(1, 5000, 40).tolist()
    for make in (*GENERATORS, lambda: RandomState(3)):
        for args in ARGUMENTS[name]:
            for options in ({}, {"dtype": np.float32}, {"dtype": np.int32}, {"method": "inv"}):
                whole, pieces = make(), make()
                try:
                    wanted = getattr(whole, name)(*args, size=TOTAL, **options)
                except (AttributeError, TypeError, ValueError):  # one of the two classes has the method, or its options
                    continue
                stream, got, left = _stream(pieces, name, args, options), [], TOTAL
                stream.draw(0)
                for cut in cuts:
                    got.append(stream.draw(min(cut, left)))
                    left -= len(got[-1])
                got.append(stream.draw(left))
                np.testing.assert_array_equal(np.concatenate(got), wanted)
                assert _state(pieces) == _state(whole)


@pytest.mark.parametrize("name", sorted(split_draws._ONE_EACH))
@pytest.mark.parametrize("kind", list(draws.MULTIPLIERS))
def test_values_that_take_one_output_are_skipped(name: str, kind: Any) -> None:
    whole, other = Generator(kind(3)), Generator(kind(3))
    for generator in (whole, other):
        generator.integers(9, size=3, dtype=np.int32)  # half an output is kept
    wanted = getattr(whole, name)(size=TOTAL)
    stream = _stream(other, name, (), {})
    assert stream.can_advance
    first = stream.draw(11)
    stream.advance(TOTAL - 16)
    np.testing.assert_array_equal([*first, *stream.draw(5)], [*wanted[:11], *wanted[-5:]])
    assert _state(other) == _state(whole)


@pytest.mark.parametrize("make", [lambda: Generator(PCG64(3)), lambda: RandomState(3)])
def test_an_interrupted_draw_has_drawn_nothing(make: Any) -> None:
    generator = make()
    generator.standard_normal(3)
    before, stream = _state(generator), _stream(generator, "standard_normal", (), {})

    def work() -> None:
        stream.draw(101)
        raise MemoryError

    with pytest.raises(MemoryError):
        stream.around(work)
    assert _state(generator) == before
