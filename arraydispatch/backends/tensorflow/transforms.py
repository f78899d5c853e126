"""TensorFlow's transforms, on functions of lists of native tensors. See ``TRANSFORMS`` in ``backends/base.py``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from time import perf_counter
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import record  # the public API does not show what a GradientTape records

from ...common import events, tracing
from ..base import appending
from . import host_calls
from .core import EagerTensor, dims, taped

Tensor = Any
Run = Callable[[list[Tensor]], tuple[list[Tensor], list[Tensor]]]

REFUSALS: tuple[type[Exception], ...] = (
    tf.errors.OperatorNotAllowedInGraphError,
    NotImplementedError,
    tf.errors.InaccessibleTensorError if hasattr(tf.errors, "InaccessibleTensorError") else NotImplementedError,
)


def is_refusal(error: Exception) -> bool:
    return not isinstance(error, NotImplementedError) or "symbolic" in str(error)


def differentiate(
    f: Run, primals: Sequence[Tensor], once: bool
) -> tuple[list[Tensor], list[Tensor], Callable[..., list[Tensor]]]:
    # Separate tensors: the originals may be used outside of the function too.
    here = [tf.identity(x) for x in primals]
    with tf.GradientTape(persistent=not once) as tape:
        tape.watch(here)
        outs, extra = f(here)

    def back(cotangents: Sequence[Tensor] | None) -> list[Tensor]:
        if not outs:
            return [tf.zeros_like(x) for x in primals]
        grads = tape.gradient(
            outs,
            here,
            output_gradients=cotangents and list(cotangents),
            unconnected_gradients=tf.UnconnectedGradients.ZERO,
        )
        return [tf.convert_to_tensor(g) for g in grads]  # gradients of indexed tensors are IndexedSlices

    def pull(cotangents: Sequence[Tensor] | None, many: bool = False) -> list[Tensor]:
        return mapped(back, list(cotangents or ())) if many else back(cotangents)

    return outs, extra, pull


def mapped(f: Callable[[list[Tensor]], Any], values: list[Tensor]) -> Any:
    """Return the results of ``tf.vectorized_map``, in a graph of its own if called eagerly: `tf.function` would warn about every new
    graph.
    """
    if not tf.executing_eagerly():
        return tf.vectorized_map(f, values)
    run = tf.compat.v1.wrap_function(
        lambda *xs: tf.vectorized_map(f, list(xs)), [tf.TensorSpec(x.shape, x.dtype) for x in values]
    )
    return run(*values)


def jit(f: Run, examples: Sequence[Tensor]) -> Callable[[list[Tensor]], tuple[list[Tensor], list[Tensor]] | None]:
    """Trace one graph, and return the function that runs it: compiled by XLA, if XLA has an exact kernel for each operation, else by
    TensorFlow.

    The function returns None if a derivative is taken through host code in the graph: ``f`` itself has to run then, and refuses.
    """
    specs = [tf.TensorSpec(x.shape, x.dtype) for x in examples]
    plain = tf.function(lambda *natives: f(list(natives)), autograph=False).get_concrete_function(*specs)
    fused = tf.function(plain, autograph=False, jit_compile=True)
    program: Any = _called(plain) if _left_to_tensorflow(plain) else None
    calls_host = any(node.op == host_calls.OPERATION for node in _nodes(plain))

    def run(natives: list[Tensor]) -> tuple[list[Tensor], list[Tensor]] | None:
        nonlocal program
        if calls_host and taped() and tracing.current() is not None and record.should_record_backprop(natives):
            return None  # host values in the graph are constants to the tape; the function itself refuses
        if not tf.executing_eagerly():
            return plain(*natives)
        if program is not None:
            return program(natives)
        try:
            chosen = _called(fused.get_concrete_function(*specs))
            made = _compiled(chosen, natives)
        except tf.errors.OpError:
            chosen = _called(plain)
            made = chosen(natives)  # raises the same error if the values are the cause
        program = chosen
        return made

    return run


def _compiled(program: Run, natives: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Call a program for the first time, when XLA compiles it or reads what an earlier process has compiled. Report to the listener which
    of both XLA did, and the time.
    """
    start, before = perf_counter(), _files_of_programs()
    made = program(natives)
    if events.tap is not None:
        kept = int(before is not None and before == _files_of_programs())
        events.tap.compiled("tensorflow", 1 - kept, perf_counter() - start, kept)
    return made


_FOLDER = re.search(r"--tf_xla_persistent_cache_directory=(?:'([^']*)'|(\S*))", os.environ.get("TF_XLA_FLAGS", ""))
"""Folder in which TensorFlow keeps programs, if any. TensorFlow has no counter of the programs that it has read from the folder."""


def _files_of_programs() -> set[str] | None:
    if _FOLDER is None:
        return None
    try:
        return set(os.listdir(_FOLDER[1] or _FOLDER[2]))
    except OSError:
        return set()


def abstract(f: Any, specs: Sequence[Any], device: Any) -> list[tuple[tuple[int, ...], Any]]:
    graph = tf.function(lambda *natives: f(list(natives)), autograph=False).get_concrete_function(*_specs(specs))
    return [(dims(x), x.dtype.as_numpy_dtype) for x in graph.outputs]


def _specs(specs: Sequence[Any]) -> list[Any]:
    return [tf.TensorSpec(shape, tf.as_dtype(dtype)) for shape, dtype in specs]


def program(
    f: Any, specs: Sequence[Any], device: Any, spare: Sequence[int]
) -> Callable[[list[Tensor], list[list[Tensor]]], None]:
    return appending(jit(lambda natives: (f(natives), []), _specs(specs)))


_INEXACT = frozenset({"Svd", "SelfAdjointEigV2"})
"""Operations whose XLA kernels stop at 1e-6 of a matrix, in double precision too: their Jacobi iterations have that
fixed tolerance.
"""

_UNCONJUGATED = frozenset({"SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"})
"""Operations whose XLA kernels omit the conjugate of complex numbers, so that derivatives are conjugated; TensorFlow's do not."""


def _left_to_tensorflow(graph: Any) -> bool:
    """Whether the values of an operation in a graph, including its loops and branches, would differ if XLA computed them."""
    complex_types = tf.complex64.as_datatype_enum, tf.complex128.as_datatype_enum
    return any(
        node.op in _INEXACT or (node.op in _UNCONJUGATED and node.attr["T"].type in complex_types)
        for node in _nodes(graph)
    )


def _nodes(graph: Any) -> Iterator[Any]:
    """Yield the operations of a graph and of the functions that it calls."""
    made = graph.graph.as_graph_def()
    for part in (made.node, *(f.node_def for f in made.library.function)):
        yield from part


def _called(graph: Any) -> Run:
    """Return a function that calls a graph with tensors known to match its shapes and types. The function skips TensorFlow's checks,
    which cost as much as a small program.
    """
    call, captured, size = graph.inference_fn.call_flat, graph.captured_inputs, len(graph.structured_outputs[0])

    def run(natives: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        # A tape must see the call, and variables must be read.
        if taped() or any(type(x) is not EagerTensor for x in natives):
            return graph(*natives)
        try:
            made = call(*natives, *captured) or []
        except tf.errors.OpError as error:
            found = tracing.cause(error)
            if found is error:
                raise
        else:
            return made[:size], made[size:]
        raise found

    return run


def loop(going: Any, step: Any, state: Sequence[Tensor], most: int | None) -> list[Tensor]:
    if _met.get() is not None and _differentiated_for_each(tracing.entered()):
        raise _OneByOne
    return list(
        tf.while_loop(
            lambda *values: _with_own_constants(going(list(values))),
            lambda *values: _with_own_constants(step(list(values))),
            list(state),
            maximum_iterations=most,
        )
    )


def _differentiated_for_each(traces: Sequence[Any]) -> bool:
    """Whether a derivative is taken inside the innermost batch of examples."""
    for t in reversed(traces):
        if t.what == "ad.vmap":
            return False
        if not t.staged:
            return True
    return False


def _with_own_constants(made: Any) -> Any:
    """Return ``made``, the results of a loop's function, after embedding the function's constants in its graph.

    TensorFlow passes small eager tensors, such as our shapes and axes, to a loop as arguments, and XLA accepts no
    argument as a shape.
    """
    graph = tf.compat.v1.get_default_graph()
    for outside, inside in list(getattr(graph, "captures", ())):
        if inside.op.type == "Const":
            graph.function_captures.pop(id(outside))
            graph.inputs[:] = [x for x in graph.inputs if x is not inside]
    return made


def call_host(f: Any, natives: Sequence[Tensor], specs: Sequence[Any]) -> list[Tensor]:
    return host_calls.call(f, natives, specs)


def with_gradient(f: Run, back: Any, natives: Sequence[Tensor]) -> list[Tensor]:
    made: list[Tensor] = []
    met = _met.get()
    if met is not None:
        met.append(f)

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def run(*values: Tensor) -> Any:
        # No derivative goes through here, so values on the host may be used.
        outs = f([tf.stop_gradient(x) for x in values])[0]

        def backward(*cotangents: Tensor) -> list[Tensor]:
            # The returned values, not `outs`: a second derivative through these would not use the user's rule.
            return back(list(values), made, list(cotangents))

        return outs, backward

    made += run(*natives)
    return list(made)


_met: ContextVar[list[Any] | None] = ContextVar("arraydispatch_met", default=None)
"""Functions with a user-defined derivative met while a batch is traced; None: they are not collected."""


class _OneByOne(Exception):
    """Raised by code that cannot be run as a batch."""


def vectorize(f: Run, natives: Sequence[Tensor], size: int) -> tuple[list[Tensor], list[Tensor]]:
    """Run ``tf.vectorized_map``, or example by example if that would lose a derivative.

    A batch in a graph ignores ``tf.custom_gradient``: a derivative through it would silently differentiate the function
    itself. TensorFlow has no rule for the derivative of a loop in a batch either.
    """

    def each(values: list[Tensor]) -> Any:
        # Values that depend on no example belong to no graph; `vectorized_map` requires them in its own.
        return [[tf.identity(x) if isinstance(x, EagerTensor) else x for x in part] for part in f(values)]

    met: list[Any] = []
    token = _met.set(met)
    try:
        made = mapped(each, list(natives))
    except _OneByOne:
        pass
    else:
        if not met or all(t.staged for t in tracing.entered()):
            return made
    finally:
        _met.reset(token)
    return _one_by_one(f, natives, size, bool(met))


def _one_by_one(f: Run, natives: Sequence[Tensor], size: int, unrolled: bool) -> tuple[list[Tensor], list[Tensor]]:
    """Run the examples one by one: in a graph as one loop, eagerly or if ``unrolled`` without a loop, because a loop whose function has a
    user-defined derivative cannot be differentiated.
    """
    if unrolled or tf.executing_eagerly():
        each = [f([x[i] for x in natives]) for i in range(size)]
        outs, extra = ([tf.stack(values) for values in zip(*part)] for part in zip(*each))
        return outs, extra
    # One loop in the graph; the first example gives the types.
    made = f([x[0] for x in natives])
    first = [x[None] for part in made for x in part]
    if size > 1 and first:
        specs = [tf.TensorSpec(x.shape[1:], x.dtype) for x in first]
        rest = tf.map_fn(
            lambda xs: [x for part in f(list(xs)) for x in part], [x[1:] for x in natives], fn_output_signature=specs
        )
        first = [tf.concat(pair, 0) for pair in zip(first, rest)]
    return first[: len(made[0])], first[len(made[0]) :]


def number(host: Any, upload: Callable[[Any], Tensor]) -> Tensor:
    return upload(host)


def signature(a: Tensor) -> Any:
    return dims(a), a.device


def nests(traces: Sequence[Any]) -> bool:
    """Whether a program may be nested: not in a batch, where TensorFlow computes wrong shapes for a program, so the
    function runs instead.
    """
    return all(t.what != "ad.vmap" for t in traces)


def parameters(module: Any) -> dict[str, Tensor] | None:
    """Return the values of the trained variables of a Keras layer or model, by their paths; None for other objects."""
    if not isinstance(module, tf.Module) and not _is_layer(module):
        return None
    return {getattr(v, "path", None) or v.name: tf.convert_to_tensor(v) for v in module.trainable_variables}


def _is_layer(module: Any) -> bool:
    """Whether a module is a Keras layer that computes with TensorFlow."""
    keras = sys.modules.get("keras")
    return keras is not None and isinstance(module, keras.layers.Layer) and keras.backend.backend() == "tensorflow"


def apply(module: Any, params: Any, args: Any, kwargs: Any) -> Any:
    if not _is_layer(module):
        raise TypeError(f"a {type(module).__name__} is not a Keras layer, so its parameters cannot be passed in")
    trained = [params[v.path] for v in module.trainable_variables]
    made, _ = module.stateless_call(trained, [v.value for v in module.non_trainable_variables], *args, **kwargs)
    return made


def stop_gradient(a: Tensor) -> Tensor:
    return tf.stop_gradient(a)
