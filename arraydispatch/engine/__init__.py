"""Fused execution: calls on large values are recorded, and run together as a block when somebody looks.

``loops``   which calls are recorded, and the dtype of their results;
``tape``    nodes, what a thread has recorded so far, and when it ends;
``blocks``  the plan of a block: what is computed in pieces, into which memory;
``reported``  what a profile is told of blocks;
``pool``    the threads that run it (the *host tier*: NumPy's own loops on host memory).

See docs/explanation/engine.md. ``compiled_blocks`` is compiled execution, on a library's own arrays: docs/explanation/compiled.md.
"""
