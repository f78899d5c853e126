"""The command ``arraydispatch``, also as ``python -m arraydispatch``."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading

SPIN = "17"
"""After a call OpenBLAS's threads spin for 2^17 cycles, some 40 microseconds, before they sleep. With the default, 2^26, they
still spin when the next blocks need their processors. Beside PyTorch's threads, which spin too, an exponential of 262,144 numbers
and a product of them take 8 ms with the default, 1.3 ms with 2^20, and 0.4 with 2^17. OpenBLAS reads the variable
when it is loaded."""


def main() -> int:
    """Run the command line. Ctrl-C during the start prints one word; in the script, the script handles it.

    If Ctrl-C ends the process, the process dies of the signal, as Python's own do.
    """
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", SPIN)
    gc.disable()  # until the program begins: objects made during the start stay alive (see `runner.run`)
    try:
        from .launcher.commands import cli

        return cli.main()
    except KeyboardInterrupt as interrupt:
        if type(interrupt) is KeyboardInterrupt:
            print("arraydispatch: interrupted", file=sys.stderr)
        # Python dies of the signal only if it compiles nothing after it has seen the exception, so the process ends first.
        threading._shutdown()  # type: ignore[attr-defined]  # wait for the program's threads
        atexit._run_exitfuncs()
        sys.excepthook = lambda *_: None
        raise KeyboardInterrupt from None  # exactly this class: Python ignores subclasses


if __name__ == "__main__":
    sys.exit(main())
