"""Acceleration of the interpreters that a script starts.

A new interpreter (``subprocess`` with ``sys.executable``, ``multiprocessing``'s spawn and forkserver) inherits the
environment: ``PYTHONPATH`` begins with a folder of ours, whose ``sitecustomize`` puts the import hook in place. The
backend is loaded when user code imports NumPy, so other programs start as fast as before.

This module is imported by every Python process that a script starts, so it imports most modules only when they are
needed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

_RUN = "ARRAYDISPATCH_RUN"
"""Environment variable with the options of the parent's run and its user files."""

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child")
"""The folder of the ``sitecustomize`` of child processes."""


# -- new interpreters ------------------------------------------------------------------------------------------------


def inherit(choices: Any, roots: list[str], counts: str | None = None, each: bool = False) -> None:
    """Make every Python process that this one starts run as it does.

    Parameters
    ----------
    choices : Choices
        Options of the run.
    roots : list of str
        Files and folders of user code.
    counts : str, optional
        Folder in which processes write their counts, if they are wanted.
    each : bool
        Whether they count each call by its line.
    """
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path not in ("", _FOLDER)]
    os.environ["PYTHONPATH"] = os.pathsep.join([_FOLDER, *paths])
    os.environ[_RUN] = json.dumps({"choices": choices.to_json(), "roots": roots, "counts": counts, "each": each})


@contextmanager
def inherited(choices: Any, roots: list[str]) -> Iterator[None]:
    """Make Python processes that are started in the block run as this one does; :func:`inherit` does that permanently."""
    before = {name: os.environ.get(name) for name in (_RUN, "PYTHONPATH")}
    inherit(choices, roots)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def continue_run() -> None:
    """Give the facade to the user code of a child process that starts, as in its parent."""
    told = os.environ.get(_RUN)
    if not told:
        return
    from ..common.patching import Exchanges
    from . import array_methods, facade, package_patches
    from .import_hook import ImportHook
    from .user_files import UserFiles, of_command_line

    run = json.loads(told)
    users = UserFiles(run["roots"])
    for root in of_command_line(users):
        users.add_root(root)
    users.add_namespace(vars(sys.modules["__main__"]))  # code of `-c` and of standard input has no file
    waiting = [run["choices"]]
    exchanges = Exchanges()  # never removed: the process ends with its program
    opened = package_patches.Doors(exchanges, users)
    array_methods.for_c_code(users, exchanges, facade.twins)

    def substitute(module: ModuleType) -> ModuleType:
        from . import activation, facade, forks, process_counts as counts, tracebacks
        from .options import Choices

        if waiting:
            Choices(**json.loads(waiting.pop())).apply()
            activation.begin(users, opened)
            tracebacks.hide_ours(exchanges)
            tracebacks.hide_ours_at_the_end(exchanges)
            forks.survive_forks()
            if run["counts"] is not None:
                counts.count_here(run["counts"], users.has_file, run["each"])
        return facade.substitute(module)

    ImportHook(users, substitute, opened.open_all, package_patches.LIBRARIES).install()
