"""Deferred execution: calls are recorded, and run together as a block when a value is read.

``loops``            the calls that are recorded, and the dtypes of their results;
``nodes``            recorded calls and their forms;
``recording``        the tape of a thread, writes on it, and reports of blocks;
``host_blocks``      fused execution: plans, kernels and threads that run a block on host memory;
``compiled_blocks``  compiled execution: blocks as programs of a library's compiler;
``along_axis``, ``draws``  large calls that several threads share without recording.

See docs/explanation/engine.md. ``compiled_blocks`` is compiled execution, on a library's own arrays: docs/explanation/compiled.md.
"""
