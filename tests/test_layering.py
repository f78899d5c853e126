"""The architecture as a test: imports point downward, and a library is named only by its own backend."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .rows import each

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "arraydispatch"

# The layers of the package, bottom to top. A package imports from itself and from layers below, never from its own layer or from
# above. `.` is the package's own `__init__`: it looks public names up on first use, so nothing may import it in a layer below
# the launcher's, and its own imports are not held against it.
LAYERS: list[tuple[str, ...]] = [
    ("_core", "common"),
    ("backends",),
    ("runtime",),
    ("memory",),
    ("ufuncs",),
    ("functions",),
    ("engine", "scipy_support"),
    ("dispatch",),
    ("array", "interop"),
    ("fastpath", "transforms"),
    (".", "api"),
    ("array_api", "profiling", "sparse"),
    ("launcher",),
    ("__main__", "numpy", "pytest_plugin", "testing"),
]
MOST_LAYERS = 14
MOST_PACKAGES, MOST_FILES = 20, 8
MOST_REPEATED = 15
"""File names that two packages share: backends have one layout, and NumPy's topics are those of the standard and of SciPy too."""

# Library -> the one backend that may import it. (NumPy is what every layer speaks.)
LIBRARIES = {
    "jax": "jax",
    "jaxlib": "jax",
    "torch": "torch",
    "tensorflow": "tensorflow",
    "keras": "tensorflow",
}

# Where it is said what is true of a NumPy function; `creation` implements what NumPy does not dispatch.
SAYS_WHAT_IS_TRUE_OF_FUNCTIONS = ("backends", "functions", "ufuncs", "api.creation")

# The module that may name a library: the table of known backends says what is to be looked for.
MAY_NAME_LIBRARIES = {"backends.loader"}

WORD = re.compile(r"(?<![A-Za-z0-9])(jax|jaxlib|jnp|torch|tensorflow|keras)(?![A-Za-z0-9])")


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        found[".".join(parts) or "."] = path
    return found


MODULES = modules()


def room_of(module: str) -> str:
    """The package, or the file at the top, that a module (a dotted name inside the package, `.` for itself) lies in."""
    return module if module == "." else module.partition(".")[0]


def layer_of(module: str) -> int | None:
    """Index of the layer of a module."""
    room = room_of(module)
    return next((index for index, layer in enumerate(LAYERS) if room in layer), None)


def imports_of(source: str, module: str, is_package: bool) -> Iterator[tuple[int, str, str | None]]:
    """(line, absolute module, name taken from it) of every import, those inside functions included."""
    package = ["arraydispatch", *([] if module == "." else module.split("."))]
    if not is_package:
        package = package[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, None
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            target = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, target, alias.name


def inner_targets(source: str, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """(line, module inside the package) of every import of our own modules."""
    for line, target, name in imports_of(source, module, is_package):
        if target != "arraydispatch" and not target.startswith("arraydispatch."):
            continue
        inner = target.removeprefix("arraydispatch").lstrip(".")
        if name is not None and ".".join(filter(None, [inner, name])) in MODULES:
            inner = ".".join(filter(None, [inner, name]))  # `from .. import dtypes` takes the module, not the package
        yield line, inner or "."


def violations(source: str, module: str, is_package: bool) -> list[str]:
    """Every import from this layer or from above, and every library that is not the module's own."""
    own = layer_of(module)
    assert own is not None
    found = []
    for line, target in inner_targets(source, module, is_package):
        theirs = layer_of(target)
        if theirs is None:
            found.append(f"{module}:{line} imports {target}, which is in no layer")
        elif theirs >= own and room_of(target) != room_of(module) and module != ".":
            found.append(f"{module}:{line} imports {target}, which is not in a layer below")
        other = re.match(r"backends\.(\w+)", target)
        mine = re.match(r"backends\.(\w+)", module)
        if (
            other
            and other[1]
            not in {
                "base",
                "complex_formulas",
                "devices",
                "features",
                "host_kernels",
                "kinds",
                "loader",
                "xla_formulas",
            }
            and (not mine or mine[1] != other[1])
        ):
            found.append(f"{module}:{line} imports the inside of the backend {other[1]}; backends.loader loads it")
    for line, target, _ in imports_of(source, module, is_package):
        backend = LIBRARIES.get(target.split(".")[0])
        if backend and not (module + ".").startswith(f"backends.{backend}."):
            found.append(f"{module}:{line} imports {target}, which only backends/{backend} may")
    return found


def code_words(source: str) -> Iterator[tuple[int, str]]:
    """(line, library) for each library named in code; comments, docstrings and messages to people do not count.

    A string counts when it is nothing but a name (`"torch"`, `"jax.numpy"`): that is code deciding by library.
    """
    tree = ast.parse(source)
    docstrings = {
        (node.body[0].lineno, node.body[0].col_offset)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
        and isinstance(node.body[0].value, ast.Constant)
    }
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME and (match := WORD.search(token.string)):
            yield token.start[0], match[1]
        elif token.type == tokenize.STRING and token.start not in docstrings:
            text = token.string.strip("rbfuRBFU").strip("'\"")
            if re.fullmatch(r"[\w.]+", text) and (match := WORD.search(text)):
                yield token.start[0], match[1]


def graph() -> dict[str, set[str]]:
    """Module -> the modules of ours that it imports, inside functions too, but for those that a type checker alone imports."""
    found: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        source = path.read_text(encoding="utf-8")
        source = _without_type_checking(source)
        targets = inner_targets(source, module, path.name == "__init__.py")
        found[module] = {target for _, target in targets if target != module and target in MODULES}
    return found


def _without_type_checking(source: str) -> str:
    """The source with blank lines in place of ``if TYPE_CHECKING:`` blocks."""
    lines = source.splitlines(keepends=True)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            lines[node.lineno - 1 : node.end_lineno] = ["\n"] * ((node.end_lineno or node.lineno) - node.lineno + 1)
    return "".join(lines)


def circles(edges: dict[str, set[str]]) -> list[set[str]]:
    """Groups of nodes each of which reaches every other (strongly connected components of more than one node)."""
    reached: dict[str, set[str]] = {}
    for start, targets in edges.items():
        seen: set[str] = set()
        todo = list(targets)
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                todo += edges.get(node, ())
        reached[start] = seen
    found: list[set[str]] = []
    for node, others in reached.items():
        circle = {node} | {other for other in others if node in reached.get(other, ())}
        if len(circle) > 1 and circle not in found:
            found.append(circle)
    return found


def test_there_is_something_to_check() -> None:
    assert {"common.errors", "common.events", "backends.base", "backends.loader", "."} <= set(MODULES)


def test_the_house_is_as_large_as_it_may_be() -> None:
    files = [path.name for path in PACKAGE.iterdir() if path.is_file() and path.suffix not in {".so", ".pyd"}]
    folders = [path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.rglob("*.py"))]
    assert len(files) <= MOST_FILES, files
    assert len(folders) <= MOST_PACKAGES, folders
    assert len(LAYERS) <= MOST_LAYERS
    rooms = {room for layer in LAYERS for room in layer}
    assert rooms == {room_of(module) for module in MODULES}, "each package has its layer, and no other has"


def test_few_file_names_are_there_twice() -> None:
    names = Counter(path.name for path in MODULES.values() if path.name != "__init__.py")
    repeated = sorted(name for name, count in names.items() if count > 1)
    assert len(repeated) <= MOST_REPEATED, repeated


def test_no_module_imports_itself_by_way_of_others() -> None:
    edges = graph()
    edges.pop(".")  # it looks names up everywhere
    assert circles({module: targets - {"."} for module, targets in edges.items()}) == []


@each("module", list(MODULES))
def test_imports_point_downward(module: str) -> None:
    path = MODULES[module]
    assert violations(path.read_text(encoding="utf-8"), module, path.name == "__init__.py") == []


@each("module", list(MODULES))
def test_libraries_are_named_only_by_their_backend(module: str) -> None:
    if module in MAY_NAME_LIBRARIES:
        return
    own = re.match(r"backends\.(\w+)", module)
    named = [
        (line, word)
        for line, word in code_words(MODULES[module].read_text(encoding="utf-8"))
        if not own or LIBRARIES.get(word.replace("jnp", "jax")) != own[1]
    ]
    assert named == []


def _is_numpy_function(node: ast.expr) -> bool:
    """Whether an expression is a function of NumPy's: ``np.linalg.svd``."""
    path = []
    while isinstance(node, ast.Attribute):
        path.append(node.attr)
        node = node.value
    if not path or not isinstance(node, ast.Name) or node.id != "np":
        return False
    found: Any = np
    for name in reversed(path):
        found = getattr(found, name, None)
    return callable(found) and not isinstance(found, type)


def tables_of_functions(source: str) -> list[str]:
    """The tables of a module, or of a class in it, that have functions of NumPy's for keys or members."""
    tree = ast.parse(source)
    bodies = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]
    found = []
    for statement in (inner for body in bodies for inner in body):
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            for node in ast.walk(statement.value):
                keys = node.keys if isinstance(node, ast.Dict) else node.elts if isinstance(node, ast.Set) else []
                if isinstance(node, ast.Call) and ast.unparse(node.func) in {"dict.fromkeys", "frozenset", "set"}:
                    keys = [x for arg in node.args[:1] if isinstance(arg, ast.Tuple | ast.List) for x in arg.elts]
                if any(key is not None and _is_numpy_function(key) for key in keys):
                    found.append(f"line {statement.lineno}")
                    break
    return found


@each("module", [m for m in MODULES if not m.startswith(SAYS_WHAT_IS_TRUE_OF_FUNCTIONS)])
def test_what_is_true_of_a_function_is_said_where_it_is_implemented(module: str) -> None:
    """Give ``@implements`` (or ``on_host``, ``describe``) an attribute instead of a table by function."""
    assert tables_of_functions(MODULES[module].read_text(encoding="utf-8")) == []


def names_filled_elsewhere(source: str, module: str, is_package: bool) -> list[str]:
    """Assignments, in functions, to a name of another module of ours."""
    tree = ast.parse(source)
    ours = {
        name
        for _, target, name in imports_of(source, module, is_package)
        if name is not None and f"{target}.{name}".removeprefix("arraydispatch").lstrip(".") in MODULES
    }
    found = set()
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        for node in ast.walk(function):
            stored = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del)
            if stored and isinstance(node.value, ast.Name) and node.value.id in ours:
                found.add(f"line {node.lineno}: {ast.unparse(node)}")
    return sorted(found)


@each("module", list(MODULES))
def test_no_function_fills_in_a_name_of_another_module(module: str) -> None:
    """What changes while a process runs is in ``state.process``; while they are imported, layers hand things down."""
    path = MODULES[module]
    assert names_filled_elsewhere(path.read_text(encoding="utf-8"), module, path.name == "__init__.py") == []


# -- the checks themselves can fail --------------------------------------------------------------------------------


def test_upward_import_is_found() -> None:
    assert violations("def f():\n    from ..array import Array\n", "functions.registry", False)
    assert violations("import arraydispatch\n", "runtime.settings", False)
    assert violations("from .. import array\n", "runtime.dtypes", False)
    assert violations("from ..scipy_support import linalg\n", "engine.draws", False), "the layer is the same"
    assert not violations("from ..common.errors import TraceError\n", "functions.registry", False)


def test_circle_is_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}]
    assert circles({"a": {"b"}, "b": set()}) == []


def test_foreign_library_is_found() -> None:
    assert violations("def f():\n    import torch.nn\n", "dispatch.core", False)
    assert violations("from jax import numpy\n", "backends.torch.ufuncs", False)
    assert violations("from ..torch import backend\n", "backends.jax.backend", False)
    assert not violations("import torch\n", "backends.torch", True)


def test_library_name_in_code_is_found() -> None:
    assert list(code_words("if b.name == 'torch':\n    pass\n")) == [(1, "torch")]
    assert list(code_words("x = is_torch_array(y)\n")) == [(1, "torch")]
    assert list(code_words('"""About torch."""\n# torch\nraise ValueError("convert it with torch first")\n')) == []


def test_table_of_functions_is_found() -> None:
    assert tables_of_functions("A = frozenset({np.sum, np.linalg.svd})\n") == ["line 1"]
    assert tables_of_functions("class A:\n    b: dict = {**dict.fromkeys((np.sum,), 1), None: 2}\n") == ["line 2"]
    assert tables_of_functions("A = {np.float64: 1, 'sum': np.sum}\nb = np.zeros(3)\n") == []


def test_name_filled_elsewhere_is_found() -> None:
    source = "from ..common import events\nfrom ..memory import views\nevents.tap = None\ndef f():\n    views.made, views.x.y = 1, 2\n    views.n += 1\n"
    assert names_filled_elsewhere(source, "dispatch.functions", False) == ["line 5: views.made", "line 6: views.n"]


# Which run before or after a program, or where it asks for a report, and not in the midst of what it computes.
NOT_COMPUTING = "launcher profiling __main__ numpy pytest_plugin testing".split()


def late_imports(tree: ast.AST, package: list[str]) -> Iterator[tuple[int, str, bool]]:
    """Line and module of each import within a function, and whether ``imported`` has the module as a whole there before it."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        whole = {
            argument.value
            for call in ast.walk(function)
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "imported"
            for argument in call.args
            if isinstance(argument, ast.Constant)
        }
        for node in ast.walk(function):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else []
                names = [".".join([*base, *filter(None, [node.module])])]
                if not node.module or node.module == "scipy":  # whose names are modules
                    names = [f"{names[0]}.{alias.name}" for alias in node.names]
            else:
                continue
            for name in names:
                yield node.lineno, name, name in whole


def test_no_handler_meets_a_module_half_made() -> None:
    """What computes imports, within a function, by ``signal_safety.imported`` alone: a signal's handler may compute too."""
    found = []
    for module, path in MODULES.items():
        if module == "." or module.split(".")[0] in NOT_COMPUTING:
            continue
        parts = module.split(".")
        package = ["arraydispatch", *(parts if path.name == "__init__.py" else parts[:-1])]
        for line, name, whole in late_imports(ast.parse(path.read_text()), package):
            root = name.split(".")[0]
            if (
                whole
                or root == "numpy"
                or root in sys.stdlib_module_names
                or module == "engine.host_blocks.kernel_compiler"
            ):
                continue  # the last is run by `kernels`, in another thread
            found.append(f"{path.relative_to(ROOT)}:{line}: {name}")
    assert not sorted(set(found))


NO_ROOM = {"benchmarks", "crowd"}
"""Folders of tests that mirror no package: what is measured by hand, and what many threads do at one time."""


def test_tests_mirror_the_package() -> None:
    """A folder of tests has the name of the package that it tests; what tests the whole lies at the top."""
    folders = {path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("*/**/test_*.py")}
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {name.lstrip("_") for name in packages} >= folders - NO_ROOM
