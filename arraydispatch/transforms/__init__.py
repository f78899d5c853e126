"""Transforms of functions written with NumPy: derivatives, compilation, vectorization.

A transform flattens the user's arguments (:mod:`arraydispatch.common.pytrees`), turns the function into a function of native arrays
(:mod:`arraydispatch.transforms.flattening`), calls the library's own transform (``backends/<name>/transforms.py``), and rebuilds the
result. Only the backend knows how the library traces.

So pytrees, aliases, leaks and messages are handled here for all libraries, and each library needs one short function per transform:

================  ==========================  =================================================  =======================
transform         JAX                         PyTorch                                            TensorFlow
================  ==========================  =================================================  =======================
``jit``           ``jax.jit``                 ``make_fx`` on tensors without values, compiled    ``tf.function`` with XLA
                                              by a backend of ``torch.compile``
derivatives       ``jax.vjp``                 autograd; ``torch.func.vjp`` inside ``vmap``       ``GradientTape``
``vmap``          ``jax.vmap``                ``torch.func.vmap``                                ``tf.vectorized_map``
``while_loop``    ``lax.while_loop``;         steps one after another                            ``tf.while_loop``
                  ``scan`` if differentiated
``host_call``     ``pure_callback``           a custom operator                                  ``tf.numpy_function``
================  ==========================  =================================================  =======================

The function runs on the library's tracers, not on a recorder of this package: fused execution records calls on host values and
not the information for derivatives, and each library's tracer knows its own control flow, dtypes and devices. ``torch.compile``
itself is not used, because it would also read the bytecode of NumPy and of this package; ``ad.jit`` makes the checks of its
guards at each call. Autograd is used rather than ``torch.func``, which takes twice as long and hides values. If PyTorch records a
program of a derivative, the program does not depend on its arguments where autograd keeps values, and a user's own gradient is not
recorded; so an outer derivative of such a program runs the function instead. Derivatives are taken at known values, so a function may
branch on them; in a program, reading a value is an error that names the line. ``matrix_from_function`` needs no library: its own
array type implements the same two protocols.

In a program, a write to most of an array selects each element from the array or the written values; XLA fuses that with the code
that computes these values. A write to a smaller part is the library's update.
"""
