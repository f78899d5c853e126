"""Compiled execution: calls on a library's arrays are recorded, and run together as one program of the library's compiler.

``values``    deferred values, which an array holds in place of the library's own;
``units``     the functions that are recorded, with static arguments, and their abstract evaluation;
``tapes``     the recorded calls of each thread, and the rules for when they run;
``programs``  blocks: run call by call while they are rare, compiled when they have come often enough;
``variant``   the variant of a backend whose arrays hold deferred values;
``counters``  numbers for reports.

See docs/explanation/compiled.md.
"""
