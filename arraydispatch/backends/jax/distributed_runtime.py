"""Processes that share one mesh, by JAX's distributed runtime."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import combinations, islice, permutations
from typing import Any

import jax
import numpy as np
from jax._src import distributed
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ...common.errors import ArrayDispatchError
from ...common.patching import Exchange, Exchanges

__all__ = ["join"]

_COLLECTIVES = "jaxlib._jax:make_gloo_tcp_collectives"
_LOOPBACK = "127.0.0.1"
_MOST_ORDERS, _MOST_GRIDS = 720, 3
_HEARTBEAT = 30
"""Seconds without a heartbeat of a process after which the runtime ends the others."""
_HEARTBEAT_HERE = 86400
"""The same if all processes are on one machine, where the command watches them: one may be suspended, or wait long for a processor."""


def join(
    rank: int, count: int, address: str | None, *, local: bool, device: int | None, facts: Mapping[str, str],
    seconds: int,
) -> None:  # fmt: skip
    """Make this process one of several, before JAX starts. JAX then has the devices of all processes.

    ``address``: address at which rank 0 listens; None: JAX finds it from the cluster's variables. ``local``: all processes are on this
    machine and listen only on the loopback interface. ``device``: number of the GPU for this process. ArrayDispatchError is raised if
    ``facts`` are not the same in all processes, or if the processes do not join within ``seconds``.
    """
    facts = {**facts, "JAX": jax.__version__}
    if rank == 0 and address is not None:
        _check_free(address)
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    port = "" if address is None else address.rpartition(":")[2]
    try:
        jax.distributed.initialize(
            address,
            count,
            rank,
            local_device_ids=None if device is None else [device],
            cluster_detection_method=None if address is None else "deactivate",
            initialization_timeout=seconds,
            heartbeat_timeout_seconds=_HEARTBEAT_HERE if local else _HEARTBEAT,
            coordinator_bind_address=f"{_LOOPBACK}:{port}" if local else None,
        )
    except (RuntimeError, ValueError) as error:
        where = f" at {address}" if address else ""
        raise ArrayDispatchError(
            f"rank {rank} of {count} did not meet the others{where} within {seconds} s: {str(error).splitlines()[0]}"
        ) from None
    _compare(rank, count, facts, seconds)
    with Exchanges() as exchanges:
        if local:
            exchanges.put(_COLLECTIVES, _on_loopback)
        with _no_output():
            _meet(jax.devices())


def _meet(devices: list[Any]) -> None:
    """Compute a sum over each group of devices that XLA's partitioner forms, to open the group's sockets now."""
    for lengths in _grids(len(devices)) if devices[0].platform == "cpu" else [(len(devices),)]:
        names = tuple(f"m{axis}" for axis in range(len(lengths)))
        mesh, spec = Mesh(np.array(devices).reshape(lengths), names), PartitionSpec(names)
        groups = [group for size in range(1, len(names) + 1) for group in combinations(names, size)]
        one = np.ones(1, np.float32)
        ones = jax.make_array_from_callback((len(devices),), NamedSharding(mesh, spec), lambda part, one=one: one)
        sums = jax.shard_map(
            lambda x, groups=groups: sum(jax.lax.psum(x, group) for group in groups), mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False
        )  # fmt: skip
        jax.jit(sums)(ones).block_until_ready()


def _grids(count: int) -> list[tuple[int, ...]]:
    """Return different orders of the prime factors of a number, at most :data:`_MOST_GRIDS`."""
    factors, rest, factor = [], count, 2
    while rest > 1:
        while rest % factor == 0:
            factors.append(factor)
            rest //= factor
        factor += 1
    return list(dict.fromkeys(islice(permutations(factors or [1]), _MOST_ORDERS)))[:_MOST_GRIDS]


@contextmanager
def _no_output() -> Iterator[None]:
    """Discard writes to the process's standard output, on which Gloo prints its peers (jaxlib 0.10)."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def _on_loopback(exchange: Exchange) -> Any:
    return lambda *args, **kwargs: exchange.real(*args, **kwargs, hostname=_LOOPBACK)


def _check_free(address: str) -> None:
    """Raise an error if another process listens on the port, which gRPC would share with that process."""
    host, _, port = address.rpartition(":")
    try:
        family = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0][0]
    except (OSError, ValueError) as error:
        raise ArrayDispatchError(f"{address!r} is no address of a coordinator ({error}); give HOST:PORT.") from None
    with socket.socket(family) as trial:
        if trial.connect_ex((host, int(port))) == 0:
            raise ArrayDispatchError(
                f"the coordinator's address {address} is taken by another program; choose another port."
            )


def _compare(rank: int, count: int, facts: Mapping[str, str], seconds: int) -> None:
    client: Any = distributed.global_state.client
    key = "arraydispatch/facts"
    client.key_value_set(f"{key}/{rank}", json.dumps(dict(facts)))
    for other in range(count) if rank == 0 else (0,):
        try:
            theirs = json.loads(client.blocking_key_value_get(f"{key}/{other}", 1000 * seconds))
        except RuntimeError as error:
            raise ArrayDispatchError(
                f"rank {other} of {count} did not begin within {seconds} s: {str(error).splitlines()[0]}"
            ) from None
        for name in {**facts, **theirs}:
            if facts.get(name) != theirs.get(name):
                raise ArrayDispatchError(
                    f"rank {rank} has {name} {facts.get(name)}, and rank {other} has {theirs.get(name)}; it has to be the same."
                )
