"""Transforms of functions written with NumPy: derivatives, compilation, vectorization.

A transform flattens the user's arguments (:mod:`arraydispatch.common.pytrees`), turns the function into one of native arrays
(:mod:`arraydispatch.transforms.flattening`), calls the library's own transform (``backends/<name>/transforms.py``), and rebuilds the
result. Only the backend knows what is traced and how.

So pytrees, aliases, leaks and messages are handled once, and each library needs a short function for each transform:

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

The function runs on the library's tracers rather than on a recorder of this package: fused execution records calls on host values and
knows nothing that a derivative needs, and each library's tracer knows its own control flow, dtypes and devices. ``torch.compile``
itself is not used, because it reads the bytecode of the function, and with it that of NumPy and of this package; ``ad.jit`` checks at
each call what its guards would check. Autograd is used rather than ``torch.func``, which takes twice as long and hides values.
A program that PyTorch recorded of a derivative holds the computed values, cut where autograd keeps values, and holds nothing of a
user's own gradient; so a derivative around such a program runs the function instead. Derivatives take known values, so a function may
branch on them; in a program a value that is read is an error with its line. ``matrix_from_function`` needs no library: an
array type of its own follows NumPy's calls by the same two protocols.

While a program is made, a write to most of an array is a choice for each element, which XLA computes in one loop with the written
values; a write to a smaller part is the library's update.
"""
