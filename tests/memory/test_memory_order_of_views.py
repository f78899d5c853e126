"""The memory order of results: NumPy's, of views in any order, with repeated and reversed axes among them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

Step = Callable[[Any], Any]

ONE: dict[str, Step] = {
    "-x": lambda x: -x,
    "np.sin": np.sin,
    "x * 2": lambda x: x * 2,
    "x > 2": lambda x: x > 2,
    "astype": lambda x: x.astype("f4"),
    "copy": lambda x: x.copy("K"),
    "np.modf": lambda x: np.modf(x)[0],
    "np.zeros_like": np.zeros_like,
    "np.round": np.round,
    "np.round to 1": lambda x: np.round(x, 1),
    "np.clip": lambda x: np.clip(x, 1, 3),
    "np.where": lambda x: np.where(x > 2, x, 0),
    "np.nan_to_num": np.nan_to_num,
    "np.piecewise": lambda x: np.piecewise(x, [x > 2], [1.0]),
    "np.select": lambda x: np.select([x > 2], [x]),
    "np.isin": lambda x: np.isin(x, [1, 2]),
    "sum": lambda x: x.sum(0),
    "sum, last": lambda x: x.sum(-1),
    "sum, kept": lambda x: x.sum(0, keepdims=True),
    "max": lambda x: x.max(1),
    "std": lambda x: x.std(1),
    "argmax": lambda x: x.argmax(0),
    "np.median": lambda x: np.median(x, 0),
    "np.quantile": lambda x: np.quantile(x, 0.5, axis=0),
    "np.count_nonzero": lambda x: np.count_nonzero(x, axis=0),
    "np.nansum": lambda x: np.nansum(x, 0),
    "cumsum": lambda x: np.cumsum(x, 1),
    "accumulate": lambda x: np.add.accumulate(x, 0),
    "reduceat": lambda x: np.add.reduceat(x, [0], 1),
    "np.diff": lambda x: np.diff(x, axis=0),
    "np.gradient": lambda x: np.gradient(x, axis=0) if x.shape[0] > 1 else x,
    "np.unwrap": np.unwrap,
    "np.sort": lambda x: np.sort(x, 0),
    "np.argsort": lambda x: np.argsort(x, 0),
    "np.partition": lambda x: np.partition(x, 0, 0),
    "np.fft.fft": lambda x: np.fft.fft(x, axis=0),
    "np.roll": lambda x: np.roll(x, 1, 0),
    "np.repeat": lambda x: np.repeat(x, 2, 1),
    "np.tile": lambda x: np.tile(x, 2),
    "np.pad": lambda x: np.pad(x, 1),
    "np.take": lambda x: np.take(x, [0], 0),
    "x[:, [0]]": lambda x: x[:, [0]],
    "np.insert": lambda x: np.insert(x, 0, 1, 0),
    "np.delete": lambda x: np.delete(x, 0, 0),
    "np.triu": np.triu,
    "imag": lambda x: x.imag,
    "np.percentile": lambda x: np.percentile(x, [10, 20], axis=1),
    "np.stack, last": lambda x: np.stack([x, x], -1),
    "np.dstack": lambda x: np.dstack([x, x]),
    "np.column_stack": lambda x: np.column_stack([x, x]),
    "np.block": lambda x: np.block([[x, x], [x, x]]),
    "np.argwhere": np.argwhere,
    "np.tile once": lambda x: np.tile(x, 1),
    "np.linspace": lambda x: np.linspace(0, x, 3, axis=-1),
    "np.logspace": lambda x: np.logspace(x / 100, 1, 2, axis=1),
    "np.trapezoid": lambda x: np.trapezoid(x, axis=0),
    "np.polyval": lambda x: np.polyval([1.0, 2.0], x),
}
TWO: dict[str, Callable[[Any, Any], Any]] = {
    "x + y": lambda x, y: x + y,
    "x < y": lambda x, y: x < y,
    "x.astype + y": lambda x, y: x.astype("f4") + y,
    "np.hypot": np.hypot,
    "np.maximum": np.maximum,
    "np.divmod": lambda x, y: np.divmod(x, y)[0],
    "np.add, where": lambda x, y: np.add(x, y, where=True),
    "np.where of two": lambda x, y: np.where(x > y, x, y),
    "np.clip by one": lambda x, y: np.clip(x, y, 5),
    "np.isclose": np.isclose,
    "np.choose": lambda x, y: np.choose((x > y) * 1, [x, y]),
    "np.concatenate": lambda x, y: np.concatenate([x, y]),
    "np.stack": lambda x, y: np.stack([x, y]),
    "np.block of two": lambda x, y: np.block([[x, y]]),
    "np.linspace between": lambda x, y: np.linspace(x, y, 2, axis=1),
    "np.trapezoid over": lambda x, y: np.trapezoid(x, y, axis=0),
}


class View:
    """An array and steps from it to a view."""

    def __init__(self, numbers: random.Random) -> None:
        ndim = numbers.choice([2, 3, 4])
        self.shape = [numbers.choice([1, 2, 3, 4]) for _ in range(ndim)]
        self.steps: list[Step] = []
        self.said: list[str] = []
        for _ in range(numbers.randrange(4)):
            i, way = numbers.randrange(ndim), numbers.choice(["transposed", "repeated", "every other", "reversed"])
            self.said.append(f"{way} {i}")
            if way == "transposed":
                axes = numbers.sample(range(ndim), ndim)
                self.said[-1] = f"{way} {axes}"
                self.steps.append(lambda x, axes=axes: x.transpose(axes))
            elif way == "repeated":
                ndim += 1
                self.steps.append(lambda x, i=i: np.broadcast_to(np.expand_dims(x, i), (*x.shape[:i], 3, *x.shape[i:])))
            else:
                step = slice(0, None, 2) if way == "every other" else slice(None, None, -1)
                self.steps.append(lambda x, i=i, step=step: x[(slice(None),) * i + (step,)])

    def of(self, new: Step) -> Any:
        """The view of an array that ``new`` makes of an ndarray."""
        x = new(np.arange(1.0, 1 + np.prod(self.shape)).reshape(self.shape))
        for step in self.steps:
            x = step(x)
        return x


class Otherwise(View):
    """An array of a shape, with its axes in another order."""

    def __init__(self, numbers: random.Random, shape: tuple[int, ...]) -> None:
        axes = numbers.sample(range(len(shape)), len(shape))
        self.shape = [shape[i] for i in axes]
        back = [axes.index(i) for i in range(len(shape))]
        self.steps, self.said = [lambda x: x.transpose(back)], [f"as {axes}"]


def _order(x: Any) -> list[tuple[Any, ...]]:
    """Shapes, and the strides where an axis has any and elements are there."""
    parts = x if isinstance(x, tuple | list) else [x]
    return [
        (p.shape, [s for n, s in zip(p.shape, p.strides) if n > 1] if p.size else None)
        for p in parts
        if isinstance(p, np.ndarray | ad.Array)
    ]


@pytest.mark.filterwarnings("ignore::arraydispatch.HostFallbackWarning")  # TensorFlow has not all ranks
@pytest.mark.parametrize("backend", ["numpy", "torch", "tensorflow", "jax"])
def test_results_lie_in_memory_as_numpys(backend: str, seed: int) -> None:
    numbers = random.Random(seed)
    wrong: list[Any] = []
    compared = 0
    for _ in range(60 if backend == "jax" else 400):  # JAX compiles each
        first = View(numbers)
        if numbers.random() < 0.6:
            name = numbers.choice([*ONE])
            views, run = [first], ONE[name]
        else:
            name = numbers.choice([*TWO])
            views, run = [first, Otherwise(numbers, first.of(np.asarray).shape)], TWO[name]
        theirs = run(*[view.of(np.asarray) for view in views])
        ours = run(*[view.of(lambda x: ad.asarray(x, backend=backend)) for view in views])
        compared += len(_order(theirs))
        if _order(ours) != _order(theirs):
            wrong.append((name, [(view.shape, view.said) for view in views], _order(theirs), _order(ours)))
    assert not wrong
    assert compared > 40
