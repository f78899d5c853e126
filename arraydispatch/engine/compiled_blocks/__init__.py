"""Compiled execution: whole calls on a library's arrays are recorded, and run together as one program of its compiler.

``values``    deferred values, which stand in an array for the library's own;
``units``     what is recorded: functions of native arrays with static arguments, and their abstract evaluation;
``tapes``     what a thread has recorded, and when it runs;
``programs``  blocks: run call by call while they are rare, compiled when they have come often enough;
``variant``   the variant of a backend whose arrays hold deferred values;
``counters``  what reports are told.

See docs/explanation/compiled.md.
"""
