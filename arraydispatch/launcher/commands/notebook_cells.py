"""File and line, in their cell, of code that magics run (``%%time``, ``%timeit``, ``%%prun``).

IPython compiles such code under names of its own (``<timed exec>``), or as a later cell, and counts its lines from one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import Any

from ...common.patching import Exchange, Exchanges

_OURS = "arraydispatch"
_COMPILER = "IPython.core.compilerop:CachingCompiler"


class _Body:
    """Code that a cell magic runs.

    Parameters
    ----------
    frame : frame
        Frame of the cell.
    file : str
        Name of the code.
    line, text : str
        Arguments of the magic.
    """

    def __init__(self, frame: FrameType, file: str, line: str, text: str) -> None:
        self.frame, self.file = frame, file
        self._line, self._text = line, text

    def before(self, source: str) -> int:
        """Return the number of lines of the cell before some code, which is from the magic's line or its body (without empty lines)."""
        above = self.frame.f_lineno
        code, text = source.lstrip(), self._text.lstrip()
        first = code.partition("\n")[0].rstrip()
        if first and self._line.rstrip().endswith(first) and text.partition("\n")[0].rstrip() != first:
            return above - 1
        return above + self._text[: len(self._text) - len(text)].count("\n")


class Magics:
    """Magics of a shell, while cells run on a backend.

    Parameters
    ----------
    shell : InteractiveShell
        Shell of the magics.
    number : callable
        Returns the number of the cell with a file name, None if it is not a cell.
    """

    def __init__(self, shell: Any, number: Callable[[str], str | None]) -> None:
        self._shell, self._number = shell, number
        self._bodies: list[_Body] = []

    def put(self, exchanges: Exchanges) -> None:
        """Exchange the magics, so that their code has the file name and line numbers of its cell."""
        shell, compiler = self._shell, self._shell.compile
        exchanges.put("IPython.core.interactiveshell:InteractiveShell.run_cell_magic", self._running, shell)
        exchanges.put(f"{_COMPILER}.cache", self._caching, compiler)
        exchanges.put(f"{_COMPILER}.ast_parse", self._parsing, compiler)
        exchanges.put(f"{_COMPILER}.__call__", self._compiling)
        exchanges.put("IPython.core.magics.execution:ExecutionMagics._run_with_profiler", self._profiling)

    @contextmanager
    def running(self, line: str, text: str) -> Iterator[None]:
        """Context in which a cell magic runs a body."""
        frame = self._cell()
        if frame is None:
            yield
            return
        moved = "\n" * frame.f_lineno + text
        compiler = self._shell.compile
        name = type(compiler).cache(compiler, moved, self._count(frame, 0), moved)
        self._bodies.append(_Body(frame, name, line, text))
        try:
            yield
        finally:
            self._bodies.pop()

    def _cell(self) -> FrameType | None:
        """Return the frame of the cell's code that runs a magic."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_globals is not self._shell.user_ns:
            frame = frame.f_back
        return None if frame is None or self._number(frame.f_code.co_filename) is None else frame

    def _body(self, frame: FrameType | None) -> _Body | None:
        """Return the body that a magic runs, with no other call in between; a cell that awaits may run in its own thread."""
        found = self._bodies[-1] if self._bodies else None
        return found if found is not None and frame in (None, found.frame) else None

    def _count(self, frame: FrameType, otherwise: int) -> int:
        number = self._number(frame.f_code.co_filename)
        return int(number) if number is not None and number.isdecimal() else otherwise

    def _running(self, exchange: Exchange) -> Any:
        def run_cell_magic(magic_name: str, line: str, cell: str) -> Any:
            with nullcontext() if magic_name == _OURS else self.running(line, cell):
                return exchange.real(magic_name, line, cell)

        return run_cell_magic

    def _caching(self, exchange: Exchange) -> Any:
        def cache(transformed_code: str, number: int = 0, raw_code: str | None = None) -> Any:
            body = self._body(self._cell())
            if body is None:
                return exchange.real(transformed_code, number, raw_code)
            moved = "\n" * body.before(transformed_code) + transformed_code
            return exchange.real(moved, self._count(body.frame, number), moved)

        return cache

    def _parsing(self, exchange: Exchange) -> Any:
        def ast_parse(source: str, *args: Any, **kwargs: Any) -> Any:
            frame = self._cell()
            body = self._body(frame)
            if body is not None:
                before = body.before(source)
            else:
                before = 0 if frame is None or args or kwargs else frame.f_lineno - 1
            return exchange.real("\n" * before + source, *args, **kwargs)

        return ast_parse

    def _compiling(self, exchange: Exchange) -> Any:
        def __call__(compiler: Any, source: Any, filename: str, symbol: str, *args: Any, **kwargs: Any) -> Any:
            if compiler is self._shell.compile and filename.startswith("<") and self._number(filename) is None:
                frame = self._cell()
                body = self._body(frame)
                if body is not None:
                    filename = body.file
                elif frame is not None:
                    filename = frame.f_code.co_filename
            return exchange.real(compiler, source, filename, symbol, *args, **kwargs)

        return __call__

    def _profiling(self, exchange: Exchange) -> Any:
        def _run_with_profiler(magics: Any, code: Any, opts: Any, namespace: Any) -> Any:
            if magics.shell is self._shell and isinstance(code, str) and self._cell() is not None:
                code = self._shell.compile(self._shell.compile.ast_parse(code), "<string>", "exec")
            return exchange.real(magics, code, opts, namespace)

        return _run_with_profiler


_active: dict[int, Magics] = {}
"""id of a shell -> its magics, while they are exchanged."""


@contextmanager
def seen_to(shell: Any, number: Callable[[str], str | None]) -> Iterator[Magics]:
    """Exchange the magics of a shell; nested blocks exchange them only once."""
    found = _active.get(id(shell))
    if found is not None:
        yield found
        return
    with Exchanges() as exchanges:
        made = _active[id(shell)] = Magics(shell, number)
        made.put(exchanges)
        try:
            yield made
        finally:
            del _active[id(shell)]
