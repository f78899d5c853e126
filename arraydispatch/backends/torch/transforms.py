"""torch's transforms, on functions of lists of native tensors. See ``TRANSFORMS`` in ``backends/base.py``.

Derivatives are computed by autograd, which takes half the time of ``torch.func`` and lets values be read. Inside ``vmap``,
which autograd does not support, ``torch.func`` computes them.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import math
import operator
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from time import perf_counter
from typing import Any

import torch
import torch.fx.graph
from torch import Tensor
from torch._guards import TracingContext, tracing as tracing_context
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd.graph import _engine_run_backward
from torch.fx.experimental.proxy_tensor import make_fx

from ...common import events, tracing
from ...common.errors import TraceError
from ...common.signal_safety import imported
from ..base import appending
from .dtype_tables import (
    AS_IT_IS,
    FROM_NUMPY,
    TO_NUMPY,
    compiling,
    concrete,
    going_back_for_many,
    innermost_transform,
    may_alias,
)

Run = Callable[[list[Tensor]], tuple[list[Tensor], list[Tensor]]]

REFUSALS: tuple[type[Exception], ...] = (RuntimeError, NotImplementedError)


def is_refusal(error: Exception) -> bool:
    """Whether an error means that a tensor's value was requested inside a transform. Torch has no error class of its own for that."""
    said = f"{type(error).__name__}: {error}"
    return any(words in said for words in _SAID)


_SAID = (
    "data-dependent", "DataDependent", "DynamicOutputShape", "calling .item() on a Tensor", "data dependent",
    "vmap: It looks like", "may have escaped from inside a function", "get value out of a tracing tensor", "dynamic shape", "GuardOnDataDependent",
)  # fmt: skip


def differentiate(
    f: Run, primals: Sequence[Tensor], once: bool
) -> tuple[list[Tensor], list[Tensor], Callable[..., list[Tensor]]]:
    if innermost_transform() is not None:
        return _by_functions(f, primals)
    # With recording off, as in the backward pass of a first derivative, there is no outer one.
    outer = torch.is_grad_enabled() and (
        not all(map(_IS_STAGED, tracing.entered())) or any(map(_REQUIRES_GRAD, primals))
    )
    _mark_one_way()
    with AS_IT_IS if torch.is_grad_enabled() else torch.enable_grad():
        # A tensor that is part of an outer derivative becomes a node; others become leaves.
        here = [x.view_as(x) if outer and x.requires_grad else x.detach().requires_grad_() for x in primals]
        outs, extra = f(here)
    if any(map(torch._C._functorch.is_legacy_batchedtensor, outs)):
        # torch 2.13 silently gives wrong values.
        raise RuntimeError("a derivative is taken inside one that goes back with is_grads_batched, which mixes the two")

    def pull(cotangents: Sequence[Tensor] | None, many: bool = False) -> list[Tensor]:
        if cotangents is None:
            cotangents = list(map(torch.ones_like, outs))
        lead: tuple[int, ...] = (cotangents[0].shape[0],) if many else ()
        known = list(map(_REQUIRES_GRAD, outs))
        ends, given = tuple(itertools.compress(outs, known)), tuple(itertools.compress(cotangents, known))
        if not ends or lead == (0,):
            return [x.new_zeros(lead + x.shape) for x in primals]
        kept = outer or many or not once

        def back(values: tuple[Tensor, ...]) -> Any:
            # `torch.autograd.grad` takes twice as long, for checks of what is known here.
            return _engine_run_backward(ends, values, kept, outer, tuple(here), True, accumulate_grad=False)

        with AS_IT_IS if torch.is_grad_enabled() else torch.enable_grad():
            if many:
                try:
                    with going_back_for_many():
                        grads = torch.autograd.grad(
                            ends, here, given, kept, outer, is_grads_batched=True, allow_unused=True
                        )
                except (RuntimeError, TraceError):
                    # The user's derivative reads values, or an operation has no rule for batches.
                    each = [back(tuple([ct[i] for ct in given])) for i in range(lead[0])]
                    grads = [None if column[0] is None else torch.stack(column) for column in zip(*each)]
            else:
                grads = back(given)
        made = [x.new_zeros(lead + x.shape) if g is None or g._is_zerotensor() else g for x, g in zip(primals, grads)]
        return made if outer else _apart(made)

    if outer:
        return outs, extra, pull
    return list(map(_released, outs)), list(map(_released, extra)), pull


_IS_STAGED, _REQUIRES_GRAD = operator.attrgetter("staged"), operator.attrgetter("requires_grad")


def _released(a: Tensor) -> Tensor:
    """Detach a result from the computation of derivatives."""
    return _with_memory(a.detach())


def _with_memory(a: Tensor) -> Tensor:
    """Return a tensor with memory for each element: results of a transform may be written."""
    if a._is_zerotensor():
        return a.new_zeros(a.shape)
    if a.is_contiguous():
        return a
    steps = [(n - 1) * step for n, step in zip(a.shape, a.stride()) if n > 1]
    return a.clone(memory_format=torch.contiguous_format) if 0 in steps or sum(steps) + 1 < a.numel() else a


def _apart(grads: list[Tensor]) -> list[Tensor]:
    """Return gradients that may be written: autograd shares one tensor between arguments, and expands a single number
    for a sum.
    """
    made: list[Tensor] = []
    for g in grads:
        # The first half is `concrete` for nearly all tensors, without the call.
        if (compiling() or type(g) is not Tensor or innermost_transform() is not None) and not concrete(g):
            return grads
        whole = g.untyped_storage().nbytes() == g.numel() * g.element_size()
        made.append(
            g
            if whole and not any(map(may_alias, itertools.repeat(g), made))
            else g.clone(memory_format=torch.contiguous_format)
        )
    return made


def _by_functions(f: Run, primals: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor], Callable[..., list[Tensor]]]:
    outs, back, extra = torch.func.vjp(lambda *natives: f(list(natives)), *primals, has_aux=True)

    def pull(cotangents: Sequence[Tensor] | None, many: bool = False) -> list[Tensor]:
        given = [torch.ones_like(y) for y in outs] if cotangents is None else list(cotangents)
        return list(torch.func.vmap(back)(given) if many else back(given))

    return outs, extra, pull


compiler = "inductor"
"""Compiler of a recorded program: a backend of ``torch.compile``, or ``"eager"`` to run it operation by operation."""


class _Recording:
    """Facts about a program, collected while it is recorded."""

    __slots__ = ("called", "one_way")

    def __init__(self) -> None:
        self.called: list[_HostFunction] = []
        """Host functions that the program calls."""
        self.one_way = False
        """Whether the program contains operations that compute a derivative, through which autograd cannot differentiate again."""


_recorded_here: ContextVar[_Recording | None] = ContextVar("arraydispatch_recorded", default=None)


def _mark_one_way() -> None:
    """Mark the program being recorded, if any, as containing a derivative that autograd cannot differentiate again."""
    here = _recorded_here.get()
    if here is not None:
        here.one_way = True


def _expm1(x: Tensor) -> Tensor:
    """Compute expm1. On the CPU torch's compiler writes exp(x) - 1 in its place, which loses all digits near zero
    (``CppVecOverrides.expm1``).
    """
    if x.device.type != "cpu" or not x.is_floating_point():
        return NotImplemented
    near = x.abs() < 1.0
    half = torch.where(near, x, 0.0) * 0.5
    return torch.where(near, half.sinh() * half.exp() * 2.0, x.exp() - 1.0)


def _atanh(x: Tensor) -> Tensor:
    """Compute atanh. Torch's compiler writes the logarithm of a quotient near one in its place (``CppVecOverrides.atanh``)."""
    if x.device.type != "cpu" or not x.is_floating_point():
        return NotImplemented
    size = torch.where(x < 0.0, -x, x)
    found = (size * 2.0 / (1.0 - size)).log1p() * 0.5
    return torch.where(x < 0.0, -found, found)


def _acosh(x: Tensor) -> Tensor:
    """Compute acosh of floats on a CPU; return NotImplemented for other tensors. The formula that torch's compiler writes there overflows
    from the square root of the largest number on (``CppVecOverrides.acosh``).
    """
    if x.device.type != "cpu" or not x.is_floating_point():
        return NotImplemented
    far = x > 2.0**28
    above = torch.where(far, 1.0, x) - 1.0
    near = (above + (above * (above + 2.0)).sqrt()).log1p()
    return torch.where(x < 1.0, math.nan, torch.where(far, x.log() + math.log(2.0), near))


def _floor_divide(a: Tensor, b: Any) -> Tensor:
    """Divide floats of one dtype and round down; return NotImplemented for other operands. Torch's compiler would round the rounded
    quotient down (``lowering.div_mode``).
    """
    if not a.is_floating_point() or (isinstance(b, Tensor) and b.dtype is not a.dtype):
        return NotImplemented
    quotient, rest = a / b, torch.fmod(a, b)
    exact = (a - rest) / b
    exact = torch.where((rest != 0) & ((rest < 0) != (b < 0)), exact - 1.0, exact)
    below = torch.floor(exact)
    made = torch.where(exact - below > 0.5, below + 1.0, below)
    made = torch.where(exact == 0, torch.copysign(torch.zeros_like(exact), quotient), made)
    # Torch's vectorized code has no remainder for a quotient that overflows.
    return torch.where((b == 0) | (torch.isinf(quotient) & torch.isfinite(a)), quotient, made)


def _nextafter(a: Tensor, b: Tensor) -> Tensor:
    """Return the next 16-bit number by its bits, NotImplemented for other types. Torch's compiler returns the next number of 32 bits,
    rounded, which is the number itself.
    """
    if a.dtype.itemsize != 2:
        return NotImplemented
    bits = a.view(torch.int16)
    moved = bits + torch.where((b > a) == (bits >= 0), 1, -1).to(torch.int16)
    smallest = (b.view(torch.int16) & -(2**15)) | 1
    made = torch.where(a == 0, smallest, moved).view(a.dtype)
    return torch.where(torch.isnan(a) | torch.isnan(b), math.nan, torch.where(a == b, b, made))


_INSTEAD = {
    torch.ops.aten._efficientzerotensor.default: torch.zeros,
    torch.ops.aten.expm1.default: _expm1,
    torch.ops.aten.atanh.default: _atanh,
    torch.ops.aten.acosh.default: _acosh,
    torch.ops.aten.floor_divide.default: _floor_divide,
    torch.ops.aten.nextafter.default: _nextafter,
}
"""Operation -> replacement in a recorded program: for autograd's zeros without memory, which torch makes a constant without
values although a batch needs its elements, and for functions that lose digits, or overflow, when compiled. A replacement that returns
NotImplemented leaves the operation as it is.
"""

_recorder = threading.RLock()
"""Lock held while a program is made: the recorder and the compiler keep their state in globals of the process."""


def jit(f: Run, examples: Sequence[Tensor]) -> Callable[[list[Tensor]], tuple[list[Tensor], list[Tensor]] | None]:
    """Record the operations of a function on tensors without values, and pass that program to a backend of
    ``torch.compile``.

    The program goes to the backend directly: :func:`arraydispatch.jit` has already checked what ``torch.compile`` would guard at
    each call.

    A derivative inside the function is recorded as the operations that compute it; if autograd keeps values, the record no longer
    depends on the arguments. A user-defined derivative is not recorded. So if an outer derivative is taken through either, the function
    that ``jit`` returns only returns None: ``f`` itself has to run.
    """
    counts: list[int] = []

    def run(*natives: Tensor) -> list[Tensor]:
        outs, extra = f(list(natives))
        counts[:] = [len(outs)]
        return [_with_memory(x) for x in (*outs, *extra)]

    plain = [x.detach() for x in examples]
    here = _Recording()
    token = _recorded_here.set(here)
    try:
        with _recorder:
            recorded = make_fx(run, _INSTEAD, tracing_mode="fake", _allow_non_fake_inputs=True)(*plain)
    finally:
        _recorded_here.reset(token)
    # A program that calls the host has no derivative, so inside a trace it must not take part in one.
    one_way = here.one_way or (here.called and tracing.current() is not None)
    if one_way and any(x.requires_grad for x in examples):
        return lambda natives: None
    for name, constant in list(recorded.named_buffers()):
        setattr(recorded, name, constant.clone())  # its present value: the user may write it later
    with _recorder:
        program = recorded if compiler == "eager" else _compiled(recorded, examples, keeps=not here.called)

    def compiled(natives: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        made = program(*natives)
        return made[: counts[0]], made[counts[0] :]

    compiled.called = here.called  # type: ignore[attr-defined]  # they live as long as the program, which only has their numbers
    return compiled


def abstract(f: Any, specs: Sequence[Any], device: Any) -> list[tuple[tuple[int, ...], Any]]:
    with _recorder, _silent(), FakeTensorMode(allow_non_fake_inputs=True):
        made = f(_without_values(specs, device))
        return [(tuple(x.shape), TO_NUMPY[x.dtype]) for x in made]


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Silence torch's log of an unsupported operation; torch raises the error as well."""
    before, _log.disabled = _log.disabled, True
    try:
        yield
    finally:
        _log.disabled = before


_log = logging.getLogger("torch._subclasses.fake_tensor")


def _without_values(specs: Sequence[Any], device: Any) -> list[Tensor]:
    return [torch.empty(shape, dtype=FROM_NUMPY[dtype], device=device) for shape, dtype in specs]


def program(
    f: Any, specs: Sequence[Any], device: Any, spare: Sequence[int]
) -> Callable[[list[Tensor], list[list[Tensor]]], None]:
    with _recorder:
        before = _kernels()
        run = appending(jit(lambda natives: (f(natives), []), _without_values(specs, device)))
        kernels = _kernels() - before
    run.cost = lambda: {"kernels": float(kernels)}  # type: ignore[attr-defined]
    return run


def _kernels() -> int:
    """Return how many kernels inductor has generated; 0 before its first program."""
    metrics = sys.modules.get("torch._inductor.metrics")
    return 0 if metrics is None else int(metrics.generated_kernel_count)


# A program is kept as Python source, in which torch defines `nan` and `inf`, and complex numbers appear as
# `(nan+nanj)`.
for _name in ("nanj", "infj"):
    with contextlib.suppress(AttributeError):
        torch.fx.graph._register_custom_builtin(_name, f"{_name} = complex('{_name}')", complex(_name))


def _compiled(recorded: Any, examples: Sequence[Tensor], keeps: bool) -> Callable[..., Any]:
    """Compile a program, or read one that an earlier process has compiled.

    ``keeps``: whether the program is the same in each process. It is not if it calls host functions, which are identified by numbers.
    """
    # Imported late: it imports SymPy, which changes the process.
    shapes = imported("torch.fx.experimental.symbolic_shapes")
    start, kept = perf_counter(), _count_kept()
    with warnings.catch_warnings():  # warnings about deprecated modules, and about slow compiled code
        warnings.simplefilter("ignore")
        # torch keeps programs only where there is a tracing context with an environment of shapes.
        mode = FakeTensorMode(shape_env=shapes.ShapeEnv(), static_shapes=True) if keeps else None
        with tracing_context(TracingContext(mode) if keeps else None), _each_rounded(recorded):
            made = torch._dynamo.lookup_backend(compiler)(recorded, list(examples))
    if events.tap is not None:
        found = min(_count_kept() - kept, 1)
        events.tap.compiled("torch", 1 - found, perf_counter() - start, found)
    return made


def _each_rounded(recorded: Any) -> contextlib.AbstractContextManager[Any]:
    """Return a context manager in which inductor rounds each operation on 16-bit floats, as NumPy, torch and XLA do; by itself it rounds
    only stored results.
    """
    values = (node.meta.get("val") for node in recorded.graph.nodes)
    if not any(isinstance(x, Tensor) and x.is_floating_point() and x.itemsize == 2 for x in values):
        return contextlib.nullcontext()
    config: Any = imported("torch._inductor.config")
    return config.patch(emulate_precision_casts=True)


def _count_kept() -> int:
    """Return how many programs inductor has read that an earlier process had compiled."""
    counts = torch._dynamo.utils.counters.get("inductor", {})
    return int(counts.get("fxgraph_cache_hit", 0))


def loop(going: Any, step: Any, state: Sequence[Tensor], most: int | None) -> list[Tensor]:
    """Step until no example continues. A recorded program, which reads no values, takes ``most`` steps; without ``most``, TraceError is
    raised there.
    """
    values = list(state)
    for taken in itertools.count():
        if taken == most:
            return values
        held = going(values)
        known = _known(held)
        if known is None and most is None:
            raise tracing.refusal("ad.while_loop without max_iter")
        if known is not None and not known.any():
            return values
        values = [torch.where(held, new, old) for new, old in zip(step(values), values)]
    raise AssertionError


def _known(a: Tensor) -> Tensor | None:
    """Return a tensor without the wrappers of ``vmap`` and ``grad``; None while a program is recorded, when its values are not known."""
    while torch._C._functorch.is_functorch_wrapped_tensor(a):
        a = torch._C._functorch.get_unwrapped(a)
    return a.detach() if concrete(a) else None


class _HostFunction:
    """Host function that programs call by its number."""

    __slots__ = ("__weakref__", "at", "f", "specs")

    def __init__(self, f: Any, specs: Sequence[Any]) -> None:
        self.f, self.specs, self.at = f, specs, next(_numbers)
        _host_functions[self.at] = self


_numbers = itertools.count()
_host_functions: weakref.WeakValueDictionary[int, _HostFunction] = weakref.WeakValueDictionary()
_called_elsewhere: list[_HostFunction] = []
"""Host functions recorded by other code (a user's ``torch.compile``); the lifetime of these programs is unknown."""


@torch.library.custom_op("arraydispatch::host_call", mutates_args=())  # type: ignore[untyped-decorator]
def _host_call(values: list[Tensor], at: int, lead: int) -> list[Tensor]:
    f, given = _host_functions[at].f, [x.numpy(force=True) for x in values]
    with _outside():
        made = f(given, lead)
    return [torch.from_numpy(x).to(values[0].device if values else "cpu") for x in made]


def _outside() -> Any:
    """Return a context manager that leaves an operator's body, in which autograd does not record: gradients that host code takes there
    would be zero.
    """
    tls = torch._C
    left_out = tls._dispatch_tls_local_exclude_set().remove(tls.DispatchKey.AutogradFunctionality)
    return tls._ForceDispatchKeyGuard(tls._dispatch_tls_local_include_set(), left_out)


@_host_call.register_fake  # type: ignore[untyped-decorator]
def _(values: list[Tensor], at: int, lead: int) -> list[Tensor]:
    specs = _host_functions[at].specs
    shape = next((tuple(x.shape[:lead]) for x in values), ())
    return [
        torch.empty(shape + told, dtype=FROM_NUMPY[dtype], device=values[0].device if values else "cpu")
        for told, dtype in specs
    ]


@_host_call.register_vmap  # type: ignore[untyped-decorator]
def _(info: Any, in_dims: Any, values: list[Tensor], at: int, lead: int) -> Any:
    size = info.batch_size
    first = [
        x.unsqueeze(0).expand(size, *x.shape) if dim is None else x.movedim(dim, 0)
        for x, dim in zip(values, in_dims[0])
    ]
    made = _host_call(first, at, lead + 1)
    return made, [0] * len(made)


def call_host(f: Any, natives: Sequence[Tensor], specs: Sequence[Any]) -> list[Tensor]:
    held = _HostFunction(f, specs)
    here = _recorded_here.get()
    if here is not None:
        here.called.append(held)
    elif not all(_known(x) is not None for x in natives):
        _called_elsewhere.append(held)
    return _host_call(list(natives), held.at, 0)


def with_gradient(f: Run, back: Any, natives: Sequence[Tensor]) -> list[Tensor]:
    count = 0
    _mark_one_way()

    class Function(torch.autograd.Function):  # type: ignore[misc]
        generate_vmap_rule = True

        @staticmethod
        def forward(*values: Tensor) -> Any:
            nonlocal count
            # No derivative goes through here, so values on the host may be used.
            given = [x.detach() for x in values]
            outs = f(given)[0]
            count = len(outs)
            return tuple(x.clone() if any(x is y for y in given) else x for x in outs)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs, *output)

        @staticmethod
        def backward(ctx: Any, *cotangents: Tensor) -> Any:
            # If `torch.func` has ended meanwhile, a user-defined derivative in here would meet its level again.
            held = [torch._C._functorch.unwrap_if_dead(x) for x in ctx.saved_tensors]
            if not torch.is_grad_enabled():  # no further derivative follows, neither here nor in the user's computation
                held = [x.detach() for x in held]
            here, outs = list(held[: len(held) - count]), list(held[len(held) - count :])
            given = [torch.zeros_like(y) if ct is None else ct for y, ct in zip(outs, cotangents)]
            return tuple(x.clone() for x in back(here, outs, given))  # clone, because the user may own the array

    return list(Function.apply(*natives))


def vectorize(f: Run, natives: Sequence[Tensor], size: int) -> tuple[list[Tensor], list[Tensor]]:
    made = torch.func.vmap(lambda *examples: f(list(examples)), randomness="different")(*natives)
    others = list(natives)  # inside, tensors of examples do not tell whose memory they have
    for values in made:
        for i, x in enumerate(values):
            x = _with_memory(x)
            values[i] = x.clone() if any(may_alias(x, other) for other in others) else x
            others.append(values[i])
    return made[0], made[1]


def number(host: Any, upload: Callable[[Any], Tensor]) -> Tensor:
    return upload(host)


def signature(a: Tensor) -> Any:
    return a.shape, a.device, a.requires_grad


def nests(traces: Sequence[Any]) -> bool:
    """Whether a program may run inside these transforms: only in one that takes a first derivative, not under ``vmap``."""
    return not traces or (len(traces) == 1 and not traces[0].staged)


def parameters(module: Any) -> dict[str, Tensor] | None:
    if not isinstance(module, torch.nn.Module):
        return None
    return {name: x.detach() for name, x in module.named_parameters()}


def apply(module: Any, params: Any, args: Any, kwargs: Any) -> Any:
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"a {type(module).__name__} is not a torch.nn.Module, so its parameters cannot be passed in")
    return torch.func.functional_call(module, params, args, kwargs)


def stop_gradient(a: Tensor) -> Tensor:
    return a.detach()
