"""Tensors without strides of one memory are refused with what to pass instead; of a DTensor PyTorch read memory without elements."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

torch = pytest.importorskip("torch", reason="inapplicable: PyTorch is not installed")


class Celsius(torch.Tensor):  # type: ignore[misc]
    """A subclass that PyTorch's functions compute with as with a tensor."""


class Calls(torch.Tensor):  # type: ignore[misc]
    """A subclass that answers calls by itself."""

    @staticmethod
    def __new__(cls, whole: Any) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, whole.shape, dtype=whole.dtype)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError(func)


MADE: dict[str, tuple[Callable[[], Any], str]] = {
    "sparse": (lambda: torch.eye(3).to_sparse(), "ad.sparse.from_native"),
    "rows": (lambda: torch.eye(3).to_sparse_csr(), "x.to_dense()"),
    "nested": (lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), "x.to_padded_tensor(value)"),
    "ragged": (
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
        "x.to_padded_tensor(value)",
    ),
    "masked": (lambda: torch.masked.masked_tensor(torch.ones(2), torch.tensor([True, False])), "x.to_tensor(value)"),
    "computes by itself": (lambda: Calls(torch.ones(2)), "a Calls is not wrapped"),
}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize(
    "way", [ad.wrap, ad.asarray, lambda x: ad.convert(x, "numpy")], ids=["wrap", "asarray", "convert"]
)
def test_a_tensor_without_strides_is_refused(name: str, way: Any) -> None:
    make, said = MADE[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of prototypes
        given = make()
    with pytest.raises(ad.NoBackendFoundError, match="is not wrapped") as caught:
        way(given)
    assert said in str(caught.value)


def test_other_subclasses_are_wrapped() -> None:
    for given in (
        torch.ones(3).as_subclass(Celsius),
        torch.nn.Parameter(torch.ones(3)),
        torch.ones(2, 3).T[0].expand(3, 2),
    ):
        assert np.add(ad.wrap(given), 1).tolist() == (given.detach() + 1).tolist()


DISTRIBUTED = """
import torch
import torch.distributed as dist
from torch.distributed.tensor import Shard, distribute_tensor, init_device_mesh
import arraydispatch as ad

dist.init_process_group("gloo", init_method=f"file://{file}", rank=0, world_size=1)
given = distribute_tensor(torch.arange(8.0), init_device_mesh("cpu", (1,)), [Shard(0)])
for way in (ad.wrap, ad.asarray, lambda x: ad.convert(x, "numpy")):
    try:
        print(way(given))
    except ad.NoBackendFoundError as error:
        print(error)
print(ad.convert(given.full_tensor(), "numpy"), ad.wrap(given.to_local()).sum())
"""


def test_a_distributed_tensor_is_refused(tmp_path: Any) -> None:
    program = f"file = {str(tmp_path / 'store')!r}\n{DISTRIBUTED}"
    made = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "GLOO_SOCKET_IFNAME": "lo"},
    )
    assert made.returncode == 0, made.stderr
    *refused, values = made.stdout.splitlines()
    assert len(refused) == 3
    assert all("x.full_tensor() is the whole array, x.to_local() this process's part" in line for line in refused)
    assert values == "[0. 1. 2. 3. 4. 5. 6. 7.] 28.0"
